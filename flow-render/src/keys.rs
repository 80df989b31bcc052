//! The keys that travel along an arrow: those that its node wrote and a later one reads.
//!
//! A search from each arrow to the readers of its keys takes quadratic time. So the keys that are
//! read from a place on are found for all places at once, from the ends to the start, and for many
//! keys at a time, with a bit for each.

use std::collections::{BTreeSet, HashMap, HashSet};

use flow_spec::DEFAULT_ACTION;
use flow_spec::document::{FlowDocument, NodeDocument, Schema};
use serde_json::{Map, Value};

use super::scene::Place;

/// The number of keys that are followed at a time: a few words for each place, however many keys
/// there are.
const AT_A_TIME: usize = 512;
const WORDS: usize = AT_A_TIME / u64::BITS as usize;

/// Some of the keys, a bit for each.
type Bits = [u64; WORDS];

/// The keys that the nodes of a flow read and write, and the targets of their arrows.
pub(super) struct Keys<'a> {
    flow: &'a FlowDocument,
    nodes: Vec<Access<'a>>,
    /// The keys that are written before an arrow, each with a target of it from which it is read.
    read: HashSet<(&'a str, Place)>,
}

/// The keys of a node, under their names in the flow.
struct Access<'a> {
    node: &'a NodeDocument,
    reads: BTreeSet<&'a str>,
    /// The keys that it writes for every action.
    always_writes: BTreeSet<&'a str>,
}

/// An arrow.
#[derive(Clone, Copy)]
pub(super) struct Way<'a> {
    pub(super) from: Place,
    pub(super) action: Option<&'a str>,
    /// The keys that the arrow writes under other names.
    pub(super) mappings: Option<&'a Map<String, Value>>,
    pub(super) to: Place,
}

impl<'a> Way<'a> {
    /// Each key whose value the arrow writes, with the key that receives it.
    fn mappings(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let mappings = self.mappings.into_iter().flatten();
        mappings.filter_map(|(source, key)| Some((source.as_str(), key.as_str()?)))
    }

    fn has_mappings(&self) -> bool {
        self.mappings.is_some_and(|mappings| !mappings.is_empty())
    }
}

impl<'a> Keys<'a> {
    /// Places count these nodes, and the arrows lead between them.
    pub(super) fn new(
        flow: &'a FlowDocument,
        nodes: impl Iterator<Item = &'a NodeDocument>,
        arrows: &[Way<'a>],
    ) -> Self {
        let by_id = flow.nodes.iter().map(|node| (node.id.as_str(), node));
        let by_id: HashMap<&str, &NodeDocument> = by_id.collect();
        let undo = |node: &NodeDocument| by_id.get(node.settings.undo.as_deref()?).copied();
        let mut keys = Keys {
            flow,
            nodes: nodes
                .map(|node| Access::with_undo(node, undo(node)))
                .collect(),
            read: HashSet::new(),
        };
        let readers = keys
            .nodes
            .iter()
            .flat_map(|node| node.reads.iter().copied());
        let mapped = arrows.iter().flat_map(Way::mappings).map(|(key, _)| key);
        let readers: HashSet<&str> = readers.chain(mapped).chain(names(&flow.outputs)).collect();
        let mut asked: HashMap<&str, Vec<Place>> = HashMap::new();
        for way in arrows {
            for key in keys.written(way) {
                if readers.contains(key) {
                    asked.entry(key).or_default().push(way.to);
                }
            }
        }
        let graph = Graph::new(&keys, arrows);
        let asked: Vec<(&str, Vec<Place>)> = asked.into_iter().collect();
        for some in asked.chunks(AT_A_TIME) {
            let live = graph.live(&keys, some.iter().map(|(key, _)| *key));
            for (number, (key, places)) in some.iter().enumerate() {
                let places = places.iter().copied();
                let read = places.filter(|place| holds(&live[graph.number(*place)], number));
                keys.read.extend(read.map(|place| (*key, place)));
            }
        }
        keys
    }

    /// The keys that travel along an arrow: those that it maps, then those that its node writes, in
    /// the order in which the node names them.
    pub(super) fn along(&self, way: &Way<'a>) -> Vec<String> {
        let written = self.written(way).into_iter();
        let written = written.filter(|key| self.read.contains(&(*key, way.to)));
        let mapped = way.mappings();
        let mapped = mapped.map(|(source, key)| format!("{key} <- {source}"));
        mapped.chain(written.map(str::to_owned)).collect()
    }

    /// The keys that are written right before an arrow, which does not write them itself.
    fn written(&self, way: &Way<'a>) -> Vec<&'a str> {
        let mut written: Vec<&str> = match (way.from, way.action) {
            (Place::Start, _) => names(&self.flow.inputs).collect(),
            (Place::Member(index), action) => self.nodes[index].written(action),
            (Place::End(_), _) => Vec::new(),
        };
        if way.has_mappings() {
            let mapped: BTreeSet<&str> = way.mappings().map(|(_, key)| key).collect();
            written.retain(|key| !mapped.contains(key));
        }
        written
    }
}

/// The places of a flow by numbers, with the arrows between them.
struct Graph<'w, 'a> {
    members: usize,
    /// For each place, the arrows that leave it.
    next: Vec<Vec<&'w Way<'a>>>,
    /// All places, each after those to which it leads, except on a loop.
    order: Vec<usize>,
}

impl<'w, 'a> Graph<'w, 'a> {
    fn new(keys: &Keys<'a>, ways: &'w [Way<'a>]) -> Self {
        let members = keys.nodes.len();
        let ends = ways.iter().map(|way| match way.to {
            Place::End(index) => index + 1,
            Place::Start | Place::Member(_) => 0,
        });
        let count = 1 + members + ends.max().unwrap_or(0);
        let mut graph = Graph {
            members,
            next: vec![Vec::new(); count],
            order: Vec::new(),
        };
        for way in ways {
            let from = graph.number(way.from);
            graph.next[from].push(way);
        }
        graph.order = graph.postorder();
        graph
    }

    fn number(&self, place: Place) -> usize {
        match place {
            Place::Start => 0,
            Place::Member(index) => 1 + index,
            Place::End(index) => 1 + self.members + index,
        }
    }

    fn postorder(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.next.len());
        let mut seen = vec![false; self.next.len()];
        for root in 0..self.next.len() {
            if std::mem::replace(&mut seen[root], true) {
                continue;
            }
            let mut path = vec![(root, 0)];
            while let Some((place, followed)) = path.last_mut() {
                let Some(way) = self.next[*place].get(*followed) else {
                    order.push(*place);
                    path.pop();
                    continue;
                };
                *followed += 1;
                let to = self.number(way.to);
                if !std::mem::replace(&mut seen[to], true) {
                    path.push((to, 0));
                }
            }
        }
        order
    }

    /// For each place, the keys that a node or an arrow reads from there on before another one
    /// writes them anew, and those that the flow returns.
    fn live(&self, keys: &Keys<'a>, some: impl Iterator<Item = &'a str>) -> Vec<Bits> {
        let numbers: HashMap<&str, usize> = some.zip(0..).collect();
        let bits = |keys: &mut dyn Iterator<Item = &'a str>| {
            let mut bits = Bits::default();
            for number in keys.filter_map(|key| numbers.get(key)) {
                bits[number / 64] |= 1 << (number % 64);
            }
            bits
        };
        let returned = bits(&mut names(&keys.flow.outputs));
        let access = |node: &Access<'a>| {
            let reads = bits(&mut node.reads.iter().copied());
            (reads, bits(&mut node.always_writes.iter().copied()))
        };
        let nodes: Vec<(Bits, Bits)> = keys.nodes.iter().map(access).collect();
        let mut live = vec![Bits::default(); self.next.len()];
        let mut changes = true;
        while changes {
            changes = false;
            for &place in &self.order {
                let mut out = Bits::default();
                for way in &self.next[place] {
                    let mut after = live[self.number(way.to)];
                    if way.has_mappings() {
                        let writes = bits(&mut way.mappings().map(|(_, key)| key));
                        let reads = bits(&mut way.mappings().map(|(source, _)| source));
                        after = joined(&reads, &after, &writes);
                    }
                    out = joined(&out, &after, &Bits::default());
                }
                let now = match place.checked_sub(1).map(|member| nodes.get(member)) {
                    None => out,
                    Some(Some((reads, writes))) => joined(reads, &out, writes),
                    Some(None) => returned,
                };
                changes |= live[place] != now;
                live[place] = now;
            }
        }
        live
    }
}

/// The bits of `left`, and those of `right` that are not in `without`.
fn joined(left: &Bits, right: &Bits, without: &Bits) -> Bits {
    std::array::from_fn(|word| left[word] | right[word] & !without[word])
}

fn holds(bits: &Bits, number: usize) -> bool {
    bits[number / 64] >> (number % 64) & 1 == 1
}

/// The keys that travel from a node in a branch to the next one.
pub(super) fn in_branch(from: &NodeDocument, to: &NodeDocument) -> Vec<String> {
    let (from, to) = (Access::of(from), Access::of(to));
    let written = from.written(Some(DEFAULT_ACTION)).into_iter();
    let read = written.filter(|key| to.reads.contains(key));
    read.map(str::to_owned).collect()
}

impl<'a> Access<'a> {
    fn of(node: &'a NodeDocument) -> Self {
        let reads = names(&node.inputs).map(|name| mapped(&node.mappings.inputs, name));
        let always = node.outputs.required.iter();
        let always_writes = always.map(|name| mapped(&node.mappings.outputs, name));
        Access {
            node,
            reads: reads.collect(),
            always_writes: always_writes.collect(),
        }
    }

    /// A node together with its undo node, which reads the keys as they are when the node is done.
    fn with_undo(node: &'a NodeDocument, undo: Option<&'a NodeDocument>) -> Self {
        let mut access = Access::of(node);
        for key in undo
            .map(Access::of)
            .map(|undo| undo.reads)
            .unwrap_or_default()
        {
            if !access.always_writes.contains(key) {
                access.reads.insert(key);
            }
        }
        access
    }

    /// The keys that the node writes on an action, or all its outputs if the document does not say.
    fn written(&self, action: Option<&str>) -> Vec<&'a str> {
        let outputs = &self.node.mappings.outputs;
        let names: Vec<&str> = match &self.node.actions {
            None => names(&self.node.outputs).collect(),
            Some(actions) => {
                let taken = actions
                    .iter()
                    .filter(|taken| Some(taken.name.as_str()) == action);
                let written =
                    taken.flat_map(|action| action.writes.iter().chain(&action.may_write));
                written.map(String::as_str).collect()
            }
        };
        names
            .into_iter()
            .map(|name| mapped(outputs, name))
            .collect()
    }
}

fn names(schema: &Schema) -> impl Iterator<Item = &str> {
    schema.properties.keys().map(String::as_str)
}

/// The key that stands for a name.
fn mapped<'a>(mappings: &'a Map<String, Value>, name: &'a str) -> &'a str {
    mappings.get(name).and_then(Value::as_str).unwrap_or(name)
}
