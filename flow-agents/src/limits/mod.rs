//! Limits on the use of models: budgets of runs, of processes and of owners, and the rate limits of
//! providers.

pub(crate) mod account;
pub(crate) mod budget;
pub(crate) mod budgeted;
pub(crate) mod charged;
mod entries;
pub(crate) mod error;
pub(crate) mod ledger;
#[cfg(feature = "sqlite")]
pub(crate) mod ledger_sqlite;
pub(crate) mod limited;
mod metered;
pub(crate) mod money;
pub(crate) mod prices;
mod rate;
