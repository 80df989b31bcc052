//! The names of steps and the paths of nodes: the one place that knows how they are written.
//!
//! They are kept as text, because a replay compares thousands of them. So the types here are views of
//! a text that take it apart when somebody asks, and allocate nothing.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::ops::{Bound, Range};

/// A view of the name of a step, such as `order.payment#2~1.parcels[3]`.
///
/// A name consists of segments separated by dots: those of the namespace of the outermost flow, and a
/// node each for the flows, forks and loops that contain the step, and for the step itself.
///
/// # Examples
///
/// ```
/// use flow_runtime::engine::{Index, StepKey};
///
/// let step = StepKey::new("order.payment#2~1.parcels[3]");
/// let [flow, payment, parcels] = step.segments().collect::<Vec<_>>()[..] else { panic!() };
/// assert_eq!(flow.name, "order");
/// assert_eq!((payment.name, payment.visit, payment.retry), ("payment", 2, 1));
/// assert_eq!((parcels.name, parcels.index), ("parcels", Some(Index::Item(3))));
///
/// let flow = step.parent().unwrap();
/// assert_eq!(flow.as_str(), "order.payment#2~1");
/// assert_eq!(flow.without_retry().as_str(), "order.payment#2");
/// assert!(step.is_inside(flow.without_retry()));
/// assert_eq!(step.item(), Some((StepKey::new("order.payment#2~1.parcels"), 3)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepKey<'a>(&'a str);

/// A segment of the name of a step. What does not have the form of a segment is a name as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Segment<'a> {
    /// The name of the node, or a part of the namespace.
    pub name: &'a str,
    /// The number of the visit to the node, from 1: `#2`, unless it is the first.
    pub visit: u32,
    /// The items of a loop for which the step runs.
    pub index: Option<Index>,
    /// The attempt at a flow, from 0: `~1`, unless it is the first.
    pub retry: u32,
    /// True for the undo node that takes back the visit: `!undo`.
    pub undo: bool,
}

/// The items of a loop for which a step runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Index {
    /// One item: `[3]`.
    Item(u32),
    /// The items of a part of the loop, from the first up to another one, which is excluded:
    /// `[16..32]`.
    Part(u32, u32),
}

impl<'a> StepKey<'a> {
    /// The view of this text.
    pub const fn new(step: &'a str) -> Self {
        StepKey(step)
    }

    /// The text.
    pub const fn as_str(self) -> &'a str {
        self.0
    }

    /// The segments, from the outermost flow on.
    pub fn segments(self) -> impl Iterator<Item = Segment<'a>> {
        let mut rest = Some(self.0);
        std::iter::from_fn(move || {
            let text = rest?;
            let (first, after) = match dot(text) {
                Some(at) => (&text[..at], Some(&text[at + 1..])),
                None => (text, None),
            };
            rest = after;
            Some(Segment::of(first))
        })
    }

    /// Returns true if this step is the other one, or is inside it.
    pub fn is_within(self, other: StepKey<'_>) -> bool {
        self.0 == other.0 || self.is_inside(other)
    }

    /// Returns true if this step is inside another one: a flow or an attempt at it, a fork, or a loop.
    pub fn is_inside(self, other: StepKey<'_>) -> bool {
        let rest = self.0.strip_prefix(other.0);
        rest.is_some_and(|rest| rest.starts_with(INSIDE))
    }

    /// The steps inside this one as ranges of names, in order.
    pub fn inside(self) -> [Range<String>; 3] {
        INSIDE.map(|letter| self.followed_by(letter))
    }

    /// The nodes of this attempt at a flow, and the steps inside them, as a range of names.
    pub fn nodes(self) -> Range<String> {
        self.followed_by('.')
    }

    fn followed_by(self, letter: char) -> Range<String> {
        // All of these letters are ASCII, so each has a next one.
        let next = char::from(letter as u8 + 1);
        format!("{}{letter}", self.0)..format!("{}{next}", self.0)
    }

    /// This step and those inside it in a map by name, in order.
    pub fn within<K: Borrow<str> + Ord, T>(
        self,
        steps: &BTreeMap<K, T>,
    ) -> impl Iterator<Item = (&str, &T)> {
        let from = (Bound::Included(self.0), Bound::Unbounded);
        let near = steps.range::<str, _>(from);
        near.map(|(step, value)| (step.borrow(), value))
            .take_while(move |(step, _)| step.starts_with(self.0))
            .filter(move |(step, _)| StepKey(step).is_within(self))
    }

    /// The step of the node, given the step of an attempt at a flow.
    #[must_use]
    pub fn without_retry(self) -> Self {
        StepKey(split_retry(self.0).0)
    }

    /// The step of the loop and the index of the item, if the step is that of an item.
    pub fn item(self) -> Option<(Self, u32)> {
        match split_index(self.0) {
            (each, Some(Index::Item(index))) => Some((StepKey(each), index)),
            _ => None,
        }
    }

    /// The step of the loop and the range of the items, if the step is that of a part of a loop.
    pub fn part(self) -> Option<(Self, Range<u32>)> {
        match split_index(self.0) {
            (each, Some(Index::Part(first, end))) => Some((StepKey(each), first..end)),
            _ => None,
        }
    }

    /// The step of the flow or fork that directly contains the node of this step.
    pub fn parent(self) -> Option<Self> {
        let (rest, _) = split_retry(self.0);
        let (rest, _) = split_index(rest);
        rest.rfind('.').map(|at| StepKey(&rest[..at]))
    }

    /// All steps that contain this one, the innermost first.
    pub fn around(self) -> impl Iterator<Item = Self> {
        std::iter::successors(self.around_once(), |step| step.around_once())
    }

    fn around_once(self) -> Option<Self> {
        match (split_retry(self.0), split_index(self.0)) {
            ((node, 1..), _) => Some(StepKey(node)),
            (_, (each, Some(_))) => Some(StepKey(each)),
            _ => self.parent(),
        }
    }

    /// The step within a flow that contains it, or the step itself if that does not contain it.
    #[must_use]
    pub fn after(self, flow: StepKey<'_>) -> Self {
        let rest = self.0.strip_prefix(flow.0);
        let rest = rest.and_then(|rest| rest.strip_prefix('.'));
        rest.map_or(self, StepKey)
    }

    /// The first segment, and the steps after it. They are empty if there is no other segment.
    pub fn first(self) -> (Segment<'a>, Self) {
        let (first, rest) = match dot(self.0) {
            Some(at) => (&self.0[..at], &self.0[at + 1..]),
            None => (self.0, ""),
        };
        (Segment::of(first), StepKey(rest))
    }

    /// The step that this step takes back. `None` if this is not the step of an undo node.
    pub fn undone(self) -> Option<Self> {
        self.0.strip_suffix(UNDO).map(StepKey)
    }

    /// The name of the undo node that takes back the visit of this step.
    pub fn undo(self) -> String {
        of_undo(self.0)
    }

    /// The name of an attempt, counted from 0, at the flow of this step.
    pub fn retry(self, attempt: u32) -> String {
        let mut step = self.0.to_owned();
        write_retry(&mut step, attempt);
        step
    }

    /// The name of the part of this loop that runs these items.
    pub fn part_of(self, items: Range<u32>) -> String {
        let mut step = self.0.to_owned();
        write_index(&mut step, Index::Part(items.start, items.end));
        step
    }
}

impl fmt::Display for StepKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl<'a> Segment<'a> {
    fn of(text: &'a str) -> Self {
        let (rest, undo) = match text.strip_suffix(UNDO) {
            Some(visit) => (visit, true),
            None => (text, false),
        };
        let (rest, retry) = split_retry(rest);
        let (rest, index) = split_index(rest);
        let (name, visit) = split_number(rest, '#', 2).unwrap_or((rest, 1));
        Segment {
            undo,
            name,
            visit,
            index,
            retry,
        }
    }
}

impl fmt::Display for Segment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        write_node(&mut text, self.name, self.visit);
        if let Some(index) = self.index {
            write_index(&mut text, index);
        }
        write_retry(&mut text, self.retry);
        if self.undo {
            text.push_str(UNDO);
        }
        f.write_str(&text)
    }
}

/// A view of the path of a node, such as `order.payment.parcels[3]`: for people, and without the
/// numbers of visits and retries.
///
/// # Examples
///
/// ```
/// use flow_runtime::engine::NodePath;
///
/// let path = NodePath::new("order.payment.parcels[3]");
/// assert_eq!((path.node(), path.item()), ("parcels", Some(3)));
/// assert_eq!(path.parent(), Some(NodePath::new("order.payment")));
/// assert_eq!(path.within("order"), Some(NodePath::new("payment.parcels[3]")));
/// assert_eq!(path.of_any_item(), "order.payment.parcels[]");
/// assert_eq!(path.without_items(), "order.payment.parcels");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodePath<'a>(&'a str);

impl<'a> NodePath<'a> {
    /// The view of this text.
    pub const fn new(path: &'a str) -> Self {
        NodePath(path)
    }

    /// The text.
    pub const fn as_str(self) -> &'a str {
        self.0
    }

    /// The segments, each with the index of the item if it has one.
    pub fn segments(self) -> impl DoubleEndedIterator<Item = NodePath<'a>> {
        self.0.split('.').map(NodePath)
    }

    /// The last segment, with the index of the item if it has one.
    pub fn last(self) -> &'a str {
        self.0.rfind('.').map_or(self.0, |at| &self.0[at + 1..])
    }

    /// The name of the node, without those around it and without the index of the item.
    pub fn node(self) -> &'a str {
        split_item(self.last()).0
    }

    /// The index of the item for which the node runs.
    pub fn item(self) -> Option<u32> {
        split_item(self.last()).1
    }

    /// The path of the flow that contains the node.
    pub fn parent(self) -> Option<Self> {
        self.0.rfind('.').map(|at| NodePath(&self.0[..at]))
    }

    /// The name of the first segment, without the index of the item, and the path after it. That path
    /// is empty if there is no other segment.
    pub fn first(self) -> (&'a str, Self) {
        let (first, rest) = self.0.split_once('.').unwrap_or((self.0, ""));
        (split_item(first).0, NodePath(rest))
    }

    /// The path within a flow. `None` if the node is not inside the flow at the other path.
    pub fn within(self, flow: &str) -> Option<Self> {
        let rest = self.0.strip_prefix(flow)?.strip_prefix('.')?;
        Some(NodePath(rest))
    }

    /// The path of the outermost loop for whose items it runs.
    pub fn outermost_loop(self) -> Option<Self> {
        self.0.find('[').map(|at| NodePath(&self.0[..at]))
    }

    /// The path with `[]` instead of the index of each item, so that it is the same for all items.
    pub fn of_any_item(self) -> String {
        self.with_indices("[]")
    }

    /// The path without the indices of items.
    pub fn without_items(self) -> String {
        self.with_indices("")
    }

    fn with_indices(self, instead: &str) -> String {
        let mut path = String::with_capacity(self.0.len());
        for segment in self.segments() {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(segment.node());
            if segment.item().is_some() {
                path.push_str(instead);
            }
        }
        path
    }
}

impl fmt::Display for NodePath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// The letters that follow the name of a step in the names of what is inside it, in their order.
const INSIDE: [char; 3] = ['.', '[', '~'];

/// The end of the names and paths of undo nodes.
const UNDO: &str = "!undo";

/// The name or the path of the undo node that takes back the visit with this one.
pub(crate) fn of_undo(step: &str) -> String {
    [step, UNDO].concat()
}

/// Adds the segment of a node at a visit, without the dot before it.
pub(crate) fn write_node(step: &mut String, name: &str, visit: u32) {
    step.push_str(name);
    if visit > 1 {
        let _ = write!(step, "#{visit}"); // writing to a `String` does not fail
    }
}

/// Adds the items for which a step runs.
pub(crate) fn write_index(step: &mut String, index: Index) {
    let _ = match index {
        Index::Item(item) => write!(step, "[{item}]"),
        Index::Part(first, end) => write!(step, "[{first}..{end}]"),
    };
}

/// Adds the number of the retry of a flow, unless this is the first attempt.
pub(crate) fn write_retry(step: &mut String, attempt: u32) {
    if attempt > 0 {
        let _ = write!(step, "~{attempt}");
    }
}

/// The index of the first dot that is not between brackets.
fn dot(text: &str) -> Option<usize> {
    let mut is_index = false;
    text.bytes().position(|byte| {
        match byte {
            b'[' => is_index = true,
            b']' => is_index = false,
            _ => {}
        }
        byte == b'.' && !is_index
    })
}

/// The text before the retry, and the number of the retry. 0 if there is none.
fn split_retry(text: &str) -> (&str, u32) {
    split_number(text, '~', 1).unwrap_or((text, 0))
}

/// The text before the items for which a step runs, and the items.
fn split_index(text: &str) -> (&str, Option<Index>) {
    let inside = text.strip_suffix(']').and_then(|it| it.rsplit_once('['));
    let found = inside.and_then(|(before, index)| {
        let index = match index.split_once("..") {
            Some((first, end)) => Index::Part(number(first)?, number(end)?),
            None => Index::Item(number(index)?),
        };
        Some((before, Some(index)))
    });
    found.unwrap_or((text, None))
}

/// The name of a segment of a path, and the index of the item if it has one.
fn split_item(segment: &str) -> (&str, Option<u32>) {
    match split_index(segment) {
        (name, Some(Index::Item(item))) => (name, Some(item)),
        _ => (segment, None),
    }
}

/// The text before a letter, and the number after it, if it is at least this one.
fn split_number(text: &str, letter: char, least: u32) -> Option<(&str, u32)> {
    let (before, after) = text.rsplit_once(letter)?;
    Some((before, number(after).filter(|number| *number >= least)?))
}

/// A number as it is written here: without a sign, and without zeros before it.
fn number(text: &str) -> Option<u32> {
    let is_written = text == "0" || text.starts_with(|first: char| matches!(first, '1'..='9'));
    text.parse().ok().filter(|_| is_written)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Parts = (String, u32, Option<Index>, u32);

    fn segments() -> impl Strategy<Value = Vec<Parts>> {
        let index = prop_oneof![
            Just(None),
            any::<u32>().prop_map(|item| Some(Index::Item(item))),
            any::<(u32, u32)>().prop_map(|(first, end)| Some(Index::Part(first, end))),
        ];
        let segment = ("[a-z_é-]{1,8}", 1_u32.., index, any::<u32>());
        proptest::collection::vec(segment, 1..6)
    }

    fn written(segments: &[Parts]) -> Vec<Segment<'_>> {
        let all = segments.iter();
        all.map(|(name, visit, index, retry)| Segment {
            name,
            visit: *visit,
            index: *index,
            retry: *retry,
            undo: false,
        })
        .collect()
    }

    fn text(segments: &[Segment<'_>]) -> String {
        let texts: Vec<String> = segments.iter().map(Segment::to_string).collect();
        texts.join(".")
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_as_it_was(segments in segments()) {
            let written = written(&segments);
            let text = text(&written);
            let read: Vec<Segment<'_>> = StepKey::new(&text).segments().collect();
            prop_assert_eq!(read, written);
        }

        #[test]
        fn what_is_read_is_written_as_it_was(step in "[a.#~\\[\\]0123]{0,12}|\\PC{0,12}") {
            let read: Vec<Segment<'_>> = StepKey::new(&step).segments().collect();
            prop_assert_eq!(text(&read), step);
        }

        #[test]
        fn an_undo_node_is_beside_the_visit_that_it_takes_back(segments in segments()) {
            let visit = text(&written(&segments));
            let undo = StepKey::new(&visit).undo();
            let step = StepKey::new(&undo);
            prop_assert_eq!(step.undone(), Some(StepKey::new(&visit)));
            prop_assert!(!step.is_inside(StepKey::new(&visit)));
            let read: Vec<Segment<'_>> = step.segments().collect();
            let mut expected = written(&segments);
            expected.last_mut().unwrap().undo = true;
            prop_assert_eq!(text(&read), undo.clone());
            prop_assert_eq!(read, expected);
        }

        /// Each step around a step is the text before one of its marks.
        #[test]
        fn a_step_is_inside_all_that_is_around_it(segments in segments()) {
            let text = text(&written(&segments));
            let step = StepKey::new(&text);
            let all = BTreeMap::from([(text.clone(), ())]);
            let mut inner = step;
            for around in step.around() {
                prop_assert!(step.is_inside(around) && inner.is_inside(around));
                prop_assert!(!around.is_within(inner));
                prop_assert!(around.inside().iter().any(|range| range.contains(&text)));
                prop_assert_eq!(around.within(&all).count(), 1);
                inner = around;
            }
            prop_assert_eq!(inner.as_str(), written(&segments)[0].name_with_visit());
            prop_assert_eq!(step.parent().is_some(), segments.len() > 1);
        }
    }

    impl Segment<'_> {
        fn name_with_visit(&self) -> String {
            let (index, retry) = (None, 0);
            Segment {
                index,
                retry,
                ..*self
            }
            .to_string()
        }
    }

    #[test]
    fn a_visit_is_not_inside_another_one() {
        let step = StepKey::new("order.pay");
        for other in ["order.pay#2", "order.pays", "order.pay#2.charge", "order"] {
            assert!(!StepKey::new(other).is_within(step), "{other}");
        }
        for inside in ["order.pay.charge", "order.pay~1", "order.pay[3]"] {
            assert!(StepKey::new(inside).is_inside(step), "{inside}");
        }
        let nodes = StepKey::new("order.pay~1").nodes();
        assert!(nodes.contains(&"order.pay~1.charge".to_owned()));
        assert!(!nodes.contains(&"order.pay~10.charge".to_owned()));
        let part = StepKey::new("report.lines#2").part_of(16..32);
        assert_eq!(part, "report.lines#2[16..32]");
        let of = StepKey::new("report.lines#2");
        assert_eq!(StepKey::new(&part).part(), Some((of, 16..32)));
        assert_eq!(StepKey::new(&part).item(), None);
    }

    #[test]
    fn the_segments_of_a_path_are_names_and_items() {
        let path = NodePath::new("report.lines[2].parts[31].note");
        assert_eq!(path.of_any_item(), "report.lines[].parts[].note");
        assert_eq!(path.without_items(), "report.lines.parts.note");
        assert_eq!(path.outermost_loop(), Some(NodePath::new("report.lines")));
        assert_eq!((path.node(), path.item()), ("note", None));
        assert_eq!(path.first().0, "report");
        let (lines, rest) = path.first().1.first();
        assert_eq!((lines, rest.as_str()), ("lines", "parts[31].note"));
        assert_eq!(NodePath::new("note").first(), ("note", NodePath::new("")));
        assert_eq!(path.within("report.line"), None);
    }
}
