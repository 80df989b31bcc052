//! Random documents that can be read. Whether they are sound is left to chance.

use flow_spec::document::{
    ADD, ActionDocument, EdgeDocument, EndDocument, MappingsDocument, PollSettings, RetrySettings,
    Schema, SettingsDocument, property, types,
};
use flow_spec::{FlowDocument, NodeDocument};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::dice::{Dice, dice};

const KEYS: [&str; 5] = ["claim", "policy", "größe", "a/b", "~"];
const ACTIONS: [&str; 4] = ["default", "yes", "no", "error"];
const TYPES: [&str; 4] = ["", "String", "Vec<u64>", "HashMap<String, Claim>"];
const WORDS: [&str; 4] = ["", "plain", "with \"quotes\" and \\", "línea\n🦀"];

/// Random documents, some with flows in flows.
pub(crate) fn documents() -> impl Strategy<Value = FlowDocument> {
    dice().prop_map(|numbers| document(&mut Dice::new(numbers), 3))
}

fn document(dice: &mut Dice, depth: usize) -> FlowDocument {
    let mut flow = FlowDocument::new(dice.pick(&["", "Qa", "Größe"]), dice.pick(&["", "a.b"]));
    flow.description = maybe(dice, |dice| dice.pick(&WORDS).to_owned());
    flow.inputs = schema(dice);
    flow.outputs = schema(dice);
    for _ in 0..dice.below(4) {
        node(dice, depth, &mut flow);
    }
    let ids: Vec<String> = flow.nodes.iter().map(|node| node.id.clone()).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    for node in &mut flow.nodes {
        if dice.one_in(6) {
            node.settings.undo = Some(dice.pick(&ids).to_owned());
        }
    }
    let ends_at_start = ids.is_empty() || dice.one_in(6);
    if ends_at_start {
        let label = dice.pick(&ACTIONS).to_owned();
        flow.ends.push(EndDocument {
            from: None,
            condition: None,
            label,
            mappings: renaming(dice, &KEYS),
        });
    }
    if !ids.is_empty() {
        wire(dice, &ids, &mut flow);
        let needs_none = ends_at_start || ids.len() == 1;
        if !needs_none || dice.one_in(2) {
            flow.entry_node_id = Some(dice.pick(&ids).to_owned());
            flow.entry_mappings = renaming(dice, &KEYS);
        }
    }
    flow.dependencies = maybe(dice, params);
    if let Some(dependencies) = &mut flow.dependencies {
        dependencies.retain(|_, value| value.is_string());
    }
    flow
}

fn maybe<T>(dice: &mut Dice, make: impl FnOnce(&mut Dice) -> T) -> Option<T> {
    if dice.one_in(2) {
        Some(make(dice))
    } else {
        None
    }
}

fn wire(dice: &mut Dice, ids: &[&str], flow: &mut FlowDocument) {
    for _ in 0..dice.below(6) {
        let (from, condition) = (dice.pick(ids).to_owned(), dice.pick(&ACTIONS).to_owned());
        if dice.one_in(3) {
            flow.ends.push(EndDocument {
                from: Some(from),
                condition: Some(condition),
                label: dice.pick(&ACTIONS).to_owned(),
                mappings: renaming(dice, &KEYS),
            })
        } else {
            flow.edges.push(EdgeDocument {
                from,
                condition,
                to: dice.pick(ids).to_owned(),
                mappings: renaming(dice, &KEYS),
            })
        }
    }
}

/// Adds a node, and those that stand in it.
fn node(dice: &mut Dice, depth: usize, flow: &mut FlowDocument) {
    let index = flow.nodes.len();
    let mut node = step(dice, flow);
    flow.nodes.push(node.clone());
    match dice.below(11) {
        0 if depth > 0 => node.internal_flow = Some(Box::new(document(dice, depth - 1))),
        1 => node.internal_flow_omitted = true,
        2 => {
            node.r#type = types::FORK.to_owned();
            let branches = [
                vec![part(dice, flow), part(dice, flow)],
                vec![part(dice, flow)],
            ];
            node.params = object(json!({ "branches": branches }));
        }
        3 => {
            node.r#type = types::EACH.to_owned();
            let body = part(dice, flow);
            node.params = object(json!({ "item": "item", "over": "claim", "body": body }));
        }
        4 => {
            node.r#type = types::BRANCH.to_owned();
            let cases = vec![json!({ "when": "score > 3", "action": "yes" }); dice.below(3)];
            node.params = object(json!({ "cases": cases, "otherwise": "no" }));
        }
        5 => {
            node.r#type = types::WAIT.to_owned();
            node.params = object(json!({ "duration": duration(dice) }));
        }
        6 => {
            node.r#type = types::HUMAN.to_owned();
            node.params = object(match dice.below(2) {
                0 => json!({ "prompt": "Deploy {policy}?" }),
                _ => json!({ "prompt": "Deploy {policy}?", "expects": "Approval" }),
            });
        }
        7 => {
            node.r#type = types::SIGNAL.to_owned();
            node.params = object(match dice.below(2) {
                0 => json!({ "expects": "CancelRequest" }),
                _ => json!({ "name": "cancel" }),
            });
        }
        8 => {
            let types = [types::UNDO, types::COMMIT];
            node.r#type = dice.pick(&types).to_owned();
            node.params = Map::new();
        }
        _ => node.params = params(dice),
    }
    flow.nodes[index] = node;
}

/// A new node for the inside of a fork or a loop.
fn part(dice: &mut Dice, flow: &mut FlowDocument) -> String {
    let part = step(dice, flow);
    let id = part.id.clone();
    flow.nodes.push(part);
    id
}

fn step(dice: &mut Dice, flow: &FlowDocument) -> NodeDocument {
    let letter = dice.pick(&["n", "_", "Größe-", "step-"]);
    let inputs = schema(dice);
    let mut outputs = schema(dice);
    for output in outputs.properties.values_mut() {
        if let (Value::Object(output), true) = (output, dice.one_in(4)) {
            output.insert(ADD.to_owned(), Value::Bool(true));
        }
    }
    let mappings = MappingsDocument {
        inputs: renaming(dice, &names(&inputs)),
        outputs: renaming(dice, &names(&outputs)),
    };
    NodeDocument {
        r#type: dice
            .pick(&["review", "pay", "flower", "Chat<Model>"])
            .to_owned(),
        id: format!("{letter}{}", flow.nodes.len()),
        description: maybe(dice, |dice| dice.pick(&WORDS).to_owned()),
        title: maybe(dice, |_| "Review the claim".to_owned()),
        icon: maybe(dice, |_| "🏦".to_owned()),
        group: maybe(dice, |_| "finance".to_owned()),
        tags: if dice.one_in(3) {
            vec!["slow".to_owned(), "by hand".to_owned()]
        } else {
            Vec::new()
        },
        params_omitted: if dice.one_in(5) {
            vec!["*".to_owned()]
        } else {
            Vec::new()
        },
        settings: settings(dice),
        actions: maybe(dice, |dice| actions(dice, &outputs)),
        fallible: dice.one_in(3),
        dependencies: if dice.one_in(5) {
            vec!["model".to_owned()]
        } else {
            Vec::new()
        },
        inputs,
        outputs,
        mappings,
        ..NodeDocument::default()
    }
}

fn settings(dice: &mut Dice) -> SettingsDocument {
    if !dice.one_in(3) {
        return SettingsDocument::default();
    }
    SettingsDocument {
        retry: maybe(dice, |dice| RetrySettings {
            attempts: 1 + dice.below(4) as u32,
            wait: maybe(dice, duration),
            backoff: maybe(dice, |dice| 1.0 + dice.below(100) as f64 / 7.0),
            max_wait: maybe(dice, duration),
            jitter: maybe(dice, |dice| dice.below(8) as f64 / 7.0),
            only_if: maybe(dice, |dice| {
                dice.pick(&["is_transient", "io::Error::is_busy"])
                    .to_owned()
            }),
        }),
        timeout: maybe(dice, duration),
        poll: maybe(dice, |dice| PollSettings {
            every: duration(dice),
            timeout: maybe(dice, duration),
        }),
        concurrency: maybe(dice, |dice| 1 + dice.below(9) as u64),
        spread: maybe(dice, |dice| 1 + dice.below(99) as u64),
        blocking: dice.one_in(2),
        transaction: dice.one_in(4),
        collect_errors: dice.one_in(2),
        undo: None,
        was: None,
    }
}

fn duration(dice: &mut Dice) -> String {
    dice.pick(&["5s", "200ms", "1m 30s", "1.5h", "2 days"])
        .to_owned()
}

fn actions(dice: &mut Dice, outputs: &Schema) -> Vec<ActionDocument> {
    let mut actions = Vec::new();
    for name in &ACTIONS[..1 + dice.below(3)] {
        let mut action = ActionDocument {
            name: (*name).to_owned(),
            ..ActionDocument::default()
        };
        for output in outputs.properties.keys() {
            match dice.below(3) {
                0 => action.writes.push(output.clone()),
                1 => action.may_write.push(output.clone()),
                _ => {}
            }
        }
        actions.push(action);
    }
    actions
}

fn schema(dice: &mut Dice) -> Schema {
    let mut schema = Schema::default();
    for _ in 0..dice.below(4) {
        let (name, rust_type) = (dice.pick(&KEYS), dice.pick(&TYPES));
        let description = dice.pick(&WORDS);
        let description = Some(description).filter(|text| !text.is_empty());
        let required = dice.one_in(2);
        schema.insert(name, property(rust_type, description), required);
    }
    if dice.one_in(5) {
        schema.keywords = object(json!({ "additionalProperties": false }));
    }
    schema
}

fn names(schema: &Schema) -> Vec<&str> {
    schema.properties.keys().map(String::as_str).collect()
}

fn renaming(dice: &mut Dice, names: &[&str]) -> Map<String, Value> {
    let names = names.iter().filter(|_| dice.one_in(4));
    names
        .map(|name| ((*name).to_owned(), json!(format!("{name}_2"))))
        .collect()
}

fn params(dice: &mut Dice) -> Map<String, Value> {
    let mut params = Map::new();
    for _ in 0..dice.below(4) {
        let value = match dice.below(6) {
            0 => json!(null),
            1 => json!(dice.below(7) as f64 / 7.0),
            2 => json!(u64::MAX - dice.below(9) as u64),
            3 => json!([-1, { "zz": [], "aa": {} }]),
            4 => json!("***"),
            _ => json!(dice.pick(&WORDS)),
        };
        params.insert(
            dice.pick(&["temperature", "a/b~", "model", ""]).to_owned(),
            value,
        );
    }
    params
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is no object"),
    }
}
