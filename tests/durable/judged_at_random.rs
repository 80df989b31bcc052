//! The law of changes over random flows and random changes of them: what a diff calls compatible
//! continues from wherever an execution stands, and for what it calls breaking there is an execution
//! that does not.
//!
//! `JUDGED_FLOWS` says how many flows are tried, and `JUDGED_FROM` with which number to begin.

use std::env;
use std::mem;
use std::sync::Arc;

use fastrand::Rng;
use flow_durable::Durable;
use flow_loader::{Format, Registry, load, registry};
use flow_runtime::engine::AnyFlow;
use flow_runtime::prelude::*;
use flow_spec::FlowDocument;
use flow_spec::diff::Effect;
use serde_json::{Value, json};

use crate::changed::Go;
use crate::judged::{done, is_refused, one, three, two, whole};

#[node]
fn both(number: &u64, items: &[u64]) -> u64 {
    number + items.iter().sum::<u64>()
}

/// What is added begins as an empty list.
#[node]
fn empty() -> Vec<u64> {
    Vec::new()
}

#[node]
fn count(log: &[u64]) -> usize {
    log.len()
}

/// How many flows are tried, each with some changes of it.
const FLOWS: u64 = 8;
const CHANGES: usize = 2;

/// A part of a flow. Each has a name, by which it is the same after a change.
#[derive(Debug, Clone)]
struct Piece {
    id: String,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Step(&'static str),
    /// Adds a number to `log`.
    Add(&'static str),
    Ask,
    Wait(u64),
    Loop {
        at_once: u64,
        /// Whether it adds its results to `log`. Then the body is a step.
        adds: bool,
        body: Option<Vec<Piece>>,
    },
    Fork(Vec<Vec<Piece>>),
    Flow(Vec<Piece>),
    Branch {
        limit: u64,
        low: Vec<Piece>,
        high: Vec<Piece>,
    },
}

/// Makes flows, in which no two parts have the same name.
struct Maker {
    rng: Rng,
    parts: usize,
}

impl Maker {
    fn pieces(&mut self, count: usize, depth: usize) -> Vec<Piece> {
        (0..count).map(|_| self.piece(depth)).collect()
    }

    fn piece(&mut self, depth: usize) -> Piece {
        self.parts += 1;
        let id = format!("part_{}", self.parts);
        let kind = match self.rng.u8(..if depth == 0 { 7 } else { 12 }) {
            0..3 => Kind::Step(self.step()),
            3 => Kind::Add(self.step()),
            4 => Kind::Ask,
            5 => Kind::Wait(self.rng.u64(1..4)),
            6 => Kind::Loop {
                at_once: self.rng.u64(1..4),
                adds: self.rng.bool(),
                body: None,
            },
            7 | 8 => Kind::Fork((0..2).map(|_| self.branch()).collect()),
            9 => Kind::Flow(self.some(1..4, depth - 1)),
            10 => Kind::Loop {
                at_once: self.rng.u64(1..3),
                adds: false,
                body: Some(self.some(1..3, depth - 1)),
            },
            _ => Kind::Branch {
                limit: self.rng.u64(1..4),
                low: self.some(0..3, depth - 1),
                high: self.some(0..2, depth - 1),
            },
        };
        Piece { id, kind }
    }

    fn step(&mut self) -> &'static str {
        self.rng.choice(["one", "two", "three"]).unwrap_or("one")
    }

    fn some(&mut self, count: std::ops::Range<usize>, depth: usize) -> Vec<Piece> {
        let count = self.rng.usize(count);
        self.pieces(count, depth)
    }

    /// The branch of a fork: steps, questions and flows.
    fn branch(&mut self) -> Vec<Piece> {
        let mut pieces = self.some(1..3, 0);
        for piece in &mut pieces {
            if matches!(piece.kind, Kind::Wait(_) | Kind::Loop { .. }) {
                piece.kind = Kind::Flow(vec![piece.clone()]);
                piece.id.push('f');
            }
        }
        pieces
    }

    /// Changes one place of the flow.
    fn change(&mut self, pieces: &mut Vec<Piece>) {
        if !pieces.is_empty() && self.rng.bool() {
            let at = self.rng.usize(..pieces.len());
            if self.change_inside(&mut pieces[at].kind) {
                return;
            }
        }
        let at = self.rng.usize(..=pieces.len());
        match self.rng.u8(..4) {
            0 if pieces.len() > 1 => drop(pieces.remove(at.min(pieces.len() - 1))),
            1 if pieces.len() > 1 => {
                let at = at.min(pieces.len() - 2);
                pieces.swap(at, at + 1);
            }
            2 if !pieces.is_empty() => {
                self.parts += 1;
                let at = at.min(pieces.len() - 1);
                let (id, inner) = (format!("part_{}", self.parts), pieces[at].clone());
                pieces[at] = Piece {
                    id,
                    kind: Kind::Flow(vec![inner]),
                };
            }
            _ => {
                let piece = self.piece(0);
                pieces.insert(at, piece);
            }
        }
    }

    /// Changes what a part is. Returns false if there is nothing to change in it.
    fn change_inside(&mut self, kind: &mut Kind) -> bool {
        match kind {
            Kind::Step(name) | Kind::Add(name) => {
                *name = if *name == "one" { "two" } else { "one" }
            }
            Kind::Ask => return false,
            Kind::Wait(seconds) => *seconds += 1,
            Kind::Loop {
                at_once,
                body: None,
                ..
            } => *at_once = *at_once % 3 + 1,
            Kind::Loop {
                body: Some(body), ..
            } => self.change(body),
            Kind::Fork(branches) => {
                let at = self.rng.usize(..branches.len());
                let mut branch = mem::take(&mut branches[at]);
                if self.rng.bool() && branch.len() > 1 {
                    branch.swap(0, 1);
                } else {
                    branch.extend(self.branch());
                }
                branches[at] = branch;
            }
            Kind::Flow(pieces) => self.change(pieces),
            Kind::Branch { limit, low, high } => match self.rng.u8(..3) {
                0 => *limit = *limit % 3 + 1,
                1 => self.change(low),
                _ => self.change(high),
            },
        }
        true
    }
}

/// What is written of a flow in its document.
#[derive(Default)]
struct Written {
    nodes: Vec<Value>,
    edges: Vec<Value>,
}

impl Written {
    /// Writes the parts one behind the other. Returns the first node and the ways out of the last one.
    fn chain(&mut self, path: &str, pieces: &[Piece]) -> Option<(String, Vec<(String, String)>)> {
        let mut first = None;
        let mut ways: Vec<(String, String)> = Vec::new();
        for piece in pieces {
            let next = self.node(path, piece);
            for (from, action) in ways.drain(..) {
                self.edges
                    .push(json!({ "from": from, "to": piece.id, "condition": action }));
            }
            first.get_or_insert_with(|| piece.id.clone());
            ways = next;
        }
        Some((first?, ways))
    }

    /// Writes a part. Returns the ways out of it.
    fn node(&mut self, path: &str, piece: &Piece) -> Vec<(String, String)> {
        let id = &piece.id;
        let path = format!("{path}.{id}");
        let way = |action: &str| (id.clone(), action.to_owned());
        let mut ways = vec![way("default")];
        let node = match &piece.kind {
            Kind::Step(name) => {
                json!({ "type": name, "id": id, "mappings": { "outputs": { *name: id } } })
            }
            Kind::Add(name) => adding(name, id),
            Kind::Ask => json!({
                "type": "flow.human", "id": id, "params": { "expects": "Go", "prompt": "Go?" },
                "mappings": { "outputs": { "go": id } },
            }),
            Kind::Wait(seconds) => json!({
                "type": "flow.wait", "id": id, "params": { "duration": format!("{seconds}s") },
            }),
            Kind::Loop {
                at_once,
                adds,
                body,
            } => {
                let inner = format!("{id}_body");
                self.nodes.push(match body {
                    None if *adds => adding("done", &inner),
                    None => json!({ "type": "done", "id": inner }),
                    Some(pieces) => flow(&inner, &path, pieces),
                });
                json!({
                    "type": "flow.each", "id": id, "settings": { "concurrency": at_once },
                    "params": { "item": "item", "over": "items", "body": inner },
                })
            }
            Kind::Fork(branches) => {
                let mut ids = Vec::new();
                for branch in branches {
                    for piece in branch {
                        self.node(path.rsplit_once('.').map_or("", |(path, _)| path), piece);
                    }
                    ids.push(branch.iter().map(|piece| &piece.id).collect::<Vec<_>>());
                }
                json!({ "type": "flow.fork", "id": id, "params": { "branches": ids } })
            }
            Kind::Flow(pieces) => flow(id, &path, pieces),
            Kind::Branch { limit, low, high } => {
                let outer = path.rsplit_once('.').map_or("", |(path, _)| path);
                ways.clear();
                for (action, side) in [("low", low), ("high", high)] {
                    match self.chain(outer, side) {
                        None => ways.push(way(action)),
                        Some((first, out)) => {
                            self.edges
                                .push(json!({ "from": id, "to": first, "condition": action }));
                            ways.extend(out);
                        }
                    }
                }
                let when = format!("number < {limit}");
                json!({
                    "type": "flow.branch", "id": id,
                    "params": { "cases": [{ "when": when, "action": "low" }], "otherwise": "high" },
                })
            }
        };
        self.nodes.push(node);
        ways
    }
}

/// A node that adds a number to `log`.
fn adding(name: &str, id: &str) -> Value {
    json!({
        "type": name, "id": id,
        "outputs": { "type": "object", "properties": { name: { "add": true } } },
        "mappings": { "outputs": { name: "log" } },
    })
}

/// A node that is a flow.
fn flow(id: &str, path: &str, pieces: &[Piece]) -> Value {
    let name = format!("Flow_{id}");
    json!({ "type": name, "id": id, "internalFlow": document(&name, path, pieces) })
}

/// A flow that begins with a step which reads all inputs, as somebody has to, and with one that
/// writes `log`, which the last step reads.
fn document(name: &str, path: &str, pieces: &[Piece]) -> Value {
    let step = |id: &str, name| Piece {
        id: id.to_owned(),
        kind: Kind::Step(name),
    };
    let begin = [step("begin", "both"), step("log", "empty")];
    let last = [step("count", "count")];
    let mut written = Written::default();
    let all = [&begin, pieces, &last].concat();
    let (first, ways) = written.chain(path, &all).unwrap();
    let end = |(from, action)| json!({ "from": from, "condition": action, "label": "default" });
    let list = json!({ "type": "array", "items": {}, "rustType": "Vec<u64>" });
    json!({
        "version": "2.0.0", "name": name, "namespace": path,
        "inputs": {
            "type": "object", "required": ["items", "number"],
            "properties": { "items": list, "number": { "type": "integer", "rustType": "u64" } },
        },
        "outputs": { "type": "object", "properties": {} },
        "nodes": written.nodes, "edges": written.edges, "entryNodeId": first,
        "ends": ways.into_iter().map(end).collect::<Vec<_>>(),
    })
}

fn loaded(pieces: &[Piece]) -> Arc<dyn AnyFlow<Durable>> {
    let document = document("Judged", "judged", pieces).to_string();
    let nodes: Registry = registry![both, empty, count, one, two, three, done, Go];
    match load(&document, Format::Json, &nodes) {
        Ok(flow) => Arc::new(flow),
        Err(error) => panic!("{error}\n{document}"),
    }
}

fn has_branch(pieces: &[Piece]) -> bool {
    pieces.iter().any(|piece| match &piece.kind {
        Kind::Branch { .. } => true,
        Kind::Flow(pieces)
        | Kind::Loop {
            body: Some(pieces), ..
        } => has_branch(pieces),
        Kind::Fork(branches) => branches.iter().any(|branch| has_branch(branch)),
        _ => false,
    })
}

fn number(name: &str, otherwise: u64) -> u64 {
    match env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name}: {text}")),
        Err(_) => otherwise,
    }
}

#[tokio::test(start_paused = true)]
async fn a_diff_says_which_changes_break_executions() {
    let from = number("JUDGED_FROM", 0);
    let (mut compatible, mut breaking, mut unshown) = (0, 0, 0);
    for seed in from..from + number("JUDGED_FLOWS", FLOWS) {
        let mut maker = Maker {
            rng: Rng::with_seed(seed),
            parts: 0,
        };
        let old_pieces = maker.some(2..5, 2);
        let old = loaded(&old_pieces);
        let mut journals = Vec::new();
        for given in [
            (0, [3, 1, 2]),
            (1, [1, 2, 3]),
            (2, [3, 3, 1]),
            (3, [1, 1, 2]),
        ] {
            let input = json!({ "number": given.0, "items": given.1 });
            journals.push(whole(&old, &input).await);
        }
        for _ in 0..CHANGES {
            let mut new_pieces = old_pieces.clone();
            for _ in 0..maker.rng.usize(1..3) {
                maker.change(&mut new_pieces);
            }
            let new = loaded(&new_pieces);
            let parse = |flow: &dyn AnyFlow<Durable>| FlowDocument::parse_spec(flow.structure());
            let diff = flow_spec::diff(&parse(&*old).unwrap(), &parse(&*new).unwrap());
            let breaks = diff
                .changes
                .iter()
                .any(|change| change.executions == Effect::Breaking);
            let mut refused = 0;
            for journal in &journals {
                // The last record says that it is over.
                for length in 1..journal.2.len() {
                    refused += u32::from(is_refused(journal, length, &new).await);
                }
            }
            assert!(
                breaks || refused == 0,
                "flow {seed}: {refused} refused:\n{diff}\n{old_pieces:?}\n{new_pieces:?}"
            );
            // No input may take all the ways through branches.
            let is_shown = refused > 0 || has_branch(&old_pieces) || has_branch(&new_pieces);
            assert!(
                !breaks || is_shown,
                "flow {seed}: none refused:\n{diff}\n{old_pieces:?}\n{new_pieces:?}"
            );
            compatible += u32::from(!breaks);
            breaking += u32::from(breaks);
            unshown += u32::from(breaks && refused == 0);
        }
    }
    println!("{compatible} compatible, {breaking} breaking changes, {unshown} not shown");
    assert!(compatible > 0 && breaking > 0);
}
