//! The calls that are making claims.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Mutex;

use tokio::sync::Notify;

use crate::lock::lock;

/// The calls that are making claims. Until they are done, the store may have a claim of this
/// process to an execution that does not run yet.
#[derive(Default)]
pub(super) struct Calls {
    numbers: Mutex<Numbers>,
    /// Notified when the last call is done.
    done: Notify,
}

#[derive(Default)]
struct Numbers {
    next: u64,
    under_way: BTreeSet<u64>,
}

/// A call that makes claims, until the claimed executions run or have been given up.
pub(crate) struct Call<'a>(&'a Calls, u64);

impl Calls {
    pub(super) fn begin(&self) -> Call<'_> {
        let mut numbers = lock(&self.numbers);
        let number = numbers.next;
        numbers.next += 1;
        numbers.under_way.insert(number);
        Call(self, number)
    }

    /// The number of the next call.
    pub(super) fn next(&self) -> u64 {
        lock(&self.numbers).next
    }

    /// Returns true if no call before this number is under way.
    pub(super) fn are_done_before(&self, number: u64) -> bool {
        let numbers = lock(&self.numbers);
        let first = numbers.under_way.first();
        first.is_none_or(|first| *first >= number)
    }

    /// Returns when no call is under way.
    pub(super) async fn all_done(&self) {
        loop {
            let mut done = pin!(self.done.notified());
            done.as_mut().enable();
            if lock(&self.numbers).under_way.is_empty() {
                return;
            }
            done.await;
        }
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        let mut numbers = lock(&self.0.numbers);
        numbers.under_way.remove(&self.1);
        if numbers.under_way.is_empty() {
            self.0.done.notify_waiters();
        }
    }
}
