//! Random choices that proptest can shrink: towards fewer and smaller numbers.

use proptest::collection::vec;
use proptest::prelude::*;

/// A row of numbers, used up one by one.
pub(crate) struct Dice {
    numbers: std::vec::IntoIter<u16>,
}

/// Numbers for [`Dice::new`].
pub(crate) fn dice() -> impl Strategy<Value = Vec<u16>> {
    vec(any::<u16>(), 0..300)
}

impl Dice {
    pub(crate) fn new(numbers: Vec<u16>) -> Dice {
        Dice {
            numbers: numbers.into_iter(),
        }
    }

    /// A number below `limit`; 0 once there are no more.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::from(self.numbers.next().unwrap_or(0)) % limit.max(1)
    }

    /// True in one of `of` cases.
    pub(crate) fn one_in(&mut self, of: usize) -> bool {
        self.below(of) == of - 1
    }

    pub(crate) fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}
