//! The spending of owners in an SQLite file.

use std::fmt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use rusqlite::{OptionalExtension as _, Row, Transaction, params};

use crate::spending::account::{Account, Day};
use crate::spending::budget::{Budget, Spent};
use crate::spending::error::BudgetError;
use crate::spending::ledger::{GIVEN_BACK_AFTER, Ledger};
use crate::spending::money::Money;
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
    // Every write to an entry deletes its reservation, even by an earlier version of the program.
    added: "
        CREATE TABLE IF NOT EXISTS reservations (
            owner TEXT NOT NULL,
            day INTEGER NOT NULL,
            entry TEXT NOT NULL,
            until_milliseconds INTEGER NOT NULL,
            calls INTEGER,
            input_tokens INTEGER,
            cached_input_tokens INTEGER,
            output_tokens INTEGER,
            money_billionths INTEGER,
            time_nanoseconds INTEGER,
            PRIMARY KEY (owner, day, entry)
        ) STRICT, WITHOUT ROWID;
        CREATE TRIGGER IF NOT EXISTS written AFTER INSERT ON entries BEGIN
            DELETE FROM reservations WHERE owner = NEW.owner AND day = NEW.day AND entry = NEW.entry;
        END;
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

/// Resets entries with expired reservations to the earlier use of their requests, or removes them.
const GIVE_BACK: [&str; 3] = [
    "DELETE FROM entries WHERE EXISTS (
        SELECT 1 FROM reservations r
        WHERE r.owner = entries.owner AND r.day = entries.day AND r.entry = entries.entry
            AND r.until_milliseconds <= ?1 AND r.calls IS NULL
    )",
    "INSERT OR REPLACE INTO entries
    SELECT owner, day, entry, calls, input_tokens, cached_input_tokens, output_tokens, money_billionths,
        time_nanoseconds
    FROM reservations WHERE until_milliseconds <= ?1 AND calls IS NOT NULL",
    "DELETE FROM reservations WHERE until_milliseconds <= ?1",
];

/// Selects the use of an entry before it was reserved.
const SETTLED: &str = "
    SELECT calls, input_tokens, cached_input_tokens, output_tokens, money_billionths, time_nanoseconds
    FROM reservations WHERE owner = ?1 AND day = ?2 AND entry = ?3
";

/// A [`Ledger`] in an SQLite file, which several processes may have open.
///
/// Each write is on disk before a request is made, and before its answer is passed on. Calls wait
/// for the disk on tokio's blocking threads, so they need a tokio runtime. A process waits up to
/// five seconds for another one that writes. A call reads all entries of the owner and the day.
///
/// A reservation is released an hour after it was made, by the system clock, or after
/// [`give_back_after`](SqliteLedger::give_back_after).
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
pub struct SqliteLedger {
    file: SqliteFile,
    give_back_after: Duration,
    clock: Box<dyn Fn() -> SystemTime + Send + Sync>,
}

impl fmt::Debug for SqliteLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteLedger")
            .field("file", &self.file)
            .field("give_back_after", &self.give_back_after)
            .finish_non_exhaustive()
    }
}

impl SqliteLedger {
    /// Opens a file, and creates it if it does not exist. Waits for the disk.
    ///
    /// # Errors
    /// [`BudgetError::Ledger`] if the file cannot be opened, is another kind of database, or comes
    /// from a later version of this crate.
    pub fn open(path: impl AsRef<Path>) -> Result<SqliteLedger, BudgetError> {
        let file = SqliteFile::open(path.as_ref(), &LAYOUT).map_err(failed)?;
        Ok(SqliteLedger {
            file,
            give_back_after: GIVEN_BACK_AFTER,
            clock: Box::new(SystemTime::now),
        })
    }

    /// Sets the time after which the reservation of an unfinished request is released. The default
    /// is an hour. Choose more than the longest request takes: others may use what is released.
    pub fn give_back_after(mut self, time: Duration) -> SqliteLedger {
        self.give_back_after = time;
        self
    }

    /// Sets the clock. The default is the system clock.
    pub fn clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> SqliteLedger {
        self.clock = Box::new(clock);
        self
    }

    /// The time in milliseconds since 1970.
    fn now(&self) -> i64 {
        let now = (self.clock)().duration_since(UNIX_EPOCH);
        milliseconds(now.unwrap_or_default())
    }

    /// Removes the entries of all days before this one.
    ///
    /// # Errors
    /// [`BudgetError::Ledger`] if they cannot be removed.
    ///
    /// # Cancel safety
    /// If it is dropped, they may or may not be removed.
    pub async fn forget_before(&self, day: Day) -> Result<(), BudgetError> {
        self.within(move |transaction| {
            for table in ["entries", "reservations"] {
                let remove = format!("DELETE FROM {table} WHERE day < ?1");
                transaction.execute(&remove, [day.0]).map_err(failed)?;
            }
            Ok(())
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

fn milliseconds(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

/// Releases the reservations that are over.
fn give_back(transaction: &Transaction<'_>, now: i64) -> Result<(), BudgetError> {
    for change in GIVE_BACK {
        let mut change = transaction.prepare_cached(change).map_err(failed)?;
        change.execute([now]).map_err(failed)?;
    }
    Ok(())
}

/// Records until when a new entry is reserved, and the earlier use of its request.
fn note(
    transaction: &Transaction<'_>,
    account: &Account,
    entry: &str,
    until: i64,
    settled: Option<Spent>,
) -> Result<(), BudgetError> {
    let [calls, input, cached, output, money, time] = match settled {
        Some(settled) => numbers(&settled).map(Some),
        None => [None; 6],
    };
    let noted = transaction.execute(
        "INSERT INTO reservations VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        params![
            account.owner,
            account.day.0,
            entry,
            until,
            calls,
            input,
            cached,
            output,
            money,
            time
        ],
    );
    noted.map(drop).map_err(failed)
}

/// The earlier use of an entry's request, if it was settled before.
fn settled(
    transaction: &Transaction<'_>,
    account: &Account,
    id: &str,
    written: Option<Spent>,
) -> Result<Option<Spent>, BudgetError> {
    let mut select = transaction.prepare_cached(SETTLED).map_err(failed)?;
    let of_row = |row: &Row<'_>| match row.get::<_, Option<i64>>(0)? {
        None => Ok(None),
        Some(_) => entry(row).map(Some),
    };
    let reserved = select.query_row(params![account.owner, account.day.0, id], of_row);
    Ok(reserved.optional().map_err(failed)?.unwrap_or(written))
}

/// The spending of an account, without one entry.
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

/// The numbers of an entry, if it exists.
fn written(
    transaction: &Transaction<'_>,
    account: &Account,
    id: &str,
) -> Result<Option<Spent>, BudgetError> {
    let mut select = transaction.prepare_cached(WRITTEN).map_err(failed)?;
    let found = select.query_row(params![account.owner, account.day.0, id], entry);
    found.optional().map_err(failed)
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
    let [calls, input, cached, output, money, time] = numbers(spent);
    let written = transaction.execute(
        "INSERT OR REPLACE INTO entries VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![
            account.owner,
            account.day.0,
            entry,
            calls,
            input,
            cached,
            output,
            money,
            time
        ],
    );
    written.map(drop).map_err(failed)
}

/// The numbers of an entry in the order of its columns.
fn numbers(spent: &Spent) -> [i64; 6] {
    // The largest numbers of a file are half of those of a program.
    let most = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    [
        most(spent.calls),
        most(spent.usage.input_tokens),
        most(spent.usage.cached_input_tokens),
        most(spent.usage.output_tokens),
        most(spent.money.billionths()),
        i64::try_from(spent.time.as_nanos()).unwrap_or(i64::MAX),
    ]
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
        let now = self.now();
        let until = now.saturating_add(milliseconds(self.give_back_after));
        self.within(move |transaction| {
            give_back(transaction, now)?;
            budget.check(&spent(transaction, &account, Some(&entry))?)?;
            let before = written(transaction, &account, &entry)?;
            let settled = settled(transaction, &account, &entry, before)?;
            let counted = expected.max(before.unwrap_or_default());
            write(transaction, &account, &entry, &counted)?;
            note(transaction, &account, &entry, until, settled)
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
        self.within(move |transaction| {
            let written = written(transaction, &account, &entry)?;
            let before = settled(transaction, &account, &entry, written)?;
            let spent = spent.max(before.unwrap_or_default());
            write(transaction, &account, &entry, &spent)
        })
        .await
    }

    async fn spent(&self, account: &Account) -> Result<Spent, BudgetError> {
        let (account, now) = (account.clone(), self.now());
        self.within(move |transaction| {
            give_back(transaction, now)?;
            spent(transaction, &account, None)
        })
        .await
    }
}
