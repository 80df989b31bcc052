//! Where a run is: the stack of flows under way, each at one of its nodes.
//!
//! The hard thing is to cost nothing. A scope lives on the stack of its flow's future, knows its position as an
//! index, and is turned into text only when somebody asks.

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::run::Run;

/// One frame of a run: a flow under way, a branch of a fork, or an item of a loop, within the frame around it.
#[derive(Debug)]
pub struct Scope<'a> {
    pub(crate) run: &'a Run,
    /// The frame around this one. It is at the node that this frame is carried out for: the flow used as a node, the fork,
    /// or the loop.
    within: Option<&'a Scope<'a>>,
    flow: &'static FlowInfo,
    /// The current node: its index plus one, or [`NOWHERE`].
    at: AtomicU32,
    /// The number of the visit to that node within this frame, from 1. 0 if the engine does not count visits.
    visit: AtomicU32,
    frame: Frame,
}

/// What a scope is within the one around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Frame {
    /// The run's own flow, or a flow used as a node: the attempt at it, from 0.
    Flow(u32),
    /// A branch of the fork that the scope around it is at.
    Branch,
    /// An item of the loop that the scope around it is at: its index.
    Item(u32),
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
            frame: Frame::Flow(0),
        }
    }

    /// The scope of a flow that is the current node of this one, at the given attempt, from 0.
    #[inline]
    pub fn nested<'b>(&'b self, flow: &'static FlowInfo, attempt: u32) -> Scope<'b> {
        Scope {
            run: self.run,
            within: Some(self),
            flow,
            at: AtomicU32::new(NOWHERE),
            visit: AtomicU32::new(0),
            frame: Frame::Flow(attempt),
        }
    }

    /// A branch of the fork that is the current node.
    #[inline]
    pub fn branch(&self) -> Scope<'_> {
        Scope {
            run: self.run,
            within: Some(self),
            flow: self.flow,
            at: AtomicU32::new(NOWHERE),
            visit: AtomicU32::new(0),
            frame: Frame::Branch,
        }
    }

    /// One item of the loop that is the current node.
    #[inline]
    pub fn item(&self, index: u32) -> Scope<'_> {
        Scope {
            run: self.run,
            within: Some(self),
            flow: self.flow,
            at: AtomicU32::new(self.position()),
            visit: AtomicU32::new(self.visit.load(Ordering::Relaxed)),
            frame: Frame::Item(index),
        }
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
        Path(PathOf::Node(self, position))
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

    /// The number of the visit to the current node within this frame, from 1; 0 if the engine does not count visits.
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
        match self.frame {
            Frame::Item(index) => Some(index),
            Frame::Flow(_) | Frame::Branch => self.within?.item_index(),
        }
    }

    /// Whether this is a branch of a fork, whose nodes are visited once each.
    #[cfg(feature = "durable")]
    pub(crate) fn is_branch(&self) -> bool {
        self.frame == Frame::Branch
    }

    /// The attempt at the flow that this scope is of, from 0.
    #[cfg(feature = "durable")]
    pub(crate) fn flow_attempt(&self) -> u32 {
        match self.frame {
            Frame::Flow(attempt) => attempt,
            Frame::Branch | Frame::Item(_) => self.within.map_or(0, Scope::flow_attempt),
        }
    }

    /// Where its current node belongs.
    #[cfg(feature = "durable")]
    pub(crate) fn place(&self) -> Place {
        let mut step = String::new();
        self.write_step(&mut step);
        Place {
            path: self.path().to_string(),
            step,
            visit: self.visit(),
            item: self.item_index(),
        }
    }

    /// Where this attempt at its flow belongs: the step of the node that the flow is, with the number of the retry. The
    /// namespace for the run's own flow.
    #[cfg(feature = "durable")]
    pub(crate) fn flow_place(&self) -> Place {
        let outer = self.around_flow();
        Place {
            path: self.flow_path().to_string(),
            step: self.flow_step(),
            visit: outer.map_or(0, Scope::visit),
            item: outer.and_then(Scope::item_index),
        }
    }

    /// Names this attempt at its flow.
    #[cfg(feature = "durable")]
    pub(crate) fn flow_step(&self) -> String {
        let mut step = String::new();
        self.write_flow_step(&mut step);
        step
    }

    #[cfg(feature = "durable")]
    fn write_step(&self, step: &mut String) {
        use std::fmt::Write as _;
        match (self.frame, self.within) {
            (Frame::Item(index), Some(outer)) => {
                outer.write_step(step);
                let _ = write!(step, "[{index}]"); // writing to a `String` does not fail
                return;
            }
            (Frame::Branch, Some(outer)) => outer.write_step(step),
            _ => self.write_flow_step(step),
        }
        let name = self.name_at(self.position());
        if !name.is_empty() {
            step.push('.');
            step.push_str(name);
            if self.visit() > 1 {
                let _ = write!(step, "#{}", self.visit());
            }
        }
    }

    #[cfg(feature = "durable")]
    fn write_flow_step(&self, step: &mut String) {
        match (self.frame, self.within) {
            (Frame::Branch | Frame::Item(_), Some(outer)) => outer.write_flow_step(step),
            (Frame::Flow(attempt), Some(outer)) => {
                outer.write_step(step);
                write_retry(step, attempt);
            }
            (_, None) => step.push_str(self.flow.namespace),
        }
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
        let flow = match self.around_flow() {
            None => Cow::Borrowed(self.flow.namespace),
            Some(outer) => Cow::Owned(outer.path().to_string()),
        };
        OwnedPath {
            flow,
            node: self.name_at(self.position()),
            item: self.item_of_path(),
        }
    }

    /// The scope around this frame's flow, which is at that flow. `None` for the run's own flow.
    pub(crate) fn around_flow(&self) -> Option<&'a Scope<'a>> {
        let mut scope = self;
        while !matches!(scope.frame, Frame::Flow(_)) {
            scope = scope.within?;
        }
        scope.within
    }

    /// The index that its own path ends with.
    fn item_of_path(&self) -> Option<u32> {
        match self.frame {
            Frame::Item(index) => Some(index),
            Frame::Flow(_) | Frame::Branch => None,
        }
    }
}

/// Adds the number of the retry of a flow: of an attempt that is not the first.
#[cfg(feature = "durable")]
pub(crate) fn write_retry(step: &mut String, attempt: u32) {
    use std::fmt::Write as _;
    if attempt > 0 {
        let _ = write!(step, "~{attempt}"); // writing to a `String` does not fail
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
pub struct Path<'a>(PathOf<'a>);

#[derive(Clone, Copy)]
enum PathOf<'a> {
    /// A position in a scope: at a node or, at none, the flow itself.
    Node(&'a Scope<'a>, u32),
    /// Already put together.
    Text(&'a str),
    /// Already put together, of a step of a durable run.
    #[cfg(feature = "durable")]
    Step(&'a Place),
}

/// Where something of a durable run belongs.
#[cfg(feature = "durable")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// The path of the node, or of the flow.
    pub(crate) path: String,
    /// What no other place of the run has: see [`Record::step`](crate::durable::Record::step).
    pub(crate) step: String,
    /// The number of the visit to the node within the frame around it, from 1. 0 for what concerns the run as a whole.
    pub(crate) visit: u32,
    pub(crate) item: Option<u32>,
}

impl<'a> Path<'a> {
    pub(crate) fn text(path: &'a str) -> Self {
        Path(PathOf::Text(path))
    }

    /// The path of a step.
    #[cfg(feature = "durable")]
    pub(crate) fn of_step(place: &'a Place) -> Self {
        Path(PathOf::Step(place))
    }

    /// The place that this is the path of. `None` if only a text is known.
    #[cfg(feature = "durable")]
    pub(crate) fn place(&self) -> Option<Place> {
        match self.0 {
            PathOf::Node(scope, NOWHERE) => Some(scope.flow_place()),
            PathOf::Node(scope, _) => Some(scope.place()),
            PathOf::Step(place) => Some(place.clone()),
            PathOf::Text(_) => None,
        }
    }

    /// The name of the node alone, without those around it. Empty where the path is that of a run's own flow.
    pub fn node(&self) -> &'a str {
        match self.0 {
            PathOf::Node(scope, node) => scope.name_at(node),
            PathOf::Text(path) => path.rsplit('.').next().unwrap_or(path),
            #[cfg(feature = "durable")]
            PathOf::Step(place) => place.path.rsplit('.').next().unwrap_or(&place.path),
        }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            PathOf::Text(path) => f.write_str(path),
            #[cfg(feature = "durable")]
            PathOf::Step(place) => f.write_str(&place.path),
            PathOf::Node(scope, _) => {
                match scope.around_flow() {
                    Some(outer) => outer.path().fmt(f)?,
                    None => f.write_str(scope.flow.namespace)?,
                }
                match (self.node(), scope.item_of_path()) {
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
