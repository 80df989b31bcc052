//! Finds the dates of facts.

use std::fmt::Write as _;
use std::sync::Arc;

use flow_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

use super::graph::Fact;
use crate::ask::ask;
use crate::ask::error::AskError;
use crate::message::Message;
use crate::messages::Messages;
use crate::model::Model;

const FIND: &str = "Find out from the text since when each fact holds, and until when it held if it has \
    ended, as YYYY, YYYY-MM or YYYY-MM-DD. Times such as `last year` are relative to the date of the text, \
    if that is told. Leave out what the text does not say.";

/// A node that asks a model for the dates of facts. It reads `text`, `date`, `source` and `facts`,
/// and writes `facts` with the dates in the text. A [replaced](Fact::replaced_by) fact ends when
/// the replacing one begins.
#[derive(Clone)]
pub struct FindDates {
    model: Arc<dyn Model>,
}

impl FindDates {
    /// Creates a node that asks this model.
    pub fn new(model: impl Model + 'static) -> FindDates {
        FindDates {
            model: Arc::new(model),
        }
    }
}

/// A model's answer about a fact.
#[derive(Deserialize, JsonSchema)]
struct Dated {
    /// The number of the fact.
    fact: usize,
    /// The date since which it holds.
    since: Option<Date>,
    /// The date until which it held.
    until: Option<Date>,
}

/// As YYYY, YYYY-MM or YYYY-MM-DD.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
struct Date(String);

impl TryFrom<String> for Date {
    type Error = String;

    fn try_from(text: String) -> Result<Date, String> {
        let mut parts = text.split('-');
        let is_number = |part: &str, digits: usize, most: u32| {
            let number = part
                .parse()
                .ok()
                .filter(|number| (1..=most).contains(number));
            part.len() == digits && part.bytes().all(|it| it.is_ascii_digit()) && number.is_some()
        };
        let is_date = parts.next().is_some_and(|year| is_number(year, 4, 9999))
            && parts.next().is_none_or(|month| is_number(month, 2, 12))
            && parts.next().is_none_or(|day| is_number(day, 2, 31))
            && parts.next().is_none();
        if is_date {
            Ok(Date(text))
        } else {
            Err(format!(
                "{text:?} is not a date as YYYY, YYYY-MM or YYYY-MM-DD"
            ))
        }
    }
}

#[node(writes = facts)]
impl FindDates {
    async fn exec(
        &self,
        text: &str,
        date: Option<&String>,
        source: &String,
        facts: Vec<Fact>,
    ) -> Result<Vec<Fact>, AskError> {
        let mut facts = facts;
        // This text does not date the facts of another one.
        let of_this: Vec<usize> = (0..facts.len())
            .filter(|&at| facts[at].holds() && facts[at].sources.contains(source))
            .collect();
        if of_this.is_empty() {
            return Ok(facts);
        }
        let mut asked = String::from("Facts:\n");
        for (number, &at) in of_this.iter().enumerate() {
            let _ = writeln!(asked, "{}. {}", number + 1, facts[at].text);
        }
        if let Some(date) = date {
            let _ = writeln!(asked, "\nThe date of the text: {date}");
        }
        let _ = write!(asked, "\nText:\n{text}");
        let question = Messages::from_iter([Message::system(FIND), Message::user(asked)]);
        for dated in ask::<Vec<Dated>>(&self.model, &question).await? {
            let at = dated.fact.checked_sub(1).and_then(|at| of_this.get(at));
            let Some(fact) = at.map(|&at| &mut facts[at]) else {
                continue;
            };
            let text = |date: Option<Date>| date.map(|date| date.0);
            let since = text(dated.since).or(fact.since.clone());
            let until = text(dated.until).or(fact.until.clone());
            // A fact cannot end before it begins: one of the dates is wrong.
            if is_in_order(since.as_deref(), until.as_deref()) {
                (fact.since, fact.until) = (since, until);
            }
        }
        end_replaced(&mut facts);
        Ok(facts)
    }
}

/// Ends replaced facts when the replacing ones begin.
fn end_replaced(facts: &mut [Fact]) {
    for at in 0..facts.len() {
        let Some(other) = facts[at].replaced_by.as_ref() else {
            continue;
        };
        let begun = facts.iter().find(|fact| fact.id == *other);
        let begun = begun.and_then(|fact| fact.since.clone());
        let fact = &mut facts[at];
        if fact.until.is_none() && is_in_order(fact.since.as_deref(), begun.as_deref()) {
            fact.until = begun;
        }
    }
}

/// Returns true if the second date is not before the first one, as far as both are known.
fn is_in_order(since: Option<&str>, until: Option<&str>) -> bool {
    let (Some(since), Some(until)) = (since, until) else {
        return true;
    };
    // A year is compatible with all its days.
    let known = since.len().min(until.len());
    since[..known] <= until[..known]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_before_it_begins() {
        let in_order = |since, until| is_in_order(Some(since), Some(until));
        assert!(in_order("2024-05", "2024") && in_order("2024", "2024-01-31"));
        assert!(!in_order("2024-05", "2024-04") && !in_order("2024", "2023-12-31"));
        assert!(is_in_order(None, Some("2023")) && is_in_order(Some("2023"), None));
    }

    #[test]
    fn dates_are_days_months_and_years() {
        for date in ["2024", "0001", "2024-12", "2024-01-31"] {
            assert!(Date::try_from(date.to_owned()).is_ok(), "{date}");
        }
        for other in [
            "",
            "24",
            "2024-",
            "2024-13",
            "2024-1",
            "2024-01-32",
            "2024-01-01-",
            "last year",
            "+024",
            "2024-00",
        ] {
            assert!(Date::try_from(other.to_owned()).is_err(), "{other}");
        }
    }
}
