//! Errors of budgets.

use std::error::Error;

use crate::about::AboutModel;
use crate::spending::account::Account;
use crate::spending::budget::OverBudget;
use crate::spending::prices::UnknownPrice;

/// The reason why a model may not be asked, or why its use cannot be counted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BudgetError {
    /// A limit is exhausted.
    #[error(transparent)]
    Over(#[from] OverBudget),
    /// A limit of an owner is exhausted.
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
    /// The budget limits tokens or money, and the provider does not report the tokens of a request.
    #[error(
        "the budget limits tokens, and the model {:?} of {:?} does not say how many it used",
        model.name, model.provider
    )]
    NoUsage {
        /// The model.
        model: AboutModel,
    },
    /// The spending cannot be read or written.
    #[error("what was spent cannot be counted")]
    Ledger {
        /// The error.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl BudgetError {
    /// The exhausted limit, if that is the reason.
    pub fn over_budget(&self) -> Option<&OverBudget> {
        match self {
            BudgetError::Over(over) | BudgetError::OwnerOver { source: over, .. } => Some(over),
            _ => None,
        }
    }
}
