//! The limit on the work of evaluating a condition.
//!
//! A condition can nest loops over lists and build ever longer texts. Nothing interrupts it, so it
//! counts its own steps.

use std::sync::atomic::{AtomicU64, Ordering};

use cel::common::types::{CelList, CelMap, CelString};
use cel::common::value::Val;

/// The cost of evaluating a part of an expression.
pub(super) const STEP: u64 = 10;

/// The maximum cost of a condition: a fraction of a second.
const MOST: u64 = 10_000_000;

/// The number of bytes of a text that cost as much as a value.
const BYTES: usize = 4;

/// The remaining budget for evaluating a condition.
pub(super) struct Budget(AtomicU64);

impl Budget {
    pub(super) fn new() -> Self {
        Budget(AtomicU64::new(MOST))
    }

    /// Returns `true` if nothing remains.
    pub(super) fn is_spent(&self) -> bool {
        self.left() == 0
    }

    /// The cost spent so far.
    pub(super) fn spent(&self) -> u64 {
        MOST - self.left()
    }

    fn left(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Spends this cost. Returns `false` if nothing remains.
    pub(super) fn spend(&self, cost: u64) -> bool {
        let left = self.left().saturating_sub(cost);
        self.0.store(left, Ordering::Relaxed);
        left > 0
    }

    /// Spends the cost of copying a value and of visiting each of its items. Returns `false` if
    /// nothing remains.
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
