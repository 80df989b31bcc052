//! Where it is counted what owners spend.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::limits::account::{Account, Day};
use crate::limits::budget::{Budget, Spent};
use crate::limits::error::BudgetError;

/// Counts what owners spend on models, over all runs: for [`Charged`](crate::Charged).
///
/// An account has one entry for each request, by an id. Writing an entry again replaces it, so a step that
/// is repeated after a crash counts once.
#[async_trait]
pub trait Ledger: Send + Sync {
    /// Writes an entry of what a request may use, if something is left of each limit. What the account
    /// has spent is checked and the entry is written at once, whoever else does the same, in whatever
    /// process. An entry of the same id does not count for the check. If there is one, the larger one of each
    /// of its numbers and the new ones is written: what a request used stays counted while it is repeated.
    ///
    /// # Errors
    /// [`BudgetError::Over`] if nothing is left, and [`BudgetError::Ledger`] if that cannot be found out.
    ///
    /// # Cancel safety
    /// If it is dropped, the entry may be written or not.
    async fn reserve(
        &self,
        account: &Account,
        entry: &str,
        expected: Spent,
        budget: &Budget,
    ) -> Result<(), BudgetError>;

    /// Writes into an entry what its request used.
    ///
    /// # Errors
    /// [`BudgetError::Ledger`] if it cannot be written. The entry then stays as it is.
    ///
    /// # Cancel safety
    /// If it is dropped, the entry may be written or not.
    async fn settle(&self, account: &Account, entry: &str, spent: Spent)
    -> Result<(), BudgetError>;

    /// What an account has spent, including what requests that have no answer yet may use.
    ///
    /// # Errors
    /// [`BudgetError::Ledger`] if it cannot be read.
    async fn spent(&self, account: &Account) -> Result<Spent, BudgetError>;
}

/// A [`Ledger`] in memory: for tests, and for limits that a restart may forget. A call adds up all entries
/// of the owner and the day.
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
#[derive(Debug, Default)]
pub struct MemoryLedger {
    accounts: Mutex<Accounts>,
}

type Accounts = BTreeMap<Account, BTreeMap<String, Spent>>;

impl MemoryLedger {
    /// A ledger without entries.
    pub fn new() -> MemoryLedger {
        MemoryLedger::default()
    }

    /// Forgets the entries of all days before this one.
    pub fn forget_before(&self, day: Day) {
        self.lock().retain(|account, _| account.day >= day);
    }

    /// A test that panicked elsewhere says so by itself.
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
        let others = entries.iter().filter(|(id, _)| *id != entry);
        let spent: Spent = others.map(|(_, spent)| *spent).sum();
        budget.check(&spent)?;
        let before = entries.get(entry).copied().unwrap_or_default();
        entries.insert(entry.to_owned(), expected.max(before));
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
        entries.insert(entry.to_owned(), spent);
        Ok(())
    }

    async fn spent(&self, account: &Account) -> Result<Spent, BudgetError> {
        let accounts = self.lock();
        let entries = accounts.get(account);
        Ok(entries
            .into_iter()
            .flat_map(BTreeMap::values)
            .copied()
            .sum())
    }
}
