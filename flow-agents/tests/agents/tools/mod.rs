//! Nodes and flows as tools.

mod nested;
mod within;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flow_agents::{Tool, ToolCall, ToolDefinition, ToolError, Tools, tools};
use flow_runtime::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Calls a tool in a node, as an agent does.
struct Caller(Tools);

#[node(writes = result)]
impl Caller {
    async fn exec(&self, cx: &Context, call: &ToolCall) -> String {
        // What a check says is what a call says, unless the tool was called.
        let checked = self.0.check(cx, call).map_err(|error| error.to_string());
        match self.0.call(cx, call).await {
            Ok(result) => {
                assert_eq!(checked, Ok(()));
                result
            }
            Err(error) => {
                let was_called = matches!(error, ToolError::Failed(_));
                let refused = if was_called {
                    Ok(())
                } else {
                    Err(error.to_string())
                };
                assert_eq!(checked, refused);
                format!("Error: {error}")
            }
        }
    }
}

flow! {
    Call(call: ToolCall) -> (result: String) {
        node caller: Caller;
        start >> caller >> end;
    }
}

async fn called(tools: &Tools, name: &str, arguments: Value) -> String {
    let call = ToolCall::new("call_1", name, &arguments);
    let flow = Call::builder().caller(Caller(tools.clone())).build();
    flow.run(CallInput { call }).await.unwrap().result
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Unit {
    Celsius,
    Fahrenheit,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Code {
    Text(String),
    Number(f64),
}

/// Says all of its arguments.
#[node]
fn say(
    /// A text.
    text: &str,
    /// A number.
    number: Option<f64>,
    /// A unit.
    unit: Unit,
    /// Several words.
    words: &[String],
    /// Numbers by name.
    numbers: BTreeMap<String, f64>,
    /// A text or a number.
    code: &Code,
) -> String {
    format!("{text} {number:?} {unit:?} {words:?} {numbers:?} {code:?}")
}

/// ME-04
#[test]
fn the_schema_of_arguments() {
    let say = &tools![say].definitions()[0];
    assert_eq!(
        (say.name.as_str(), say.description.as_str()),
        ("say", "Says all of its arguments.")
    );
    assert_eq!(
        say.parameters,
        json!({
            "type": "object",
            "properties": {
                "text": { "type": "string", "description": "A text." },
                "number": { "type": "number", "description": "A number." },
                "unit": { "type": "string", "enum": ["celsius", "fahrenheit"], "description": "A unit." },
                "words": { "type": "array", "items": { "type": "string" }, "description": "Several words." },
                "numbers": {
                    "type": "object",
                    "additionalProperties": { "type": "number" },
                    "description": "Numbers by name.",
                },
                "code": {
                    "anyOf": [{ "type": "string" }, { "type": "number" }],
                    "description": "A text or a number.",
                },
            },
            "required": ["text", "unit", "words", "numbers", "code"],
            "additionalProperties": false,
        })
    );
}

#[tokio::test]
async fn arguments_reach_the_node() {
    let arguments = json!({
        "text": "hot", "unit": "celsius", "words": ["a", "b"], "numbers": { "x": 1 }, "code": "7",
    });
    assert_eq!(
        called(&tools![say], "say", arguments).await,
        r#"hot None Celsius ["a", "b"] {"x": 1.0} Text("7")"#
    );
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
struct Filter {
    years: Vec<u16>,
}

static CALLS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Searches.
#[node]
fn search(query: &str, filter: Option<Filter>, limit: Option<&u32>) -> Result<Vec<String>, String> {
    CALLS.lock().unwrap().push(query.to_owned());
    match (query, limit) {
        ("", _) => Err("there is nothing to search for".to_owned()),
        (_, Some(0)) => Ok(Vec::new()),
        _ => Ok(vec![format!(
            "{query} {:?}",
            filter.map(|filter| filter.years)
        )]),
    }
}

/// ME-05, of a call: the agent is in another test.
#[tokio::test]
async fn a_call_with_wrong_arguments_is_not_made() {
    let tools = tools![search];
    for (arguments, refused) in [
        (json!({}), "`query` is missing"),
        (
            json!({ "query": null }),
            "`query`: invalid type: null, expected a string",
        ),
        (
            json!({ "query": 7 }),
            "`query`: invalid type: integer `7`, expected a string",
        ),
        (
            json!({ "query": "a", "filter": { "years": [1999, "x"] } }),
            "`filter`, at `years[1]`: invalid type: string \"x\", expected u16",
        ),
        (
            json!({ "query": "a", "limit": -1 }),
            "`limit`: invalid value: integer `-1`, expected u32",
        ),
        (
            json!({ "limits": 1 }),
            "`query` is missing; the tool has no argument `limits`: it has `query`, `filter`, `limit`",
        ),
        (
            json!(["a"]),
            "the arguments are not a JSON object: invalid type: sequence, expected a map at line 1 column 0",
        ),
    ] {
        let result = called(&tools, "search", arguments.clone()).await;
        assert_eq!(result, format!("Error: {refused}"), "{arguments}");
    }
    assert_eq!(*CALLS.lock().unwrap(), [""; 0]);

    let found = called(&tools, "search", json!({ "query": "a", "limit": null })).await;
    assert_eq!(found, r#"["a None"]"#);
    let found = called(&tools, "search", json!({ "query": "b", "limit": 0 })).await;
    assert_eq!(found, "[]");
    let failed = called(&tools, "search", json!({ "query": "" })).await;
    assert_eq!(failed, "Error: there is nothing to search for");
    assert_eq!(*CALLS.lock().unwrap(), ["a", "b", ""]);

    let unknown = called(&tools, "serach", json!({})).await;
    assert_eq!(unknown, "Error: Tool 'serach' not found; there are: search");
    let unknown = called(&Tools::new(), "search", json!({})).await;
    assert_eq!(
        unknown,
        "Error: Tool 'search' not found; there are no tools"
    );
}

#[derive(Action)]
enum Verdict {
    Approved { amount: u64 },
    Rejected,
}

/// Reviews a claim.
#[node(writes = length, actions = Verdict)]
fn review(claim: &str) -> (usize, Verdict) {
    let verdict = match claim {
        "" => Verdict::Rejected,
        claim => Verdict::Approved {
            amount: claim.len() as u64 * 2,
        },
    };
    (claim.len(), verdict)
}

#[node]
fn forget() {}

#[node(writes(first, second))]
fn halves(text: String) -> (String, Option<String>) {
    let (first, second) = text.split_at(text.len() / 2);
    (
        first.to_owned(),
        (!second.is_empty()).then(|| second.to_owned()),
    )
}

#[tokio::test]
async fn results_of_each_form() {
    let tools = tools![review, forget, halves];
    for (name, arguments, result) in [
        (
            "review",
            json!({ "claim": "taxi" }),
            r#"{"action":"approved","amount":8,"length":4}"#,
        ),
        (
            "review",
            json!({ "claim": "" }),
            r#"{"action":"rejected","length":0}"#,
        ),
        ("forget", json!({}), "Done."),
        (
            "halves",
            json!({ "text": "abcd" }),
            r#"{"first":"ab","second":"cd"}"#,
        ),
        (
            "halves",
            json!({ "text": "" }),
            r#"{"first":"","second":null}"#,
        ),
    ] {
        let called = called(&tools, name, arguments).await;
        assert_eq!(parsed(&called), parsed(result), "{name}");
    }
}

/// A result, as JSON if it is that.
fn parsed(result: &str) -> Value {
    serde_json::from_str(result).unwrap_or_else(|_| result.into())
}

/// A client.
struct Refund {
    paid: Arc<Mutex<Vec<u64>>>,
}

/// Pays back.
#[node(retry(attempts = 3))]
impl Refund {
    async fn exec(
        &self,
        cx: &Context,
        /// In cents.
        amount: u64,
    ) -> Result<String, String> {
        cx.emit("paying");
        self.paid.lock().unwrap().push(amount);
        match cx.attempt() {
            1 => Ok(format!("{} paid at {}", amount, cx.namespace())),
            _ => Err("no connection".to_owned()),
        }
    }
}

#[derive(Default)]
struct Slow;

/// Never ends.
#[node(timeout = "5s")]
impl Slow {
    async fn exec(&self) -> String {
        tokio::time::sleep(Duration::from_secs(60)).await;
        String::new()
    }
}

#[tokio::test(start_paused = true)]
async fn a_type_keeps_its_value_and_its_settings() {
    let paid = Arc::new(Mutex::new(Vec::new()));
    let tools = tools![
        Refund = Refund {
            paid: Arc::clone(&paid)
        },
        Slow
    ];
    assert_eq!(tools.names().collect::<Vec<_>>(), ["refund", "slow"]);
    assert_eq!(
        called(&tools, "refund", json!({ "amount": 5 })).await,
        "5 paid at call.caller.refund"
    );
    assert_eq!(*paid.lock().unwrap(), [5, 5]);
    assert_eq!(
        called(&tools, "slow", json!({})).await,
        "Error: timed out after 5s"
    );
}

#[node(writes = text)]
fn loud(text: &str) -> String {
    text.to_uppercase()
}

#[derive(Action)]
enum Length {
    Short,
    Long,
}

#[node(actions = Length)]
fn measure(text: &str, limit: &usize, unit: Option<&Unit>) -> Length {
    if text.len() > *limit && unit.is_none() {
        Length::Long
    } else {
        Length::Short
    }
}

flow! {
    /// Says a text loudly.
    Loud(
        /// What to say.
        text: String,
    ) -> (text: String) {
        start >> loud >> end;
    }
}

flow! {
    /// Measures a text.
    Measure(text: String, limit: usize = 3, unit: Option<Unit>) -> (text: String) {
        start >> measure;
        measure - "short" >> end;
        measure - "long" >> end("long");
    }
}

#[tokio::test]
async fn flows_are_tools_too() {
    let tools = tools![Loud, Measure = Measure::new()];
    assert_eq!(
        serde_json::to_value(tools.definitions()).unwrap(),
        json!([
            {
                "name": "loud",
                "description": "Says a text loudly.",
                "parameters": {
                    "type": "object",
                    "properties": { "text": { "type": "string", "description": "What to say." } },
                    "required": ["text"],
                    "additionalProperties": false,
                },
            },
            {
                "name": "measure",
                "description": "Measures a text.",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "text": { "type": "string" },
                        "limit": { "type": "integer", "minimum": 0 },
                        "unit": { "type": "string", "enum": ["celsius", "fahrenheit"] },
                    },
                    "required": ["text"],
                    "additionalProperties": false,
                },
            },
        ])
    );
    for (name, arguments, result) in [
        ("loud", json!({ "text": "hey" }), "HEY"),
        ("loud", json!({}), "Error: input `text`: it is missing"),
        (
            "measure",
            json!({ "text": "hey" }),
            r#"{"end":"default","text":"hey"}"#,
        ),
        (
            "measure",
            json!({ "text": "hey", "limit": 2 }),
            r#"{"end":"long","text":"hey"}"#,
        ),
    ] {
        let called = called(&tools, name, arguments).await;
        assert_eq!(parsed(&called), parsed(result), "{name}");
    }
}

/// A tool that is not a node.
struct Plain(ToolDefinition);

fn plain(name: &str, description: &str) -> Plain {
    Plain(ToolDefinition::new(
        name,
        description,
        json!({ "type": "object" }),
    ))
}

#[async_trait::async_trait]
impl Tool for Plain {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    async fn call(&self, _: &Context, _: Map<String, Value>) -> Result<String, ToolError> {
        Ok(self.0.name.clone())
    }
}

/// ME-03
#[test]
fn a_set_of_tools() {
    let names = |tools: &Tools| tools.names().map(str::to_owned).collect::<Vec<_>>();
    let mut some = tools![search, say];
    let error = some.extend(&tools![forget, search]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "both sets of tools have one with the name `search`"
    );
    assert_eq!(names(&some), ["search", "say"]);
    some.extend(&tools![forget]).unwrap();
    assert_eq!(names(&some), ["search", "say", "forget"]);
    assert!(some.remove("say"));
    assert!(!some.remove("say"));
    assert_eq!(names(&some), ["search", "forget"]);
    assert!(!some.add(plain("forget", "")));
    assert!(some.replace("search", plain("find", "")));
    assert!(!some.replace("search", plain("seek", "")));
    assert!(!some.replace("find", plain("forget", "")));
    assert!(some.replace("find", plain("find", "once more")));
    assert_eq!(names(&some), ["find", "forget"]);
    assert_eq!(some.definitions()[0].description, "once more");
    some.clear();
    assert!(some.is_empty());
}

struct Answering(&'static str);

#[node]
impl Answering {
    async fn exec(&self) -> String {
        tokio::task::yield_now().await;
        self.0.to_owned()
    }
}

/// ME-09, of tools: sets that are used at the same time share nothing, and a copy can be added to.
#[tokio::test]
async fn tools_of_one_name_in_two_sets() {
    let with = |text: &'static str| {
        let mut tools = tools![Answering = Answering(text)];
        let copy = tools.clone();
        tools.add(plain("other", ""));
        assert_eq!(copy.names().count() + 1, tools.names().count());
        tools
    };
    let (one, two) = (with("one"), with("two"));
    let (first, second) = tokio::join!(
        called(&one, "answering", json!({})),
        called(&two, "answering", json!({}))
    );
    assert_eq!((first.as_str(), second.as_str()), ("one", "two"));
}
