//! How much the evaluation of a condition may do.
//!
//! A condition can loop over a list inside a loop over a list, and join texts to longer ones.
//! Nothing interrupts it, so it counts its own steps.

use std::sync::atomic::{AtomicU64, Ordering};

use cel::common::types::{CelList, CelMap, CelString};
use cel::common::value::Val;

/// What the evaluation of a part of an expression costs.
pub(super) const STEP: u64 = 10;

/// What a condition may cost: a fraction of a second.
const MOST: u64 = 10_000_000;

/// How many bytes of a text cost as much as a value.
const BYTES: usize = 4;

/// What is left for the evaluation of a condition.
pub(super) struct Budget(AtomicU64);

impl Budget {
    pub(super) fn new() -> Self {
        Budget(AtomicU64::new(MOST))
    }

    /// Returns true if nothing is left.
    pub(super) fn is_spent(&self) -> bool {
        self.left() == 0
    }

    /// What was spent so far.
    pub(super) fn spent(&self) -> u64 {
        MOST - self.left()
    }

    fn left(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Spends this much. Returns false if less is left.
    pub(super) fn spend(&self, cost: u64) -> bool {
        let left = self.left().saturating_sub(cost);
        self.0.store(left, Ordering::Relaxed);
        left > 0
    }

    /// Spends as much as it costs to copy a value, and to do something for each of its items.
    /// Returns false if less is left.
    pub(super) fn spend_for(&self, value: &dyn Val, each: u64) -> bool {
        let items = value.as_sizer().map_or(0, |sizer| *sizer.size().inner());
        let items = u64::try_from(items).unwrap_or_default();
        let size = self.size(value, self.left());
        self.spend(size.saturating_add(items.saturating_mul(each)))
    }

    /// The size of a value, or more than `most` if it is larger.
    fn size(&self, value: &dyn Val, most: u64) -> u64 {
        if let Some(text) = value.downcast_ref::<CelString<'_>>() {
            return (text.inner().len() / BYTES) as u64 + 1;
        }
        let mut size = 1;
        let mut add = |value: &dyn Val| {
            size += self.size(value, most.saturating_sub(size));
            size <= most
        };
        if let Some(list) = value.downcast_ref::<CelList<'_>>() {
            list.inner().iter().all(|item| add(item.as_ref()));
        } else if let Some(map) = value.downcast_ref::<CelMap<'_>>() {
            let mut all = map.inner().iter();
            all.all(|(key, item)| add(key.inner()) && add(item.as_ref()));
        }
        size
    }
}
