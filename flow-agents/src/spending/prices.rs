//! Prices of tokens.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::about::AboutModel;
use crate::spending::money::Money;
use crate::usage::Usage;

/// The name for all other models of a provider.
const OTHERS: &str = "*";

/// The prices of tokens by provider and model, a table that the program supplies.
///
/// The names are those of [`AboutModel`]. The name `*` matches all models of a provider that the
/// table does not name. All prices are in one currency.
///
/// # Examples
/// ```
/// use flow_agents::{AboutModel, Prices, Usage};
///
/// let prices: Prices = serde_json::from_str(r#"{
///     "openai": { "gpt-5-mini": { "input": 0.25, "cached_input": 0.025, "output": 2 } },
///     "ollama": { "*": { "input": 0, "output": 0 } }
/// }"#)?;
/// let mini = AboutModel::new("openai", "gpt-5-mini");
/// assert_eq!(prices.cost(&mini, Usage::new(10_000, 500))?.to_string(), "0.0035");
///
/// let error = prices.cost(&AboutModel::new("openai", "gpt-6"), Usage::new(1, 1)).unwrap_err();
/// assert_eq!(error.to_string(), "the table of prices has no price for the model \"gpt-6\" of \"openai\"");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Prices(BTreeMap<String, BTreeMap<String, Price>>);

impl Prices {
    /// Creates a table without prices.
    pub fn new() -> Prices {
        Prices::default()
    }

    /// Sets the price of a model.
    pub fn with(mut self, model: AboutModel, price: Price) -> Prices {
        let provider = self.0.entry(model.provider).or_default();
        provider.insert(model.name, price);
        self
    }

    /// The price of a model.
    ///
    /// # Errors
    /// [`UnknownPrice`] if the table has none: a missing price is never taken as zero.
    pub fn price(&self, model: &AboutModel) -> Result<Price, UnknownPrice> {
        let provider = self.0.get(&model.provider);
        let price = provider.and_then(|it| it.get(&model.name).or_else(|| it.get(OTHERS)));
        price.copied().ok_or_else(|| UnknownPrice {
            model: model.clone(),
        })
    }

    /// The cost of these tokens of a model, rounded up to the next billionth.
    ///
    /// # Errors
    /// Those of [`price`](Prices::price).
    pub fn cost(&self, model: &AboutModel, usage: Usage) -> Result<Money, UnknownPrice> {
        Ok(self.price(model)?.of(usage))
    }
}

/// The price of a million tokens of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Price {
    /// The price of a million input tokens.
    pub input: Money,
    /// The price of a million input tokens that the provider had cached from an earlier request.
    /// The default is the price of other input tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<Money>,
    /// The price of a million output tokens.
    pub output: Money,
}

impl Price {
    /// Creates a price from those of a million input tokens and a million output tokens.
    pub fn new(input: Money, output: Money) -> Price {
        Price {
            input,
            cached_input: None,
            output,
        }
    }

    /// The cost of these tokens, rounded up to the next billionth.
    pub fn of(self, usage: Usage) -> Money {
        let cached = usage.cached_input_tokens.min(usage.input_tokens);
        let cached_price = self.cached_input.unwrap_or(self.input);
        self.input.per_million(usage.input_tokens - cached)
            + cached_price.per_million(cached)
            + self.output.per_million(usage.output_tokens)
    }
}

/// The error for a model without a price.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the table of prices has no price for the model {:?} of {:?}", model.name, model.provider)]
#[non_exhaustive]
pub struct UnknownPrice {
    /// The model.
    pub model: AboutModel,
}
