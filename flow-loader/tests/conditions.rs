//! The types of the conditions of branches, which are checked when a flow is loaded.

use flow_loader::{Format, load, registry};
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
struct Claim {
    amount: u64,
    lines: Vec<Line>,
    note: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
struct Line {
    price: f64,
}

#[node(writes(amount, price, name, urgent, tags, note, claim, any))]
fn facts() -> (
    u64,
    f64,
    String,
    bool,
    Vec<String>,
    Option<String>,
    Claim,
    Value,
) {
    let claim = Claim {
        amount: 3,
        lines: vec![Line { price: 2.5 }],
        note: None,
    };
    let tags = vec!["new".to_owned()];
    let (name, any) = ("Ann".to_owned(), json!({ "deep": [1] }));
    (3, 2.5, name, true, tags, None, claim, any)
}

/// A flow that decides by a condition.
fn document(condition: &str) -> String {
    json!({
        "version": "2.0.0",
        "name": "Decided",
        "nodes": [
            { "type": "facts", "id": "facts" },
            {
                "type": "flow.branch",
                "id": "decide",
                "params": { "cases": [{ "when": condition, "action": "yes" }], "otherwise": "no" }
            },
        ],
        "edges": [{ "from": "facts", "to": "decide", "condition": "default" }],
        "entryNodeId": "facts",
        "ends": [
            { "from": "decide", "condition": "yes", "label": "yes" },
            { "from": "decide", "condition": "no", "label": "no" },
        ],
    })
    .to_string()
}

/// What is wrong with a condition: the message and the help, without the place.
fn wrong(condition: &str) -> Vec<String> {
    match load(document(condition), Format::Json, &registry![facts]) {
        Ok(_) => Vec::new(),
        Err(error) => {
            let problems = error.problems().iter().map(|problem| {
                assert!(problem.pointer.ends_with("/nodes/1/params/cases/0/when"));
                match &problem.help {
                    Some(help) => format!("{} | {help}", problem.message),
                    None => problem.message.clone(),
                }
            });
            problems.collect()
        }
    }
}

#[test]
fn what_would_fail_whatever_the_values_are_is_refused() {
    for (condition, expected) in [
        (
            "name > 100",
            "`name > 100` compares text with a number (`name` is a `String`) | for the text, write `'100'`",
        ),
        (
            "amount == '100'",
            "`amount == '100'` is never true: it compares a number with text (`amount` is a `u64`) | for the number, write `100`",
        ),
        (
            "note != 3",
            "`note != 3` is always true: it compares text with a number (`note` is a `Option<String>`) | for the text, write `'3'`",
        ),
        (
            "!amount",
            "`amount` is a number, and should be true or false (`amount` is a `u64`)",
        ),
        (
            "urgent && name",
            "`name` is text, and should be true or false (`name` is a `String`)",
        ),
        (
            "amount + 1",
            "`amount + 1` is a number, and should be true or false",
        ),
        (
            "amount.total > 1",
            "`amount` is a number, and should be an object (`amount` is a `u64`)",
        ),
        (
            "price * 2 > 4.0",
            "`price * 2` calculates with whole numbers and others, which CEL keeps apart (`price` is a `f64`) | write whole numbers with a point, as in `2.0`, and convert keys with `double(…)`",
        ),
        (
            "amount + 1u > 2",
            "`amount + 1u` calculates with a number with `u`, which CEL keeps apart from others (`amount` is a `u64`) | leave out the `u`",
        ),
        (
            "name - 'A' == 'nn'",
            "`name - 'A'` calculates with text and text (`name` is a `String`)",
        ),
        (
            "size(amount) > 1",
            "`amount` is a number, and should be text or a list or an object (`amount` is a `u64`)",
        ),
        (
            "tags.contains('new')",
            "`tags` is a list, and should be text (`tags` is a `Vec<String>`)",
        ),
        (
            "3 in tags",
            "`3 in tags` is never true: it looks for a number, and finds text (`tags` is a `Vec<String>`)",
        ),
        (
            "'A' in name",
            "`name` is text, and should be a list or an object (`name` is a `String`)",
        ),
        (
            "tags.exists(tag, tag > 3)",
            "`tag > 3` compares text with a number | for the text, write `'3'`",
        ),
        (
            "amount.all(one, one > 3)",
            "`amount` is a number, and should be a list or an object (`amount` is a `u64`)",
        ),
        (
            "tags < ['a']",
            "`tags < ['a']` compares a list with a list, which have no order (`tags` is a `Vec<String>`)",
        ),
        (
            "amount ? urgent : false",
            "`amount` is a number, and should be true or false (`amount` is a `u64`)",
        ),
    ] {
        let expected = format!("the condition does not fit: {expected}");
        assert_eq!(wrong(condition), [expected], "{condition}");
    }
}

#[test]
fn all_that_is_wrong_with_a_condition_is_said() {
    assert_eq!(wrong("name > 1 && (!amount || tags == 2)").len(), 3);
}

/// None of these is refused, and none of them fails.
#[tokio::test]
async fn what_can_be_true_is_loaded_and_runs() {
    for (condition, expected) in [
        ("amount > 2.5 && amount == 3", "yes"),
        ("amount + 1 > 3 && -amount < 0 && amount % 2 == 1", "yes"),
        ("price * 2.0 == 5.0 && double(amount) > price", "yes"),
        (
            "name == 'Ann' && name + '!' > 'A' && name.startsWith('A')",
            "yes",
        ),
        ("note == null || note == 'x'", "yes"),
        ("note != null && note.size() > 1", "no"),
        ("urgent == true && !(urgent != true)", "yes"),
        (
            "'new' in tags && tags[0] == 'new' && size(tags) + 1 == 2",
            "yes",
        ),
        (
            "tags.exists(tag, tag == 'new') && tags.all(tag, size(tag) < 4)",
            "yes",
        ),
        ("tags.exists_one(tag, tag > 'a')", "yes"),
        ("tags.map(tag, tag + '!')[0] == 'new!'", "yes"),
        ("tags.filter(tag, tag == 'old') == []", "yes"),
        ("claim.amount == amount && claim['amount'] + 1 == 4", "yes"),
        (
            "claim.lines[0].price * 2.0 > 4.0 && claim.note == null",
            "yes",
        ),
        ("claim.lines.all(line, line.price > 1)", "yes"),
        ("any.deep[0] == 1 && any.deep.size() == 1", "yes"),
        ("has(any.other) || has(claim.note)", "yes"),
        ("(urgent ? amount : 7) == 3", "yes"),
        ("amount in [1, 2, 3] && 'deep' in any", "yes"),
        ("string(amount) == '3' && int(price) == 2", "yes"),
    ] {
        assert_eq!(wrong(condition), [""; 0], "{condition}");
        let flow = load(document(condition), Format::Json, &registry![facts]).unwrap();
        let output = flow.run(json!({})).await;
        let output = output.unwrap_or_else(|error| panic!("{condition}: {error}"));
        assert_eq!(output["end"], expected, "{condition}");
    }
}

/// Without the schema, the fields of a type are not known.
#[test]
fn fields_are_known_from_the_schema() {
    let expected = [
        (
            "claim.amuont > 1",
            "`claim` has no field `amuont` (`claim` is a `Claim`) | did you mean `amount`?",
        ),
        (
            "claim['amount'] == 'x'",
            "`claim['amount'] == 'x'` is never true: it compares a number with text",
        ),
        (
            "claim.lines.exists(line, line.cost > 1)",
            "`line` has no field `cost` | there is `price`",
        ),
    ];
    for (condition, expected) in expected {
        let found = wrong(condition);
        if cfg!(feature = "schemars") {
            let expected = format!("the condition does not fit: {expected}");
            assert_eq!(found, [expected], "{condition}");
        } else {
            assert_eq!(found, [""; 0], "{condition}");
        }
    }
}

/// A mistake elsewhere does not hide that a condition does not fit, nor do those within an inner flow.
#[test]
fn conditions_that_do_not_fit_are_reported_with_what_else_is_wrong() {
    let mut flow: Value = serde_json::from_str(&document("name > 100")).unwrap();
    let mut inner = flow.clone();
    inner["nodes"][1]["params"]["cases"][0]["when"] = json!("tags > 3");
    flow["nodes"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "type": "flow", "id": "inner", "internalFlow": inner }));
    // `no` goes nowhere, and nothing leads to the inner flow.
    flow["ends"].as_array_mut().unwrap().pop();
    let error = load(flow.to_string(), Format::Json, &registry![facts]).unwrap_err();
    let problems = error.problems().iter();
    let found: Vec<_> = problems
        .map(|problem| format!("{} {}", problem.code, problem.pointer))
        .collect();
    let expected = [
        "F002 /nodes/1",
        "F005 /nodes/2",
        "F008 /nodes/2/internalFlow/nodes/1/params/cases/0/when",
        "F008 /nodes/1/params/cases/0/when",
    ];
    assert_eq!(found, expected);
}

/// What an unreadable condition would read is not known: only that it cannot be read is said.
#[test]
fn a_condition_that_cannot_be_read_is_the_only_mistake() {
    let mut flow: Value = serde_json::from_str(&document("flag &&")).unwrap();
    flow["inputs"] = json!({ "type": "object", "properties": { "flag": { "rustType": "bool", "default": true } } });
    let error = load(flow.to_string(), Format::Json, &registry![facts]).unwrap_err();
    let problems: Vec<(&str, &str)> = error
        .problems()
        .iter()
        .map(|problem| (problem.pointer.as_str(), problem.message.as_str()))
        .collect();
    let [(pointer, message)] = problems[..] else {
        panic!("{problems:?}");
    };
    assert_eq!(pointer, "/nodes/1/params/cases/0/when");
    assert!(
        message.starts_with("the condition cannot be used: it is not an expression in CEL"),
        "{message}"
    );
}
