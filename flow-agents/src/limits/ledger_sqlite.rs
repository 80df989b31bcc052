//! What owners spend, in an SQLite file.

use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use rusqlite::{OptionalExtension as _, Row, Transaction, params};

use crate::limits::account::{Account, Day};
use crate::limits::budget::{Budget, Spent};
use crate::limits::error::BudgetError;
use crate::limits::ledger::Ledger;
use crate::limits::money::Money;
use crate::sqlite::{Failure, Layout, SqliteFile};
use crate::usage::Usage;

const LAYOUT: Layout = Layout {
    application: 0x666c_6c65, // `flle`
    version: 1,
    tables: "
        CREATE TABLE entries (
            owner TEXT NOT NULL,
            day INTEGER NOT NULL,
            entry TEXT NOT NULL,
            calls INTEGER NOT NULL,
            input_tokens INTEGER NOT NULL,
            cached_input_tokens INTEGER NOT NULL,
            output_tokens INTEGER NOT NULL,
            money_billionths INTEGER NOT NULL,
            time_nanoseconds INTEGER NOT NULL,
            PRIMARY KEY (owner, day, entry)
        ) STRICT, WITHOUT ROWID;
    ",
};

const SPENT: &str = "
    SELECT calls, input_tokens, cached_input_tokens, output_tokens, money_billionths, time_nanoseconds
    FROM entries WHERE owner = ?1 AND day = ?2 AND entry IS NOT ?3
";

const WRITTEN: &str = "
    SELECT calls, input_tokens, cached_input_tokens, output_tokens, money_billionths, time_nanoseconds
    FROM entries WHERE owner = ?1 AND day = ?2 AND entry = ?3
";

/// A [`Ledger`] in an SQLite file, which several processes may have open.
///
/// What is written is on the disk before a request is made, and before its answer is passed on. Calls wait
/// for the disk on tokio's threads for blocking work, so that they need a runtime of tokio. A process
/// waits up to five seconds for another one that writes. A call reads all entries of the owner and
/// the day.
///
/// # Examples
/// ```
/// use flow_agents::{Account, Day, Ledger, Money, Spent, SqliteLedger, Usage};
///
/// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("spent.db");
/// let (ann, mut spent) = (Account::new("ann", Day(20_000)), Spent::default());
/// spent.add(Usage::new(900, 80), Money::ZERO);
/// SqliteLedger::open(&path)?.settle(&ann, "step 1", spent).await?;
///
/// let again = SqliteLedger::open(&path)?;
/// assert_eq!(again.spent(&ann).await?, spent);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct SqliteLedger {
    file: SqliteFile,
}

impl SqliteLedger {
    /// Opens a file, which is created if it does not exist. Waits for the disk.
    ///
    /// # Errors
    /// [`BudgetError::Ledger`] if the file cannot be opened, is a database of something else, or comes from
    /// a later version of this crate.
    pub fn open(path: impl AsRef<Path>) -> Result<SqliteLedger, BudgetError> {
        let file = SqliteFile::open(path.as_ref(), &LAYOUT).map_err(failed)?;
        Ok(SqliteLedger { file })
    }

    /// Removes the entries of all days before this one.
    ///
    /// # Errors
    /// [`BudgetError::Ledger`] if they cannot be removed.
    ///
    /// # Cancel safety
    /// If it is dropped, they may be removed or not.
    pub async fn forget_before(&self, day: Day) -> Result<(), BudgetError> {
        self.within(move |transaction| {
            let removed = transaction.execute("DELETE FROM entries WHERE day < ?1", [day.0]);
            removed.map(drop).map_err(failed)
        })
        .await
    }

    async fn within<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Transaction<'_>) -> Result<T, BudgetError> + Send + 'static,
    ) -> Result<T, BudgetError> {
        self.file.within(failed, call).await
    }
}

fn failed(source: impl Into<Failure>) -> BudgetError {
    let source = source.into();
    BudgetError::Ledger { source }
}

/// What an account has spent, one entry left out.
fn spent(
    transaction: &Transaction<'_>,
    account: &Account,
    without: Option<&str>,
) -> Result<Spent, BudgetError> {
    let mut select = transaction.prepare_cached(SPENT).map_err(failed)?;
    let rows = select.query_map(params![account.owner, account.day.0, without], entry);
    let rows = rows.map_err(failed)?;
    rows.sum::<Result<Spent, _>>().map_err(failed)
}

/// What an entry has, which is nothing if there is none.
fn written(
    transaction: &Transaction<'_>,
    account: &Account,
    id: &str,
) -> Result<Spent, BudgetError> {
    let mut select = transaction.prepare_cached(WRITTEN).map_err(failed)?;
    let found = select.query_row(params![account.owner, account.day.0, id], entry);
    Ok(found.optional().map_err(failed)?.unwrap_or_default())
}

fn entry(row: &Row<'_>) -> rusqlite::Result<Spent> {
    let number = |column: usize| -> rusqlite::Result<u64> {
        let number: i64 = row.get(column)?;
        u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
    };
    let mut usage = Usage::new(number(1)?, number(3)?);
    usage.cached_input_tokens = number(2)?;
    Ok(Spent {
        calls: number(0)?,
        usage,
        money: Money::from_billionths(number(4)?),
        time: Duration::from_nanos(number(5)?),
    })
}

fn write(
    transaction: &Transaction<'_>,
    account: &Account,
    entry: &str,
    spent: &Spent,
) -> Result<(), BudgetError> {
    // The largest numbers of a file are half of those of a program.
    let most = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let time = i64::try_from(spent.time.as_nanos()).unwrap_or(i64::MAX);
    let written = transaction.execute(
        "INSERT OR REPLACE INTO entries VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![
            account.owner,
            account.day.0,
            entry,
            most(spent.calls),
            most(spent.usage.input_tokens),
            most(spent.usage.cached_input_tokens),
            most(spent.usage.output_tokens),
            most(spent.money.billionths()),
            time,
        ],
    );
    written.map(drop).map_err(failed)
}

#[async_trait]
impl Ledger for SqliteLedger {
    async fn reserve(
        &self,
        account: &Account,
        entry: &str,
        expected: Spent,
        budget: &Budget,
    ) -> Result<(), BudgetError> {
        let (account, entry, budget) = (account.clone(), entry.to_owned(), *budget);
        self.within(move |transaction| {
            budget.check(&spent(transaction, &account, Some(&entry))?)?;
            let before = written(transaction, &account, &entry)?;
            write(transaction, &account, &entry, &expected.max(before))
        })
        .await
    }

    async fn settle(
        &self,
        account: &Account,
        entry: &str,
        spent: Spent,
    ) -> Result<(), BudgetError> {
        let (account, entry) = (account.clone(), entry.to_owned());
        self.within(move |transaction| write(transaction, &account, &entry, &spent))
            .await
    }

    async fn spent(&self, account: &Account) -> Result<Spent, BudgetError> {
        let account = account.clone();
        self.within(move |transaction| spent(transaction, &account, None))
            .await
    }
}
