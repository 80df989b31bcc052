//! Generates the flows that are simulated: random ones, the same in each build.

mod adding;
mod undoing;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs, io};

use fastrand::Rng;

/// How many flows are simulated, besides those inside them.
const FLOWS: usize = 48;

/// How many flows there are at each level below.
const INNER: [usize; 3] = [10, 8, 6];

/// How many flows with nodes that add are simulated, besides those inside them.
const ADDING: usize = 24;

/// How many flows with races are simulated.
const RACING: usize = 12;

/// How many flows that wait for signals are simulated, besides those inside them.
const SIGNALED: usize = 16;

/// How many flows that wait for signals there are at each level below.
const SIGNALED_INNER: [usize; 3] = [2, 2, 2];

/// How many flows with steps that are undone are simulated, besides those inside them.
const UNDOING: usize = 6;

/// How many flows with steps that are undone there are at each level below.
const UNDOING_INNER: [usize; 3] = [3, 2, 2];

/// How many flows with nodes that add there are at each level below.
const ADDING_INNER: [usize; 3] = [4, 3, 3];

/// The flows of `saga.rs` that are simulated.
const SAGAS: [&str; 2] = ["Order", "Saga"];

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build");
    let mut text = String::new();
    let mut inner: Vec<Inner> = Vec::new();
    let plain = Words::default();
    add_inner("Inner", 0, (INNER, plain), &mut inner, &mut text);
    let mut names = add_flows("Flow", 1000, (FLOWS, plain), &inner, &mut text);
    let adds = Words {
        adds: true,
        ..Words::default()
    };
    add_inner(
        "AddingInner",
        2000,
        (ADDING_INNER, adds),
        &mut inner,
        &mut text,
    );
    names.extend(add_flows("Adding", 3000, (ADDING, adds), &inner, &mut text));
    let races = Words {
        races: true,
        ..Words::default()
    };
    names.extend(add_flows(
        "Racing",
        4000,
        (RACING, races),
        &inner,
        &mut text,
    ));
    let signals = Words {
        races: true,
        signals: true,
        ..Words::default()
    };
    // Other flows run them at the same time, and then the order in which they take signals varies.
    let mut signaled: Vec<Inner> = Vec::new();
    let of_inner = (SIGNALED_INNER, signals);
    add_inner("SignaledInner", 5000, of_inner, &mut signaled, &mut text);
    names.extend(add_flows(
        "Signaled",
        6000,
        (SIGNALED, signals),
        &signaled,
        &mut text,
    ));
    let undoes = Words {
        races: true,
        undoes: true,
        ..Words::default()
    };
    let mut undone: Vec<Inner> = Vec::new();
    let of_inner = (UNDOING_INNER, undoes);
    add_inner("UndoingInner", 7000, of_inner, &mut undone, &mut text);
    let first_undoing = names.len();
    names.extend(add_flows(
        "Undoing",
        8000,
        (UNDOING, undoes),
        &undone,
        &mut text,
    ));
    let sagas = names.len();
    names.extend(SAGAS.map(str::to_owned));
    let all: String = names
        .iter()
        .map(|name| format!("simulated!({name}, {name}Input), "))
        .collect();
    let count = names.len();
    let _ = write!(
        text,
        "/// How many flows have no nodes that add, no races and no signals. They come first.\n\
         pub const PLAIN: usize = {FLOWS};\n\n\
         /// The numbers of those that are undone.\n\
         pub const UNDOING: std::ops::Range<usize> = {first_undoing}..{count};\n\n\
         /// The numbers of the sagas among them.\n\
         pub const SAGAS: std::ops::Range<usize> = {sagas}..{count};\n\n\
         /// All of them.\n\
         pub fn all() -> Vec<Simulated> {{ vec![{all}] }}\n"
    );
    let folder = env::var_os("OUT_DIR")
        .map(PathBuf::from)
        .unwrap_or_default();
    fs::write(folder.join("flows.rs"), text)
}

/// Adds flows for the inside of others, and their text. Those of a level may contain those of the
/// levels below.
fn add_inner(
    prefix: &str,
    first_seed: u64,
    (counts, words): ([usize; 3], Words),
    inner: &mut Vec<Inner>,
    text: &mut String,
) {
    for (level, count) in counts.into_iter().enumerate() {
        let below = inner.clone();
        for index in 0..count {
            let name = format!("{prefix}{level}x{index}");
            let timed = index % 2 == 0;
            let seed = first_seed + (level * 100 + index) as u64;
            let generator = Generator::new(seed, &below, level, timed, words);
            *text += &generator.flow(&name, 2 + index % 2);
            inner.push(Inner { name, level, timed });
        }
    }
}

/// Adds the text of flows that are simulated, and returns their names.
fn add_flows(
    prefix: &str,
    first_seed: u64,
    (count, words): (usize, Words),
    inner: &[Inner],
    text: &mut String,
) -> Vec<String> {
    let flows = (0..count).map(|index| {
        let name = format!("{prefix}{index}");
        let seed = first_seed + index as u64;
        let generator = Generator::new(seed, inner, INNER.len(), false, words);
        *text += &generator.flow(&name, 2 + index % 4);
        name
    });
    flows.collect()
}

/// A flow that others may contain.
#[derive(Clone)]
struct Inner {
    name: String,
    level: usize,
    /// Its steps may hang: it has to have a timeout where it is used.
    timed: bool,
}

/// The names of what leads on: `n3`, or `d1 - "right"`.
struct Block {
    entry: String,
    exits: Vec<String>,
}

/// The words of the language that not all flows have.
#[derive(Clone, Copy, Default)]
struct Words {
    /// Its nodes may add.
    adds: bool,
    /// It may have races.
    races: bool,
    /// It may wait for signals.
    signals: bool,
    /// Its steps may be undone.
    undoes: bool,
}

struct Generator<'a> {
    rng: Rng,
    inner: Vec<&'a Inner>,
    timed: bool,
    adds: bool,
    races: bool,
    signals: bool,
    undoes: bool,
    declared: String,
    edges: String,
    next: usize,
    /// The numbers that are written on every way to here.
    keys: Vec<String>,
}

impl<'a> Generator<'a> {
    fn new(seed: u64, inner: &'a [Inner], level: usize, timed: bool, words: Words) -> Self {
        Generator {
            rng: Rng::with_seed(seed),
            inner: inner.iter().filter(|inner| inner.level < level).collect(),
            timed,
            adds: words.adds,
            races: words.races,
            signals: words.signals,
            undoes: words.undoes,
            declared: String::new(),
            edges: String::new(),
            next: 0,
            keys: vec!["a".to_owned()],
        }
    }

    fn flow(mut self, name: &str, blocks: usize) -> String {
        // What fails here fails the flow.
        let first = self.plain("tried");
        let mut exits = first.exits;
        if self.adds {
            let begins = self.begins();
            self.lead(&exits, &begins.entry);
            exits = begins.exits;
        }
        if self.undoes {
            let books = self.books();
            self.lead(&exits, &books.entry);
            exits = books.exits;
        }
        let mut rest = self.sequence(blocks, 2);
        self.lead(&exits, &rest.entry);
        if self.adds {
            let read = self.reads_log();
            self.lead(&rest.exits, &read.entry);
            rest.exits = read.exits;
        }
        let key = self.key();
        self.declare(&format!("node last: work {{ a <- {key}, w -> sum }}"));
        self.lead(&rest.exits, "last");
        self.lead(&["last".to_owned()], "end { out <- sum }");
        format!(
            "flow! {{\n    /// Generated.\n    pub {name}(a: u64) -> (out: u64) {{\n{}        start >> {};\n{}    }}\n}}\n\n",
            self.declared, first.entry, self.edges
        )
    }

    fn id(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    fn key(&mut self) -> String {
        self.keys[self.rng.usize(..self.keys.len())].clone()
    }

    fn declare(&mut self, declaration: &str) {
        let _ = writeln!(self.declared, "        {declaration};");
    }

    fn lead(&mut self, exits: &[String], entry: &str) {
        for exit in exits {
            let _ = writeln!(self.edges, "        {exit} >> {entry};");
        }
    }

    fn sequence(&mut self, blocks: usize, depth: usize) -> Block {
        let first = self.block(depth);
        let mut exits = first.exits;
        for _ in 1..blocks.max(1) {
            let next = self.block(depth);
            self.lead(&exits, &next.entry);
            exits = next.exits;
        }
        Block {
            entry: first.entry,
            exits,
        }
    }

    fn block(&mut self, depth: usize) -> Block {
        if self.adds && self.rng.bool() {
            return self.adding();
        }
        if self.signals && self.rng.bool() {
            return match self.rng.u8(..4) {
                0 | 1 => self.told(),
                2 => self.told_soon(),
                _ => self.inner_flow(),
            };
        }
        if self.undoes && self.rng.u8(..3) > 0 {
            return self.undoing();
        }
        if self.races && self.rng.bool() {
            return self.race();
        }
        let kinds = if depth > 0 { 13 } else { 8 };
        match self.rng.usize(..kinds) {
            0 => self.two_reads(),
            1 => self.routed(),
            2 => self.plain("saved"),
            3 => self.waits(),
            4 => self.asks(),
            5 => self.asks_soon(),
            6 => self.polls(),
            7 => self.inner_flow(),
            8 => self.decides(depth),
            9 => self.repeats(depth),
            10 | 11 => self.forks(),
            _ => self.batch(),
        }
    }

    /// One node that reads one number and writes another.
    fn plain(&mut self, function: &str) -> Block {
        let node = self.node(function);
        self.keys.push(format!("k{node}"));
        Block {
            entry: node.clone(),
            exits: vec![node],
        }
    }

    /// A declared node, whose number is `k` and its name.
    fn node(&mut self, function: &str) -> String {
        let to = format!("kn{}", self.next + 1);
        self.node_to(function, &to)
    }

    /// A declared node that writes its number to a key, or adds it: `+log`.
    fn node_to(&mut self, function: &str, to: &str) -> String {
        let (id, key) = (self.id(), self.key());
        let function = match (function, self.timed) {
            ("work", true) if self.rng.u8(..3) == 0 => "hangs",
            (function, _) => function,
        };
        let node = format!("n{id}");
        self.declare(&match function {
            "saved" => format!("node {node}: Saved {{ a <- {key}, w -> {to} }} = Saved"),
            _ => format!("node {node}: {function} {{ a <- {key}, w -> {to} }}"),
        });
        node
    }

    fn two_reads(&mut self) -> Block {
        let (id, a, b) = (self.id(), self.key(), self.key());
        let node = format!("n{id}");
        // The edges that lead here say what one of the two is.
        self.declare(&format!(
            "node {node}: work2 {{ a <- a{node}, b <- {b}, w -> k{node} }}"
        ));
        self.keys.push(format!("k{node}"));
        Block {
            entry: format!("{node} {{ a{node} <- {a} }}"),
            exits: vec![node],
        }
    }

    /// A node that writes a number in place of another one.
    fn instead(&mut self, key: &str) -> String {
        let (id, read) = (self.id(), self.key());
        let node = format!("n{id}");
        self.declare(&format!("node {node}: work {{ a <- {read}, w -> {key} }}"));
        node
    }

    fn routed(&mut self) -> Block {
        let function = ["risky", "tried", "slow"][self.rng.usize(..3)];
        let node = self.node(function);
        let key = format!("k{node}");
        let other = self.instead(&key);
        self.lead(&[format!("{node} - \"error\"")], &other);
        self.keys.push(key);
        Block {
            entry: node.clone(),
            exits: vec![node, other],
        }
    }

    fn waits(&mut self) -> Block {
        // In memory, and as a row of the store.
        let seconds = [1, 8][usize::from(self.rng.u8(..2))];
        let block = self.plain("work");
        Block {
            entry: format!("wait({seconds}s) >> {}", block.entry),
            ..block
        }
    }

    fn polls(&mut self) -> Block {
        let node = self.node("found");
        let key = format!("k{node}");
        let other = self.instead(&key);
        self.lead(&[format!("{node} - \"timeout\"")], &other);
        self.keys.push(key);
        Block {
            entry: node.clone(),
            exits: vec![node, other],
        }
    }

    /// A question, and a node that takes the number out of the answer.
    fn asks(&mut self) -> Block {
        let (id, key) = (self.id(), self.key());
        self.declare(&format!(
            "node h{id}: human Ask {{ a <- {key}, asked -> v{id} }}"
        ));
        self.declare(&format!(
            "node n{id}: take {{ asked <- v{id}, w -> kn{id} }}"
        ));
        self.lead(&[format!("h{id}")], &format!("n{id}"));
        self.keys.push(format!("kn{id}"));
        Block {
            entry: format!("h{id}"),
            exits: vec![format!("n{id}")],
        }
    }

    fn asks_soon(&mut self) -> Block {
        let (id, key) = (self.id(), self.key());
        self.declare(&format!(
            "node h{id}: human AskSoon {{ a <- {key}, asked_soon -> v{id} }}"
        ));
        self.declare(&format!(
            "node n{id}: take_soon {{ asked_soon <- v{id}, w -> kn{id} }}"
        ));
        self.lead(&[format!("h{id}")], &format!("n{id}"));
        let other = self.instead(&format!("kn{id}"));
        self.lead(&[format!("h{id} - \"timeout\"")], &other);
        self.keys.push(format!("kn{id}"));
        Block {
            entry: format!("h{id}"),
            exits: vec![format!("n{id}"), other],
        }
    }

    /// A signal with a number.
    fn told(&mut self) -> Block {
        let id = self.id();
        self.declare(&format!("node n{id}: signal Tell {{ value -> kn{id} }}"));
        self.keys.push(format!("kn{id}"));
        Block {
            entry: format!("n{id}"),
            exits: vec![format!("n{id}")],
        }
    }

    /// A signal without a number.
    fn poked(&mut self) -> String {
        let id = self.id();
        self.declare(&format!("node p{id}: signal Poke"));
        format!("p{id}")
    }

    /// A signal with a number, for which a step waits an hour.
    fn told_soon(&mut self) -> Block {
        let id = self.id();
        self.declare(&format!(
            "node n{id}: signal TellSoon {{ value -> kn{id} }}"
        ));
        let other = self.instead(&format!("kn{id}"));
        self.lead(&[format!("n{id} - \"timeout\"")], &other);
        self.keys.push(format!("kn{id}"));
        Block {
            entry: format!("n{id}"),
            exits: vec![format!("n{id}"), other],
        }
    }

    /// A flow as a node, its declaration only: its name.
    fn declared_flow(&mut self) -> Option<String> {
        self.declared_flow_to(None)
    }

    /// A flow as a node, whose number is `k` and its name, or is added to a key.
    fn declared_flow_to(&mut self, added_to: Option<&str>) -> Option<String> {
        let inner = self
            .inner
            .get(self.rng.usize(..self.inner.len().max(1)))
            .copied()?;
        let (id, key) = (self.id(), self.key());
        let mut settings = Vec::new();
        if self.rng.bool() {
            settings.push("retry(attempts = 3, wait = \"20ms\")".to_owned());
        }
        if inner.timed || self.rng.u8(..4) == 0 {
            settings.push(format!("timeout = \"{}m\"", [30, 120, 480][inner.level]));
        }
        let with = with(&settings);
        let (node, name) = (format!("n{id}"), &inner.name);
        let to = match added_to {
            Some(to) => format!("+{to}"),
            None => format!("k{node}"),
        };
        self.declare(&format!(
            "node {node}: {name} {{ a <- {key}, out -> {to} }} = {name}::new(){with}"
        ));
        Some(node)
    }

    fn inner_flow(&mut self) -> Block {
        let Some(node) = self.declared_flow() else {
            return self.routed();
        };
        let key = format!("k{node}");
        let mut exits = vec![node.clone()];
        if self.rng.u8(..4) > 0 {
            let other = self.instead(&key);
            self.lead(&[format!("{node} - \"error\"")], &other);
            exits.push(other);
        }
        self.keys.push(key);
        Block { entry: node, exits }
    }

    fn decides(&mut self, depth: usize) -> Block {
        let (id, key) = (self.id(), self.key());
        self.declare(&format!("node d{id}: decide {{ a <- {key} }}"));
        let mut exits = Vec::new();
        for action in ["left", "right"] {
            let before = self.keys.len();
            let side = self.sequence(1, depth - 1);
            let last = self.instead(&format!("kd{id}"));
            self.keys.truncate(before);
            self.lead(&[format!("d{id} - \"{action}\"")], &side.entry);
            self.lead(&side.exits, &last);
            exits.push(last);
        }
        self.keys.push(format!("kd{id}"));
        Block {
            entry: format!("d{id}"),
            exits,
        }
    }

    fn repeats(&mut self, depth: usize) -> Block {
        let blocks = 1 + self.rng.usize(..2);
        let body = self.sequence(blocks, depth - 1);
        let (id, key) = (self.id(), self.key());
        self.declare(&format!("node l{id}: again {{ a <- {key} }}"));
        self.lead(&body.exits, &format!("l{id}"));
        self.lead(&[format!("l{id} - \"again\"")], &body.entry);
        Block {
            entry: body.entry,
            exits: vec![format!("l{id} - \"done\"")],
        }
    }

    /// A part of a branch, and whether it can fail.
    fn in_branch(&mut self) -> (String, bool) {
        if self.adds && self.rng.u8(..3) > 0 {
            return self.adding_in_branch();
        }
        if self.undoes && self.rng.bool() {
            return self.booking();
        }
        match self.rng.usize(..9) {
            8 => {
                // If nobody answers in time, the fork fails: several of them at the same moment.
                let asks = self.asks_soon_in_branch();
                (asks, true)
            }
            0 => (self.node("risky"), true),
            1 => (self.node("tried"), true),
            2 => {
                let node = self.node("work");
                (format!("wait(7s) >> {node}"), false)
            }
            3 => {
                let asks = self.asks_in_branch();
                (asks, false)
            }
            4 if self.signals => (self.node("saved"), false),
            4 => match self.declared_flow() {
                Some(node) => (node, true),
                None => (self.node("saved"), false),
            },
            5 => {
                let list = self.list();
                let (each, fails) = self.each(&list, false);
                (format!("{list} >> {each}"), fails)
            }
            _ => (self.node("work"), false),
        }
    }

    fn asks_in_branch(&mut self) -> String {
        let (id, key) = (self.id(), self.key());
        self.declare(&format!(
            "node h{id}: human Ask {{ a <- {key}, asked -> v{id} }}"
        ));
        self.declare(&format!(
            "node n{id}: take {{ asked <- v{id}, w -> kn{id} }}"
        ));
        format!("h{id} >> n{id}")
    }

    fn asks_soon_in_branch(&mut self) -> String {
        let (id, key) = (self.id(), self.key());
        self.declare(&format!(
            "node h{id}: human AskSoon {{ a <- {key}, asked_soon -> v{id} }}"
        ));
        self.declare(&format!(
            "node n{id}: take_soon {{ asked_soon <- v{id}, w -> kn{id} }}"
        ));
        format!("h{id} >> n{id}")
    }

    fn forks(&mut self) -> Block {
        let before = self.keys.clone();
        let mut fails = false;
        let branches: Vec<String> = (0..2 + self.rng.usize(..2))
            .map(|_| {
                let mut chain = Vec::new();
                for _ in 0..1 + self.rng.usize(..2) {
                    let (part, can_fail) = self.in_branch();
                    fails |= can_fail;
                    chain.push(part);
                }
                self.keys = before.clone();
                chain.join(" >> ")
            })
            .collect();
        let id = self.id();
        let limit = match self.rng.u8(..3) {
            0 => " with concurrency(1)",
            1 => " with concurrency(2)",
            _ => "",
        };
        self.declare(&format!("node f{id}: [{}]{limit}", branches.join(", ")));
        let after = self.node("work");
        let mut exits = vec![after.clone()];
        self.lead(&[format!("f{id}")], &after);
        let key = format!("k{after}");
        if fails && self.rng.u8(..4) > 0 {
            let other = self.instead(&key);
            self.lead(&[format!("f{id} - \"error\"")], &other);
            exits.push(other);
        }
        self.keys.push(key);
        Block {
            entry: format!("f{id}"),
            exits,
        }
    }

    /// A race. Which branch is the first one depends on where a process is stopped, so nothing
    /// reads what they write, and none of them fails.
    fn race(&mut self) -> Block {
        let before = self.keys.clone();
        let branches: Vec<String> = (0..2 + self.rng.usize(..2))
            .map(|_| {
                let kinds = if self.signals { 8 } else { 6 };
                if self.undoes && self.rng.bool() {
                    let wait = self.rng.u8(1..5);
                    let branch = format!("{} >> wait({wait}s)", self.books_with("book"));
                    self.keys = before.clone();
                    return branch;
                }
                let branch = match self.rng.usize(..kinds) {
                    6 => self.poked(),
                    7 => format!("{} >> {}", self.poked(), self.node("work")),
                    0 => format!("wait({}s)", 1 + self.rng.u8(..9)),
                    1 => format!("wait(2s) >> {}", self.node("work")),
                    2 => self.asks_in_branch(),
                    3 => format!("{} >> {}", self.node("work"), self.node("saved")),
                    4 => {
                        let list = self.list();
                        format!("{list} >> wait(1s)")
                    }
                    _ => self.node("work"),
                };
                self.keys = before.clone();
                branch
            })
            .collect();
        let id = self.id();
        self.declare(&format!(
            "node r{id}: first {{ {}, wait(30s) }}",
            branches.join(", ")
        ));
        let after = self.node("work");
        self.lead(&[format!("r{id}")], &after);
        self.keys.push(format!("k{after}"));
        Block {
            entry: format!("r{id}"),
            exits: vec![after],
        }
    }

    fn list(&mut self) -> String {
        let to = format!("kn{}", self.next + 1);
        self.list_to(&to)
    }

    /// A node that writes a list to a key, or adds its numbers: `+log`.
    fn list_to(&mut self, to: &str) -> String {
        let (id, key) = (self.id(), self.key());
        self.declare(&format!("node n{id}: list {{ a <- {key}, list -> {to} }}"));
        format!("n{id}")
    }

    /// A loop over the items of a list and what takes a number out of its results, and whether that can fail.
    fn each(&mut self, list: &str, may_spread: bool) -> (String, bool) {
        let id = self.id();
        let mut may_spread = may_spread;
        let (body, can_fail) = match self.rng.usize(..5) {
            0 => ("work".to_owned(), false),
            1 => ("risky".to_owned(), true),
            2 => ("tried".to_owned(), true),
            _ => {
                let untimed = self.untimed();
                // What the parts of a loop have done could not be undone.
                may_spread &= !self.undoes;
                if untimed.is_empty() {
                    ("risky".to_owned(), true)
                } else {
                    (untimed[self.rng.usize(..untimed.len())].to_owned(), true)
                }
            }
        };
        let collects = can_fail && self.rng.bool();
        let mut settings = self.limits(id, may_spread);
        if collects {
            settings.push("collect_errors".to_owned());
        }
        let with = with(&settings);
        self.declare(&format!("node b{id}: for a in k{list} {{ {body} }}{with}"));
        let sum = if collects { "sum_results" } else { "sum" };
        self.declare(&format!(
            "node n{id}: {sum} {{ items <- b{id}, w -> kn{id} }}"
        ));
        (format!("b{id} >> n{id}"), can_fail && !collects)
    }

    /// How many items of a loop run at the same time, and in which parts.
    fn limits(&mut self, id: usize, may_spread: bool) -> Vec<String> {
        let mut settings = Vec::new();
        match self.rng.u8(..3) {
            0 => {}
            limit => settings.push(format!("concurrency({})", limit + 1)),
        }
        if may_spread && !id.is_multiple_of(3) {
            settings.push(format!("spread({})", id % 3));
        }
        settings
    }

    /// The flows that a node may run without a timeout.
    fn untimed(&self) -> Vec<&'a str> {
        let untimed = self
            .inner
            .iter()
            .filter(|inner| !inner.timed && !self.signals);
        untimed.map(|inner| inner.name.as_str()).collect()
    }

    fn batch(&mut self) -> Block {
        let list = self.list();
        let (each, fails) = self.each(&list, true);
        let Some((each, sum)) = each.split_once(" >> ") else {
            unreachable!("a loop is followed by its sum")
        };
        self.lead(std::slice::from_ref(&list), each);
        self.lead(&[each.to_owned()], sum);
        let key = format!("k{sum}");
        let mut exits = vec![sum.to_owned()];
        if fails && self.rng.bool() {
            let other = self.instead(&key);
            self.lead(&[format!("{each} - \"error\"")], &other);
            exits.push(other);
        }
        self.keys.push(key);
        Block { entry: list, exits }
    }
}

/// The settings of a declaration.
fn with(settings: &[String]) -> String {
    if settings.is_empty() {
        String::new()
    } else {
        format!(" with {}", settings.join(", "))
    }
}
