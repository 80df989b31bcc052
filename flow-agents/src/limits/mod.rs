//! Models with limits: the budgets of runs, of processes and of owners, and the rate limits of
//! providers.

pub(crate) mod budgeted;
pub(crate) mod charged;
mod entries;
pub(crate) mod limited;
mod metered;
mod rate;
