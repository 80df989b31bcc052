//! The names under which an execution continues with a version of its flow that has renamed nodes.
//!
//! An execution keeps the names with which it began: a step that was under way when a process ended
//! has no record, and has to begin again under the same name, or what it does outside would be done
//! twice. So its structure in the store is the new version of the flow under the former names, and
//! everybody who reads the journal finds the names that it has.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use flow_runtime::engine::{FlowInfo, NodePath, StepKey};
use flow_spec::FlowDocument;
use flow_spec::diff::FormerNames;

/// The former names of the nodes of a flow.
#[derive(Debug)]
pub(crate) struct Names {
    structure: String,
    hash: String,
    namespace: String,
    /// The paths of the flow and the flows inside it, under the former names.
    flows: HashSet<String>,
    /// By the path of their flow.
    renamed: HashMap<String, Renamed>,
}

/// The renamed nodes of one flow.
#[derive(Debug, Default)]
struct Renamed {
    /// The former names, by the present ones.
    was: HashMap<String, String>,
    /// The present names, by the former ones.
    now: HashMap<String, String>,
    info: OnceLock<FlowInfo>,
}

impl Names {
    /// `hash` is that of a structure.
    pub(crate) fn new(former: FormerNames, hash: fn(&str) -> String) -> Self {
        let structure = former.flow.to_compact_json();
        let mut names = Names {
            hash: hash(&structure),
            structure,
            namespace: former.flow.namespace.clone(),
            flows: HashSet::new(),
            renamed: HashMap::new(),
        };
        add_flows(
            &former.flow,
            former.flow.namespace.clone(),
            &mut names.flows,
        );
        for node in former.nodes {
            let of_flow = names.renamed.entry(node.flow).or_default();
            of_flow.was.insert(node.now.clone(), node.was.clone());
            of_flow.now.insert(node.was, node.now);
        }
        names
    }

    /// The number of renamed nodes.
    pub(crate) fn count(&self) -> usize {
        self.renamed.values().map(|of_flow| of_flow.was.len()).sum()
    }

    /// The structure of the flow under the former names.
    pub(crate) fn structure(&self) -> &str {
        &self.structure
    }

    /// The hash of that structure.
    pub(crate) fn hash(&self) -> &str {
        &self.hash
    }

    /// The names of a flow at this path.
    pub(crate) fn of<'a>(&'a self, path: &str, flow: &'a FlowInfo) -> &'a FlowInfo {
        let renamed = self.renamed.get(&*without_items(path));
        renamed.map_or(flow, |renamed| {
            let name = |now: &str| renamed.was.get(now).map(String::as_str);
            renamed.info.get_or_init(|| flow.with_names(name))
        })
    }

    /// The present name of a node of the flow itself.
    pub(crate) fn present_node<'a>(&'a self, was: &'a str) -> &'a str {
        let renamed = self.renamed.get(&self.namespace);
        let now = renamed.and_then(|renamed| renamed.now.get(was));
        now.map_or(was, String::as_str)
    }

    /// The path of a node with the present names.
    pub(crate) fn present_path(&self, path: &str) -> String {
        let Some(within) = NodePath::new(path).within(&self.namespace) else {
            return path.to_owned();
        };
        let (mut flow, mut present) = (self.namespace.clone(), self.namespace.clone());
        for segment in within.segments() {
            let (node, rest) = name_and_rest(segment.as_str());
            present.push('.');
            present.push_str(self.enter(&mut flow, node));
            present.push_str(rest);
        }
        present
    }

    /// A step within the flow at this path, with the present names.
    pub(crate) fn present_step<'a>(&'a self, flow: &str, step: StepKey<'a>) -> String {
        let mut flow = without_items(flow).into_owned();
        let segments = step.segments().map(|mut segment| {
            segment.name = self.enter(&mut flow, segment.name);
            segment.to_string()
        });
        segments.collect::<Vec<_>>().join(".")
    }

    /// The present name of a node of the flow at this path. If the node is a flow, the path becomes
    /// that of the node.
    fn enter<'a>(&'a self, flow: &mut String, was: &'a str) -> &'a str {
        let now = self.renamed.get(flow).and_then(|it| it.now.get(was));
        let inner = format!("{flow}.{was}");
        if self.flows.contains(&inner) {
            *flow = inner;
        }
        now.map_or(was, String::as_str)
    }
}

/// Adds the paths of a flow and of those inside it. The flow that a loop runs has the path of the
/// loop.
fn add_flows(flow: &FlowDocument, path: String, flows: &mut HashSet<String>) {
    let owners = flow.owners();
    for node in &flow.nodes {
        if let Some(inner) = &node.internal_flow {
            let around = owners
                .get(&*node.id)
                .filter(|around| around.body().is_some());
            let name = around.map_or(&node.id, |each| &each.id);
            add_flows(inner, format!("{path}.{name}"), flows);
        }
    }
    flows.insert(path);
}

/// A path without the indices of items.
fn without_items(path: &str) -> Cow<'_, str> {
    if path.contains('[') {
        Cow::Owned(NodePath::new(path).without_items())
    } else {
        Cow::Borrowed(path)
    }
}

/// The name of the node in a segment of a path, and what follows it, such as the index of an item.
fn name_and_rest(segment: &str) -> (&str, &str) {
    let end = segment.find(['[', '!']).unwrap_or(segment.len());
    segment.split_at(end)
}

#[cfg(test)]
mod tests {
    use flow_spec::NodeDocument;
    use serde_json::json;

    use super::*;

    fn node(r#type: &str, id: &str) -> NodeDocument {
        NodeDocument {
            r#type: r#type.to_owned(),
            id: id.to_owned(),
            ..NodeDocument::default()
        }
    }

    /// A flow with a fork, and with a loop that runs a flow.
    fn order(fork: &str, each: &str, pack: &str) -> FlowDocument {
        let mut inner = FlowDocument::new("Parcel", "parcel");
        inner.nodes.push(node("Pack", pack));
        let mut body = node("Parcel", "body");
        body.internal_flow = Some(Box::new(inner));
        let mut around = node("flow.each", each);
        around.params.insert("body".to_owned(), json!("body"));
        let mut branches = node("flow.fork", fork);
        branches
            .params
            .insert("branches".to_owned(), json!([["mail"]]));
        let mut flow = FlowDocument::new("Order", "shop.order");
        flow.nodes = vec![branches, node("Mail", "mail"), around, body];
        flow
    }

    fn hash(structure: &str) -> String {
        structure.len().to_string()
    }

    fn names() -> Names {
        let mut new = order("at_once", "parcels", "wrap");
        new.nodes[0].settings.was = Some("both".to_owned());
        new.nodes[2].settings.was = Some("lines".to_owned());
        let inner = new.nodes[3].internal_flow.as_mut().unwrap();
        inner.nodes[0].settings.was = Some("pack".to_owned());
        let former = new.under_names_of(&order("both", "lines", "pack"));
        Names::new(former.unwrap(), hash)
    }

    #[test]
    fn paths_and_steps_have_present_names() {
        let names = names();
        for (was, now) in [
            ("shop.order", "shop.order"),
            ("shop.order.both", "shop.order.at_once"),
            ("shop.order.lines[3].pack", "shop.order.parcels[3].wrap"),
            ("shop.order.lines!undo", "shop.order.parcels!undo"),
            ("another.both", "another.both"),
        ] {
            assert_eq!(names.present_path(was), now);
        }
        for (was, now) in [
            ("both#2.mail", "at_once#2.mail"),
            ("lines[3]~1.pack#4", "parcels[3]~1.wrap#4"),
            ("both.both", "at_once.at_once"),
        ] {
            assert_eq!(names.present_step("shop.order", StepKey::new(was)), now);
        }
        let inside = names.present_step("shop.order.lines[7]", StepKey::new("pack"));
        assert_eq!(inside, "wrap");
        assert_eq!(names.present_node("lines"), "parcels");
    }

    #[test]
    fn a_flow_has_its_former_names() {
        let names = names();
        let parcel = FlowInfo::new("parcel".to_owned(), vec!["wrap".to_owned()]);
        let info = names.of("shop.order.lines[2]", &parcel);
        assert_eq!(info.node(0), Some("pack"));
        assert_eq!(info.namespace(), "parcel");
        assert_eq!(names.of("shop.order.mail", &parcel).node(0), Some("wrap"));
        assert_eq!(
            names.hash(),
            hash(&order("both", "lines", "pack").to_compact_json())
        );
    }
}
