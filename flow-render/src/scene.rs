//! The content of a picture, before any notation: boxes that can contain boxes, and arrows between
//! them.
//!
//! The document lists the nodes inside a fork, a race or a loop next to the others. Here each node
//! is placed where it runs. An unchecked document can put a fork into itself; even then, each node
//! is shown once.

use std::collections::{HashMap, HashSet};

use flow_spec::document::{FlowDocument, NodeDocument, types};
use flow_spec::{DEFAULT_ACTION, node_path};
use serde_json::{Map, Value};

use super::keys::{self, Keys, Way};
use super::words::{ArrowLabel, Conditions, conditions_of};

/// A flow.
#[derive(Debug)]
pub(super) struct Scene<'a> {
    pub(super) flow: &'a FlowDocument,
    /// The path of the node that is this flow. Empty for the outermost flow.
    pub(super) path: String,
    pub(super) members: Vec<Member<'a>>,
    /// The labels of its ends, each once.
    pub(super) ends: Vec<&'a str>,
    /// The index of each of these labels.
    end_numbers: HashMap<&'a str, usize>,
    pub(super) arrows: Vec<Arrow<'a>>,
    /// The conditions of the branches from which arrows were drawn.
    conditions: HashMap<usize, Conditions<'a>>,
}

/// A node, with what is inside it.
#[derive(Debug)]
pub(super) struct Member<'a> {
    pub(super) path: String,
    pub(super) node: &'a NodeDocument,
    pub(super) inside: Inside<'a>,
    /// The path of its undo node, if that hangs at a node of this flow.
    pub(super) undone_by: Option<String>,
    /// Its undo node, if that hangs here: at the first of the nodes that it takes back.
    pub(super) undo: Option<Box<Member<'a>>>,
}

#[derive(Debug)]
pub(super) enum Inside<'a> {
    Nothing,
    Flow(Scene<'a>),
    /// The branches of a fork or a race.
    Fork(Vec<Branch<'a>>),
    /// The body of a loop over items.
    Each(Box<Member<'a>>),
}

/// A branch of a fork or a race.
#[derive(Debug)]
pub(super) struct Branch<'a> {
    /// Its nodes, from top to bottom.
    pub(super) steps: Vec<Member<'a>>,
    /// The action that a race takes if this branch is the first one that is done.
    action: Option<&'a str>,
}

#[derive(Debug)]
pub(super) struct Arrow<'a> {
    pub(super) from: Place,
    /// The action. `None` at the start.
    pub(super) action: Option<&'a str>,
    pub(super) label: ArrowLabel,
    /// The keys that it writes under other names.
    mappings: Option<&'a Map<String, Value>>,
    pub(super) to: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Place {
    Start,
    /// Index of [`Scene::members`].
    Member(usize),
    /// Index of [`Scene::ends`].
    End(usize),
}

impl Member<'_> {
    /// Returns true if the first branch that is done decides, and false if all have to be done.
    pub(super) fn is_race(&self) -> bool {
        self.node.r#type == types::FIRST
    }

    /// The text at the arrow to the next node of a branch.
    pub(super) fn label_to(&self, next: &Member<'_>) -> ArrowLabel {
        ArrowLabel::default().with_keys(&keys::in_branch(self.node, next.node))
    }
}

impl Branch<'_> {
    /// The text at the arrow from its last node to the place where the branches join.
    pub(super) fn label_to_join(&self) -> ArrowLabel {
        let label = |action| ArrowLabel::of(action, &Conditions::new());
        self.action.map(label).unwrap_or_default()
    }
}

impl<'a> Scene<'a> {
    pub(super) fn new(flow: &'a FlowDocument) -> Scene<'a> {
        Scene::at(flow, String::new())
    }

    fn at(flow: &'a FlowDocument, path: String) -> Scene<'a> {
        let mut cast = Cast::new(flow, &path);
        let owners = flow.owners();
        let is_inner = |id: &str| owners.contains_key(id) || cast.hanging.contains(id);
        let (inner, outermost): (Vec<usize>, Vec<usize>) =
            (0..flow.nodes.len()).partition(|&index| is_inner(&flow.nodes[index].id));
        // Forks, races and loops take their inner nodes themselves, and nodes their undo nodes, unless
        // they contain each other.
        let mut members = Vec::new();
        let mut number = HashMap::new();
        for index in outermost.into_iter().chain(inner) {
            if let Some(member) = cast.member(index) {
                number
                    .entry(member.node.id.as_str())
                    .or_insert(members.len());
                members.push(member);
            }
        }
        let ends = flow.end_labels();
        let mut scene = Scene {
            flow,
            path,
            members,
            end_numbers: ends.iter().copied().zip(0..).collect(),
            ends,
            arrows: Vec::new(),
            conditions: HashMap::new(),
        };
        scene.draw_arrows(&number);
        scene
    }

    /// The index of the end with this label.
    pub(super) fn end_number(&self, label: &str) -> Option<usize> {
        self.end_numbers.get(label).copied()
    }

    fn draw_arrows(&mut self, number: &HashMap<&str, usize>) {
        let flow = self.flow;
        let place = |id: &str| number.get(id).copied().map(Place::Member);
        let entry = match (&flow.entry_node_id, &flow.nodes[..]) {
            (Some(id), _) => place(id),
            (None, [_]) => Some(Place::Member(0)),
            _ => None,
        };
        if let Some(to) = entry {
            self.arrow(Place::Start, None, Some(&flow.entry_mappings), to);
        }
        for edge in &flow.edges {
            if let (Some(from), Some(to)) = (place(&edge.from), place(&edge.to)) {
                self.arrow(from, Some(&edge.condition), Some(&edge.mappings), to);
            }
        }
        for end in &flow.ends {
            let from = end.from.as_deref().map_or(Some(Place::Start), place);
            let to = self.end_number(&end.label);
            if let (Some(from), Some(to)) = (from, to) {
                let (action, mappings) = (end.condition.as_deref(), Some(&end.mappings));
                self.arrow(from, action, mappings, Place::End(to));
            }
        }
        if flow.ends.is_empty() {
            self.draw_silent_ends();
        }
        self.name_keys();
    }

    /// Adds to the arrows the keys that travel along them.
    fn name_keys(&mut self) {
        let nodes = self.members.iter().map(|member| member.node);
        let ways = self.arrows.iter().map(|arrow| Way {
            from: arrow.from,
            action: arrow.action,
            mappings: arrow.mappings,
            to: arrow.to,
        });
        let ways: Vec<Way<'_>> = ways.collect();
        let keys = Keys::new(self.flow, nodes, &ways);
        for (arrow, way) in self.arrows.iter_mut().zip(&ways) {
            let travelling = keys.along(way);
            let label = std::mem::take(&mut arrow.label);
            arrow.label = label.with_keys(&travelling);
        }
    }

    /// Draws the ends of a document of another tool without ends. There, a node without successors
    /// ends the flow.
    fn draw_silent_ends(&mut self) {
        let left = self.arrows.iter().map(|arrow| arrow.from);
        let left: HashSet<Place> = left.collect();
        for index in 0..self.members.len() {
            let from = Place::Member(index);
            if !left.contains(&from) && self.members[index].node.actions.is_none() {
                self.ends = vec![DEFAULT_ACTION];
                self.arrow(from, Some(DEFAULT_ACTION), None, Place::End(0));
            }
        }
    }

    fn arrow(
        &mut self,
        from: Place,
        action: Option<&'a str>,
        mappings: Option<&'a Map<String, Value>>,
        to: Place,
    ) {
        let label = match (from, action) {
            (Place::Member(index), Some(action)) => {
                let node = self.members[index].node;
                let conditions = self.conditions.entry(index);
                ArrowLabel::of(action, conditions.or_insert_with(|| conditions_of(node)))
            }
            _ => ArrowLabel::default(),
        };
        self.arrows.push(Arrow {
            from,
            action,
            label,
            mappings,
            to,
        });
    }
}

/// The nodes of a flow, each of which is placed once.
struct Cast<'a, 'p> {
    flow: &'a FlowDocument,
    path: &'p str,
    number: HashMap<&'a str, usize>,
    placed: Vec<bool>,
    /// The undo nodes that hang at a node: those to which no arrow leads, as in all sound flows.
    hanging: HashSet<&'a str>,
}

impl<'a, 'p> Cast<'a, 'p> {
    fn new(flow: &'a FlowDocument, path: &'p str) -> Self {
        let mut number = HashMap::new();
        for (index, node) in flow.nodes.iter().enumerate() {
            number.entry(node.id.as_str()).or_insert(index);
        }
        Cast {
            flow,
            path,
            number,
            placed: vec![false; flow.nodes.len()],
            hanging: hanging(flow),
        }
    }

    /// The node with everything inside it. `None` if it is already placed.
    fn member(&mut self, index: usize) -> Option<Member<'a>> {
        if std::mem::replace(&mut self.placed[index], true) {
            return None;
        }
        let node = &self.flow.nodes[index];
        let path = node_path(self.path, &node.id);
        let inside = match node.r#type.as_str() {
            types::FORK | types::FIRST => self.fork(node),
            types::EACH => {
                let body = node.body().and_then(|body| self.named(body));
                body.map_or(Inside::Nothing, |body| Inside::Each(Box::new(body)))
            }
            _ => match &node.internal_flow {
                Some(flow) if !flow.nodes.is_empty() || !flow.ends.is_empty() => {
                    Inside::Flow(Scene::at(flow, path.clone()))
                }
                _ => Inside::Nothing,
            },
        };
        let undo = node.settings.undo.as_deref();
        let undo = undo.filter(|undo| self.hanging.contains(undo));
        Some(Member {
            path,
            node,
            inside,
            undone_by: undo.map(|undo| node_path(self.path, undo)),
            undo: undo.and_then(|undo| self.named(undo)).map(Box::new),
        })
    }

    fn fork(&mut self, node: &'a NodeDocument) -> Inside<'a> {
        let mut actions = node.actions_of_branches().into_iter();
        let branches = node.branches().into_iter().map(|ids| Branch {
            steps: ids.into_iter().filter_map(|id| self.named(id)).collect(),
            action: actions.next().flatten(),
        });
        let mut branches: Vec<Branch<'a>> = branches.collect();
        branches.retain(|branch| !branch.steps.is_empty());
        if branches.is_empty() {
            Inside::Nothing
        } else {
            Inside::Fork(branches)
        }
    }

    fn named(&mut self, id: &str) -> Option<Member<'a>> {
        let index = self.number.get(id).copied()?;
        self.member(index)
    }
}

/// The undo nodes of a flow that are code, and are not in its edges, forks, races or loops.
fn hanging(flow: &FlowDocument) -> HashSet<&str> {
    let mut hanging: HashSet<&str> = flow.undo_nodes().into_keys().collect();
    let ways = flow.edges.iter().flat_map(|edge| [&edge.from, &edge.to]);
    let ends = flow.ends.iter().filter_map(|end| end.from.as_ref());
    for id in ways.chain(ends).chain(&flow.entry_node_id) {
        hanging.remove(id.as_str());
    }
    for id in flow.owners().into_keys() {
        hanging.remove(id);
    }
    let is_code = |node: &NodeDocument| {
        !types::ALL.contains(&node.r#type.as_str())
            && !node.is_flow()
            && node.settings.undo.is_none()
    };
    let code = flow.nodes.iter().filter(|node| is_code(node));
    let code: HashSet<&str> = code.map(|node| node.id.as_str()).collect();
    hanging.retain(|id| code.contains(id));
    hanging
}
