//! Random flows that the compiler accepts.
//!
//! The hard thing is what the analysis asks for: that each value is written on every path to its reader, that what can fail is
//! known, that branches of a fork keep out of each other's way. So a flow is made as a structured program, from the top down: at
//! each point it is known which values are there and which actions still lead nowhere.

mod random;
mod statement;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use random::Random;

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Number,
    List,
    Results,
    Told,
    Maybe,
    ToldList,
}

/// What is asked of a flow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    /// How many levels of flows there may be in it.
    depth: u32,
    /// Whether it runs within a timeout, so that something in it may take for ever.
    timed: bool,
    /// Whether it may have ends besides the plain one.
    ends: bool,
    /// At most so many statements.
    statements: u64,
    /// Whether its timeouts may pass while it is under way.
    tight: bool,
}

/// What others have to know of a flow.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    name: String,
    inputs: Vec<String>,
    /// Whether the output is there at each end.
    sure: bool,
    ends: Vec<String>,
    /// How long it takes at most, in milliseconds, if no process stops.
    bound_ms: u64,
    size: usize,
}

/// All flows of one program.
pub(crate) struct Program {
    random: Random,
    source: String,
    flows: u32,
    prefix: String,
    /// Whether each flow of the outermost one under way has timeouts that may pass at any time.
    tight: bool,
}

/// An action that leads nowhere yet: the node, and the action unless it is `"default"`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Loose {
    node: String,
    action: Option<String>,
}

/// A flow that is being made.
pub(crate) struct Making<'p> {
    program: &'p mut Program,
    wanted: Wanted,
    /// The values that are there on every path to here.
    values: BTreeMap<String, Type>,
    loose: Vec<Loose>,
    declarations: String,
    edges: String,
    ends: Vec<String>,
    nodes: u32,
    keys: u32,
    bound_ms: u64,
    /// Whether some end leaves the output unwritten.
    unsure: bool,
}

/// The source of so many flows, with a table of them.
pub(crate) fn source(flows: u64) -> String {
    let mut program = Program {
        random: Random::new(7),
        source: String::new(),
        flows: 0,
        prefix: String::new(),
        tight: false,
    };
    let mut table = String::from("pub(crate) const FLOWS: &[Entry] = &[\n");
    for number in 0..flows {
        program.top(number, &mut table);
    }
    table.push_str("];\n");
    program.source + &table
}

impl Program {
    fn top(&mut self, number: u64, table: &mut String) {
        loop {
            let (flows, before) = (self.flows, self.source.len());
            self.prefix = format!("F{number}");
            self.flows = 0;
            // Every fourth has timeouts that may pass while it is under way.
            self.tight = number % 4 == 3;
            let wanted = Wanted {
                depth: (number % 5).min(4) as u32,
                timed: false,
                ends: true,
                statements: 2 + number % 7,
                tight: self.tight,
            };
            let inputs = vec!["x".to_owned(), "y".to_owned()];
            let made = self.flow(&inputs, wanted);
            if made.bound_ms > 90 * 60 * 1000 || made.size > 40 {
                self.source.truncate(before);
                self.flows = flows;
                continue;
            }
            let Made {
                name,
                bound_ms,
                size,
                ..
            } = made;
            let tight = self.tight;
            writeln!(
                table,
                "    entry!({name}, {name}Input, {bound_ms}, {size}, {tight}),"
            )
            .expect("a String can be written");
            return;
        }
    }

    /// Writes a flow with these numbers as inputs and the number `out` as its output.
    pub(crate) fn flow(&mut self, inputs: &[String], wanted: Wanted) -> Made {
        let number = self.flows;
        self.flows += 1;
        let name = match number {
            0 => self.prefix.clone(),
            _ => format!("{}In{number}", self.prefix),
        };
        let statements = 1 + self.random.below(wanted.statements);
        let flows_before = self.flows;
        let mut making = Making {
            wanted,
            values: inputs
                .iter()
                .map(|input| (input.clone(), Type::Number))
                .collect(),
            loose: vec![Loose {
                node: "start".to_owned(),
                action: None,
            }],
            declarations: String::new(),
            edges: String::new(),
            ends: Vec::new(),
            nodes: 0,
            keys: 0,
            bound_ms: 0,
            unsure: false,
            program: self,
        };
        making.first(inputs);
        for _ in 0..statements {
            making.statement();
        }
        making.last();
        let Making {
            declarations,
            edges,
            ends,
            bound_ms,
            unsure,
            nodes,
            ..
        } = making;
        let optional = if unsure { "Option<u64>" } else { "u64" };
        let parameters: Vec<String> = inputs.iter().map(|input| format!("{input}: u64")).collect();
        writeln!(
            self.source,
            "flow! {{\n    #[derive(Serialize, Deserialize)]\n    pub(crate) {name}({}) -> (out: {optional}) {{\n\
             {declarations}\n{edges}    }}\n}}\n",
            parameters.join(", ")
        )
        .expect("a String can be written");
        let _ = flows_before;
        Made {
            name,
            inputs: inputs.to_vec(),
            sure: !unsure,
            ends,
            bound_ms,
            size: nodes as usize,
        }
    }
}
