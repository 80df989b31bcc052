//! Answers of a type: what a model is told, and what its answers are read as.

mod in_flows;
mod in_parts;

use std::collections::BTreeMap;

use flow_agents::{
    Ask, AskError, Message, Messages, ModelError, OutputSchema, Reply, Request, ScriptedModel,
    Stop, Usage, ask,
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

fn question(text: &str) -> Messages {
    Messages::from_iter([Message::user(text)])
}

/// Where something goes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Parcel {
    /// In grams.
    weight: u64,
    to_whom: String,
    note: Option<String>,
    #[serde(default)]
    tags: Vec<Tag>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Tag {
    /// Breaks easily.
    Fragile,
    ThisSideUp,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Outside {
    Nothing,
    Number(i32),
    Fields { name: String },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Inside {
    Nothing,
    SomeFields {
        name: String,
        parcel: Option<Parcel>,
    },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "value")]
enum Beside {
    Nothing,
    Number(u8),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Either {
    Number(f64),
    Parcel(Parcel),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Tree {
    name: String,
    branches: Vec<Tree>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Flat {
    name: String,
    #[serde(flatten)]
    kind: Inside,
}

/// What a model is asked for a type.
async fn asked<T: DeserializeOwned + JsonSchema>() -> Request {
    let model = ScriptedModel::new().text("");
    let messages = question("Well?");
    let asked = Ask::new(&model, &messages).attempts(1);
    let error = asked.answer::<T>().await.map(drop).unwrap_err();
    assert!(matches!(error, AskError::Unfit { .. }), "{error}");
    model.requests().remove(0)
}

/// Finds what a provider that sees to the form of answers would refuse.
fn assert_strict(schema: &Value) {
    const ALLOWED: [&str; 11] = [
        "$defs",
        "$ref",
        "additionalProperties",
        "anyOf",
        "description",
        "enum",
        "format",
        "items",
        "properties",
        "required",
        "type",
    ];
    let Value::Object(object) = schema else {
        panic!("{schema}")
    };
    for key in object.keys() {
        assert!(ALLOWED.contains(&key.as_str()), "{key} in {schema}");
    }
    if let Some(properties) = object.get("properties") {
        assert_eq!(object["additionalProperties"], false, "{schema}");
        let names: Vec<_> = properties.as_object().unwrap().keys().collect();
        assert_eq!(object["required"], json!(names), "{schema}");
    }
    let maps = ["properties", "$defs"]
        .iter()
        .filter_map(|key| object.get(*key));
    maps.flat_map(|it| it.as_object().unwrap().values())
        .for_each(assert_strict);
    object.get("items").into_iter().for_each(assert_strict);
    let choices = object.get("anyOf").and_then(Value::as_array);
    choices.into_iter().flatten().for_each(assert_strict);
}

/// The schema that a provider is given for a type.
async fn strict<T: DeserializeOwned + JsonSchema>() -> OutputSchema {
    let request = asked::<T>().await;
    let Some(output) = request.output else {
        panic!("not strict: {}", request.messages[0].text())
    };
    assert_eq!(output.schema["type"], "object");
    assert_strict(&output.schema);
    output
}

#[tokio::test]
async fn a_provider_is_given_a_schema_as_strict_as_it_asks_for() {
    let mut parcel = strict::<Parcel>().await;
    parcel.schema["required"]
        .as_array_mut()
        .unwrap()
        .sort_by_key(Value::to_string);
    assert_eq!(parcel.name, "Parcel");
    assert_eq!(
        parcel.schema,
        json!({
            "type": "object",
            "description": "Where something goes.",
            "properties": {
                "weight": { "type": "integer", "description": "In grams." },
                "toWhom": { "type": "string" },
                "note": { "type": ["string", "null"] },
                "tags": { "type": "array", "items": { "anyOf": [
                    { "type": "string", "enum": ["this-side-up"] },
                    { "type": "string", "enum": ["fragile"], "description": "Breaks easily." },
                ] } },
            },
            "required": ["note", "tags", "toWhom", "weight"],
            "additionalProperties": false,
        })
    );
    strict::<Tag>().await;
    strict::<Outside>().await;
    strict::<Beside>().await;
    strict::<Either>().await;
    strict::<u64>().await;
    assert_eq!(strict::<Vec<Tree>>().await.name, "Array_of_Tree");
    let inside = strict::<Inside>().await.schema;
    let choices = &inside["properties"]["answer"]["anyOf"];
    assert_eq!(choices[0]["properties"]["kind"]["enum"], json!(["nothing"]));
    let tree = strict::<Tree>().await.schema;
    let inner = |tree: &Value| tree["properties"]["branches"]["items"]["$ref"].clone();
    assert_eq!(inner(&tree), "#/$defs/Tree");
    assert_eq!(inner(&tree["$defs"]["Tree"]), "#/$defs/Tree");
}

#[tokio::test]
async fn a_provider_is_given_no_schema_that_cannot_be_said_strictly() {
    let requests = [
        asked::<BTreeMap<String, u64>>().await,
        asked::<Vec<BTreeMap<String, u64>>>().await,
        asked::<(u64, String)>().await,
        asked::<Value>().await,
        asked::<Vec<Value>>().await,
        asked::<Flat>().await,
    ];
    for request in requests {
        assert_eq!(request.output, None);
        let told = request.messages[0].text();
        assert!(told.contains("fits this JSON Schema"), "{told}");
    }
}

#[tokio::test]
async fn the_schema_is_told_behind_what_the_system_says() {
    let model = ScriptedModel::new().text("7");
    let messages = Messages::from_iter([Message::system("Be brief."), Message::user("How many?")]);
    assert_eq!(ask::<u64>(&model, &messages).await.unwrap(), 7);
    let [system, _] = &model.requests()[0].messages[..] else {
        panic!("{:?}", model.requests())
    };
    let text = system.text();
    let (text, schema) = text.rsplit_once('\n').unwrap();
    assert_eq!(
        text,
        "Be brief.\n\nAnswer only with JSON that fits this JSON Schema, without any text around it:"
    );
    assert_eq!(
        serde_json::from_str::<Value>(schema).unwrap(),
        json!({
            "type": "object",
            "properties": { "answer": { "type": "integer", "format": "uint64", "minimum": 0 } },
            "required": ["answer"],
        })
    );
}

/// What a model's answer is read as.
async fn read<T: DeserializeOwned + JsonSchema>(answer: &str) -> T {
    let model = ScriptedModel::new().text(answer);
    ask(&model, &question("Well?")).await.unwrap()
}

fn parcel() -> Parcel {
    Parcel {
        weight: 7,
        to_whom: "Ann".to_owned(),
        note: None,
        tags: vec![Tag::ThisSideUp],
    }
}

/// A value comes back as it was written, and its JSON fits the schemas that the model was given.
async fn comes_back<T>(value: T)
where
    T: DeserializeOwned + Serialize + JsonSchema + PartialEq + std::fmt::Debug,
{
    let request = asked::<T>().await;
    let told = request.messages[0].text();
    let schema: Value = serde_json::from_str(told.lines().last().unwrap()).unwrap();
    let plain = serde_json::to_value(&value).unwrap();
    let is_wrapped = schema["properties"].get("answer").is_some();
    let json = if is_wrapped {
        json!({ "answer": plain })
    } else {
        plain.clone()
    };
    for schema in [Some(schema), request.output.map(|it| it.schema)]
        .into_iter()
        .flatten()
    {
        let schema = jsonschema::validator_for(&schema).unwrap();
        assert!(schema.is_valid(&json), "{json}");
        assert!(!schema.is_valid(&json!({ "answer": { "answer": 1 } })));
    }
    assert_eq!(read::<T>(&json.to_string()).await, value);
    assert_eq!(read::<T>(&plain.to_string()).await, value);
    let fenced = format!("I think:\n```json\n{json:#}\n```\nWhat do {{you}} think [1]?");
    assert_eq!(read::<T>(&fenced).await, value);
}

#[tokio::test]
async fn values_of_all_shapes_come_back() {
    comes_back(parcel()).await;
    comes_back(Tag::ThisSideUp).await;
    comes_back(Outside::Nothing).await;
    comes_back(Outside::Number(-1)).await;
    comes_back(Outside::Fields {
        name: "}".to_owned(),
    })
    .await;
    comes_back(Inside::Nothing).await;
    let (name, parcel) = ("\"".to_owned(), Some(parcel()));
    comes_back(Inside::SomeFields { name, parcel }).await;
    comes_back(Beside::Nothing).await;
    comes_back(Beside::Number(3)).await;
    comes_back(Either::Number(0.5)).await;
    comes_back(vec![1_u64, 2]).await;
    comes_back((1_u64, "a".to_owned())).await;
    comes_back(BTreeMap::from([("a".to_owned(), 1_u64)])).await;
    comes_back("a text".to_owned()).await;
    let leaf = |name: &str| Tree {
        name: name.to_owned(),
        branches: Vec::new(),
    };
    let branches = vec![leaf("b"), leaf("c")];
    comes_back(Tree {
        name: "a".to_owned(),
        branches,
    })
    .await;
    let kind = Inside::Nothing;
    comes_back(Flat {
        name: "a".to_owned(),
        kind,
    })
    .await;
}

#[tokio::test]
async fn the_last_value_that_fits_is_the_answer() {
    let draft =
        r#"{"weight": 1, "toWhom": "Bob"}, no: {"weight": 7, "toWhom": "Ann"}, {"fine": 1}."#;
    let parcel = read::<Parcel>(draft).await;
    assert_eq!((parcel.weight, &*parcel.to_whom), (7, "Ann"));
}

/// What the model is told after an answer that does not fit.
async fn told<T: DeserializeOwned + JsonSchema>(answer: &str) -> String {
    let model = ScriptedModel::new().text(answer).text("");
    let messages = question("Well?");
    let asked = Ask::new(&model, &messages).attempts(2);
    let error = asked.answer::<T>().await.map(drop).unwrap_err();
    assert!(
        matches!(error, AskError::Unfit { requests: 2, .. }),
        "{error}"
    );
    model.assert_used();
    let messages = &model.requests()[1].messages;
    messages.last().unwrap().text()
}

#[tokio::test]
async fn the_model_is_told_what_does_not_fit_and_where() {
    let parcel =
        |weight: Value, tags: Value| json!({ "weight": weight, "toWhom": "", "tags": tags });
    for (answer, mistake) in [
        ("".to_owned(), "it is empty"),
        ("Seven.".to_owned(), "there is no JSON in it"),
        ("[7]".to_owned(), "there is no JSON object in it"),
        (
            "{\"weight\": 7,".to_owned(),
            "its JSON cannot be read: EOF while parsing a value at line 1 column 13",
        ),
        (
            parcel(json!("7"), json!([])).to_string(),
            "`weight`: invalid type: string \"7\", expected u64",
        ),
        (
            parcel(json!(-1), json!([])).to_string(),
            "`weight`: invalid value: integer `-1`, expected u64",
        ),
        (
            parcel(json!(1), json!(["fragile", "heavy"])).to_string(),
            "`tags[1]`: unknown variant `heavy`, expected `fragile` or `this-side-up`",
        ),
        (json!({ "weight": 7 }).to_string(), "missing field `toWhom`"),
    ] {
        let expected =
            format!("This answer does not fit: {mistake}\nAnswer again, only with JSON that fits.");
        assert_eq!(told::<Parcel>(&answer).await, expected);
    }
    let text = told::<Vec<Parcel>>(r#"{"answer": [{"weight": 1.5}]}"#).await;
    let mistake = "`answer[0].weight`: invalid type: floating point `1.5`, expected u64";
    assert!(text.contains(mistake), "{text}");
    let text = told::<Tag>(r#"{"answer": 1}"#).await;
    assert!(text.contains("fit: `answer`: "), "{text}");
}

#[tokio::test]
async fn the_model_is_asked_again_with_its_answer_and_in_the_same_way() {
    let script = ScriptedModel::new()
        .text("Heavy.")
        .usage(10, 1)
        .text("")
        .usage(20, 2);
    let model = script.text(r#"{"answer": 8}"#).usage(40, 4);
    let messages = question("How heavy?");
    let asked = Ask::new(&model, &messages).temperature(0.5).max_tokens(9);
    let answered = asked.answer::<u64>().await.unwrap();
    assert_eq!((answered.value, answered.requests), (8, 3));
    assert_eq!(answered.usage, Usage::new(70, 7));
    model.assert_used();

    let requests = model.requests();
    for request in &requests {
        assert_eq!(
            (request.temperature, request.max_tokens),
            (Some(0.5), Some(9))
        );
        assert_eq!(request.output, requests[0].output);
        assert_eq!(request.messages[..2], *requests[0].messages);
    }
    // The second answer was empty, which providers refuse to be sent.
    let texts: Vec<_> = requests[2].messages[2..]
        .iter()
        .map(Message::text)
        .collect();
    let why = |mistake| {
        format!("This answer does not fit: {mistake}\nAnswer again, only with JSON that fits.")
    };
    assert_eq!(
        texts,
        [
            "Heavy.".to_owned(),
            why("there is no JSON in it"),
            why("it is empty")
        ]
    );
}

#[tokio::test]
async fn the_last_answer_and_why_it_does_not_fit_are_in_the_error() {
    let long = "x".repeat(400);
    let script = ScriptedModel::new()
        .text("1")
        .usage(1, 1)
        .text(&long)
        .usage(1, 1);
    let messages = question("Whose?");
    let asked = Ask::new(&script, &messages).attempts(2);
    let error = asked.answer::<Parcel>().await.unwrap_err();
    let expected = format!(
        "the answer of the model does not fit; requests: 2; there is no JSON in it; the last answer \
         is \"{}\" and 100 more characters",
        &long[..300]
    );
    assert_eq!(error.to_string(), expected);
    assert_eq!(error.usage(), Usage::new(2, 2));
    let AskError::Unfit { answer, .. } = error else {
        panic!("{error}")
    };
    assert_eq!(answer, long);

    let script = ScriptedModel::new().text("1");
    let asked = Ask::new(&script, &messages).attempts(0);
    asked.answer::<Parcel>().await.unwrap_err();
    script.assert_used();
}

#[tokio::test]
async fn an_answer_that_is_not_complete_is_not_asked_for_again() {
    let cut = Reply::new(
        r#"{"answer": 1"#,
        Vec::new(),
        Usage::new(5, 6),
        Stop::Length,
    );
    let script = ScriptedModel::new().text("?").usage(1, 1).reply(cut);
    let messages = question("How many?");
    let error = Ask::new(&script, &messages)
        .answer::<u64>()
        .await
        .unwrap_err();
    assert_eq!(error.usage(), Usage::new(6, 7));
    assert!(!error.is_transient());
    let AskError::Model {
        source: ModelError::TooLong { .. },
        ..
    } = error
    else {
        panic!("{error:?}")
    };
    script.assert_used();
}
