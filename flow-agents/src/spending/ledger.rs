//! Ledgers that count the spending of owners.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;

use crate::spending::account::{Account, Day};
use crate::spending::budget::{Budget, Spent};
use crate::spending::error::BudgetError;

/// The time after which the reservation of an unfinished request is released.
pub(crate) const GIVEN_BACK_AFTER: Duration = Duration::from_secs(60 * 60);

/// Counts what owners spend on models, over all runs, for [`Charged`](crate::Charged).
///
/// An account has one entry for each request, by an id. Writing an entry again adds nothing to it.
/// So a step that is repeated after a crash counts once, with the highest use of its requests.
///
/// An entry that is reserved but not settled belongs to a request that is under way, or whose
/// caller has died. The ledger releases it after a documented time. It then has its earlier settled
/// use, or nothing. A request that is settled later still counts.
#[async_trait]
pub trait Ledger: Send + Sync {
    /// Writes an entry of what a request may use, if something is left of each limit. Checking the
    /// spending and writing the entry is one atomic operation, across all processes. An entry of
    /// the same id does not count for the check. If there is one, each of its numbers stays if it
    /// is larger than the new one: a repeated request stays counted.
    ///
    /// # Errors
    /// [`BudgetError::Over`] if nothing is left, and [`BudgetError::Ledger`] if that is not known.
    ///
    /// # Cancel safety
    /// If it is dropped, the entry may or may not be written.
    async fn reserve(
        &self,
        account: &Account,
        entry: &str,
        expected: Spent,
        budget: &Budget,
    ) -> Result<(), BudgetError>;

    /// Settles an entry with the use of its request. If it was settled before, the larger of each
    /// number stays: a step that is repeated after a crash and then fails has still used it.
    ///
    /// # Errors
    /// [`BudgetError::Ledger`] if it cannot be written. The entry then stays as it is.
    ///
    /// # Cancel safety
    /// If it is dropped, the entry may or may not be written.
    async fn settle(&self, account: &Account, entry: &str, spent: Spent)
    -> Result<(), BudgetError>;

    /// The spending of an account, including what unanswered requests may use.
    ///
    /// # Errors
    /// [`BudgetError::Ledger`] if it cannot be read.
    async fn spent(&self, account: &Account) -> Result<Spent, BudgetError>;
}

/// A [`Ledger`] in memory, for tests and for limits that need not survive a restart. A call adds up
/// all entries of the owner and the day. A reservation is released an hour after it was made, or
/// after [`give_back_after`](MemoryLedger::give_back_after).
///
/// # Examples
/// ```
/// use flow_agents::{Account, Budget, BudgetError, Day, Ledger, MemoryLedger, Money, Spent, Usage};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BudgetError> {
/// let (ledger, ann) = (MemoryLedger::new(), Account::new("ann", Day(20_000)));
/// let budget = Budget::new().calls(1);
/// let mut expected = Spent::default();
/// expected.add(Usage::new(0, 500), Money::ZERO);
/// ledger.reserve(&ann, "step 1", expected, &budget).await?;
/// assert!(ledger.reserve(&ann, "step 2", expected, &budget).await.is_err());
///
/// let mut spent = Spent::default();
/// spent.add(Usage::new(900, 80), Money::ZERO);
/// ledger.settle(&ann, "step 1", spent).await?;
/// assert_eq!(ledger.spent(&ann).await?, spent);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct MemoryLedger {
    accounts: Mutex<Accounts>,
    give_back_after: Duration,
}

type Accounts = BTreeMap<Account, BTreeMap<String, Entry>>;

#[derive(Debug, Default)]
struct Entry {
    /// The use of its request, if it was settled before.
    settled: Option<Spent>,
    reserved: Option<Reservation>,
}

/// The possible use of a request that is under way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reservation {
    expected: Spent,
    /// The time at which it is released.
    until: Option<Instant>,
}

impl Reservation {
    /// A reservation that is released after this time.
    pub(crate) fn new(expected: Spent, give_back_after: Duration) -> Reservation {
        Reservation {
            expected,
            until: Instant::now().checked_add(give_back_after),
        }
    }

    /// The reserved use. `None` once it is released.
    pub(crate) fn counted(self) -> Option<Spent> {
        let is_over = self.until.is_some_and(|until| until <= Instant::now());
        (!is_over).then_some(self.expected)
    }
}

impl Entry {
    fn counted(&self) -> Option<Spent> {
        let reserved = self.reserved.and_then(Reservation::counted);
        match (self.settled, reserved) {
            (Some(settled), Some(reserved)) => Some(settled.max(reserved)),
            (settled, reserved) => settled.or(reserved),
        }
    }
}

impl Default for MemoryLedger {
    fn default() -> MemoryLedger {
        MemoryLedger {
            accounts: Mutex::default(),
            give_back_after: GIVEN_BACK_AFTER,
        }
    }
}

impl MemoryLedger {
    /// Creates a ledger without entries.
    pub fn new() -> MemoryLedger {
        MemoryLedger::default()
    }

    /// Sets the time after which the reservation of an unfinished request is released. The default
    /// is an hour. Choose more than the longest request takes: others may use what is released.
    pub fn give_back_after(mut self, time: Duration) -> MemoryLedger {
        self.give_back_after = time;
        self
    }

    /// Removes the entries of all days before this one.
    pub fn forget_before(&self, day: Day) {
        self.lock().retain(|account, _| account.day >= day);
    }

    /// Ignores poisoning: a test that panicked reports it itself.
    fn lock(&self) -> MutexGuard<'_, Accounts> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Ledger for MemoryLedger {
    async fn reserve(
        &self,
        account: &Account,
        entry: &str,
        expected: Spent,
        budget: &Budget,
    ) -> Result<(), BudgetError> {
        let mut accounts = self.lock();
        let entries = accounts.entry(account.clone()).or_default();
        entries.retain(|_, entry| entry.counted().is_some());
        let others = entries.iter().filter(|(id, _)| *id != entry);
        let spent: Spent = others.filter_map(|(_, entry)| entry.counted()).sum();
        budget.check(&spent)?;
        let entry = entries.entry(entry.to_owned()).or_default();
        let before = entry.counted().unwrap_or_default();
        let reserved = Reservation::new(expected.max(before), self.give_back_after);
        entry.reserved = Some(reserved);
        Ok(())
    }

    async fn settle(
        &self,
        account: &Account,
        entry: &str,
        spent: Spent,
    ) -> Result<(), BudgetError> {
        let mut accounts = self.lock();
        let entries = accounts.entry(account.clone()).or_default();
        let entry = entries.entry(entry.to_owned()).or_default();
        let before = entry.settled.unwrap_or_default();
        *entry = Entry {
            settled: Some(spent.max(before)),
            reserved: None,
        };
        Ok(())
    }

    async fn spent(&self, account: &Account) -> Result<Spent, BudgetError> {
        let accounts = self.lock();
        let entries = accounts.get(account).into_iter().flat_map(BTreeMap::values);
        Ok(entries.filter_map(Entry::counted).sum())
    }
}
