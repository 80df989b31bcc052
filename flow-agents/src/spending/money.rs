//! Amounts of money, without the rounding errors of floats.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};
use std::str::FromStr;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The decimal places of an amount.
const PLACES: usize = 9;

/// The number of billionths in one unit.
const ONE: u64 = 1_000_000_000;

/// An amount of money, to a billionth of a unit of its currency. The currency is that of the
/// [`Prices`](crate::Prices) from which the amount comes.
///
/// Its text is a decimal number, and so is its JSON, as a string. A JSON number is accepted as
/// well. The maximum is about 18 billion; a larger sum saturates.
///
/// # Examples
/// ```
/// use flow_agents::Money;
///
/// let money: Money = "0.25".parse()?;
/// assert_eq!((money + money).to_string(), "0.5");
/// assert_eq!(serde_json::to_string(&money)?, r#""0.25""#);
/// assert_eq!(serde_json::from_str::<Money>("0.25")?, money);
///
/// let error = "-1".parse::<Money>().unwrap_err();
/// assert_eq!(error.to_string(), r#"not an amount of money such as 1.25: "-1""#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Money {
    billionths: u64,
}

impl Money {
    /// Zero.
    pub const ZERO: Money = Money { billionths: 0 };

    /// An amount in billionths of a unit of its currency.
    pub const fn from_billionths(billionths: u64) -> Money {
        Money { billionths }
    }

    /// The amount in billionths of a unit of its currency.
    pub const fn billionths(self) -> u64 {
        self.billionths
    }

    /// This amount times a number, divided by a million and rounded up.
    pub(crate) fn per_million(self, times: u64) -> Money {
        let product = u128::from(self.billionths) * u128::from(times);
        let billionths = u64::try_from(product.div_ceil(1_000_000)).unwrap_or(u64::MAX);
        Money { billionths }
    }
}

impl Add for Money {
    type Output = Money;

    fn add(self, other: Money) -> Money {
        let billionths = self.billionths.saturating_add(other.billionths);
        Money { billionths }
    }
}

impl AddAssign for Money {
    fn add_assign(&mut self, other: Money) {
        *self = *self + other;
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Money>>(amounts: I) -> Money {
        amounts.fold(Money::ZERO, Add::add)
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.billionths / ONE, self.billionths % ONE);
        let rest = format!("{rest:0PLACES$}");
        let text = match rest.trim_end_matches('0') {
            "" => whole.to_string(),
            rest => format!("{whole}.{rest}"),
        };
        f.pad(&text)
    }
}

/// The error for a text that is not an amount of money.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseMoneyError {
    /// It is not a decimal number without a sign.
    #[error("not an amount of money such as 1.25: {0:?}")]
    Malformed(String),
    /// It has more than 9 decimal places.
    #[error("an amount of money has at most {PLACES} decimal places: {0:?}")]
    TooFine(String),
    /// It is more than about 18 billion.
    #[error("too large for an amount of money: {0:?}")]
    TooLarge(String),
}

impl FromStr for Money {
    type Err = ParseMoneyError;

    fn from_str(text: &str) -> Result<Money, ParseMoneyError> {
        let (whole, places) = text.split_once('.').unwrap_or((text, "0"));
        let is_number =
            |digits: &str| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        if !is_number(whole) || !is_number(places) {
            return Err(ParseMoneyError::Malformed(text.to_owned()));
        }
        let places = places.trim_end_matches('0');
        if places.len() > PLACES {
            return Err(ParseMoneyError::TooFine(text.to_owned()));
        }
        // The text has only digits, so the only possible error is their number.
        let billionths = format!("{whole}{places:0<PLACES$}").parse();
        let billionths = billionths.map_err(|_| ParseMoneyError::TooLarge(text.to_owned()))?;
        Ok(Money { billionths })
    }
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Money, D::Error> {
        deserializer.deserialize_any(Amount)
    }
}

struct Amount;

impl Visitor<'_> for Amount {
    type Value = Money;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an amount of money such as \"1.25\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Money, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, whole: u64) -> Result<Money, E> {
        self.visit_str(&whole.to_string())
    }

    /// The integers of some formats, such as TOML, have a sign.
    fn visit_i64<E: de::Error>(self, whole: i64) -> Result<Money, E> {
        self.visit_str(&whole.to_string())
    }

    /// The shortest text of a float is the one written in the file.
    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Money, E> {
        self.visit_str(&number.to_string())
    }
}
