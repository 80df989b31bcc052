//! The position of a run: the stack of running flows, each at one of its nodes.
//!
//! The hard thing is to cost nothing. A frame lives on the stack of its flow's future and stores
//! its position as an index. It becomes text only on request.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::step_key::{Index, NodePath, of_undo, write_index, write_node, write_retry};

/// One frame of a run: a running flow, a branch of a fork, or an item of a loop, within the frame
/// around it.
///
/// It is at one of the nodes of its flow, or at none: before the first step and after the last one.
#[derive(Debug)]
pub struct Frame<'a> {
    /// The frame around this one. It is at the node for which this frame runs: the flow used as a
    /// node, the fork, or the loop.
    within: Option<&'a Frame<'a>>,
    flow: &'a FlowInfo,
    /// The current node: its index plus one, or [`NOWHERE`].
    at: AtomicU32,
    /// The number of the visit to that node within this frame, from 1. 0 if the engine does not
    /// count visits.
    visit: AtomicU32,
    kind: Kind,
}

/// The relation of a frame to the one around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The run's own flow, or a flow used as a node, with the index of the attempt, from 0.
    Flow(u32),
    /// A branch of the fork at the current node of the frame around it.
    Branch,
    /// An item of the loop at the current node of the frame around it, with its index.
    Item(u32),
    /// The undo node of a visit of the flow of the frame around it, or of a flow inside that. Its
    /// place stands for the names of a flow.
    Undo,
}

/// The names of a flow and its nodes, from which paths are made.
#[derive(Debug)]
pub struct FlowInfo(Names);

#[derive(Debug)]
enum Names {
    Static {
        namespace: &'static str,
        nodes: &'static [&'static str],
    },
    Owned {
        namespace: String,
        nodes: Vec<String>,
    },
    /// Not a flow, but an undo node.
    Undo(Place),
}

impl FlowInfo {
    /// The names of a flow that is known at compile time: its namespace, and the names of its nodes
    /// by index. The namespace is unused if the flow is a node of another one.
    pub const fn of_static(namespace: &'static str, nodes: &'static [&'static str]) -> FlowInfo {
        FlowInfo(Names::Static { namespace, nodes })
    }

    /// The names of a flow that is known only at run time.
    pub fn new(namespace: String, nodes: Vec<String>) -> FlowInfo {
        FlowInfo(Names::Owned { namespace, nodes })
    }

    /// The names of this flow, with other ones for some of its nodes: those that `name` returns.
    #[must_use]
    pub fn with_names<'n>(&self, name: impl Fn(&str) -> Option<&'n str>) -> FlowInfo {
        let own = (0..).map_while(|index| self.node(index));
        let nodes = own.map(|own| name(own).unwrap_or(own).to_owned());
        FlowInfo::new(self.namespace().to_owned(), nodes.collect())
    }

    /// Stands for the names of the flow in the frame of an undo node at this place.
    pub(crate) fn undo(place: Place) -> FlowInfo {
        FlowInfo(Names::Undo(place))
    }

    /// The place of an undo node.
    fn place(&self) -> Option<&Place> {
        match &self.0 {
            Names::Undo(place) => Some(place),
            Names::Static { .. } | Names::Owned { .. } => None,
        }
    }

    /// The first segments of every path of a run of this flow.
    pub fn namespace(&self) -> &str {
        match &self.0 {
            Names::Static { namespace, .. } => namespace,
            Names::Owned { namespace, .. } => namespace,
            Names::Undo(place) => &place.path,
        }
    }

    /// The name of the node with this index. `None` if the flow does not have it.
    pub fn node(&self, index: usize) -> Option<&str> {
        match &self.0 {
            Names::Static { nodes, .. } => nodes.get(index).copied(),
            Names::Owned { nodes, .. } => nodes.get(index).map(String::as_str),
            Names::Undo(_) => None,
        }
    }

    /// The index of the node with this name. `None` if the flow does not have it.
    pub fn node_named(&self, name: &str) -> Option<usize> {
        match &self.0 {
            Names::Static { nodes, .. } => nodes.iter().position(|node| *node == name),
            Names::Owned { nodes, .. } => nodes.iter().position(|node| node == name),
            Names::Undo(_) => None,
        }
    }

    fn owned_namespace(&self) -> Cow<'static, str> {
        match &self.0 {
            Names::Static { namespace, .. } => Cow::Borrowed(namespace),
            Names::Owned { namespace, .. } => Cow::Owned(namespace.clone()),
            Names::Undo(place) => Cow::Owned(place.path.clone()),
        }
    }

    fn owned_node(&self, index: usize) -> Option<Cow<'static, str>> {
        match &self.0 {
            Names::Static { nodes, .. } => nodes.get(index).copied().map(Cow::Borrowed),
            Names::Owned { nodes, .. } => nodes.get(index).cloned().map(Cow::Owned),
            Names::Undo(_) => None,
        }
    }
}

/// The position of a frame that is at no node.
const NOWHERE: u32 = 0;

impl<'a> Frame<'a> {
    /// The frame of a run's own flow.
    #[inline]
    pub(crate) fn root(flow: &'a FlowInfo) -> Self {
        Frame {
            within: None,
            flow,
            at: AtomicU32::new(NOWHERE),
            visit: AtomicU32::new(0),
            kind: Kind::Flow(0),
        }
    }

    /// The frame of a flow that is the current node of this one, at the given attempt, from 0.
    #[inline]
    pub(crate) fn nested<'b>(&'b self, flow: &'b FlowInfo, attempt: u32) -> Frame<'b> {
        Frame {
            within: Some(self),
            flow,
            at: AtomicU32::new(NOWHERE),
            visit: AtomicU32::new(0),
            kind: Kind::Flow(attempt),
        }
    }

    /// A branch of the fork that is the current node.
    #[inline]
    pub(crate) fn branch(&self) -> Frame<'_> {
        Frame {
            within: Some(self),
            flow: self.flow,
            at: AtomicU32::new(NOWHERE),
            visit: AtomicU32::new(0),
            kind: Kind::Branch,
        }
    }

    /// One item of the loop that is the current node.
    #[inline]
    pub(crate) fn item(&self, index: u32) -> Frame<'_> {
        Frame {
            within: Some(self),
            flow: self.flow,
            at: AtomicU32::new(self.position()),
            visit: AtomicU32::new(self.visit.load(Ordering::Relaxed)),
            kind: Kind::Item(index),
        }
    }

    /// The undo node that takes back a visit of this flow, with its [place](FlowInfo::undo).
    pub(crate) fn undo<'b>(&'b self, place: &'b FlowInfo) -> Frame<'b> {
        Frame {
            within: Some(self),
            flow: place,
            // Anywhere, so that it is not over.
            at: AtomicU32::new(NOWHERE + 1),
            visit: AtomicU32::new(place.place().map_or(0, |place| place.visit)),
            kind: Kind::Undo,
        }
    }

    /// The place of the undo node, if the frame is that of one.
    fn undo_place(&self) -> Option<&'a Place> {
        match self.kind {
            Kind::Undo => self.flow.place(),
            Kind::Flow(_) | Kind::Branch | Kind::Item(_) => None,
        }
    }

    /// The frame around this one.
    pub(crate) fn around(&self) -> Option<&'a Frame<'a>> {
        self.within
    }

    /// Returns true for the frame of an undo node.
    pub fn is_undo(&self) -> bool {
        self.kind == Kind::Undo
    }

    /// Moves to a node, by its index.
    #[inline]
    pub fn enter(&self, node: u16) {
        self.at.store(u32::from(node) + 1, Ordering::Relaxed);
    }

    /// Leaves the current node, because the flow has reached an end.
    #[inline]
    pub fn leave(&self) {
        self.at.store(NOWHERE, Ordering::Relaxed);
    }

    /// The path of the current node, or of the flow itself if it is at none.
    #[inline]
    pub fn path(&self) -> Path<'_> {
        self.path_at(self.position())
    }

    #[inline]
    pub(crate) fn is_at_a_node(&mut self) -> bool {
        *self.at.get_mut() != NOWHERE
    }

    /// The position: a node, or none.
    #[inline]
    pub(crate) fn position(&self) -> u32 {
        self.at.load(Ordering::Relaxed)
    }

    /// The path of the node at a position, or of the flow itself at `NOWHERE`.
    #[inline]
    pub(crate) fn path_at(&self, position: u32) -> Path<'_> {
        match self.undo_place() {
            Some(place) => Path::of_step(place),
            None => Path(PathOf::Node(self, position)),
        }
    }

    /// The name of the node at a position. Empty at `NOWHERE`.
    fn name_at(&self, position: u32) -> &'a str {
        let node = (position as usize).checked_sub(1);
        node.and_then(|node| self.flow.node(node))
            .unwrap_or_default()
    }

    /// The path of the flow itself.
    #[inline]
    pub fn flow_path(&self) -> Path<'_> {
        self.path_at(NOWHERE)
    }

    /// The number of the visit to the current node within this frame, from 1. 0 if the engine does
    /// not count visits.
    pub fn visit(&self) -> u32 {
        self.visit.load(Ordering::Relaxed)
    }

    /// Sets the number of the visit to the current node. An engine that names steps counts the
    /// visits of each node within each frame of a flow, and calls this when a node begins.
    pub fn set_visit(&self, visit: u32) {
        self.visit.store(visit, Ordering::Relaxed);
    }

    /// The index of the item to which this frame belongs. In nested loops, the index in the
    /// innermost one.
    pub fn item_index(&self) -> Option<u32> {
        match self.kind {
            Kind::Item(index) => Some(index),
            Kind::Undo => self.undo_place()?.item,
            Kind::Flow(_) | Kind::Branch => self.within?.item_index(),
        }
    }

    /// Returns true for a branch of a fork. Its nodes are visited once each.
    pub fn is_branch(&self) -> bool {
        self.kind == Kind::Branch
    }

    /// The index of the attempt at the flow of this frame, from 0.
    pub fn flow_attempt(&self) -> u32 {
        match self.kind {
            Kind::Flow(attempt) => attempt,
            _ => self.within.map_or(0, Frame::flow_attempt),
        }
    }

    /// The place of the current node.
    pub fn place(&self) -> Place {
        self.place_at(self.position())
    }

    /// The place of the node at a position.
    fn place_at(&self, position: u32) -> Place {
        if let Some(place) = self.undo_place() {
            return place.clone();
        }
        // Names longer than this are rare.
        let [mut step, mut path] = [(); 2].map(|()| String::with_capacity(64));
        self.write_step_at(position, &mut step);
        let _ = write!(path, "{}", self.path_at(position)); // writing to a `String` does not fail
        Place {
            path,
            step,
            visit: self.visit(),
            item: self.item_index(),
        }
    }

    /// The place of this attempt at its flow: the step of the node that the flow is, with the
    /// number of the retry. For the run's own flow, the namespace.
    pub fn flow_place(&self) -> Place {
        let outer = self.around_flow();
        Place {
            path: self.flow_path().to_string(),
            step: self.flow_step(),
            visit: outer.map_or(0, Frame::visit),
            item: outer.and_then(Frame::item_index),
        }
    }

    /// The step name of this attempt at its flow.
    pub fn flow_step(&self) -> String {
        let mut step = String::new();
        self.write_flow_step(&mut step);
        step
    }

    fn write_step(&self, step: &mut String) {
        self.write_step_at(self.position(), step);
    }

    fn write_step_at(&self, position: u32, step: &mut String) {
        match (self.kind, self.within) {
            (Kind::Item(index), Some(outer)) => {
                outer.write_step(step);
                write_index(step, Index::Item(index));
                return;
            }
            (Kind::Branch, Some(outer)) => outer.write_step(step),
            (Kind::Undo, _) => {
                step.push_str(self.undo_place().map_or("", |place| &place.step));
                return;
            }
            _ => self.write_flow_step(step),
        }
        let name = self.name_at(position);
        if !name.is_empty() {
            step.push('.');
            write_node(step, name, self.visit());
        }
    }

    fn write_flow_step(&self, step: &mut String) {
        match (self.kind, self.within) {
            (Kind::Branch | Kind::Item(_) | Kind::Undo, Some(outer)) => {
                outer.write_flow_step(step);
            }
            (Kind::Flow(attempt), Some(outer)) => {
                outer.write_step(step);
                write_retry(step, attempt);
            }
            (_, None) => step.push_str(self.flow.namespace()),
        }
    }

    /// The names of the frame's flow and its nodes.
    pub fn flow(&self) -> &'a FlowInfo {
        self.flow
    }

    /// The path of the current node, as a value that outlives the frame.
    pub(crate) fn owned_path(&self) -> OwnedPath {
        if let Some(place) = self.undo_place() {
            let path = NodePath::new(&place.path);
            let flow = path.parent().map_or("", NodePath::as_str);
            return OwnedPath {
                flow: Cow::Owned(flow.to_owned()),
                node: Cow::Owned(path.last().to_owned()),
                item: None,
            };
        }
        let flow = match self.around_flow() {
            None => self.flow.owned_namespace(),
            Some(outer) => Cow::Owned(outer.path().to_string()),
        };
        OwnedPath {
            flow,
            node: (self.position() as usize)
                .checked_sub(1)
                .and_then(|node| self.flow.owned_node(node))
                .unwrap_or_default(),
            item: self.item_of_path(),
        }
    }

    /// The frame around this frame's flow. It is at the flow's node. `None` for the run's own flow.
    pub fn around_flow(&self) -> Option<&'a Frame<'a>> {
        let mut frame = self;
        while !matches!(frame.kind, Kind::Flow(_)) {
            frame = frame.within?;
        }
        frame.within
    }

    /// The index of the item, if this frame is one.
    fn item_of_path(&self) -> Option<u32> {
        match self.kind {
            Kind::Item(index) => Some(index),
            Kind::Flow(_) | Kind::Branch | Kind::Undo => None,
        }
    }
}

/// The path of a node within its run, such as `orders.payment.charge`.
///
/// It consists of the run's namespace, the nodes around it (the outermost first), and the node
/// itself. A node that runs for the items of a loop has the item's index, as in
/// `report.summaries[3]`. The text is assembled when it is printed. To keep a path, turn it into a
/// `String`.
#[derive(Clone, Copy)]
pub struct Path<'a>(PathOf<'a>);

#[derive(Clone, Copy)]
enum PathOf<'a> {
    /// A position in a frame: a node, or the flow itself at `NOWHERE`.
    Node(&'a Frame<'a>, u32),
    /// A path that is already a text.
    Text(&'a str),
    /// The path of a step of a durable run.
    Step(&'a Place),
}

/// The place of a step in a run, for engines that store what their runs do.
///
/// # Examples
///
/// The second visit to `pack` for the fourth of the parcels, in the first retry of the flow
/// `payment`, which is the node `payment` of the flow `order`:
///
/// ```
/// use flow_runtime::engine::Place;
///
/// let place = Place {
///     path: "order.payment.parcels[3]".to_owned(),
///     step: "order.payment~1.parcels#2[3]".to_owned(),
///     visit: 2,
///     item: Some(3),
/// };
/// assert_eq!(place.retry(1).step, "order.payment~1.parcels#2[3]~1");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The path of the node, or of the flow.
    pub path: String,
    /// The name of the step, which no other step of the run has. It lists the frames from the
    /// outermost one, each with the number of the visit (`#2`, unless it is the first), the retry
    /// of a flow (`~1`, unless there was none) and the item (`[3]`). The undo node of a visit has the
    /// name of the visit and `!undo`.
    pub step: String,
    /// The number of the visit to the node within the frame around it, from 1. 0 for records about
    /// the run as a whole.
    pub visit: u32,
    /// The index of the item, if the step belongs to one.
    pub item: Option<u32>,
}

impl Place {
    /// The place of an attempt, counted from 0, at the flow that is the node here.
    #[must_use]
    pub fn retry(mut self, attempt: u32) -> Place {
        write_retry(&mut self.step, attempt);
        self
    }

    /// The place of the undo node that takes back the visit here.
    #[must_use]
    pub fn undo(&self) -> Place {
        Place {
            path: of_undo(&self.path),
            step: of_undo(&self.step),
            ..*self
        }
    }
}

impl<'a> Path<'a> {
    /// A path that is known only as text.
    pub fn of_text(path: &'a str) -> Self {
        Path(PathOf::Text(path))
    }

    /// The path of a step.
    pub(crate) fn of_step(place: &'a Place) -> Self {
        Path(PathOf::Step(place))
    }

    /// The place with this path. `None` if only its text is known.
    pub fn place(&self) -> Option<Place> {
        match self.0 {
            PathOf::Node(frame, NOWHERE) => Some(frame.flow_place()),
            PathOf::Node(frame, position) => Some(frame.place_at(position)),
            PathOf::Step(place) => Some(place.clone()),
            PathOf::Text(_) => None,
        }
    }

    /// The name of the node alone, without those around it. Empty for the path of a run's own flow.
    pub fn node(&self) -> &'a str {
        match self.0 {
            PathOf::Node(frame, node) => frame.name_at(node),
            PathOf::Text(path) => NodePath::new(path).last(),
            PathOf::Step(place) => NodePath::new(&place.path).last(),
        }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            PathOf::Text(path) => f.write_str(path),
            PathOf::Step(place) => f.write_str(&place.path),
            PathOf::Node(frame, _) => {
                match frame.around_flow() {
                    Some(outer) => outer.path().fmt(f)?,
                    None => f.write_str(frame.flow.namespace())?,
                }
                match (self.node(), frame.item_of_path()) {
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

/// The path of a node, as a value that outlives the frame.
#[derive(Clone)]
pub(crate) struct OwnedPath {
    /// The path of the flow. It is assembled only for a flow used as a node.
    flow: Cow<'static, str>,
    node: Cow<'static, str>,
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
