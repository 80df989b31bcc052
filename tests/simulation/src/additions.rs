//! A second implementation of additions: from the document of a flow and the journal of an execution
//! that is over, it finds what was under the keys to which nodes add whenever a node read one of
//! them. It knows nothing of the engines.

use std::collections::{BTreeMap, BTreeSet};

use flow_durable::{ExecutionId, Record, RecordKind};
use serde_json::{Value, json};

use crate::world::world;

/// The values of the keys to which nodes add.
#[derive(Debug, Clone)]
struct Values {
    /// `log`, a list of numbers.
    log: Vec<u64>,
    /// `total`, their sum.
    total: u64,
    /// `answers`, by their numbers.
    answers: Vec<u64>,
}

/// One value that a node writes.
#[derive(Clone)]
struct Write<'a> {
    key: &'a str,
    adds: bool,
    value: Value,
}

/// What the journal says.
struct Journal<'a> {
    id: ExecutionId,
    steps: BTreeSet<&'a str>,
    /// The outcomes of steps, and the answers, by step.
    outcomes: BTreeMap<&'a str, Value>,
    /// The actions of nodes, by step.
    actions: BTreeMap<&'a str, &'a str>,
}

/// Each node has read what was added before it, in the order of the flow.
pub(crate) fn check(flow: &Value, id: ExecutionId, records: &[&Record]) {
    let of = |kinds: &'static [RecordKind]| {
        let records = records.iter().filter(|record| kinds.contains(&record.kind));
        records.map(|record| (record.step.as_str(), record.payload.as_str()))
    };
    let parsed = |payload| serde_json::from_str(payload).unwrap_or_default();
    let outcomes = of(&[RecordKind::Outcome, RecordKind::Resumed]);
    let journal = Journal {
        id,
        steps: records.iter().map(|record| record.step.as_str()).collect(),
        outcomes: outcomes
            .map(|(step, payload)| (step, parsed(payload)))
            .collect(),
        actions: of(&[RecordKind::NodeFinished]).collect(),
    };
    let first = of(&[RecordKind::NodeStarted]).next();
    if let Some((namespace, _)) = first.and_then(|(step, _)| step.split_once('.')) {
        journal.flow(flow, namespace);
    }
}

impl Journal<'_> {
    /// A run of a flow, as far as it came.
    fn flow(&self, flow: &Value, frame: &str) {
        let mut values = Values {
            log: Vec::new(),
            total: 0,
            answers: Vec::new(),
        };
        let mut visits: BTreeMap<&str, usize> = BTreeMap::new();
        let mut at = flow["entryNodeId"].as_str();
        while let Some(id) = at {
            let visit = visits.entry(id).or_insert(0);
            *visit += 1;
            let step = match visit {
                1 => format!("{frame}.{id}"),
                visit => format!("{frame}.{id}#{visit}"),
            };
            let Some(action) = self.actions.get(&*step) else {
                // What the node has read, it has read all the same.
                self.node(flow, id, &step, &mut values);
                return;
            };
            let writes = self.node(flow, id, &step, &mut values);
            if *action != "error" {
                writes.into_iter().for_each(|write| values.write(write));
            }
            let edges = flow["edges"].as_array().into_iter().flatten();
            let condition =
                |edge: &Value| edge["condition"].as_str().unwrap_or("default") == *action;
            let mut edges = edges.filter(|edge| edge["from"] == id && condition(edge));
            at = edges.next().and_then(|edge| edge["to"].as_str());
        }
    }

    /// A visit to a node. Returns what it writes.
    fn node<'f>(
        &self,
        flow: &'f Value,
        id: &str,
        step: &str,
        values: &mut Values,
    ) -> Vec<Write<'f>> {
        let mut nodes = flow["nodes"].as_array().into_iter().flatten();
        let Some(node) = nodes.find(|node| node["id"] == id) else {
            unreachable!("an edge leads to `{id}`")
        };
        match node["type"].as_str() {
            Some("flow.fork") => self.fork(flow, node, step, values),
            Some("flow.each") => {
                let body = node["params"]["body"].as_str().unwrap_or_default();
                let mut writes = Vec::new();
                for item in 0.. {
                    let step = format!("{step}[{item}]");
                    if !self.is_known(&step) {
                        break;
                    }
                    writes.extend(self.node(flow, body, &step, values));
                }
                // All that a loop does not add is in a list, which is none of these keys.
                writes.retain(|write| write.adds);
                writes
            }
            _ if node.get("internalFlow").is_some() => {
                let inner = &node["internalFlow"];
                let mut frame = step.to_owned();
                for retry in 1.. {
                    self.flow(inner, &frame);
                    let next = format!("{step}~{retry}");
                    if !self.is_known(&next) {
                        break;
                    }
                    frame = next;
                }
                let out = self.outcomes.get(&*format!("{frame}.last")).cloned();
                out.map(|out| write(node, "out", out)).into_iter().collect()
            }
            Some(function) => {
                self.reads(function, step, values);
                let outcome = self.outcomes.get(step).cloned();
                outcome
                    .and_then(|outcome| written(node, outcome))
                    .into_iter()
                    .collect()
            }
            None => Vec::new(),
        }
    }

    /// Each branch sees the values before the fork and what it has written itself. What the branches
    /// add is added in their order.
    fn fork<'f>(
        &self,
        flow: &'f Value,
        node: &Value,
        step: &str,
        values: &Values,
    ) -> Vec<Write<'f>> {
        let mut all = Vec::new();
        for branch in node["params"]["branches"].as_array().into_iter().flatten() {
            let mut own = values.clone();
            for id in branch.as_array().into_iter().flatten() {
                let id = id.as_str().unwrap_or_default();
                let step = format!("{step}.{id}");
                let writes = self.node(flow, id, &step, &mut own);
                for write in &writes {
                    own.write(write.clone());
                }
                all.extend(writes);
            }
        }
        all
    }

    /// Whether the journal has anything of a step, or of those inside it.
    fn is_known(&self, step: &str) -> bool {
        let rest = self.steps.range(step..).next();
        let rest = rest.and_then(|known| known.strip_prefix(step));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '~']))
    }

    /// Compares what a step has read with what is there.
    fn reads(&self, function: &str, step: &str, values: &Values) {
        let id = format!("{}/{step}", self.id);
        world(|world| {
            let Some(read) = world.reads.get(&id) else {
                return;
            };
            let (read, expected) = match function {
                // The first number is of another key.
                "logged" => {
                    let total = std::iter::once(values.total);
                    (&read[1..], total.chain(values.log.clone()).collect())
                }
                "take_log" => (&read[..], values.log.clone()),
                "answered" => (&read[..], values.answers.clone()),
                _ => return,
            };
            if read != expected {
                let message = format!("`{step}` read {read:?}, and {expected:?} was added");
                world.violations.push(message);
            }
        });
    }
}

impl Values {
    fn write(&mut self, Write { key, adds, value }: Write<'_>) {
        // A number, or a number from a person.
        let answer = |value: &Value| value["answer"]["value"].as_u64();
        let of_one = |value: &Value| value.as_u64().or_else(|| answer(value));
        let more: Vec<u64> = match &value {
            Value::Array(values) => values.iter().filter_map(of_one).collect(),
            value => of_one(value).into_iter().collect(),
        };
        let list = match key {
            "total" => {
                let before = if adds { self.total } else { 0 };
                self.total = before + more.iter().sum::<u64>();
                return;
            }
            "log" => &mut self.log,
            "answers" => &mut self.answers,
            _ => return,
        };
        if !adds {
            list.clear();
        }
        list.extend(more);
    }
}

/// The only value of an outcome, unless the action of this outcome has none.
fn written<'a>(node: &'a Value, outcome: Value) -> Option<Write<'a>> {
    let ports = node["outputs"]["properties"].as_object()?;
    let (port, _) = ports.iter().next()?;
    let value = match (node["type"].as_str()?, outcome) {
        ("noted", Value::Object(mut action)) => action.get_mut("Left")?.get_mut(port)?.take(),
        ("noted", _) => return None,
        (_, outcome) => outcome,
    };
    Some(write(node, port, value))
}

fn write<'a>(node: &'a Value, port: &'a str, value: Value) -> Write<'a> {
    let mapped = node["mappings"]["outputs"][port].as_str();
    Write {
        key: mapped.unwrap_or(port),
        adds: node["outputs"]["properties"][port]["add"] == json!(true),
        value,
    }
}
