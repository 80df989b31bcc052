//! The edges of a flow, as chains of steps.

use std::collections::{HashMap, HashSet};

use flow_spec::document::{EndDocument, types};
use flow_spec::{DEFAULT_ACTION, FlowDocument, NodeDocument};
use serde_json::{Map, Value};

use flow_spec::document::__private::inside;

use super::nodes::{Nodes, name_of, path_of, word};
use super::rust;
use super::unsaid::Found;

/// The statements with the edges of a flow.
pub(super) struct Statements<'a> {
    /// The lines, each without its semicolon.
    pub(super) lines: Vec<String>,
    /// The nodes in the order that the document has to have.
    pub(super) order: Vec<&'a str>,
    /// The pauses, and the steps `undo` and `commit`, whose name would differ from their id.
    pub(super) renamed: Vec<(&'a str, String)>,
}

/// Writes each edge and each end of the document once, in their order. A chain continues from the
/// target of the edge before.
pub(super) struct Chains<'a, 'n> {
    nodes: &'n Nodes<'a>,
    ends: Vec<EndDocument>,
    routes: Routes<'a>,
    written_edges: Vec<bool>,
    written_ends: Vec<bool>,
    /// The edges and ends before these indices are written.
    first_edge: usize,
    first_end: usize,
    /// The nodes of a [word] that an edge leads to.
    unnamed: HashSet<&'a str>,
    /// The nodes that were mentioned, in order.
    mentioned: Vec<&'a str>,
    seen: HashSet<&'a str>,
    /// The order in which edges reach the nodes.
    reached: HashMap<&'a str, usize>,
    names: HashSet<String>,
    renamed: Vec<(&'a str, String)>,
    /// The last number in the name of a node without one, by the word for it.
    counts: HashMap<&'static str, usize>,
}

/// The edges and ends of each node, and the position of each of its actions.
struct Routes<'a> {
    edges: HashMap<&'a str, Vec<usize>>,
    ends: HashMap<String, Vec<usize>>,
    actions: HashMap<(&'a str, &'a str), usize>,
}

impl<'a> Routes<'a> {
    fn new(flow: &'a FlowDocument, ends: &[EndDocument]) -> Self {
        let mut routes = Routes {
            edges: HashMap::new(),
            ends: HashMap::new(),
            actions: HashMap::new(),
        };
        for (index, edge) in flow.edges.iter().enumerate() {
            routes.edges.entry(&edge.from).or_default().push(index);
        }
        for (index, end) in ends.iter().enumerate() {
            let from = end.from.clone().unwrap_or_default();
            routes.ends.entry(from).or_default().push(index);
        }
        for node in &flow.nodes {
            for (index, action) in node.actions.iter().flatten().enumerate() {
                let key = (node.id.as_str(), action.name.as_str());
                routes.actions.entry(key).or_insert(index);
            }
        }
        routes
    }
}

impl<'a, 'n> Chains<'a, 'n> {
    pub(super) fn new(nodes: &'n Nodes<'a>) -> Self {
        let mut ends = nodes.flow.ends.clone();
        if ends.is_empty() {
            ends = silent_ends(nodes);
        }
        Chains {
            nodes,
            routes: Routes::new(nodes.flow, &ends),
            written_edges: vec![false; nodes.flow.edges.len()],
            written_ends: vec![false; ends.len()],
            first_edge: 0,
            first_end: 0,
            ends,
            unnamed: HashSet::new(),
            mentioned: Vec::new(),
            seen: HashSet::new(),
            reached: HashMap::new(),
            names: HashSet::new(),
            counts: HashMap::new(),
            renamed: Vec::new(),
        }
    }

    pub(super) fn statements(mut self, unsaid: &mut Found) -> Statements<'a> {
        let declared = self.nodes.order_of_declarations();
        self.names = declared.iter().map(|id| (*id).to_owned()).collect();
        for node in &self.nodes.flow.nodes {
            if self.nodes.is_declared(&node.id) {
                self.mention_parts(node);
            }
        }
        let mut lines = self.entry(unsaid);
        while let Some(next) = self.next() {
            lines.push(self.statement(next, unsaid));
        }
        self.mention_undo_nodes();
        self.report_rest(unsaid);
        let mentioned = self.mentioned.into_iter();
        let hidden = self.nodes.order_of_hidden();
        Statements {
            lines,
            order: declared
                .into_iter()
                .chain(mentioned)
                .chain(hidden)
                .collect(),
            renamed: self.renamed,
        }
    }

    /// `start >> …`
    fn entry(&mut self, unsaid: &mut Found) -> Vec<String> {
        let flow = self.nodes.flow;
        let mut lines = Vec::new();
        let ends_at_start = flow.ends.iter().position(|end| end.from.is_none());
        if let Some(index) = ends_at_start {
            self.written_ends[index] = true;
            let step = self.end(index, unsaid);
            lines.push(format!("start >> {step}"));
        }
        let only = match (ends_at_start, &flow.nodes[..]) {
            (None, [only]) => Some(only.id.as_str()),
            _ => None,
        };
        if let Some(entry) = flow.entry_node_id.as_deref().or(only)
            && let Some(node) = self.nodes.node(entry)
        {
            let at = inside(&self.nodes.pointer, "entryNodeId");
            let mut line = format!("start >> {}", self.target(node, &at, unsaid));
            let at = inside(&self.nodes.pointer, "entryMappings");
            line += &keys(&flow.entry_mappings, &at, unsaid);
            if let Some(next) = self.continuation(node) {
                self.chain(next, &mut line, unsaid);
            }
            lines.push(line);
        }
        lines
    }

    /// The next edge or end that begins a statement: the first action of the node that was reached
    /// first. Edges keep their order, and so do ends.
    fn next(&mut self) -> Option<Route> {
        self.pass_written();
        let edges = self.unwritten_edges();
        let edge = { edges }.find_map(|index| {
            let edge = &self.nodes.flow.edges[index];
            let position = self.position(&edge.from, Some(&edge.condition))?;
            Some((position, Route::Edge(index)))
        });
        let ends = self.unwritten_ends();
        let end = { ends }.find_map(|index| {
            let end = &self.ends[index];
            let position = self.position(end.from.as_deref()?, end.condition.as_deref())?;
            Some((position, Route::End(index)))
        });
        let first = edge.into_iter().chain(end);
        first
            .min_by_key(|(position, _)| *position)
            .map(|(_, route)| route)
    }

    /// Moves past the first edges and ends that are written, so that they are not searched again.
    fn pass_written(&mut self) {
        while self.written_edges.get(self.first_edge) == Some(&true) {
            self.first_edge += 1;
        }
        while self.written_ends.get(self.first_end) == Some(&true) {
            self.first_end += 1;
        }
    }

    fn unwritten_edges(&self) -> impl Iterator<Item = usize> {
        let all = self.first_edge..self.written_edges.len();
        all.filter(|index| !self.written_edges[*index])
    }

    fn unwritten_ends(&self) -> impl Iterator<Item = usize> {
        let all = self.first_end..self.written_ends.len();
        all.filter(|index| !self.written_ends[*index])
    }

    /// The position of a node and its action. `None` for a node of a [word], which cannot begin a
    /// statement.
    fn position(&self, id: &str, condition: Option<&str>) -> Option<[usize; 3]> {
        let reached = self.reached.get(id).copied().unwrap_or(usize::MAX);
        let index = *self.nodes.by_id.get(id)?;
        let node = &self.nodes.flow.nodes[index];
        let action = condition.and_then(|condition| self.routes.actions.get(&(id, condition)));
        let action = action.copied().unwrap_or(usize::MAX);
        word(node).is_none().then_some([reached, index, action])
    }

    /// `from - "action" >> …`
    fn statement(&mut self, route: Route, unsaid: &mut Found) -> String {
        let flow = self.nodes.flow;
        let (from, condition) = match route {
            Route::Edge(index) => {
                let edge = &flow.edges[index];
                (edge.from.clone(), edge.condition.clone())
            }
            Route::End(index) => {
                let end = &self.ends[index];
                let condition = end.condition.clone().unwrap_or_default();
                (end.from.clone().unwrap_or_default(), condition)
            }
        };
        let mut line = match self.nodes.node(&from) {
            Some(node) => self.step(node),
            None => String::new(),
        };
        if condition != DEFAULT_ACTION {
            line += &format!(" - {}", rust::literal(&condition));
        }
        self.chain(route, &mut line, unsaid);
        line
    }

    /// Writes a route, and those that continue from its target.
    fn chain(&mut self, route: Route, line: &mut String, unsaid: &mut Found) {
        let mut next = Some(route);
        while let Some(route) = next {
            let last = self.follow(route, line, unsaid);
            next = last.and_then(|last| self.continuation(last));
        }
    }

    /// Adds ` >> target`. Returns the target node.
    fn follow(
        &mut self,
        route: Route,
        line: &mut String,
        unsaid: &mut Found,
    ) -> Option<&'a NodeDocument> {
        let flow = self.nodes.flow;
        let index = match route {
            Route::Edge(index) => index,
            Route::End(index) => {
                self.written_ends[index] = true;
                *line += &format!(" >> {}", self.end(index, unsaid));
                return None;
            }
        };
        self.written_edges[index] = true;
        let edge = &flow.edges[index];
        let at = inside(&inside(&self.nodes.pointer, "edges"), index);
        let node = self.nodes.node(&edge.to)?;
        *line += " >> ";
        *line += &self.target(node, &inside(&at, "to"), unsaid);
        *line += &keys(&edge.mappings, &inside(&at, "mappings"), unsaid);
        Some(node)
    }

    /// The default action of the last node of a chain, if it comes next. After a node of a [word], it
    /// always comes next.
    fn continuation(&mut self, last: &NodeDocument) -> Option<Route> {
        self.pass_written();
        let id = last.id.as_str();
        let edge_continues = |index: &usize| {
            let edge = &self.nodes.flow.edges[*index];
            edge.from == id && edge.condition == DEFAULT_ACTION
        };
        let end_continues = |index: &usize| {
            let end = &self.ends[*index];
            end.from.as_deref() == Some(id) && end.condition.as_deref() == Some(DEFAULT_ACTION)
        };
        let (edge, end) = if word(last).is_some() {
            let edges = self.routes.edges.get(id).into_iter().flatten().copied();
            let ends = self.routes.ends.get(id).into_iter().flatten().copied();
            let mut edges = edges.filter(|index| !self.written_edges[*index]);
            let mut ends = ends.filter(|index| !self.written_ends[*index]);
            (edges.find(edge_continues), ends.find(end_continues))
        } else {
            (
                self.unwritten_edges().next().filter(edge_continues),
                self.unwritten_ends().next().filter(end_continues),
            )
        };
        let edge = edge.map(Route::Edge);
        edge.or(end.map(Route::End))
    }

    /// A step as the target of an edge.
    fn target(&mut self, node: &'a NodeDocument, pointer: &str, unsaid: &mut Found) -> String {
        if let Some(word) = word(node)
            && !self.unnamed.insert(&node.id)
        {
            let what = match word {
                "wait" => "pause",
                _ => "step",
            };
            let message = format!(
                "a second edge leads to the {what} `{}`, which `flow!` writes in one edge",
                node.id
            );
            unsaid.push(pointer, message);
        }
        self.step(node)
    }

    /// `end("label") { key <- other }`
    fn end(&self, index: usize, unsaid: &mut Found) -> String {
        let end = &self.ends[index];
        let at = inside(&inside(&self.nodes.pointer, "ends"), index);
        let step = match end.label.as_str() {
            DEFAULT_ACTION => "end".to_owned(),
            label => format!("end({})", rust::literal(label)),
        };
        step + &keys(&end.mappings, &inside(&at, "mappings"), unsaid)
    }

    /// A node in an edge.
    fn step(&mut self, node: &'a NodeDocument) -> String {
        if node.r#type == types::FORK && !self.nodes.is_declared(&node.id) {
            self.mention_parts(node);
        }
        self.mention(node);
        let count = self.reached.len();
        self.reached.entry(&node.id).or_insert(count);
        step(self.nodes, node)
    }

    /// Mentions the nodes in the branches of a fork or a race.
    fn mention_parts(&mut self, owner: &'a NodeDocument) {
        for part in owner.branches().into_iter().flatten() {
            if let Some(part) = self.nodes.node(part) {
                self.mention(part);
            }
        }
    }

    /// Mentions the undo nodes, which come after the nodes of all edges.
    fn mention_undo_nodes(&mut self) {
        let nodes = self.nodes;
        for owner in nodes
            .flow
            .nodes
            .iter()
            .filter(|node| nodes.is_declared(&node.id))
        {
            let undo = owner.settings.undo.as_deref();
            if let Some(undo) = undo.and_then(|undo| nodes.node(undo)) {
                self.mention(undo);
            }
        }
    }

    fn mention(&mut self, node: &'a NodeDocument) {
        let id = node.id.as_str();
        let is_known = self.nodes.is_declared(id) || node.r#type == types::BRANCH;
        if is_known || !self.seen.insert(id) {
            return;
        }
        self.mentioned.push(id);
        let is_fork = node.r#type == types::FORK;
        let Some(word) = word(node).or(is_fork.then_some("fork")) else {
            self.names.insert(id.to_owned());
            return;
        };
        let count = self.counts.entry(word).or_insert(1);
        let mut name = word.to_owned();
        while !self.names.insert(name.clone()) {
            *count += 1;
            name = format!("{word}_{count}");
        }
        if name != id {
            self.renamed.push((id, name));
        }
    }

    /// Reports the edges that cannot begin a statement.
    fn report_rest(&self, unsaid: &mut Found) {
        let edges = self.nodes.flow.edges.iter().enumerate();
        for (index, edge) in edges.filter(|(index, _)| !self.written_edges[*index]) {
            let at = inside(&inside(&self.nodes.pointer, "edges"), index);
            let message = format!(
                "this edge cannot be written, since nothing leads to `{}`",
                edge.from
            );
            unsaid.push(inside(&at, "from"), message);
        }
    }

    /// `[a >> b, c]`
    pub(super) fn fork(nodes: &Nodes<'_>, fork: &NodeDocument) -> String {
        format!("[{}]", branches(nodes, fork).join(", "))
    }

    /// `first { a >> b => "action", c }`
    pub(super) fn race(nodes: &Nodes<'_>, race: &NodeDocument) -> String {
        let mut branches = branches(nodes, race);
        for (branch, action) in branches.iter_mut().zip(race.actions_of_branches()) {
            if let Some(action) = action {
                *branch += &format!(" => {}", rust::literal(action));
            }
        }
        format!("first {{ {} }}", branches.join(", "))
    }
}

/// An edge or an end, by its index.
#[derive(Clone, Copy)]
enum Route {
    Edge(usize),
    End(usize),
}

/// The branches of a fork or a race, each as `a >> b`.
fn branches(nodes: &Nodes<'_>, owner: &NodeDocument) -> Vec<String> {
    let chain = |ids: Vec<&str>| {
        let parts = ids.into_iter().filter_map(|id| nodes.node(id));
        let steps: Vec<String> = parts.map(|node| step(nodes, node)).collect();
        steps.join(" >> ")
    };
    owner.branches().into_iter().map(chain).collect()
}

fn step(nodes: &Nodes<'_>, node: &NodeDocument) -> String {
    match node.r#type.as_str() {
        types::WAIT => {
            let duration = node.params.get("duration").and_then(Value::as_str);
            format!("wait({})", duration.unwrap_or_default())
        }
        types::UNDO | types::COMMIT => word(node).unwrap_or_default().to_owned(),
        types::FORK if !nodes.is_declared(&node.id) => Chains::fork(nodes, node),
        types::BRANCH => name_of(&node.id).unwrap_or_default(),
        _ if nodes.is_declared(&node.id) => name_of(&node.id).unwrap_or_default(),
        _ => path_of(node).0,
    }
}

/// ` { key <- other }`
fn keys(mappings: &Map<String, Value>, pointer: &str, unsaid: &mut Found) -> String {
    let mut keys = Vec::new();
    for (other, key) in mappings {
        let key = key.as_str().unwrap_or_default();
        match (rust::ident(key), rust::ident(other)) {
            (Some(key), Some(other)) => keys.push(format!("{key} <- {other}")),
            _ => {
                let message = format!("`{key}` or `{other}` is not a name in Rust");
                unsaid.push(inside(pointer, other), message);
            }
        }
    }
    if keys.is_empty() {
        String::new()
    } else {
        format!(" {{ {} }}", keys.join(", "))
    }
}

/// The ends of a document that lists none. There, a node without edges and actions ends the flow,
/// unless it is inside another node or an undo node.
fn silent_ends(nodes: &Nodes<'_>) -> Vec<EndDocument> {
    let flow = nodes.flow;
    let (owners, undo_nodes) = (flow.owners(), flow.undo_nodes());
    let left: HashSet<&str> = flow.edges.iter().map(|edge| edge.from.as_str()).collect();
    let is_last = |node: &&NodeDocument| {
        let id = node.id.as_str();
        let is_inside = owners.contains_key(id) || undo_nodes.contains_key(id);
        node.actions.is_none() && !left.contains(id) && !is_inside
    };
    let last = flow.nodes.iter().filter(is_last);
    last.map(|node| EndDocument {
        from: Some(node.id.clone()),
        condition: Some(DEFAULT_ACTION.to_owned()),
        label: DEFAULT_ACTION.to_owned(),
        mappings: Map::new(),
    })
    .collect()
}
