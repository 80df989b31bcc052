//! Flows that contain each other. rustc finds them when it evaluates a constant of one of them.

use std::str::from_utf8;

/// The maximum depth of flows at which rings are looked for.
const DEEPEST: usize = 100;
/// The maximum number of flows that are searched for one node.
const MOST: usize = 500;
/// The maximum length of a message, in bytes.
const LONGEST_MESSAGE: usize = 1000;

/// A flow and the insides of its nodes.
///
/// It is a `static` that a function returns. Unlike a constant, it can refer to itself through
/// others.
#[derive(Debug)]
pub struct Nesting {
    /// The flow's name. Empty for a node that is not a flow.
    pub name: &'static str,
    /// The module of the flow.
    pub module: &'static str,
    /// A number that grows from flow to flow of a file. Most flows follow those in them, so few are
    /// searched.
    pub place: u64,
    /// The insides of the nodes that have a value.
    pub inner: &'static [&'static Nesting],
}

/// The inside of a node that contains no flow with values.
#[derive(Debug)]
pub struct NothingInside;

/// Types with a single value, which has a method `nesting`. As it is a method of a value, rustc
/// does not look for it on a type that is not a node.
pub trait Inside {
    /// The value.
    const VALUE: Self;
}

impl Inside for NothingInside {
    const VALUE: Self = NothingInside;
}

impl NothingInside {
    /// Returns an empty nesting.
    pub const fn __nesting(&self) -> &'static Nesting {
        &Nesting {
            name: "",
            module: "",
            place: 0,
            inner: &[],
        }
    }
}

impl Nesting {
    /// Checks the node of this number. Returns `0` if it does not contain the flow.
    ///
    /// # Panics
    /// If the node contains the flow. Only the first flow of a ring reports it.
    #[track_caller]
    pub const fn with(&self, node: usize) -> usize {
        let node = self.inner[node];
        if node.precedes(self) {
            return 0;
        }
        let mut way = Way::to(node);
        if way.goes_on_to(self) {
            let message = way.message(self);
            match from_utf8(message.written()) {
                Ok(text) => panic!("{}", text),
                Err(_) => panic!("a flow contains itself [F014]"),
            }
        }
        0
    }

    /// Returns true if no ring through this flow is reported at the other one.
    const fn precedes(&self, other: &Nesting) -> bool {
        self.inner.is_empty() || self.place < other.place
    }

    const fn is(&self, other: &Nesting) -> bool {
        self.place == other.place
            && equal(self.name.as_bytes(), other.name.as_bytes())
            && equal(self.module.as_bytes(), other.module.as_bytes())
    }
}

const fn equal(mut one: &[u8], mut other: &[u8]) -> bool {
    while let ([first, one_rest @ ..], [second, other_rest @ ..]) = (one, other) {
        if *first != *second {
            return false;
        }
        (one, other) = (one_rest, other_rest);
    }
    one.is_empty() && other.is_empty()
}

/// The flows from a node of a flow to the one that is searched, each with those of its nodes that
/// are still to be searched. It is not recursive, because rustc limits the depth of calls.
struct Way {
    flows: [&'static Nesting; DEEPEST],
    rest: [&'static [&'static Nesting]; DEEPEST],
    length: usize,
    seen: [&'static Nesting; MOST],
    count: usize,
}

impl Way {
    const fn to(node: &'static Nesting) -> Self {
        Way {
            flows: [node; DEEPEST],
            rest: [node.inner; DEEPEST],
            length: 1,
            seen: [node; MOST],
            count: 1,
        }
    }

    /// Searches until it ends at a flow that contains `outer`. Returns false if it finds none.
    const fn goes_on_to(&mut self, outer: &Nesting) -> bool {
        if self.flows[0].is(outer) {
            self.length = 0;
            return true;
        }
        while self.length > 0 {
            let last = self.length - 1;
            let [flow, rest @ ..] = self.rest[last] else {
                self.length = last;
                continue;
            };
            self.rest[last] = rest;
            if flow.is(outer) {
                return true;
            }
            if !flow.precedes(outer) && self.length < DEEPEST && self.is_new(flow) {
                self.flows[self.length] = flow;
                self.rest[self.length] = flow.inner;
                self.length += 1;
            }
        }
        false
    }

    /// Returns true for a flow that is seen for the first time, and false after too many flows.
    const fn is_new(&mut self, flow: &'static Nesting) -> bool {
        let mut index = 0;
        while index < self.count {
            if self.seen[index].is(flow) {
                return false;
            }
            index += 1;
        }
        if self.count == MOST {
            return false;
        }
        self.seen[self.count] = flow;
        self.count += 1;
        true
    }

    const fn message(&self, outer: &Nesting) -> Message {
        let mut message = Message {
            text: [0; LONGEST_MESSAGE],
            length: 0,
        };
        message.write("`");
        message.write(outer.name);
        message.write("` contains itself [F014]\nthe way round: ");
        message.write(outer.name);
        let mut index = 0;
        while index < self.length {
            message.write(" > ");
            message.write(self.flows[index].name);
            index += 1;
        }
        message.write(" > ");
        message.write(outer.name);
        message.write("\nhelp: lead an edge back to the step from which it has to run again");
        message
    }
}

/// A text that is written at compile time.
struct Message {
    text: [u8; LONGEST_MESSAGE],
    length: usize,
}

impl Message {
    /// Adds a part, unless it does not fit.
    const fn write(&mut self, part: &str) {
        let part = part.as_bytes();
        if part.len() <= LONGEST_MESSAGE - self.length {
            let (_, rest) = self.text.split_at_mut(self.length);
            rest.split_at_mut(part.len()).0.copy_from_slice(part);
            self.length += part.len();
        }
    }

    const fn written(&self) -> &[u8] {
        self.text.split_at(self.length).0
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    const fn flow(name: &'static str, place: u64, inner: &'static [&'static Nesting]) -> Nesting {
        Nesting {
            name,
            module: "tests",
            place,
            inner,
        }
    }

    /// Returns the message of a check, or an empty text without one.
    fn said(check: impl FnOnce() -> usize + std::panic::UnwindSafe) -> String {
        let Err(said) = catch_unwind(check) else {
            return String::new();
        };
        let text = said.downcast_ref::<String>();
        text.map_or("another panic", |text| text).to_owned()
    }

    #[test]
    fn a_ring_is_reported_by_its_first_flow() {
        static LEAF: Nesting = flow("Leaf", 9, &[]);
        static A: Nesting = flow("A", 1, &[&LEAF, &B]);
        static B: Nesting = flow("B", 2, &[&SIDE, &C]);
        static SIDE: Nesting = flow("Side", 3, &[&LEAF]);
        static C: Nesting = flow("C", 4, &[&A]);
        let expected = "`A` contains itself [F014]\nthe way round: A > B > C > A\n\
                        help: lead an edge back to the step from which it has to run again";
        assert_eq!(said(|| A.with(1)), expected);
        for at_another in [|| A.with(0), || B.with(0), || B.with(1), || C.with(0)] {
            assert_eq!(said(at_another), "");
        }
    }

    #[test]
    fn a_flow_around_a_ring_is_not_a_part_of_it() {
        static OUTER: Nesting = flow("Outer", 1, &[&A]);
        static A: Nesting = flow("A", 2, &[&B]);
        static B: Nesting = flow("B", 3, &[&A]);
        assert_eq!(said(|| OUTER.with(0)), "");
        assert!(said(|| A.with(0)).contains("A > B > A"));
    }

    #[test]
    fn flows_of_one_place_are_told_apart_by_their_modules() {
        static INNER: Nesting = Nesting {
            module: "other",
            ..flow("Twin", 1, &[&LEAF])
        };
        static OUTER: Nesting = flow("Twin", 1, &[&INNER]);
        static LEAF: Nesting = flow("Leaf", 2, &[]);
        assert_eq!(said(|| OUTER.with(0)), "");
    }

    #[test]
    fn flows_in_many_others_are_looked_at_once() {
        // Two to the power of 40 ways lead down.
        let mut level: &'static Nesting = Box::leak(Box::new(flow("Last", 41, &[])));
        for place in (0..=40).rev() {
            let inner: &'static [&'static Nesting] = Box::leak(Box::new([level, level]));
            level = Box::leak(Box::new(flow("Level", place, inner)));
        }
        assert_eq!(said(|| level.with(0)), "");
    }
}
