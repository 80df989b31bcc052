//! Why a model may not be asked.

use std::error::Error;

use crate::about::AboutModel;
use crate::limits::account::Account;
use crate::limits::budget::OverBudget;
use crate::limits::prices::UnknownPrice;

/// Why a model may not be asked, or why what it used cannot be counted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BudgetError {
    /// Nothing is left of a limit.
    #[error(transparent)]
    Over(#[from] OverBudget),
    /// Nothing is left of a limit of an owner.
    #[error("the owner {:?} may spend no more on day {}", account.owner, account.day)]
    OwnerOver {
        /// The owner and the day.
        account: Account,
        /// The limit, and what was spent.
        source: OverBudget,
    },
    /// The budget limits money, and the model has no price.
    #[error("the budget limits money")]
    NoPrice(#[from] UnknownPrice),
    /// The budget limits tokens or money, and the provider does not say how many tokens a request used.
    #[error(
        "the budget limits tokens, and the model {:?} of {:?} does not say how many it used",
        model.name, model.provider
    )]
    NoUsage {
        /// The model.
        model: AboutModel,
    },
    /// What was spent cannot be read or kept.
    #[error("what was spent cannot be counted")]
    Ledger {
        /// What went wrong.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl BudgetError {
    /// The limit of which nothing is left, if that is why.
    pub fn over_budget(&self) -> Option<&OverBudget> {
        match self {
            BudgetError::Over(over) | BudgetError::OwnerOver { source: over, .. } => Some(over),
            _ => None,
        }
    }
}
