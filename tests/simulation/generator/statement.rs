//! What a flow consists of: one statement after the other.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::generator::{Loose, Made, Making, Type, Wanted};

/// A node that goes on in one way only, and so can stand in a branch.
struct Step {
    name: String,
    can_fail: bool,
}

/// Some nodes one after the other, the last of which writes a number.
struct Group {
    steps: Vec<Step>,
    key: String,
    /// All that they write, with the number.
    writes: BTreeMap<String, Type>,
}

impl Group {
    fn can_fail(&self) -> bool {
        self.steps.iter().any(|step| step.can_fail)
    }
}

const MINUTE: u64 = 60_000;

impl Making<'_> {
    fn below(&mut self, limit: u64) -> u64 {
        self.program.random.below(limit)
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.program.random.chance(percent)
    }

    fn key(&mut self) -> String {
        self.keys += 1;
        format!("k{}", self.keys)
    }

    fn name(&mut self, prefix: &str) -> String {
        self.nodes += 1;
        format!("{prefix}n{}", self.nodes)
    }

    /// The key of a number.
    fn number(&mut self, values: &BTreeMap<String, Type>) -> String {
        let numbers: Vec<&String> = values
            .iter()
            .filter(|(_, of)| **of == Type::Number)
            .map(|(key, _)| key)
            .collect();
        // Mostly what was written last.
        let recent = numbers.len().saturating_sub(3);
        let from = if self.chance(70) {
            &numbers[recent..]
        } else {
            &numbers[..]
        };
        (*self.program.random.pick(from)).clone()
    }

    /// The keys of two numbers, which are not the same: what takes both inputs of a flow from one key is not compiled.
    fn two_numbers(&mut self, values: &BTreeMap<String, Type>) -> [String; 2] {
        let a = self.number(values);
        loop {
            let b = self.number(values);
            if a != b {
                return [a, b];
            }
        }
    }

    fn declare(&mut self, text: &str) {
        writeln!(self.declarations, "        node {text};").expect("a String can be written");
    }

    fn edge(&mut self, from: &Loose, to: &str) {
        match &from.action {
            None => writeln!(self.edges, "        {} >> {to};", from.node),
            Some(action) => writeln!(self.edges, "        {} - \"{action}\" >> {to};", from.node),
        }
        .expect("a String can be written");
    }

    /// All that is loose leads here.
    fn go(&mut self, to: &str) {
        let loose = std::mem::take(&mut self.loose);
        for from in &loose {
            if self.chance(8) {
                let millis = [5, 30, 700, 4000][self.below(4) as usize];
                self.bound_ms += millis;
                self.edge(from, &format!("wait({millis}ms) >> {to}"));
            } else {
                self.edge(from, to);
            }
        }
    }

    fn loose_at(&mut self, node: &str, action: Option<&str>) {
        self.loose.push(Loose {
            node: node.to_owned(),
            action: action.map(str::to_owned),
        });
    }

    /// Reads all inputs.
    pub(crate) fn first(&mut self, inputs: &[String]) {
        let (name, key) = (self.name(""), self.key());
        let (a, b) = (&inputs[0], &inputs[1]);
        self.declare(&format!(
            "{name}: both {{ a <- {a}, b <- {b}, out -> {key} }}"
        ));
        self.bound_ms += 60;
        self.go(&name);
        self.loose_at(&name, None);
        self.values.insert(key, Type::Number);
    }

    /// Writes the output.
    pub(crate) fn last(&mut self) {
        let values = self.values.clone();
        let (name, a, b) = (self.name(""), self.number(&values), self.number(&values));
        self.declare(&format!("{name}: both {{ a <- {a}, b <- {b} }}"));
        self.bound_ms += 60;
        self.go(&name);
        self.loose_at(&name, None);
        self.go("end");
    }

    pub(crate) fn statement(&mut self) {
        self.statement_within(0);
    }

    fn statement_within(&mut self, nesting: u32) {
        match self.below(100) {
            0..36 => self.plain(),
            36..58 => self.fork(),
            58..66 => self.decide(nesting),
            66..72 => self.branch(nesting),
            72..82 if nesting < 2 => self.rounds(nesting),
            82..88 => self.vote(nesting),
            88.. if self.wanted.depth > 0 => self.flow_with_ends(nesting),
            _ => self.plain(),
        }
    }

    fn plain(&mut self) {
        let values = self.values.clone();
        let group = self.group("", &values);
        for step in &group.steps {
            self.go(&step.name);
            self.loose_at(&step.name, None);
        }
        let can_fail = group.can_fail();
        self.values.extend(group.writes);
        if can_fail && self.chance(60) {
            let failing: Vec<String> = group
                .steps
                .into_iter()
                .filter(|step| step.can_fail)
                .map(|step| step.name)
                .collect();
            self.errors(&failing, &values, &group.key);
        }
    }

    /// Where the errors of these nodes lead. Until now, the values were these, and the nodes write this number.
    fn errors(&mut self, failing: &[String], before: &BTreeMap<String, Type>, key: &str) {
        let well = std::mem::take(&mut self.loose);
        for name in failing {
            self.loose_at(name, Some("error"));
        }
        match self.below(10) {
            0 => {
                self.values.retain(|key, _| before.contains_key(key));
                self.loose.extend(well);
            }
            1 | 2 if self.wanted.ends => {
                self.end_with_label(before, true);
                self.loose = well;
            }
            _ => {
                let name = self.name("");
                self.declare(&format!("{name}: mend {{ out -> {key} }}"));
                self.bound_ms += 60;
                self.go(&name);
                self.loose_at(&name, None);
                self.loose.extend(well);
                self.values
                    .retain(|written, _| written == key || before.contains_key(written));
            }
        }
    }

    /// What is loose leads to an end of its own.
    fn end_with_label(&mut self, values: &BTreeMap<String, Type>, error: bool) {
        if self.chance(50) {
            let (name, a) = (self.name(""), self.number(values));
            match error {
                true => self.declare(&format!("{name}: mend")),
                false => self.declare(&format!("{name}: work {{ a <- {a} }}")),
            }
            self.bound_ms += 60;
            self.go(&name);
            self.loose_at(&name, None);
        } else {
            self.unsure = true;
        }
        let label = format!("end{}", self.ends.len() + 1);
        self.go(&format!("end(\"{label}\")"));
        self.ends.push(label);
    }

    fn decide(&mut self, nesting: u32) {
        let values = self.values.clone();
        let (name, a, key) = (self.name(""), self.number(&values), self.key());
        let fails = self.chance(25);
        let kind = if fails { "try_decide" } else { "decide" };
        self.declare(&format!("{name}: {kind} {{ a <- {a}, left -> {key} }}"));
        self.bound_ms += 60;
        self.go(&name);
        let mut with = values.clone();
        with.insert(key.clone(), Type::Number);
        self.arms(
            vec![
                (name.clone(), "left", with),
                (name.clone(), "right", values.clone()),
            ],
            nesting,
        );
        if fails && self.chance(50) {
            let key = self.key();
            self.errors(&[name], &values, &key);
        }
    }

    fn branch(&mut self, nesting: u32) {
        let values = self.values.clone();
        let (name, a) = (self.name(""), self.number(&values));
        writeln!(
            self.declarations,
            "        branch {name}({a}) {{ *{a} % 3 == 0 => \"some\", else => \"others\" }}"
        )
        .expect("a String can be written");
        self.go(&name);
        self.arms(
            vec![
                (name.clone(), "some", values.clone()),
                (name, "others", values),
            ],
            nesting,
        );
    }

    /// Each action with the values that are there then. Something or nothing is done for each, and then they meet; all but the
    /// first may lead to an end.
    fn arms(&mut self, arms: Vec<(String, &str, BTreeMap<String, Type>)>, nesting: u32) {
        let mut met: Option<BTreeMap<String, Type>> = None;
        let mut loose = Vec::new();
        for (index, (node, action, values)) in arms.into_iter().enumerate() {
            self.loose.clear();
            self.loose_at(&node, Some(action));
            if index > 0 && self.wanted.ends && self.chance(25) {
                self.end_with_label(&values, false);
                continue;
            }
            self.values = values;
            if nesting < 2 && self.chance(60) {
                self.statement_within(nesting + 1);
            }
            loose.append(&mut self.loose);
            let values = std::mem::take(&mut self.values);
            met = Some(match met {
                None => values,
                Some(met) => met
                    .into_iter()
                    .filter(|(key, of)| values.get(key) == Some(of))
                    .collect(),
            });
        }
        self.loose = loose;
        self.values = met.unwrap_or_default();
    }

    fn rounds(&mut self, nesting: u32) {
        let values = self.values.clone();
        let (head, a, key) = (self.name(""), self.number(&values), self.key());
        self.declare(&format!("{head}: work {{ a <- {a}, out -> {key} }}"));
        self.go(&head);
        self.loose_at(&head, None);
        self.values.insert(key, Type::Number);
        let before = self.bound_ms;
        for _ in 0..=self.below(2) {
            self.statement_within(nesting + 1);
        }
        let values = self.values.clone();
        let (name, a, key) = (self.name(""), self.number(&values), self.key());
        self.declare(&format!("{name}: again {{ a <- {a}, out -> {key} }}"));
        self.go(&name);
        self.bound_ms += 60 + 2 * (self.bound_ms - before + 120);
        self.loose_at(&name, Some("again"));
        self.go(&head);
        self.loose_at(&name, Some("done"));
        self.values.insert(key, Type::Number);
    }

    fn vote(&mut self, nesting: u32) {
        let values = self.values.clone();
        let (name, a, key) = (self.name(""), self.number(&values), self.key());
        let timeout = self.chance(40);
        let kind = match self.chance(60) && (timeout || self.wanted.timed) {
            true => "MaybeVote",
            false => "Vote",
        };
        let settings = if timeout {
            " with timeout = \"4m\""
        } else {
            ""
        };
        self.declare(&format!(
            "{name}: human {kind} {{ a <- {a}, vote -> {key} }}{settings}"
        ));
        self.bound_ms += if timeout { 4 * MINUTE } else { 10_000 };
        self.go(&name);
        let mut with = values.clone();
        with.insert(key, Type::Number);
        let mut arms = vec![
            (name.clone(), "yes", with),
            (name.clone(), "no", values.clone()),
        ];
        if timeout && self.chance(60) {
            arms.push((name.clone(), "timeout", values.clone()));
            self.arms(arms, nesting);
        } else {
            self.arms(arms, nesting);
            if timeout && self.chance(50) {
                let key = self.key();
                self.errors(&[name], &values, &key);
            }
        }
    }

    /// A flow that is a node, with its settings.
    fn inner(&mut self, ends: bool) -> (Made, String) {
        let timeout = self.chance(40);
        let wanted = Wanted {
            depth: self.wanted.depth - 1,
            timed: self.wanted.timed || timeout,
            ends,
            statements: self.wanted.statements.min(3),
            tight: self.wanted.tight,
        };
        let inputs = ["x".to_owned(), "y".to_owned()];
        let mut made = self.program.flow(&inputs, wanted);
        let mut settings = Vec::new();
        let mut attempts = 1;
        if self.chance(45) {
            attempts = 2 + self.below(2);
            let wait = ["", ", wait = \"20ms\"", ", wait = \"3s\""][self.below(3) as usize];
            settings.push(format!("retry(attempts = {attempts}{wait})"));
        }
        if timeout {
            let millis = match self.wanted.tight && self.chance(60) {
                true => 5 + self.below(120),
                false => made.bound_ms + 5 * MINUTE,
            };
            settings.push(format!("timeout = \"{millis}ms\""));
            made.bound_ms = millis;
        }
        made.bound_ms = attempts * (made.bound_ms + 3_000);
        let with = if settings.is_empty() {
            String::new()
        } else {
            format!(" with {}", settings.join(", "))
        };
        self.nodes += made.size as u32;
        (made, with)
    }

    fn flow_with_ends(&mut self, nesting: u32) {
        let (made, with) = self.inner(true);
        let values = self.values.clone();
        let (name, [a, b]) = (self.name(""), self.two_numbers(&values));
        let key = match made.sure {
            true => self.key(),
            // What the flow does not write stays as it was.
            false => self.number(&values),
        };
        let (x, y, of) = (&made.inputs[0], &made.inputs[1], &made.name);
        self.declare(&format!(
            "{name}: {of} {{ {x} <- {a}, {y} <- {b}, out -> {key} }} = {of}::new(){with}"
        ));
        self.bound_ms += made.bound_ms;
        self.go(&name);
        let mut after = values.clone();
        after.insert(key, Type::Number);
        let labels: Vec<&str> = made.ends.iter().map(String::as_str).collect();
        let arms = std::iter::once("default").chain(labels);
        let arms = arms.map(|end| (name.clone(), end, after.clone())).collect();
        self.arms(arms, nesting);
        if self.chance(55) {
            let key = self.key();
            self.errors(&[name], &values, &key);
        }
    }

    fn fork(&mut self) {
        let values = self.values.clone();
        let branches = 2 + self.below(3);
        let (mut chains, mut writes, mut can_fail) = (Vec::new(), BTreeMap::new(), false);
        let mut has_wait = false;
        for branch in 0..branches {
            let prefix = format!("b{branch}of{branches}_");
            let (mut seen, mut chain) = (values.clone(), Vec::new());
            for _ in 0..=self.below(2) {
                if self.chance(12) {
                    let millis = [3, 20, 600][self.below(3) as usize];
                    chain.push(format!("wait({millis}ms)"));
                    self.bound_ms += millis;
                    has_wait = true;
                }
                let group = self.group(&prefix, &seen);
                can_fail |= group.can_fail();
                chain.extend(group.steps.iter().map(|step| step.name.clone()));
                seen.extend(group.writes.clone());
                writes.extend(group.writes);
            }
            chains.push(chain.join(" >> "));
        }
        let text = format!("[{}]", chains.join(", "));
        let routed = can_fail && self.chance(65);
        let name = if self.chance(60) || (routed && has_wait) {
            let name = self.name("f");
            let with = match self.chance(40) {
                true => format!(" with concurrency({})", 1 + self.below(branches)),
                false => String::new(),
            };
            self.declare(&format!("{name}: {text}{with}"));
            name
        } else {
            text
        };
        self.go(&name);
        self.loose_at(&name, None);
        self.values.extend(writes);
        if routed {
            let key = self.key();
            self.errors(&[name], &values, &key);
        }
    }

    /// Some nodes that go on in one way, each under a name with this prefix.
    fn group(&mut self, prefix: &str, values: &BTreeMap<String, Type>) -> Group {
        let mut group = Group {
            steps: Vec::new(),
            key: self.key(),
            writes: BTreeMap::new(),
        };
        let key = group.key.clone();
        let a = self.number(values);
        match self.below(100) {
            0..16 => self.simple(&mut group, prefix, &a, values),
            16..34 => self.tries(&mut group, prefix, &a),
            34..40 => {
                let (name, kind) = (
                    self.name(prefix),
                    if self.chance(50) {
                        "takes_again"
                    } else {
                        "take"
                    },
                );
                self.declare(&format!("{name}: {kind} {{ a <- {a}, out -> {key} }}"));
                self.bound_ms += 150;
                group.steps.push(Step {
                    name,
                    can_fail: kind == "takes_again",
                });
            }
            40..47 => {
                let name = self.name(prefix);
                self.declare(&format!(
                    "{name}: Falls {{ a <- {a}, out -> {key} }} = Falls"
                ));
                self.bound_ms += 200;
                group.steps.push(Step {
                    name,
                    can_fail: true,
                });
            }
            47..53 => {
                let name = self.name(prefix);
                let kind = if self.chance(60) { "ready" } else { "soon" };
                self.declare(&format!("{name}: {kind} {{ a <- {a}, out -> {key} }}"));
                self.bound_ms += if kind == "ready" { 5 * MINUTE } else { 10_000 };
                group.steps.push(Step {
                    name,
                    can_fail: kind == "ready",
                });
            }
            53..66 => self.told(&mut group, prefix, &a),
            66..84 => self.batch(&mut group, prefix, &a, values),
            _ if self.wanted.depth > 0 => {
                let (made, with) = self.inner(false);
                let (name, [a, b]) = (self.name(prefix), self.two_numbers(values));
                let (x, y, of) = (&made.inputs[0], &made.inputs[1], &made.name);
                self.declare(&format!(
                    "{name}: {of} {{ {x} <- {a}, {y} <- {b}, out -> {key} }} = {of}::new(){with}"
                ));
                self.bound_ms += made.bound_ms;
                group.steps.push(Step {
                    name,
                    can_fail: true,
                });
            }
            _ => self.simple(&mut group, prefix, &a, values),
        }
        group.writes.insert(key, Type::Number);
        group
    }

    fn simple(
        &mut self,
        group: &mut Group,
        prefix: &str,
        a: &str,
        values: &BTreeMap<String, Type>,
    ) {
        let (name, key) = (self.name(prefix), group.key.clone());
        match self.below(3) {
            0 => self.declare(&format!("{name}: quick {{ a <- {a}, out -> {key} }}")),
            1 => self.declare(&format!("{name}: work {{ a <- {a}, out -> {key} }}")),
            _ => {
                let b = self.number(values);
                self.declare(&format!(
                    "{name}: both {{ a <- {a}, b <- {b}, out -> {key} }}"
                ));
            }
        }
        self.bound_ms += 60;
        group.steps.push(Step {
            name,
            can_fail: false,
        });
    }

    /// What says how often something is tried, and how long it may take, and how long it takes then at most.
    fn settings(&mut self) -> (Vec<String>, u64, bool) {
        let (mut settings, mut attempts, mut timeout) = (Vec::new(), 1, false);
        let mut each = 60;
        if self.chance(50) {
            attempts = 2 + self.below(2);
            let wait = ["", ", wait = \"15ms\"", ", wait = \"40ms\", backoff = 2.0"]
                [self.below(3) as usize];
            settings.push(format!("retry(attempts = {attempts}{wait})"));
        }
        if self.chance(35) {
            timeout = true;
            each = 600;
            settings.push("timeout = \"500ms\"".to_owned());
        }
        (settings, attempts * (each + 100), timeout)
    }

    fn tries(&mut self, group: &mut Group, prefix: &str, a: &str) {
        let (settings, bound_ms, timeout) = self.settings();
        let kind = match (timeout || self.wanted.timed) && self.chance(50) {
            true => "hangs",
            false => "tries",
        };
        let with = if settings.is_empty() {
            String::new()
        } else {
            format!(" with {}", settings.join(", "))
        };
        let (name, key) = (self.name(prefix), group.key.clone());
        self.declare(&format!(
            "{name}: {kind} {{ a <- {a}, out -> {key} }}{with}"
        ));
        self.bound_ms += bound_ms;
        group.steps.push(Step {
            name,
            can_fail: true,
        });
    }

    fn told(&mut self, group: &mut Group, prefix: &str, a: &str) {
        let (name, ears, key, told) = (
            self.name(prefix),
            self.name(prefix),
            group.key.clone(),
            self.key(),
        );
        let timeout = self.chance(40);
        let maybe = self.chance(60) && (timeout || self.wanted.timed);
        let (kind, hear, of) = match maybe {
            true => ("Maybe", "hear_maybe", Type::Maybe),
            false => ("Told", "hear", Type::Told),
        };
        let settings = if timeout {
            " with timeout = \"4m\""
        } else {
            ""
        };
        self.declare(&format!(
            "{name}: human {kind} {{ a <- {a}, told -> {told} }}{settings}"
        ));
        self.declare(&format!(
            "{ears}: {hear} {{ told <- {told}, out -> {key} }}"
        ));
        self.bound_ms += if timeout { 4 * MINUTE } else { 10_000 };
        group.steps.push(Step {
            name,
            can_fail: timeout,
        });
        group.steps.push(Step {
            name: ears,
            can_fail: false,
        });
        group.writes.insert(told, of);
    }

    fn batch(&mut self, group: &mut Group, prefix: &str, a: &str, values: &BTreeMap<String, Type>) {
        let (lists, items, key) = (self.name(prefix), self.key(), group.key.clone());
        self.declare(&format!("{lists}: list {{ a <- {a}, list -> {items} }}"));
        group.steps.push(Step {
            name: lists,
            can_fail: false,
        });
        group.writes.insert(items.clone(), Type::List);
        let (mut settings, mut results, mut can_fail) = (Vec::new(), Type::List, false);
        let body = match self.below(10) {
            0..=2 => "work { a <- item }".to_owned(),
            3..=6 => {
                let (more, bound_ms, timeout) = self.settings();
                let kind = match (timeout || self.wanted.timed) && self.chance(50) {
                    true => "hangs",
                    false => "tries",
                };
                settings = more;
                self.bound_ms += 4 * bound_ms;
                can_fail = true;
                format!("{kind} {{ a <- item }}")
            }
            7 => {
                results = Type::ToldList;
                self.bound_ms += 40_000;
                "Told { a <- item }".to_owned()
            }
            _ if self.wanted.depth > 0 => {
                let wanted = Wanted {
                    depth: self.wanted.depth - 1,
                    ends: false,
                    statements: self.wanted.statements.min(2),
                    ..self.wanted
                };
                let made = self.program.flow(&["x".to_owned(), "y".to_owned()], wanted);
                self.nodes += made.size as u32;
                let b = self.number(values);
                self.bound_ms += 4 * made.bound_ms;
                can_fail = true;
                if self.chance(40) {
                    settings.push("retry(attempts = 2, wait = \"10ms\")".to_owned());
                    self.bound_ms += 4 * made.bound_ms;
                }
                format!("{} {{ x <- item, y <- {b} }}", made.name)
            }
            _ => "work { a <- item }".to_owned(),
        };
        self.bound_ms += 400;
        if self.chance(60) {
            settings.push(format!("concurrency({})", 2 + self.below(3)));
        }
        if can_fail && self.chance(40) {
            settings.push("collect_errors".to_owned());
            can_fail = false;
            results = Type::Results;
        }
        let with = if settings.is_empty() {
            String::new()
        } else {
            format!(" with {}", settings.join(", "))
        };
        let name = self.name(prefix);
        self.declare(&format!("{name}: for item in {items} {{ {body} }}{with}"));
        group.steps.push(Step {
            name: name.clone(),
            can_fail,
        });
        group.writes.insert(name.clone(), results);
        let gather = match results {
            Type::Results => "gather_results",
            Type::ToldList => "gather_told",
            _ => "gather",
        };
        let last = self.name(prefix);
        self.declare(&format!(
            "{last}: {gather} {{ list <- {name}, out -> {key} }}"
        ));
        group.steps.push(Step {
            name: last,
            can_fail: false,
        });
    }
}
