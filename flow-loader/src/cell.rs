//! Values of any type, and the places that hold them.
//!
//! A value that nodes take and write in turns stays in one box: taking it leaves the box for the
//! next value.

use std::any::{Any, type_name};

/// A value of any type.
pub struct AnyValue(Box<dyn Slot>);

/// A place for an optional value. It keeps its box when the value is taken out.
#[derive(Default)]
pub(crate) struct Cell(Option<Box<dyn Slot>>);

/// The content of a box: an `Option<T>`.
trait Slot: Any + Send + Sync {
    /// The value, as a `T`.
    fn value(&self) -> Option<&(dyn Any + Send + Sync)>;
}

impl<T: Send + Sync + 'static> Slot for Option<T> {
    #[inline]
    fn value(&self) -> Option<&(dyn Any + Send + Sync)> {
        self.as_ref().map(|value| value as _)
    }
}

impl AnyValue {
    /// Boxes a value.
    #[inline]
    pub fn new<T: Send + Sync + 'static>(value: T) -> Self {
        AnyValue(Box::new(Some(value)))
    }

    /// A reference to the value.
    #[inline]
    pub(crate) fn get(&self) -> &(dyn Any + Send + Sync) {
        match self.0.value() {
            Some(value) => value,
            None => unreachable!("only the box of a cell is without a value"),
        }
    }

    /// Returns the value. Its type must be `T`.
    pub(crate) fn open<T: 'static>(mut self) -> T {
        taken_out(self.slot())
    }

    /// The value as an `Option<T>`, from which [`taken_out`] takes it.
    #[inline]
    pub(crate) fn slot(&mut self) -> &mut dyn Any {
        &mut *self.0
    }
}

impl Cell {
    /// The value, or `None` if the cell is empty.
    #[inline]
    pub(crate) fn get(&self) -> Option<&(dyn Any + Send + Sync)> {
        self.0.as_ref()?.value()
    }

    /// Puts a value into the box of the previous one.
    #[inline]
    pub(crate) fn put<T: Send + Sync + 'static>(&mut self, value: T) {
        match self.slot() {
            Some(slot) => *slot = Some(value),
            None => self.0 = Some(Box::new(Some(value))),
        }
    }

    /// The value, or `None` if there is none of this type.
    #[inline]
    pub(crate) fn peek<T: 'static>(&self) -> Option<&T> {
        let slot: &dyn Any = &**self.0.as_ref()?;
        slot.downcast_ref::<Option<T>>()?.as_ref()
    }

    /// Like [`peek`](Self::peek), mutably.
    pub(crate) fn peek_mut<T: 'static>(&mut self) -> Option<&mut T> {
        self.slot()?.as_mut()
    }

    /// Takes the value out and leaves its box. `None` if there is none of this type.
    #[inline]
    pub(crate) fn take<T: 'static>(&mut self) -> Option<T> {
        self.slot().and_then(Option::take)
    }

    #[inline]
    fn slot<T: 'static>(&mut self) -> Option<&mut Option<T>> {
        let slot: &mut dyn Any = &mut **self.0.as_mut()?;
        slot.downcast_mut()
    }

    /// Puts a value there, in its own box.
    pub(crate) fn set(&mut self, value: AnyValue) {
        self.0 = Some(value.0);
    }

    /// Takes the value out in its box. `None` if there is none.
    pub(crate) fn remove(&mut self) -> Option<AnyValue> {
        self.get()?;
        self.0.take().map(AnyValue)
    }
}

impl From<Option<AnyValue>> for Cell {
    fn from(value: Option<AnyValue>) -> Self {
        Cell(value.map(|value| value.0))
    }
}

/// Takes the value out of an `Option<T>` whose type was erased.
#[inline]
pub fn taken_out<T: 'static>(slot: &mut dyn Any) -> T {
    let value = slot.downcast_mut().and_then(Option::take);
    value.unwrap_or_else(|| unopened::<T>())
}

/// A reference to a value whose type must be `T`.
#[inline]
pub fn opened_ref<T: 'static>(value: &dyn Any) -> &T {
    match value.downcast_ref() {
        Some(value) => value,
        None => unopened::<T>(),
    }
}

#[cold]
pub(crate) fn unopened<T>() -> ! {
    unreachable!(
        "loading compares types, and there is no value of the type `{}`",
        type_name::<T>()
    )
}
