//! The values that a node reads, on their way to it.

use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::fmt::Display;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cell::{AnyValue, opened_ref};
use crate::outcome::Outcome;
use crate::place::{Around, Place, Taken};
use crate::ports::Ports;
use crate::value::Probe;

/// What a node reads and writes: first it takes some of the values, and then it borrows the others.
/// In the end it writes.
pub struct Args<'a> {
    ports: &'a Ports,
    place: Place<'a>,
    /// True if the engine looks at the outcome.
    keeps: bool,
}

/// The values that a node borrows.
#[derive(Clone, Copy)]
pub struct Lent<'a> {
    ports: &'a Ports,
    around: Around<'a>,
}

/// Writes what comes of a visit.
pub struct Writer<'a> {
    ports: &'a Ports,
    place: Place<'a>,
}

impl Writer<'_> {
    /// Writes a value, by its number. It is dropped if nothing reads it.
    #[inline]
    pub fn write<T: Send + Sync + 'static>(&mut self, number: usize, value: T) {
        if let Some(key) = self.ports.writes[number] {
            self.place.cell(key).put(value);
        }
    }
}

/// The type as which a node reads a value, which rustc infers from a call of the node.
pub struct Key<R: ?Sized>(PhantomData<fn(&R)>);

impl<R: ?Sized> Clone for Key<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R: ?Sized> Copy for Key<R> {}

impl<R: ?Sized> Key<R> {
    /// A key whose type is to be inferred.
    #[expect(clippy::new_without_default, reason = "only generated code makes one")]
    pub const fn new() -> Self {
        Key(PhantomData)
    }
}

impl<R: Readable + ?Sized> Key<R> {
    /// A probe of the type that the flow has.
    pub fn probe(self) -> Probe<R::Stored> {
        Probe::new()
    }

    /// Which types it can be read from.
    pub fn accepts(self) -> fn(TypeId) -> bool {
        R::accepts
    }
}

/// A type as which nodes read values by reference: `T`, `str`, `[T]` or `Path`.
#[diagnostic::on_unimplemented(
    message = "a node that reads `&{Self}` cannot be registered: the flow does not know which type it has",
    label = "read by reference"
)]
pub trait Readable: 'static {
    /// The type that the flow has.
    type Stored: Send + Sync + 'static;
    /// The value in that form. `None` if it has another type.
    fn view(value: &dyn Any) -> Option<&Self>;
    /// Whether values of this type can be read in that form.
    fn accepts(id: TypeId) -> bool;
}

/// Whether this is an `Arc` or a `Box` of it.
fn points_to<R: ?Sized + 'static>(id: TypeId) -> bool {
    [TypeId::of::<Arc<R>>(), TypeId::of::<Box<R>>()].contains(&id)
}

impl<T: Send + Sync + 'static> Readable for T {
    type Stored = T;
    fn view(value: &dyn Any) -> Option<&T> {
        value.downcast_ref().or_else(|| pointee(value))
    }
    fn accepts(id: TypeId) -> bool {
        id == TypeId::of::<T>() || points_to::<T>(id)
    }
}

impl Readable for str {
    type Stored = String;
    fn view(value: &dyn Any) -> Option<&str> {
        let owned = value.downcast_ref().map(String::as_str);
        let fixed = || value.downcast_ref::<&'static str>().copied();
        let cow = || {
            value
                .downcast_ref::<Cow<'static, str>>()
                .map(|text| &**text)
        };
        owned.or_else(fixed).or_else(cow).or_else(|| pointee(value))
    }
    fn accepts(id: TypeId) -> bool {
        let [string, fixed, cow] = [
            TypeId::of::<String>(),
            TypeId::of::<&'static str>(),
            TypeId::of::<Cow<'static, str>>(),
        ];
        [string, fixed, cow].contains(&id) || points_to::<str>(id)
    }
}

impl<T: Send + Sync + 'static> Readable for [T] {
    type Stored = Vec<T>;
    fn view(value: &dyn Any) -> Option<&[T]> {
        let list = value.downcast_ref::<Vec<T>>().map(Vec::as_slice);
        list.or_else(|| pointee(value))
    }
    fn accepts(id: TypeId) -> bool {
        id == TypeId::of::<Vec<T>>() || points_to::<[T]>(id)
    }
}

impl Readable for Path {
    type Stored = PathBuf;
    fn view(value: &dyn Any) -> Option<&Path> {
        let path = value.downcast_ref().map(PathBuf::as_path);
        path.or_else(|| pointee(value))
    }
    fn accepts(id: TypeId) -> bool {
        id == TypeId::of::<PathBuf>() || points_to::<Path>(id)
    }
}

/// What an `Arc` or a `Box` holds.
fn pointee<R: ?Sized + 'static>(value: &dyn Any) -> Option<&R> {
    let shared = value.downcast_ref::<Arc<R>>().map(|value| &**value);
    shared.or_else(|| value.downcast_ref::<Box<R>>().map(|value| &**value))
}

impl<'a> Args<'a> {
    #[inline]
    pub(crate) fn new(ports: &'a Ports, place: Place<'a>, keeps: bool) -> Self {
        Args {
            ports,
            place,
            keeps,
        }
    }

    /// A value that the node takes.
    #[inline]
    pub fn take<T: Send + Sync + 'static>(&mut self, read: usize, key: Key<T>) -> T {
        let port = &self.ports.reads[read];
        if let (Place::Loop(cells), Some(key)) = (&mut self.place, port.key) {
            let value = match (port.moves, port.ty) {
                (true, _) => cells.cell(key).take(),
                (false, Some(ty)) => cells.cell(key).peek().map(|value| ty.cloned(value)),
                (false, None) => None,
            };
            if let Some(value) = value {
                return value;
            }
        }
        self.take_elsewhere(read, key)
    }

    /// The same in a branch of a fork, in a loop over items, or in one of several attempts.
    fn take_elsewhere<T: Send + Sync + 'static>(&mut self, read: usize, _: Key<T>) -> T {
        let value = match self.place.taken(self.ports, read) {
            Some(Taken::Moved(cell)) => cell.take(),
            Some(Taken::Copied(value, ty)) => Some(ty.cloned(opened_ref(value))),
            None => None,
        };
        value.unwrap_or_else(|| misread(read))
    }

    /// Hands on what the node returned: to the engine if it looks at it, else to where it is kept.
    /// `take_apart` writes what it consists of, and returns the number of its action.
    #[inline]
    pub fn returned<T: Send + Sync + 'static>(
        &mut self,
        value: T,
        take_apart: impl FnOnce(T, &mut Writer<'_>) -> usize,
    ) -> Outcome {
        if self.keeps {
            return self.kept(value);
        }
        if let Place::Item(_, result) = &mut self.place {
            **result = Some(AnyValue::new(value));
            return Outcome::HANDED_ON;
        }
        let action = take_apart(value, &mut self.writer());
        if let Place::Loop(cells) = &mut self.place {
            cells.action = action;
        }
        Outcome::HANDED_ON
    }

    /// What the node returned, for the engine.
    fn kept<T: Send + Sync + 'static>(&self, value: T) -> Outcome {
        match self.ports.outcome {
            Some(ty) => Outcome::new(AnyValue::new(value), ty),
            None => unreachable!("only a function or a type returns a value"),
        }
    }

    /// A value that the node takes if there is one.
    pub fn maybe_take<T: Send + Sync + 'static>(&mut self, read: usize, _: Key<T>) -> Option<T> {
        // What a node returned as an `Option` is read like a value that may be missing.
        match self.place.taken(self.ports, read)? {
            Taken::Moved(cell) => cell.take().or_else(|| cell.take().flatten()),
            Taken::Copied(value, ty) if (value as &dyn Any).is::<T>() => {
                Some(ty.cloned(opened_ref(value)))
            }
            Taken::Copied(value, ty) => ty.cloned(opened_ref(value)),
        }
    }

    /// A value that the node takes if there is one, in its box.
    pub(crate) fn take_box(&mut self, read: usize) -> Option<AnyValue> {
        match self.place.taken(self.ports, read)? {
            Taken::Moved(cell) => cell.remove(),
            Taken::Copied(value, ty) => Some(ty.cloned_box(value)),
        }
    }

    /// The values to borrow, after some were taken.
    #[inline]
    pub fn lent(&self) -> Lent<'_> {
        Lent {
            ports: self.ports,
            around: self.place.around(),
        }
    }

    /// Where the node writes.
    #[inline]
    pub(crate) fn writer(&mut self) -> Writer<'_> {
        Writer {
            ports: self.ports,
            place: self.place.reborrow(),
        }
    }
}

impl<'a> Lent<'a> {
    /// A value that is read by reference.
    pub fn borrow<R: Readable + ?Sized>(self, read: usize, _: Key<R>) -> &'a R {
        match self.around.value(self.ports, read).and_then(view) {
            Some(value) => value,
            None => misread(read),
        }
    }

    /// A value that is read by reference if there is one.
    pub fn maybe_borrow<R: Readable + ?Sized>(self, read: usize, _: Key<R>) -> Option<&'a R> {
        let value = self.around.value(self.ports, read)?;
        if let Some(value) = view(value) {
            return Some(value);
        }
        // What a node returned as an `Option` is read like a value that may be missing.
        match (value as &dyn Any).downcast_ref::<Option<R::Stored>>() {
            Some(value) => value.as_ref().and_then(|value| R::view(value)),
            None => misread(read),
        }
    }

    /// A value that is shown.
    pub fn shown(self, read: usize) -> &'a (dyn Display + Send + Sync) {
        let shown = self.around.shown(self.ports, read);
        shown.unwrap_or_else(|| misread(read))
    }

    /// The same values for another attempt of the flow, whose outcome the engine gets.
    pub(crate) fn again(&'a self) -> Args<'a> {
        Args::new(self.ports, Place::Shared(&self.around), true)
    }
}

fn view<R: Readable + ?Sized>(value: &(dyn Any + Sync)) -> Option<&R> {
    R::view(value)
}

#[cold]
fn misread(read: usize) -> ! {
    unreachable!("loading checks what a node reads, and read {read} is not there in this form")
}
