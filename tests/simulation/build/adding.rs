//! The parts of flows in which nodes add: to `log`, a list of numbers, to `total`, their sum, and to
//! `answers`.

use crate::{Block, Generator, with};

impl Generator<'_> {
    /// The first values of what is added to: after it, `log` and `total` are there.
    pub(crate) fn begins(&mut self) -> Block {
        let to = ["total", "+total"][self.rng.usize(..2)];
        let total = self.node_to("work", to);
        let log = match self.rng.usize(..3) {
            0 => self.node_to("work", "+log"),
            1 => self.list_to("log"),
            _ => self.list_to("+log"),
        };
        self.lead(std::slice::from_ref(&total), &log);
        Block {
            entry: total,
            exits: vec![log],
        }
    }

    /// A node that reads all that was added.
    pub(crate) fn reads_log(&mut self) -> Block {
        let node = self.logged();
        self.keys.push(format!("k{node}"));
        one(node)
    }

    /// Something that adds, or reads what was added.
    pub(crate) fn adding(&mut self) -> Block {
        let to = self.added_to();
        match self.rng.usize(..11) {
            0 | 1 => self.adds_or_else(to),
            2 => match self.declared_flow_to(Some(to)) {
                Some(node) => {
                    let routes = self.rng.u8(..4) > 0;
                    self.or_else(node, "error", to, routes)
                }
                None => self.adds_or_else(to),
            },
            // What was added is replaced.
            3 if to == "log" => one(self.list_to("log")),
            3 => one(self.node_to("work", "total")),
            4 => self.reads_log(),
            5 => {
                let node = format!("n{}", self.id());
                self.declare(&format!("node {node}: take_log {{ w -> k{node} }}"));
                self.keys.push(format!("k{node}"));
                one(node)
            }
            6 => {
                let (asks, read) = self.answer_added();
                self.lead(std::slice::from_ref(&asks), &read);
                self.keys.push(format!("k{read}"));
                Block {
                    entry: asks,
                    exits: vec![read],
                }
            }
            7 => {
                let (id, key) = (self.id(), self.key());
                let node = format!("n{id}");
                self.declare(&format!(
                    "node {node}: noted {{ a <- {key}, noted -> {to} }}"
                ));
                let other = self.node_to("work", "+total");
                self.lead(&[format!("{node} - \"right\"")], &other);
                Block {
                    entry: node.clone(),
                    exits: vec![format!("{node} - \"left\""), other],
                }
            }
            8 | 9 => {
                let list = self.list();
                let (each, fails) = self.each_adding(&list, to, true);
                self.lead(std::slice::from_ref(&list), &each);
                let routes = fails && self.rng.bool();
                let block = self.or_else(each, "error", to, routes);
                Block {
                    entry: list,
                    ..block
                }
            }
            _ => {
                let node = self.node_to("found", &format!("+{to}"));
                self.or_else(node, "timeout", to, true)
            }
        }
    }

    /// A part of a branch that adds or reads what was added, and whether it can fail.
    pub(crate) fn adding_in_branch(&mut self) -> (String, bool) {
        let to = self.added_to();
        let add = format!("+{to}");
        match self.rng.usize(..10) {
            0 | 1 => (self.node_to("work", &add), false),
            2 => (self.node_to("saved", &add), false),
            3 => (self.node_to("tried", &add), true),
            4 => (self.list_to("+log"), false),
            5 => match self.declared_flow_to(Some(to)) {
                Some(node) => (node, true),
                None => (self.node_to("risky", &add), true),
            },
            6 => {
                let list = self.list();
                let (each, fails) = self.each_adding(&list, to, false);
                (format!("{list} >> {each}"), fails)
            }
            7 => {
                let (asks, read) = self.answer_added();
                (format!("{asks} >> {read}"), false)
            }
            _ => (self.logged(), false),
        }
    }

    /// A key to which numbers are added.
    fn added_to(&mut self) -> &'static str {
        ["log", "log", "total"][self.rng.usize(..3)]
    }

    fn logged(&mut self) -> String {
        let (id, key) = (self.id(), self.key());
        let node = format!("n{id}");
        self.declare(&format!(
            "node {node}: logged {{ a <- {key}, w -> k{node} }}"
        ));
        node
    }

    /// A node that adds a number, and another one that adds if it fails.
    fn adds_or_else(&mut self, to: &str) -> Block {
        let function = ["work", "saved", "risky", "tried", "slow"][self.rng.usize(..5)];
        let node = self.node_to(function, &format!("+{to}"));
        let can_fail = ["risky", "tried", "slow"].contains(&function);
        self.or_else(node, "error", to, can_fail)
    }

    /// A node, and perhaps another one to which an action of it leads, and which adds.
    fn or_else(&mut self, node: String, action: &str, to: &str, routes: bool) -> Block {
        let mut block = one(node);
        if routes {
            let other = self.node_to("work", &format!("+{to}"));
            self.lead(&[format!("{} - \"{action}\"", block.entry)], &other);
            block.exits.push(other);
        }
        block
    }

    /// A question whose answer is added, and a node that reads all answers.
    fn answer_added(&mut self) -> (String, String) {
        let (id, key) = (self.id(), self.key());
        self.declare(&format!(
            "node h{id}: human Ask {{ a <- {key}, asked -> +answers }}"
        ));
        self.declare(&format!("node n{id}: answered {{ w -> kn{id} }}"));
        (format!("h{id}"), format!("n{id}"))
    }

    /// A loop over the items of a list whose results are added, and whether that can fail.
    fn each_adding(&mut self, list: &str, to: &str, may_spread: bool) -> (String, bool) {
        let id = self.id();
        let untimed: Vec<&str> = self.untimed();
        let (body, can_fail) = match self.rng.usize(..4) {
            0 => (format!("work {{ w -> +{to} }}"), false),
            1 => (format!("tried {{ w -> +{to} }}"), true),
            2 if !untimed.is_empty() => {
                let name = untimed[self.rng.usize(..untimed.len())];
                (format!("{name} {{ out -> +{to} }}"), true)
            }
            _ => (format!("risky {{ w -> +{to} }}"), true),
        };
        let settings = self.limits(id, may_spread);
        let with = with(&settings);
        self.declare(&format!("node b{id}: for a in k{list} {{ {body} }}{with}"));
        (format!("b{id}"), can_fail)
    }
}

fn one(node: String) -> Block {
    Block {
        entry: node.clone(),
        exits: vec![node],
    }
}
