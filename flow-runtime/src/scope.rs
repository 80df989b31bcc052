//! Where a run is: the stack of flows under way, each at one of its nodes.
//!
//! The hard thing is to cost nothing. A scope lives on the stack of its flow's future, knows its position as an
//! index, and is turned into text only when somebody asks.

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::run::Run;

/// One flow under way: the run's own, or one used as a node, within the flow that uses it.
#[derive(Debug)]
pub struct Scope<'a> {
    pub(crate) run: &'a Run,
    within: Option<&'a Scope<'a>>,
    flow: &'static FlowInfo,
    /// At which node it is: its index and one, or [`NOWHERE`].
    at: AtomicU32,
    /// Which visit to that node it is, from 1, if the engine counts them.
    visit: AtomicU32,
    /// Of which item of a loop over items.
    item: Option<u32>,
}

/// What a scope needs to know of its flow.
#[derive(Debug)]
pub struct FlowInfo {
    /// The first segments of every path of a run of this flow. Unused where the flow is a node of another one.
    pub namespace: &'static str,
    /// The names of its nodes, by index.
    pub nodes: &'static [&'static str],
}

/// The position of a scope that is at no node: before its first step, and after its last.
const NOWHERE: u32 = 0;

impl<'a> Scope<'a> {
    /// The scope of a run's own flow.
    #[inline]
    pub fn root(run: &'a Run, flow: &'static FlowInfo) -> Self {
        Scope {
            run,
            within: None,
            flow,
            at: AtomicU32::new(NOWHERE),
            visit: AtomicU32::new(0),
            item: None,
        }
    }

    /// The scope of a flow that is the current node of this one.
    #[inline]
    pub fn nested<'b>(&'b self, flow: &'static FlowInfo) -> Scope<'b> {
        Scope {
            run: self.run,
            within: Some(self),
            flow,
            at: AtomicU32::new(NOWHERE),
            visit: AtomicU32::new(0),
            item: None,
        }
    }

    /// A branch of a fork, or something else that goes on at the same time as this.
    #[inline]
    pub fn lane(&self) -> Scope<'_> {
        Scope {
            run: self.run,
            within: self.within,
            flow: self.flow,
            at: AtomicU32::new(NOWHERE),
            visit: AtomicU32::new(0),
            item: None,
        }
    }

    /// One item of the loop over items that is the current node.
    #[inline]
    pub fn item(&self, index: u32) -> Scope<'_> {
        let mut lane = self.lane();
        *lane.at.get_mut() = self.position();
        *lane.visit.get_mut() = self.visit.load(Ordering::Relaxed);
        lane.item = Some(index);
        lane
    }

    /// Moves on to a node.
    #[inline]
    pub(crate) fn enter(&self, node: u16) {
        self.at.store(u32::from(node) + 1, Ordering::Relaxed);
    }

    /// Has reached an end.
    #[inline]
    pub fn leave(&self) {
        self.at.store(NOWHERE, Ordering::Relaxed);
    }

    /// The path of the current node, or of the flow itself if it is at none.
    #[inline]
    pub(crate) fn path(&self) -> Path<'_> {
        self.path_at(self.position())
    }

    /// Where it is: a node, or none.
    #[inline]
    pub(crate) fn position(&self) -> u32 {
        self.at.load(Ordering::Relaxed)
    }

    /// The path of the node at a position, or of the flow itself where there is none.
    #[inline]
    pub(crate) fn path_at(&self, position: u32) -> Path<'_> {
        Path(Place::Node(self, position))
    }

    /// The name of the node at a position; empty for none.
    fn name_at(&self, position: u32) -> &'static str {
        let node = (position as usize).checked_sub(1);
        node.and_then(|node| self.flow.nodes.get(node).copied())
            .unwrap_or_default()
    }

    /// The path of the flow itself.
    #[inline]
    pub(crate) fn flow_path(&self) -> Path<'_> {
        self.path_at(NOWHERE)
    }

    /// Which visit to the current node it is, from 1; 0 if the engine does not count them.
    #[cfg(feature = "durable")]
    pub(crate) fn visit(&self) -> u32 {
        self.visit.load(Ordering::Relaxed)
    }

    #[cfg(feature = "durable")]
    pub(crate) fn set_visit(&self, visit: u32) {
        self.visit.store(visit, Ordering::Relaxed);
    }

    /// The index of the item that it is of: the innermost one, where loops are within one another.
    #[cfg(feature = "durable")]
    pub(crate) fn item_index(&self) -> Option<u32> {
        self.item.or_else(|| self.within?.item_index())
    }

    /// The scope of the flow around this one.
    #[cfg(feature = "durable")]
    pub(crate) fn within(&self) -> Option<&Scope<'a>> {
        self.within
    }

    /// The name of a node.
    #[cfg(feature = "durable")]
    pub(crate) fn node_name(&self, node: u16) -> &'static str {
        self.name_at(u32::from(node) + 1)
    }

    /// The index of a node by its name.
    #[cfg(feature = "durable")]
    pub(crate) fn node_named(&self, name: &str) -> Option<usize> {
        self.flow.nodes.iter().position(|node| *node == name)
    }

    /// It is dropped where it is. `extern "C"` says that this does not unwind: what drops a flow that has not come to an end
    /// is then as short as can be inlined.
    #[cold]
    #[inline(never)]
    extern "C" fn interrupted(&self) {
        self.run.interrupted_at(self.path());
    }

    /// The path of the current node, as a value that outlives the scope.
    pub(crate) fn owned_path(&self) -> OwnedPath {
        let flow = match self.within {
            None => Cow::Borrowed(self.flow.namespace),
            Some(outer) => Cow::Owned(outer.path().to_string()),
        };
        OwnedPath {
            flow,
            node: self.name_at(self.position()),
            item: self.item,
        }
    }
}

/// A scope that is dropped at a node did not reach an end. If that is because the node panicked, or because the
/// run was cancelled, the run is told where: the innermost scope is dropped first, so the first report stands.
impl Drop for Scope<'_> {
    #[inline]
    fn drop(&mut self) {
        if *self.at.get_mut() != NOWHERE {
            self.interrupted();
        }
    }
}

/// The path of a node within its run, such as `orders.payment.charge`.
///
/// It consists of the run's namespace, the nodes around it, the outermost first, and the node itself. A node that runs
/// for the items of a loop has the item's index, as in `report.summaries[3]`. The text is put together when it is
/// printed, so to keep a path, turn it into a `String`.
#[derive(Clone, Copy)]
pub struct Path<'a>(Place<'a>);

#[derive(Clone, Copy)]
enum Place<'a> {
    /// A position in a scope: at a node or, at none, the flow itself.
    Node(&'a Scope<'a>, u32),
    /// Already put together.
    Text(&'a str),
}

impl<'a> Path<'a> {
    pub(crate) fn text(path: &'a str) -> Self {
        Path(Place::Text(path))
    }

    /// The name of the node alone, without those around it. Empty where the path is that of a run's own flow.
    pub fn node(&self) -> &'a str {
        match self.0 {
            Place::Node(scope, node) => scope.name_at(node),
            Place::Text(path) => path.rsplit('.').next().unwrap_or(path),
        }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Place::Text(path) => f.write_str(path),
            Place::Node(scope, _) => {
                match scope.within {
                    Some(outer) => outer.path().fmt(f)?,
                    None => f.write_str(scope.flow.namespace)?,
                }
                match (self.node(), scope.item) {
                    ("", _) => Ok(()),
                    (name, None) => write!(f, ".{name}"),
                    (name, Some(item)) => write!(f, ".{name}[{item}]"),
                }
            }
        }
    }
}

impl fmt::Debug for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{self}`")
    }
}

/// The path of a node, as a value that outlives the scope.
#[derive(Clone)]
pub(crate) struct OwnedPath {
    /// The path of the flow. Only that of a flow used as a node has to be put together.
    flow: Cow<'static, str>,
    node: &'static str,
    item: Option<u32>,
}

impl OwnedPath {
    pub(crate) fn put_together(&self) -> String {
        match self.item {
            None => format!("{}.{}", self.flow, self.node),
            Some(item) => format!("{}.{}[{item}]", self.flow, self.node),
        }
    }
}
