//! A loaded flow as data, for the loop over its nodes.

use std::sync::Arc;
use std::time::Duration;

use flow_runtime::Policy;
use flow_runtime::engine::FlowInfo;
use flow_spec::Take;
use flow_spec::document::Property;
use serde_json::Value;

use crate::adapter::{Adapter, Borrowed, Receiver, StepFunction};
use crate::condition::Condition;
use crate::list::ListType;
use crate::ports::{KeyIndex, NodeIndex, Ports, TakenBy};
use crate::prompt::Prompt;
use crate::value::ValueType;

/// One flow of a document.
pub(crate) struct Level {
    pub(crate) info: FlowInfo,
    /// The keys of its state.
    pub(crate) keys: Vec<Key>,
    /// Its nodes, in the order of the document.
    pub(crate) nodes: Vec<Node>,
    pub(crate) start: Route,
    pub(crate) inputs: Vec<Input>,
    pub(crate) outputs: Vec<Output>,
    /// The key that holds the error of a node.
    pub(crate) error: Option<KeyIndex>,
    /// True if visits of the flow can be undone: its own, or those of flows in it.
    pub(crate) undoes: bool,
}

/// A route of a node, by its position in [`Node::routes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RouteIndex(pub(crate) usize);

pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) ty: &'static ValueType,
    /// True if the program names no type for it: it is JSON, which others may read as any type.
    pub(crate) untyped: bool,
}

pub(crate) struct Input {
    pub(crate) name: String,
    /// `None` if nothing reads or returns it.
    pub(crate) key: Option<KeyIndex>,
    pub(crate) optional: bool,
    /// The value if it is left out.
    pub(crate) default: Option<Value>,
    /// Its JSON Schema, if that refuses values of the right type.
    pub(crate) limits: Option<Property>,
}

pub(crate) struct Output {
    pub(crate) name: String,
    /// `None` if nothing writes it.
    pub(crate) key: Option<KeyIndex>,
    /// True if what is written is an `Option` of what is returned.
    pub(crate) flattens: bool,
    pub(crate) optional: bool,
    pub(crate) ty: Option<&'static ValueType>,
}

pub(crate) enum Target {
    Node(NodeIndex),
    End(String),
}

pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) ports: Ports,
    pub(crate) routes: Vec<Route>,
    /// The route of each of its actions. Empty inside a fork or a loop. Where a node decides the
    /// action of a race, its routes are the actions of the race.
    pub(crate) by_action: Vec<Option<RouteIndex>>,
    /// Its route if it fails.
    pub(crate) error: Option<RouteIndex>,
    /// Its route if no answer arrives in time.
    pub(crate) timeout: Option<RouteIndex>,
    pub(crate) policy: Policy,
    /// Its question. `None` if it asks nobody, or if its type has the question.
    pub(crate) prompt: Option<Prompt>,
    /// The name of the signal for which it waits. `None` for all other nodes.
    pub(crate) signal: Option<String>,
    /// The node that takes back its visits.
    pub(crate) undo: Option<NodeIndex>,
}

/// A function or a type.
#[derive(Clone, Copy)]
pub(crate) struct Step<'a> {
    pub(crate) receiver: Borrowed<'a>,
    pub(crate) run: StepFunction,
    /// True if the flow makes the attempts because the node makes none itself.
    pub(crate) is_bounded: bool,
}

pub(crate) struct Route {
    pub(crate) action: String,
    pub(crate) to: Target,
    pub(crate) mappings: Vec<EdgeMapping>,
}

/// A key that an edge writes when it is taken.
pub(crate) struct EdgeMapping {
    pub(crate) key: KeyIndex,
    /// The key whose value is written to it.
    pub(crate) source: KeyIndex,
    pub(crate) take: Take,
}

pub(crate) enum Kind {
    Step {
        adapter: Arc<Adapter>,
        receiver: Option<Receiver>,
        /// The function that runs it, copied from the adapter. `None` if it asks a person.
        run: Option<StepFunction>,
        /// True if the flow makes the attempts because the node makes none itself.
        is_bounded: bool,
    },
    Flow(Arc<Level>),
    Fork {
        branches: Vec<Branch>,
        limit: Option<usize>,
    },
    Race(Vec<Branch>),
    Each {
        body: NodeIndex,
        item: String,
        concurrency: Option<usize>,
        /// The number of items of a part, if an engine may run the loop in parts.
        spread: Option<u32>,
        collects_errors: bool,
        results: Results,
    },
    Branch {
        cases: Vec<(Arc<Condition>, RouteIndex)>,
        otherwise: RouteIndex,
    },
    Wait(Duration),
    /// Undoes the visits so far.
    Undo,
    /// Forgets the visits so far, so that they are not undone.
    Commit,
}

/// The key for the results of a loop that adds them and whose items may run in parts: of compiled
/// flows as well. Only the state in which an engine returns the results has it.
pub(crate) fn spread_results(loop_name: &str) -> String {
    format!("__results_of_{loop_name}")
}

/// The form of the results of a loop over items.
#[derive(Clone, Copy)]
pub(crate) enum Results {
    /// No results.
    Nothing,
    /// A list that has a type in the program.
    List(&'static ListType),
    /// JSON, from which the key is read. The body is a flow.
    Json {
        /// True if a result is an object with the outputs and the end, like the output struct of a
        /// compiled flow. Otherwise it is the only output, or `null` if there is none.
        whole: bool,
    },
}

/// A branch of a fork or a race.
pub(crate) struct Branch {
    pub(crate) chain: Vec<NodeIndex>,
    /// The reads whose values are taken out of the state before the branches run.
    pub(crate) takes: Vec<TakenBy>,
    /// The keys that its nodes write.
    pub(crate) keys: Vec<KeyIndex>,
    /// The index of the action of the race. `None` if the last node decides it, or in a fork.
    pub(crate) action: Option<usize>,
}

impl Output {
    /// The type of what is returned. `None` if nothing writes it, or if it is an `Option` around
    /// the value, whose type is not known.
    pub(crate) fn returned_type(&self) -> Option<&'static ValueType> {
        match (self.ty, self.flattens) {
            (Some(ty), true) => ty.option.map(|option| option.inner),
            (ty, _) => ty,
        }
    }
}

impl Kind {
    /// The branches of a fork or a race. Empty for other nodes.
    pub(crate) fn branches(&self) -> &[Branch] {
        match self {
            Kind::Fork { branches, .. } | Kind::Race(branches) => branches,
            _ => &[],
        }
    }

    pub(crate) fn branches_mut(&mut self) -> &mut [Branch] {
        match self {
            Kind::Fork { branches, .. } | Kind::Race(branches) => branches,
            _ => &mut [],
        }
    }
}

impl Node {
    /// The function or type to run. `None` if it asks a person, contains other nodes, or is a part
    /// of the language.
    #[inline]
    pub(crate) fn step(&self) -> Option<Step<'_>> {
        match &self.kind {
            Kind::Step {
                receiver,
                run: Some(run),
                is_bounded,
                ..
            } => Some(Step {
                receiver: receiver.as_deref(),
                run: *run,
                is_bounded: *is_bounded,
            }),
            _ => None,
        }
    }

    /// The route of an action, by its index. `None` inside a fork or a loop.
    #[inline]
    pub(crate) fn route_of(&self, action: usize) -> Option<RouteIndex> {
        self.by_action.get(action).copied().flatten()
    }
}

impl Level {
    /// The type of a key, if the program names one.
    pub(crate) fn typed(&self, key: KeyIndex) -> Option<&'static ValueType> {
        let key = self.key(key);
        (!key.untyped).then_some(key.ty)
    }

    /// Returns `true` if the program names no type for this key.
    pub(crate) fn is_untyped(&self, key: Option<KeyIndex>) -> bool {
        key.is_some_and(|key| self.key(key).untyped)
    }

    /// Returns true if visits of a flow with these nodes can be undone.
    pub(crate) fn can_undo(nodes: &[Node]) -> bool {
        nodes.iter().any(|node| match &node.kind {
            Kind::Flow(inner) => inner.undoes,
            _ => node.undo.is_some(),
        })
    }

    /// Returns true if all ends have the same label.
    pub(crate) fn has_one_end(&self) -> bool {
        let routes = self.nodes.iter().flat_map(|node| &node.routes);
        let targets = routes.chain([&self.start]).map(|route| &route.to);
        let mut labels = targets.filter_map(|target| match target {
            Target::End(label) => Some(label),
            Target::Node(_) => None,
        });
        let first = labels.next();
        labels.all(|label| Some(label) == first)
    }

    #[inline]
    pub(crate) fn node(&self, NodeIndex(index): NodeIndex) -> &Node {
        &self.nodes[index]
    }

    #[inline]
    pub(crate) fn key(&self, KeyIndex(index): KeyIndex) -> &Key {
        &self.keys[index]
    }
}
