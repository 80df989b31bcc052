//! Parses the text of a `flow!`: its signature and its statements.
//!
//! Rust in it, such as a type or a value, is not parsed: it ends where the language of flows
//! resumes. Names are not checked, so a flow that does not compile can have a layout.

use std::ops::Range;

use super::cursor::{Cursor, Rust};
use super::lexer::{Fault, Kind, Source};
use super::syntax::{Branch, Edge, Flow, Gap, Item, Line, List, Part, Segment, Statement};

/// The syntax of a flow, and the gap before each token.
pub(super) struct Parsed {
    pub(super) flow: Flow,
    pub(super) gaps: Vec<Gap>,
    /// The token to which the first gap belongs.
    pub(super) first: usize,
}

/// Parses the content of these brackets.
///
/// # Errors
///
/// The content is not a flow.
pub(super) fn parse(source: &Source<'_>, open: usize, close: usize) -> Result<Parsed, Fault> {
    let mut cursor = Cursor::new(source, open, close);
    let flow = cursor.flow()?;
    Ok(Parsed {
        flow,
        gaps: cursor.gaps,
        first: open + 1,
    })
}

impl Cursor<'_, '_> {
    fn flow(&mut self) -> Result<Flow, Fault> {
        let mut attributes = Vec::new();
        while self.text(0) == "#" {
            attributes.push(self.attribute(Gap::ONE)?);
        }
        let from = self.at;
        let visibility = self.take_if("pub", Gap::ONE).is_some();
        if visibility && self.text(0) == "(" {
            self.group(Gap::NONE);
        }
        self.word(Gap::ONE, "the flow's name")?;
        let mut head = vec![Part::Tokens(from..self.at)];
        head.push(Part::List(self.parameters(
            Gap::NONE,
            "the flow's inputs: `Name(key: Type)`, or `Name()`",
        )?));
        if let Some(arrow) = self.take_if("->", Gap::ONE) {
            head.push(Part::Tokens(arrow..self.at));
            head.push(Part::List(
                self.parameters(Gap::ONE, "the flow's outputs: `-> (key: Type)`")?,
            ));
        }
        if self.text(0) != "{" {
            return self.fault("expected `{` and the flow's statements");
        }
        let (open, statements, close) = self.inside(Gap::ONE, |cursor| {
            let mut statements = Vec::new();
            while !cursor.is_at_end() {
                statements.push(cursor.statement()?);
            }
            Ok(statements)
        })?;
        head.push(Part::Tokens(open..open + 1));
        if !self.is_at_end() {
            return self
                .fault("expected nothing after the flow: each flow has a `flow!` of its own");
        }
        Ok(Flow {
            attributes,
            head: Line {
                segments: vec![head],
            },
            statements,
            close,
        })
    }

    /// `#[…]`
    fn attribute(&mut self, gap: Gap) -> Result<Range<usize>, Fault> {
        let from = self.take(gap);
        match self.text(0) {
            "[" => self.group(Gap::NONE),
            _ => return self.fault("expected `[` and an attribute"),
        }
        Ok(from..self.at)
    }

    fn parameters(&mut self, gap: Gap, expected: &str) -> Result<List, Fault> {
        if self.text(0) != "(" {
            return self.fault(format!("expected {expected}"));
        }
        self.list(gap, Gap::NONE, |cursor, mut gap| {
            let from = cursor.at;
            while cursor.text(0) == "#" {
                cursor.attribute(gap)?;
                gap = Gap::ONE;
            }
            cursor.word(gap, "a key and its type: `key: Type`")?;
            cursor.expect(":", Gap::NONE, "`:` and the key's type")?;
            cursor.rust(Gap::ONE, Rust::Type, "the key's type")?;
            if cursor.take_if("=", Gap::ONE).is_some() {
                cursor.rust(Gap::ONE, Rust::Default, "the input's default")?;
            }
            Ok(cursor.line_from(from))
        })
    }

    fn statement(&mut self) -> Result<Statement, Fault> {
        match (self.text(0), self.kind(1)) {
            ("node", Some(Kind::Word)) => self.declaration().map(Statement::Plain),
            ("branch", Some(Kind::Word)) => self.branch().map(Statement::Branch),
            ("namespace", Some(Kind::Quoted)) => {
                let from = self.take(Gap::ONE);
                self.take(Gap::ONE);
                self.end_of_statement("`;`")?;
                Ok(Statement::Plain(self.line_from(from)))
            }
            _ => self.edges(),
        }
    }

    fn end_of_statement(&mut self, expected: &str) -> Result<Part, Fault> {
        let semicolon = self.expect(";", Gap::NONE, expected)?;
        Ok(Part::Tokens(semicolon..semicolon + 1))
    }

    /// `node name: … with settings;`
    fn declaration(&mut self) -> Result<Line, Fault> {
        let from = self.take(Gap::ONE);
        self.take(Gap::ONE);
        self.expect(
            ":",
            Gap::NONE,
            "`:` and what the node is: `node name: path;`",
        )?;
        let mut segments = Vec::new();
        let mut segment = vec![Part::Tokens(from..self.at)];
        match self.text(0) {
            "[" => segment.push(Part::List(self.fork(Gap::ONE)?)),
            "for" => self.for_each(&mut segment)?,
            "first" if self.is_race() => self.race(&mut segment)?,
            _ => {
                self.path_and_mapping(Gap::ONE, &mut segment)?;
                if let Some(equals) = self.take_if("=", Gap::ONE) {
                    segment.push(Part::Tokens(equals..self.at));
                    segments.push(std::mem::take(&mut segment));
                    let from = self.at;
                    self.rust(Gap::ONE, Rust::Value, "the node's value")?;
                    segment.push(Part::Tokens(from..self.at));
                }
            }
        }
        if self.is_with() {
            segments.push(std::mem::take(&mut segment));
            self.settings(&mut segment)?;
        }
        segment.push(self.end_of_statement("`;` at the end of the declaration")?);
        segments.push(segment);
        Ok(Line { segments })
    }

    /// `path::Of<Node> { mapping }`, perhaps with the word `human` or `signal` before it.
    fn path_and_mapping(&mut self, gap: Gap, segment: &mut Segment) -> Result<(), Fault> {
        let from = self.at;
        let is_from_outside = ["human", "signal"].contains(&self.text(0))
            && self.kind(1) == Some(Kind::Word)
            && self.text(1) != "with";
        let gap = if is_from_outside {
            self.take(gap);
            Gap::ONE
        } else {
            gap
        };
        self.rust(gap, Rust::Path, "what the node is")?;
        segment.push(Part::Tokens(from..self.at));
        if self.text(0) == "{" {
            segment.push(Part::List(self.mapping()?));
        }
        Ok(())
    }

    /// `{ port <- key, port -> key }`
    fn mapping(&mut self) -> Result<List, Fault> {
        self.list(Gap::ONE, Gap::ONE, |cursor, gap| {
            let from = cursor.word(gap, "a mapping: `port <- key` or `port -> key`")?;
            match cursor.text(0) {
                "<-" | "->" => drop(cursor.take(Gap::ONE)),
                _ => return cursor.fault("expected `<-` or `->`, and a key"),
            }
            let gap = match cursor.take_if("+", Gap::ONE) {
                Some(_) => Gap::NONE,
                None => Gap::ONE,
            };
            cursor.word(gap, "a key")?;
            Ok(cursor.line_from(from))
        })
    }

    /// `for item in key { path { mapping } }`
    fn for_each(&mut self, segment: &mut Segment) -> Result<(), Fault> {
        let from = self.take(Gap::ONE);
        self.word(Gap::ONE, "the name of an item")?;
        self.expect("in", Gap::ONE, "`in` and the key of the items")?;
        self.word(Gap::ONE, "the key of the items")?;
        segment.push(Part::Tokens(from..self.at));
        if self.text(0) != "{" {
            return self.fault("expected `{` and the node that each item goes to");
        }
        let (open, line, close) = self.inside(Gap::ONE, |cursor| {
            let mut body = Vec::new();
            cursor.path_and_mapping(Gap::ONE, &mut body)?;
            Ok(Line {
                segments: vec![body],
            })
        })?;
        segment.push(Part::List(List {
            open,
            items: vec![Item { line, comma: None }],
            close,
            trailing_comma: false,
        }));
        Ok(())
    }

    /// Returns true before the branches of a race. A node may also have the name `first`, perhaps
    /// with a mapping: `first { text <- draft }`.
    fn is_race(&self) -> bool {
        self.text(1) == "{" && !matches!(self.text(3), "<-" | "->")
    }

    /// `first { a >> b => "action", c }`
    fn race(&mut self, segment: &mut Segment) -> Result<(), Fault> {
        let word = self.take(Gap::ONE);
        segment.push(Part::Tokens(word..self.at));
        let branches = self.list(Gap::ONE, Gap::ONE, |cursor, gap| {
            let mut line = cursor.chain(gap, &mut None)?;
            if let Some(arrow) = cursor.take_if("=>", Gap::ONE) {
                cursor.quoted(Gap::ONE, "an action in quotes: `=> \"action\"`")?;
                if let Some(last) = line.segments.last_mut() {
                    last.push(Part::Tokens(arrow..cursor.at));
                }
            }
            Ok(line)
        })?;
        segment.push(Part::List(branches));
        Ok(())
    }

    /// `with retry(attempts = 3), timeout = "30s"`
    fn settings(&mut self, segment: &mut Segment) -> Result<(), Fault> {
        let mut from = self.take(Gap::ONE);
        loop {
            let name = self.text(0);
            self.word(Gap::ONE, "a setting")?;
            match (self.text(0), name) {
                ("(", "retry") => {
                    segment.push(Part::Tokens(from..self.at));
                    segment.push(Part::List(self.list(
                        Gap::NONE,
                        Gap::NONE,
                        |cursor, gap| {
                            let from = cursor.word(gap, "a setting")?;
                            cursor.value()?;
                            Ok(cursor.line_from(from))
                        },
                    )?));
                    from = self.at;
                }
                ("(", _) => self.group_of_one()?,
                _ => self.value()?,
            }
            if self.take_if(",", Gap::NONE).is_none() {
                break;
            }
        }
        if from < self.at {
            segment.push(Part::Tokens(from..self.at));
        }
        Ok(())
    }

    /// `= value`, if there is one.
    fn value(&mut self) -> Result<(), Fault> {
        match self.take_if("=", Gap::ONE) {
            Some(_) => self.rust(Gap::ONE, Rust::Setting, "the setting's value"),
            None => Ok(()),
        }
    }

    /// Brackets with content that stays as it is: `(5s)`.
    fn group_of_one(&mut self) -> Result<(), Fault> {
        self.inside(Gap::NONE, |cursor| {
            cursor.rust(Gap::NONE, Rust::Content, "something in the brackets")
        })?;
        Ok(())
    }

    /// `branch name(keys) { condition => "action", else => "action" }`
    fn branch(&mut self) -> Result<Branch, Fault> {
        let from = self.take(Gap::ONE);
        self.take(Gap::ONE);
        let mut head = vec![Part::Tokens(from..self.at)];
        if self.text(0) != "(" {
            return self
                .fault("expected the keys that the branch looks at: `branch name(key) { … }`");
        }
        head.push(Part::List(self.list(
            Gap::NONE,
            Gap::NONE,
            |cursor, gap| {
                let from = cursor.word(gap, "a key")?;
                Ok(cursor.line_from(from))
            },
        )?));
        if self.text(0) != "{" {
            return self.fault("expected `{` and the cases of the branch");
        }
        let (open, cases, close) = self.inside(Gap::ONE, |cursor| {
            cursor.items(Gap::ONE, |cursor, gap| {
                let from = cursor.at;
                cursor.rust(gap, Rust::Condition, "a condition")?;
                cursor.expect("=>", Gap::ONE, "`=>` and an action")?;
                cursor.quoted(Gap::ONE, "an action in quotes")?;
                Ok(cursor.line_from(from))
            })
        })?;
        head.push(Part::Tokens(open..open + 1));
        Ok(Branch {
            head: Line {
                segments: vec![head],
            },
            cases,
            close,
        })
    }

    fn edges(&mut self) -> Result<Statement, Fault> {
        let mut first_action = None;
        let mut line = self.chain(Gap::ONE, &mut first_action)?;
        if line.segments.len() < 2 {
            return self.fault("expected `>>` and a step, or `- \"action\" >>` and a step");
        }
        let end = self.end_of_statement("`;`, `>>` or `- \"action\" >>`")?;
        if let Some(last) = line.segments.last_mut() {
            last.push(end);
        }
        Ok(match first_action {
            Some((minus, arrow)) => Statement::Edge(Edge { line, minus, arrow }),
            None => Statement::Plain(line),
        })
    }

    /// `a >> b - "x" >> c`. The first action comes with the place of its `-` and its `>>`, if it
    /// belongs to the first step.
    fn chain(&mut self, gap: Gap, action: &mut Option<(usize, usize)>) -> Result<Line, Fault> {
        let mut line = Line::default();
        let mut segment = Vec::new();
        self.step(gap, &mut segment)?;
        loop {
            let minus = self.take_if("-", Gap::ONE);
            if let Some(minus) = minus {
                self.quoted(Gap::ONE, "an action in quotes: `- \"action\" >>`")?;
                segment.push(Part::Tokens(minus..self.at));
            }
            let Some(arrow) = self.take_if(">>", Gap::ONE) else {
                line.segments.push(segment);
                return match minus {
                    Some(_) => self.fault("expected `>>` and a step after the action"),
                    None => Ok(line),
                };
            };
            if line.segments.is_empty() {
                *action = minus.map(|minus| (minus, arrow));
            }
            line.segments.push(std::mem::replace(
                &mut segment,
                vec![Part::Tokens(arrow..self.at)],
            ));
            self.step(Gap::ONE, &mut segment)?;
        }
    }

    /// A node, `start`, `end("label")`, `wait(5s)` or a fork, perhaps with the mapping of the edge
    /// to it.
    fn step(&mut self, gap: Gap, segment: &mut Segment) -> Result<(), Fault> {
        if self.text(0) == "[" {
            segment.push(Part::List(self.fork(gap)?));
        } else {
            segment.push(Part::Tokens(self.named_step(gap)?));
        }
        if self.text(0) == "{" {
            segment.push(Part::List(self.mapping()?));
        }
        Ok(())
    }

    fn named_step(&mut self, gap: Gap) -> Result<Range<usize>, Fault> {
        let from = self.at;
        let name = self.text(0);
        let mut gap = match self.take_if("::", gap) {
            Some(_) => Gap::NONE,
            None => gap,
        };
        loop {
            self.word(gap, "a step: a node, `end`, `wait(5s)` or a fork `[a, b]`")?;
            gap = Gap::NONE;
            if self.take_if("::", gap).is_none() {
                break;
            }
        }
        if self.text(0) == "(" {
            match name {
                "end" | "wait" => self.group_of_one()?,
                _ => return self.fault("expected `>>` or `;`: a node is wired by its name alone"),
            }
        }
        Ok(from..self.at)
    }

    /// `[a >> b, c]`
    fn fork(&mut self, gap: Gap) -> Result<List, Fault> {
        self.list(gap, Gap::NONE, |cursor, gap| cursor.chain(gap, &mut None))
    }
}
