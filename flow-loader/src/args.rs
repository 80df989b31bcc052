//! The values that a node reads and writes.

use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::fmt::Display;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cell::{AnyValue, opened_ref};
use crate::outcome::Outcome;
use crate::place::{Around, Place, Taken};
use crate::ports::{Ports, Write};
use crate::value::Probe;

/// The values of a node. It first takes some of them, then borrows the others, and finally writes.
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

/// Writes the outcome of a visit.
pub struct Writer<'a> {
    ports: &'a Ports,
    place: Place<'a>,
}

impl Writer<'_> {
    /// Writes a value, by its index. The value is dropped if nothing reads it.
    #[inline]
    pub fn write<T: Send + Sync + 'static>(&mut self, number: usize, value: T) {
        match self.ports.writes[number] {
            Some(Write {
                key,
                addition: None,
            }) => self.place.cell(key).put(value),
            Some(write) => self.place.write(write, AnyValue::new(value)),
            None => {}
        }
    }
}

/// The type of a value that a node reads. rustc infers it from a call of the node.
pub struct Key<R: ?Sized>(PhantomData<fn(&R)>);

impl<R: ?Sized> Clone for Key<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R: ?Sized> Copy for Key<R> {}

impl<R: ?Sized> Key<R> {
    /// Creates a key whose type is inferred.
    #[expect(clippy::new_without_default, reason = "only generated code makes one")]
    pub const fn new() -> Self {
        Key(PhantomData)
    }
}

impl<R: Readable + ?Sized> Key<R> {
    /// Returns a probe of the type in the flow.
    pub fn probe(self) -> Probe<R::Stored> {
        Probe::new()
    }

    /// Returns the check for the types from which it can be read.
    pub fn accepts(self) -> fn(TypeId) -> bool {
        R::accepts
    }
}

/// A type that nodes read by reference: `T`, `str`, `[T]` or `Path`.
#[diagnostic::on_unimplemented(
    message = "a node that reads `&{Self}` cannot be registered: the flow does not know which type it has",
    label = "read by reference"
)]
pub trait Readable: 'static {
    /// The type in the flow.
    type Stored: Send + Sync + 'static;
    /// Returns the value in that form, or `None` if it has another type.
    fn view(value: &dyn Any) -> Option<&Self>;
    /// Returns `true` if values of this type can be read in that form.
    fn accepts(id: TypeId) -> bool;
}

/// Returns `true` for an `Arc` or a `Box` of `R`.
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

/// Returns the content of an `Arc` or a `Box`.
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

    /// Takes a value.
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

    /// Takes a value in a branch of a fork, in a loop over items, or in one of several attempts.
    fn take_elsewhere<T: Send + Sync + 'static>(&mut self, read: usize, _: Key<T>) -> T {
        let value = match self.place.taken(self.ports, read) {
            Some(Taken::Moved(cell)) => cell.take(),
            Some(Taken::Copied(value, ty)) => Some(ty.cloned(opened_ref(value))),
            None => None,
        };
        value.unwrap_or_else(|| misread(read))
    }

    /// Passes on what the node returned: to the engine if it inspects the outcome, else to its
    /// place. `take_apart` writes the parts of the value and returns the index of its action.
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
        match &mut self.place {
            Place::Loop(cells) => cells.action = action,
            Place::Branch(_, own) => own.action = action,
            Place::Item(..) | Place::Shared(_) => {}
        }
        Outcome::HANDED_ON
    }

    /// The value that the node returned, for the engine.
    fn kept<T: Send + Sync + 'static>(&self, value: T) -> Outcome {
        match self.ports.outcome {
            Some(ty) => Outcome::new(AnyValue::new(value), ty),
            None => unreachable!("only a function or a type returns a value"),
        }
    }

    /// Takes a value, if there is one.
    pub fn maybe_take<T: Send + Sync + 'static>(&mut self, read: usize, _: Key<T>) -> Option<T> {
        // A node's returned `Option` is read like a value that may be missing.
        match self.place.taken(self.ports, read)? {
            Taken::Moved(cell) => cell.take().or_else(|| cell.take().flatten()),
            Taken::Copied(value, ty) if (value as &dyn Any).is::<T>() => {
                Some(ty.cloned(opened_ref(value)))
            }
            Taken::Copied(value, ty) => ty.cloned(opened_ref(value)),
        }
    }

    /// Takes a value in its box, if there is one.
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

    /// A writer for the values of the node.
    #[inline]
    pub(crate) fn writer(&mut self) -> Writer<'_> {
        Writer {
            ports: self.ports,
            place: self.place.reborrow(),
        }
    }
}

impl<'a> Lent<'a> {
    /// Borrows a value.
    pub fn borrow<R: Readable + ?Sized>(self, read: usize, _: Key<R>) -> &'a R {
        match self.around.value(self.ports, read).and_then(view) {
            Some(value) => value,
            None => misread(read),
        }
    }

    /// Borrows a value, if there is one.
    pub fn maybe_borrow<R: Readable + ?Sized>(self, read: usize, _: Key<R>) -> Option<&'a R> {
        let value = self.around.value(self.ports, read)?;
        if let Some(value) = view(value) {
            return Some(value);
        }
        // A node's returned `Option` is read like a value that may be missing.
        match (value as &dyn Any).downcast_ref::<Option<R::Stored>>() {
            Some(value) => value.as_ref().and_then(|value| R::view(value)),
            None => misread(read),
        }
    }

    /// Borrows a value to be shown.
    pub fn shown(self, read: usize) -> &'a (dyn Display + Send + Sync) {
        let shown = self.around.shown(self.ports, read);
        shown.unwrap_or_else(|| misread(read))
    }

    /// The same values for another attempt of the flow. The engine receives its outcome.
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
