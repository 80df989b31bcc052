//! Builds a flow that was found sound.

use std::collections::HashMap;
use std::sync::Arc;

use flow_runtime::engine::FlowInfo;
use flow_spec::document::types;
use flow_spec::{
    CheckedGraph, DEFAULT_ACTION, ERROR_ACTION, ERROR_KEY, EdgeSource, EdgeTarget, FlowDocument,
    NodeDocument, NodeId, ReadMode, Site, TIMEOUT_ACTION, check, node_path,
};
use serde_json::Value;

use crate::adapter::{Adapter, Runs};
use crate::level::{Branch, EdgeMapping, Kind, Level, Node, Route, RouteIndex, Target};
use crate::ports::{NodeIndex, Ports};

use super::Loader;
use super::human::prompt;
use super::ports::{Parts, add_takes, edges_by_node, inputs, outputs, reads, writes};
use super::settings::{concurrency, duration, policy, spread};
use super::uses::{Uses, body};

impl Loader<'_> {
    /// Builds the flow at a place of the document. Its nodes have paths below `path`. `None` if
    /// something is wrong, which is reported.
    pub(super) fn build(
        &mut self,
        flow: &FlowDocument,
        pointer: &str,
        path: &str,
    ) -> Option<Level> {
        let mut inner = HashMap::new();
        for (index, node) in flow.nodes.iter().enumerate() {
            if let Some(document) = &node.internal_flow {
                let pointer = format!("{pointer}/nodes/{index}/internalFlow");
                let path = node_path(path, &node.id);
                inner.insert(index, self.build(document, &pointer, &path)?);
            }
        }
        let checked = self.checked(flow, pointer)?;
        let uses = &Uses::of(flow);
        let keys = self.keys(flow, uses, pointer, &inner, checked.graph())?;
        let results = flow.nodes.iter();
        let results = results.map(|node| self.results(uses, pointer, node, &inner));
        let parts = Parts {
            flow,
            pointer,
            path,
            checked: &checked,
            keys: &keys,
            uses,
            edges: edges_by_node(checked.graph()),
            results: results.collect(),
        };
        let mut nodes = Vec::new();
        for (index, node) in flow.nodes.iter().enumerate() {
            let level = inner.remove(&index).map(Arc::new);
            nodes.push(self.node(&parts, index, node, level));
        }
        let nodes: Option<Vec<Node>> = nodes.into_iter().collect();
        let nodes = nodes?;
        let mut level = Level {
            info: FlowInfo::new(
                flow.namespace.clone(),
                nodes.iter().map(|node| node.name.clone()).collect(),
            ),
            start: start(&parts)?,
            inputs: inputs(&parts),
            outputs: outputs(&parts),
            error: parts.key(ERROR_KEY),
            keys: keys.typed(),
            undoes: Level::can_undo(&nodes),
            nodes,
        };
        add_takes(&mut level);
        self.check_values(pointer, &level);
        Some(level)
    }

    /// The graph of a flow, with the reads that take their values.
    fn checked(&mut self, flow: &FlowDocument, pointer: &str) -> Option<CheckedGraph> {
        let mut graph = flow.graph().ok()?;
        for (index, node) in flow.nodes.iter().enumerate() {
            let adapter = self.adapters.get(&format!("{pointer}/nodes/{index}"));
            for (read, (name, ..)) in node.inputs.values().enumerate() {
                let takes = match adapter {
                    Some(adapter) => adapter
                        .reads
                        .iter()
                        .any(|port| port.name == name && port.mode.takes()),
                    None => node.is_flow(),
                };
                if takes {
                    graph.nodes[index].reads[read].mode = ReadMode::Take;
                }
            }
        }
        match check(graph) {
            Ok(checked) => Some(checked),
            Err(found) => {
                for diagnostic in found {
                    let place = match diagnostic.site {
                        Site::Node(NodeId(node)) | Site::Read(NodeId(node), _) => {
                            format!("{pointer}/nodes/{node}")
                        }
                        _ => pointer.to_owned(),
                    };
                    self.problem(diagnostic.code, place, diagnostic.to_string(), None);
                }
                None
            }
        }
    }

    fn node(
        &mut self,
        parts: &Parts<'_>,
        index: usize,
        node: &NodeDocument,
        level: Option<Arc<Level>>,
    ) -> Option<Node> {
        let adapter = self.adapters.get(&parts.node_pointer(index)).cloned();
        let routes = match parts
            .uses
            .race_of(&node.id)
            .and_then(|race| parts.id(&race.id))
        {
            Some(race) => routes_in_race(parts, race),
            None => routes(parts, NodeId(index)),
        };
        let graph = parts.checked.graph().node(NodeId(index));
        let named = |action: &str| {
            let at = routes.iter().position(|route| route.action == action);
            at.map(RouteIndex)
        };
        let by_action = match &adapter {
            Some(adapter) => adapter.actions.iter().map(|it| named(it.name)).collect(),
            None if node.r#type == types::FIRST => {
                graph.actions.iter().map(|it| named(&it.name)).collect()
            }
            None => vec![named(DEFAULT_ACTION)],
        };
        let own_end = level.is_some() && graph.actions.iter().any(|it| it.name == ERROR_ACTION);
        let times_out = times_out(node, adapter.as_deref());
        let of_loop = parts.uses.loop_of(&node.id).map(|each| &each.settings);
        let policy = policy(&node.settings, of_loop, adapter.as_deref(), self.registry);
        let reads = reads(
            parts,
            index,
            node,
            adapter.as_deref(),
            level.as_deref(),
            &policy,
        );
        let writes = writes(parts, index, node, adapter.as_deref(), level.as_deref());
        let (error, timeout) = (
            named(ERROR_ACTION).filter(|_| graph.fallible && !own_end),
            named(TIMEOUT_ACTION).filter(|_| times_out),
        );
        let outcome = adapter.as_ref().map(|adapter| adapter.outcome);
        let kind = match (adapter, level) {
            (Some(adapter), _) => {
                let is_bounded = policy.timeout.is_some() && !adapter.takes_policy;
                self.step(parts, index, node, adapter, is_bounded)?
            }
            (None, Some(level)) => Kind::Flow(level),
            (None, None) => self.kind(parts, index, node, &routes)?,
        };
        Some(Node {
            name: node.id.clone(),
            ports: Ports {
                at: NodeIndex(index),
                reads,
                writes,
                outcome,
                repeats: matches!(kind, Kind::Flow(_)) && policy.retry.attempts.get() > 1,
            },
            kind,
            by_action,
            error,
            timeout,
            policy,
            prompt: prompt(node).and_then(Result::ok),
            signal: node.signal().map(str::to_owned),
            undo: node.settings.undo.as_deref().and_then(|id| parts.id(id)),
            routes,
        })
    }

    /// A registered node.
    fn step(
        &mut self,
        parts: &Parts<'_>,
        index: usize,
        node: &NodeDocument,
        adapter: Arc<Adapter>,
        is_bounded: bool,
    ) -> Option<Kind> {
        let (pointer, path) = (parts.node_pointer(index), parts.node_path(node));
        Some(Kind::Step {
            receiver: self.receiver(&pointer, &path, node, &adapter)?,
            run: match adapter.runs {
                Runs::Step(run) => Some(run),
                Runs::Human { .. } | Runs::Signal { .. } => None,
            },
            is_bounded,
            adapter,
        })
    }

    /// A node of the language.
    fn kind(
        &mut self,
        parts: &Parts<'_>,
        index: usize,
        node: &NodeDocument,
        routes: &[Route],
    ) -> Option<Kind> {
        let text = |name: &str| {
            node.params
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        match node.r#type.as_str() {
            types::FORK => {
                let branches = node.branches().into_iter();
                let branches = branches.map(|ids| branch(parts, ids, None));
                Some(Kind::Fork {
                    branches: branches.collect(),
                    limit: concurrency(&node.settings),
                })
            }
            types::FIRST => {
                let names = &parts.checked.graph().node(NodeId(index)).actions;
                let position = |name: &str| names.iter().position(|action| action.name == name);
                let branches = node.branches().into_iter().zip(node.actions_of_branches());
                let branches = branches.map(|(ids, action)| {
                    let last = ids.last().and_then(|id| parts.id(id));
                    let last = last.map(|last| parts.checked.graph().node(NodeId(last.0)));
                    let is_plain = last.is_none_or(|last| {
                        last.actions.iter().all(|one| one.name == DEFAULT_ACTION)
                    });
                    let action = action.or(is_plain.then_some(DEFAULT_ACTION));
                    branch(parts, ids, action.and_then(position))
                });
                Some(Kind::Race(branches.collect()))
            }
            types::EACH => Some(Kind::Each {
                body: parts.id(body(node)?)?,
                item: text("item").to_owned(),
                concurrency: concurrency(&node.settings),
                spread: spread(&node.settings),
                collects_errors: node.settings.collect_errors,
                results: parts.results[index],
            }),
            types::BRANCH => self.branch(parts, index, node, routes),
            types::WAIT => Some(Kind::Wait(duration(text("duration")))),
            types::UNDO => Some(Kind::Undo),
            types::COMMIT => Some(Kind::Commit),
            other => {
                unreachable!("the document was read, and `{other}` is not a type of the language")
            }
        }
    }

    fn branch(
        &mut self,
        parts: &Parts<'_>,
        index: usize,
        node: &NodeDocument,
        routes: &[Route],
    ) -> Option<Kind> {
        self.check_conditions_of(node, &parts.node_pointer(index), parts.keys);
        let cases = node.params.get("cases").and_then(Value::as_array);
        let numbered = routes.iter().enumerate();
        let routes: HashMap<&str, RouteIndex> = numbered
            .map(|(index, route)| (&*route.action, RouteIndex(index)))
            .collect();
        let mut built = Vec::new();
        for case in cases.into_iter().flatten() {
            let text = |name: &str| case.get(name).and_then(Value::as_str).unwrap_or_default();
            let condition = match self.conditions.read(text("when")) {
                Ok(condition) => condition,
                Err(reason) => unreachable!("the conditions were read: {reason}"),
            };
            built.push((condition, route_of(node, text("action"), &routes)));
        }
        let otherwise = node.params.get("otherwise").and_then(Value::as_str);
        Some(Kind::Branch {
            cases: built,
            otherwise: route_of(node, otherwise.unwrap_or_default(), &routes),
        })
    }
}

/// A branch of a fork or a race, with the action of the race that it decides by itself.
fn branch(parts: &Parts<'_>, ids: Vec<&str>, action: Option<usize>) -> Branch {
    Branch {
        chain: ids.into_iter().filter_map(|id| parts.id(id)).collect(),
        takes: Vec::new(),
        keys: Vec::new(),
        action,
    }
}

/// The actions of a race as routes of a node that decides it. They lead to the race, which goes on.
fn routes_in_race(parts: &Parts<'_>, race: NodeIndex) -> Vec<Route> {
    let actions = parts.checked.graph().node(NodeId(race.0)).actions.iter();
    let routes = actions.map(|action| Route {
        action: action.name.clone(),
        to: Target::Node(race),
        mappings: Vec::new(),
    });
    routes.collect()
}

/// The route of an action of a branch.
fn route_of(node: &NodeDocument, action: &str, routes: &HashMap<&str, RouteIndex>) -> RouteIndex {
    match routes.get(action) {
        Some(route) => *route,
        None => unreachable!("the analysis accepted \"{action}\" of `{}`", node.id),
    }
}

fn start(parts: &Parts<'_>) -> Option<Route> {
    let mut edges = parts.checked.graph().edges.iter().enumerate();
    let (index, _) = edges.find(|(_, edge)| edge.from == EdgeSource::Start)?;
    Some(route(parts, index))
}

fn target(to: &EdgeTarget) -> Target {
    match to {
        EdgeTarget::Node(NodeId(node)) => Target::Node(NodeIndex(*node)),
        EdgeTarget::End(label) => Target::End(label.clone()),
    }
}

fn routes(parts: &Parts<'_>, node: NodeId) -> Vec<Route> {
    let edges = parts.edges.get(&node).into_iter().flatten();
    edges.map(|index| route(parts, *index)).collect()
}

/// The edge with this index.
fn route(parts: &Parts<'_>, index: usize) -> Route {
    let edge = &parts.checked.graph().edges[index];
    let mappings = edge.mappings.iter().enumerate();
    let mappings = mappings.filter_map(|(number, mapping)| {
        Some(EdgeMapping {
            key: parts.key(&mapping.key)?,
            source: parts.key(&mapping.source)?,
            take: parts.checked.take_of_edge(index, number),
        })
    });
    Route {
        action: edge.action().to_owned(),
        to: target(&edge.to),
        mappings: mappings.collect(),
    }
}

/// Returns `true` if the node can time out without an answer.
fn times_out(node: &NodeDocument, adapter: Option<&Adapter>) -> bool {
    adapter.is_some_and(|adapter| adapter.times_out)
        || ([types::HUMAN, types::SIGNAL].contains(&node.r#type.as_str())
            && node.settings.timeout.is_some())
}
