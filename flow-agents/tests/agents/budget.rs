use serde::de::{self, Deserialize as _, IntoDeserializer as _};
use std::time::Duration;

use flow_agents::{AboutModel, Budget, Limit, Money, ParseMoneyError, Price, Prices, Spent, Usage};
use proptest::prelude::*;

fn money(text: &str) -> Money {
    text.parse().unwrap()
}

fn cached(input: u64, cached: u64, output: u64) -> Usage {
    let mut usage = Usage::new(input, output);
    usage.cached_input_tokens = cached;
    usage
}

#[test]
fn an_amount_of_money_is_a_decimal_number() {
    for (text, billionths) in [
        ("0", 0),
        ("1", 1_000_000_000),
        ("1.25", 1_250_000_000),
        ("01.2500000000", 1_250_000_000),
        ("0.000000001", 1),
        ("18446744073.709551615", u64::MAX),
    ] {
        assert_eq!(
            text.parse(),
            Ok(Money::from_billionths(billionths)),
            "{text}"
        );
    }
    for text in [
        "", ".", "1.", ".5", "-1", "+1", "1e3", "1,5", " 1", "1.2.3", "١",
    ] {
        let malformed = Err(ParseMoneyError::Malformed(text.to_owned()));
        assert_eq!(text.parse::<Money>(), malformed, "{text}");
    }
    let text = "0.0000000001".to_owned();
    assert_eq!(text.parse::<Money>(), Err(ParseMoneyError::TooFine(text)));
    let text = "18446744073.709551616".to_owned();
    assert_eq!(text.parse::<Money>(), Err(ParseMoneyError::TooLarge(text)));
    assert_eq!(format!("{:>6}", money("0.5")), "   0.5");
}

#[test]
fn the_json_of_an_amount_may_be_a_number() {
    for (json, text) in [
        ("2", "2"),
        ("0.1", "0.1"),
        ("1e-7", "0.0000001"),
        (r#""3.5""#, "3.5"),
    ] {
        assert_eq!(serde_json::from_str::<Money>(json).unwrap(), money(text));
    }
    for json in ["-1", "-0.5", "null", "1e300", r#""much""#] {
        assert!(serde_json::from_str::<Money>(json).is_err(), "{json}");
    }
    // The integers of formats such as TOML have a sign.
    let signed = |number: i64| {
        let number: de::value::I64Deserializer<de::value::Error> = number.into_deserializer();
        Money::deserialize(number).map_err(|error| error.to_string())
    };
    assert_eq!(signed(25), Ok(money("25")));
    let error = r#"not an amount of money such as 1.25: "-1""#;
    assert_eq!(signed(-1), Err(error.to_owned()));
}

#[test]
fn a_price_is_that_of_the_model_or_else_of_its_provider() {
    let (one, two) = (
        Price::new(money("1"), money("1")),
        Price::new(money("2"), money("2")),
    );
    let prices = Prices::new()
        .with(AboutModel::new("openai", "*"), one)
        .with(AboutModel::new("openai", "gpt-5-mini"), two);
    let price = |provider: &str, name: &str| prices.price(&AboutModel::new(provider, name));
    assert_eq!(price("openai", "gpt-5-mini"), Ok(two));
    assert_eq!(price("openai", "gpt-5"), Ok(one));
    assert!(price("anthropic", "gpt-5-mini").is_err());
    assert!(price("", "").is_err());
}

#[test]
fn tokens_that_the_provider_had_kept_have_their_own_price() {
    let mut price = Price::new(money("10"), money("100"));
    assert_eq!(price.of(cached(1000, 400, 10)), money("0.011"));
    price.cached_input = Some(money("1"));
    assert_eq!(price.of(cached(1000, 400, 10)), money("0.0074"));
    // If a provider counts them on top of the others, no more than what was sent is paid for.
    assert_eq!(price.of(cached(1000, 5000, 0)), money("0.001"));
}

#[test]
fn a_table_of_prices_with_a_field_that_does_not_exist_is_refused() {
    let json = r#"{ "openai": { "gpt-5": { "input": 1, "output": 8, "cached": 0.1 } } }"#;
    let error = serde_json::from_str::<Prices>(json)
        .unwrap_err()
        .to_string();
    assert!(error.contains("unknown field `cached`"), "{error}");
}

#[test]
fn each_limit_says_of_what_nothing_is_left() {
    let mut spent = Spent::default();
    spent.add(Usage::new(30, 12), money("0.5"));
    spent.time = Duration::from_secs(7);
    for (budget, limit, text) in [
        (Budget::new().calls(1), Limit::Calls(1), "calls: 1"),
        (
            Budget::new().input_tokens(30),
            Limit::InputTokens(30),
            "input tokens: 30",
        ),
        (
            Budget::new().output_tokens(12),
            Limit::OutputTokens(12),
            "output tokens: 12",
        ),
        (Budget::new().tokens(42), Limit::Tokens(42), "tokens: 42"),
        (
            Budget::new().money(money("0.5")),
            Limit::Money(money("0.5")),
            "money: 0.5",
        ),
        (
            Budget::new().time(Duration::from_secs(7)),
            Limit::Time(Duration::from_secs(7)),
            "time: 7s",
        ),
    ] {
        let over = budget.check(&spent).unwrap_err();
        assert_eq!((over.limit, over.spent), (limit, spent));
        let expected = format!(
            "nothing is left of a budget ({text}); spent on models: calls: 1, input tokens: 30, output \
             tokens: 12, money: 0.5, time: 7s"
        );
        assert_eq!(over.to_string(), expected);
        assert_eq!(budget.check(&Spent::default()), Ok(()));
    }
    let budget = Budget::new()
        .calls(2)
        .input_tokens(31)
        .output_tokens(13)
        .tokens(43);
    let budget = budget
        .money(money("0.500000001"))
        .time(Duration::from_millis(7001));
    assert_eq!(budget.check(&spent), Ok(()));
}

#[test]
fn a_budget_is_a_value_of_json_without_the_limits_that_it_does_not_have() {
    let budget = Budget::new().calls(3).money(money("1.5"));
    let json = serde_json::to_string(&budget).unwrap();
    assert_eq!(json, r#"{"calls":3,"money":"1.5"}"#);
    assert_eq!(serde_json::from_str::<Budget>(&json).unwrap(), budget);
    assert!(serde_json::from_str::<Budget>(r#"{"call":3}"#).is_err());
}

prop_compose! {
    fn spent()(
        calls: u64, input: u64, kept: u64, output: u64, billionths: u64, seconds: u64,
    ) -> Spent {
        let mut spent = Spent::default();
        spent.calls = calls;
        spent.usage = cached(input, kept, output);
        spent.money = Money::from_billionths(billionths);
        spent.time = Duration::from_secs(seconds);
        spent
    }
}

proptest! {
    #[test]
    fn money_is_read_as_it_is_written(billionths: u64) {
        let money = Money::from_billionths(billionths);
        prop_assert_eq!(money.to_string().parse(), Ok(money));
        let json = serde_json::to_value(money).unwrap();
        prop_assert_eq!(serde_json::from_value::<Money>(json).unwrap(), money);
    }

    /// Each request is rounded up by less than a billionth for each of its three prices.
    #[test]
    fn what_is_paid_for_parts_is_what_is_paid_for_the_whole_and_a_little_more(
        parts in prop::collection::vec((0..1_000_000_u64, 0..1_000_000_u64), 1..50),
        input in 0..1_000_000_000_000_u64,
        output in 0..1_000_000_000_000_u64,
    ) {
        let price = Price::new(Money::from_billionths(input), Money::from_billionths(output));
        let mut usage = Usage::default();
        let mut paid = Money::ZERO;
        for (input, output) in &parts {
            let part = Usage::new(*input, *output);
            usage += part;
            paid += price.of(part);
        }
        let whole = price.of(usage);
        prop_assert!(whole <= paid);
        prop_assert!(paid.billionths() - whole.billionths() <= 2 * parts.len() as u64);
    }

    #[test]
    fn what_was_spent_adds_up_in_any_order(mut all in prop::collection::vec(spent(), 0..8)) {
        let sum: Spent = all.iter().copied().sum();
        all.reverse();
        prop_assert_eq!(sum, all.iter().copied().sum());
        for part in all {
            prop_assert!(sum.calls >= part.calls && sum.money >= part.money);
            prop_assert!(sum.usage.total() >= part.usage.total() && sum.time >= part.time);
        }
        let json = serde_json::to_string(&sum).unwrap();
        prop_assert_eq!(serde_json::from_str::<Spent>(&json).unwrap(), sum);
    }

    /// A budget that refuses once does not allow later, however much more is spent.
    #[test]
    fn a_budget_that_is_used_up_stays_so(first in spent(), more in spent(), calls: u64, tokens: u64) {
        let budget = Budget::new().calls(calls).tokens(tokens);
        let mut sum = first;
        sum += more;
        if budget.check(&first).is_err() {
            prop_assert!(budget.check(&sum).is_err());
        }
        let allowed = first.calls < calls && first.usage.total() < tokens;
        prop_assert_eq!(budget.check(&first).is_ok(), allowed);
    }
}
