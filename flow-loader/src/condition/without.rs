//! Conditions without the feature `cel`.

use std::convert::Infallible;

use serde_json::Value;

use super::{Misread, Mistyped, TypedKey};

/// A condition, which cannot exist without the feature `cel`.
pub(crate) struct Condition(Infallible);

impl Condition {
    /// Refuses a condition.
    pub(crate) fn read(_text: &str, _left: &mut usize) -> Result<Self, Misread> {
        let add = "cargo add typed-flows --features cel";
        let message = format!("conditions need the feature `cel` of flow-loader: `{add}`");
        Err(Misread::new(message))
    }

    /// Never called.
    pub(crate) fn names(&self) -> &[String] {
        match self.0 {}
    }

    /// Never called.
    pub(crate) fn mistyped(&self, _keys: &[TypedKey<'_>]) -> Vec<Mistyped> {
        match self.0 {}
    }
}

/// An evaluation, which does nothing without the feature `cel`.
pub(crate) struct Evaluation;

impl Evaluation {
    /// Creates an evaluation.
    pub(crate) fn new<'a>(
        _conditions: impl Iterator<Item = &'a Condition>,
        _values: &[(&str, Value)],
    ) -> Self {
        Evaluation
    }

    /// Never called.
    pub(crate) fn holds(&self, condition: &Condition) -> Result<bool, String> {
        match condition.0 {}
    }

    /// Returns `false`.
    pub(crate) fn took_long(&self) -> bool {
        false
    }
}
