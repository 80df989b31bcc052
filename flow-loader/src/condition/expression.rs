//! A parsed condition.
//!
//! A condition may come from anywhere. The parser and the interpreter recurse into each part of an
//! expression, so both get as much stack as its depth needs, and the depth is limited: see
//! `tokens`. The evaluation counts its own steps: see `budget`.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use cel::common::ast::IdedExpr;
use cel::parser::Parser;
use cel::{Context, ParseError, ParseErrors, Value as CelValue};
use serde_json::Value;

use super::budget::Budget;
use super::check::check;
use super::functions::{self, Patterns, STANDARD};
use super::metered::{cost, meter};
use super::names::{add_keys, depth, rename};
use super::tokens::{Counted, count};
use super::{Misread, Mistyped, TypedKey};
use crate::stack::with_stack;

/// The stack in bytes that the parser needs for a bracket, without optimizations.
const BRACKET: usize = 256 << 10;

/// The stack in bytes that the parser needs for an operator.
const OPERATOR: usize = 24 << 10;

/// The stack in bytes that the interpreter needs for a part of an expression.
const PART: usize = 64 << 10;

/// The longest text of an error of the interpreter, in bytes.
const LONGEST_ERROR: usize = 500;

/// The cost of an evaluation after which other tasks should run: a few milliseconds.
const LONG: u64 = 100_000;

/// A condition of a branch.
pub(crate) struct Condition {
    expression: IdedExpr,
    /// The same expression, which counts its cost.
    metered: IdedExpr,
    /// The fixed cost, in addition to what it counts itself.
    cost: u64,
    /// The depth of the expression.
    depth: usize,
    /// The keys that it names, sorted.
    names: Vec<String>,
    patterns: Arc<Patterns>,
}

impl Condition {
    /// Parses a condition. `left` is the number of bytes left for its patterns.
    ///
    /// # Errors
    ///
    /// The condition cannot be used; the error is a message.
    pub(crate) fn read(text: &str, left: &mut usize) -> Result<Self, Misread> {
        let counted = count(text)?;
        let stack = (counted.brackets + 2) * BRACKET + (counted.operators + 2) * OPERATOR;
        with_stack(stack, || read(&counted, left))
    }

    /// The keys that it names, sorted.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Reports what would fail, or never be true, for any values of these keys.
    pub(crate) fn mistyped(&self, keys: &[TypedKey<'_>]) -> Vec<Mistyped> {
        with_stack(self.depth * PART, || check(&self.expression, keys))
    }
}

/// The evaluation of the conditions of a branch, one after the other, for the same values.
pub(crate) struct Evaluation {
    context: Context<'static, 'static>,
    budget: Arc<Budget>,
}

impl Evaluation {
    pub(crate) fn new<'a>(
        conditions: impl Iterator<Item = &'a Condition>,
        values: &[(&str, Value)],
    ) -> Self {
        let budget = Arc::new(Budget::new());
        let mut context = Context::with_env(Arc::clone(&STANDARD));
        let patterns = conditions.map(|condition| &condition.patterns);
        let patterns = patterns.filter(|patterns| !patterns.is_empty());
        functions::add(&mut context, &budget, patterns.map(Arc::clone).collect());
        for (name, value) in values {
            context.add_variable_from_value(*name, cel_value(value));
        }
        Evaluation { context, budget }
    }

    /// Returns `true` if a condition holds.
    ///
    /// # Errors
    ///
    /// The condition cannot be evaluated; the error is a message.
    pub(crate) fn holds(&self, condition: &Condition) -> Result<bool, String> {
        self.budget.spend(condition.cost);
        let evaluate = || CelValue::resolve(&condition.metered, &self.context);
        let result = with_stack(condition.depth * PART, evaluate);
        if self.budget.is_spent() {
            return Err("a condition takes too long for these values".to_owned());
        }
        match result {
            Ok(CelValue::Bool(holds)) => Ok(holds),
            Ok(_) => Err("a condition is not true or false".to_owned()),
            Err(error) => {
                let mut said = error.to_string();
                said.truncate(said.floor_char_boundary(LONGEST_ERROR));
                Err(said)
            }
        }
    }

    /// Returns `true` if it has taken so long that other tasks should run.
    pub(crate) fn took_long(&self) -> bool {
        self.budget.spent() > LONG
    }
}

fn read(counted: &Counted, left: &mut usize) -> Result<Condition, Misread> {
    let mut expression = parsed(&counted.text)?;
    rename(&mut expression, &counted.names);
    functions::check(&expression)?;
    let mut patterns = Patterns::new();
    functions::patterns(&expression, &mut patterns, left)?;
    let mut names = BTreeSet::new();
    add_keys(&expression, &mut Vec::new(), &mut names);
    let names = names.into_iter().map(str::to_owned).collect();
    let mut metered = expression.clone();
    meter(&mut metered);
    Ok(Condition {
        cost: cost(&metered),
        depth: depth(&metered),
        expression,
        metered,
        names,
        patterns: Arc::new(patterns),
    })
}

fn parsed(text: &str) -> Result<IdedExpr, Misread> {
    let parse = |text: &str| Parser::new().parse(text);
    // In the conditions of `flow!`, keys are references.
    let parsed = parse(text).or_else(|error| parse(&without_references(text)).map_err(|_| error));
    parsed.map_err(|ParseErrors { errors }| {
        let said = errors.first().map(said).unwrap_or_default();
        Misread::new(format!("it is not an expression in CEL: {said}"))
    })
}

/// A parse error with its place in the condition, without the list of all expected tokens.
fn said(ParseError { msg, pos, .. }: &ParseError) -> String {
    let text = msg.strip_prefix("Syntax error: ").unwrap_or(msg);
    let text = match text.split(" expecting ").next() {
        Some(text) if text.starts_with("Incomplete") => {
            "a `?` needs two values with `:` between them"
        }
        // The rest is the parser's representation of the token.
        Some(text) => text.split(": Invalid").next().unwrap_or(text),
        None => text,
    };
    let text = text
        .replace("mismatched input", "unexpected")
        .replace("extraneous input", "unexpected")
        .replace("token recognition error at: ", "unexpected ")
        .replace("'<EOF>'", "end");
    match *pos {
        (1, column) => format!("{text}, at its column {column}"),
        (line, column) => format!("{text}, at its line {line}, column {column}"),
    }
}

/// A value with its numbers as CEL writes them. A whole number is an `int`, whatever its sign,
/// because CEL does not calculate with different kinds of numbers.
fn cel_value(value: &Value) -> CelValue {
    match value {
        Value::Null => CelValue::Null,
        Value::Bool(value) => (*value).into(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(int), _) => int.into(),
            (None, Some(unsigned)) => unsigned.into(),
            (None, None) => number.as_f64().unwrap_or(f64::NAN).into(),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => items.iter().map(cel_value).collect::<Vec<_>>().into(),
        Value::Object(fields) => {
            let fields = fields.iter();
            let fields = fields.map(|(name, value)| (name.clone(), cel_value(value)));
            fields.collect::<HashMap<_, _>>().into()
        }
    }
}

/// An expression without the operators `*` and `&` before a name.
fn without_references(text: &str) -> String {
    let mut without = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '&' && letters.peek() == Some(&'&') {
            letters.next();
            without.push_str("&&");
            continue;
        }
        let before = without.trim_end().chars().last();
        let begins = before.is_none_or(|before| "(!&|<>=,+-/%".contains(before));
        if !(begins && matches!(letter, '*' | '&')) {
            without.push(letter);
        }
    }
    without
}

#[cfg(test)]
#[path = "expression_tests.rs"]
mod tests;
