//! The money and tokens that models use: prices, budgets, and the ledgers of owners.

pub(crate) mod account;
pub(crate) mod budget;
pub(crate) mod error;
pub(crate) mod ledger;
#[cfg(feature = "sqlite")]
pub(crate) mod ledger_sqlite;
pub(crate) mod money;
pub(crate) mod prices;
