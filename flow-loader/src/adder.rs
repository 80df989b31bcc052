//! Adds values of one type to those of another whose types are known only at run time.

use std::any::TypeId;

use flow_runtime::Accumulate;

use crate::cell::{AnyValue, Cell, unopened};

/// Adds values of one type to those of another.
#[derive(Debug, Clone, Copy)]
pub struct Adder {
    /// The type of the values that grow.
    to: fn() -> TypeId,
    begin: fn(&mut Cell),
    add: fn(&mut Cell, AnyValue),
}

impl Adder {
    /// Adds values of the type `R` to those of the type `T`.
    pub(crate) const fn of<T, R>() -> Self
    where
        T: Accumulate<R> + Default + Send + Sync + 'static,
        R: 'static,
    {
        Adder {
            to: TypeId::of::<T>,
            begin: begin::<T>,
            add: add::<T, R>,
        }
    }

    /// Returns true if it adds to values of this type.
    pub(crate) fn adds_to(self, ty: TypeId) -> bool {
        (self.to)() == ty
    }

    /// Adds a value. An empty cell begins with the default.
    pub(crate) fn add(self, cell: &mut Cell, more: AnyValue) {
        (self.begin)(cell);
        (self.add)(cell, more);
    }

    /// Writes the default to an empty cell.
    pub(crate) fn begin(self, cell: &mut Cell) {
        (self.begin)(cell);
    }
}

fn begin<T: Default + Send + Sync + 'static>(cell: &mut Cell) {
    if cell.get().is_none() {
        cell.put(T::default());
    }
}

fn add<T: Accumulate<R> + 'static, R: 'static>(cell: &mut Cell, more: AnyValue) {
    match cell.peek_mut::<T>() {
        Some(value) => value.add(more.open()),
        None => unopened::<T>(),
    }
}
