//! The functions of conditions that are not those of the interpreter.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use cel::common::ast::{Expr, IdedExpr, LiteralValue};
use cel::common::types::{CelBool, CelString, CelUInt};
use cel::common::value::{CowVal, Val};
use cel::{Context, Env, ExecutionError, FunctionContext};
use flow_spec::closest;
use regex::{Regex, RegexBuilder};

use super::budget::{Budget, STEP};
use super::metered::SPEND;
use super::names::parts;
use super::{MOST_PATTERNS, Misread};
use crate::stack::with_stack;

/// The function that searches for a pattern.
const MATCHES: &str = "matches";

/// What it costs to read a pattern that the condition does not write out.
const READS_PATTERN: u64 = 5_000 * STEP;

/// The sizes in bytes of the programs of patterns, and what it costs to search a byte with one of
/// this size.
const SIZES: [(usize, u64); 5] = [
    (4 << 10, 1),
    (16 << 10, 4),
    (64 << 10, 16),
    (256 << 10, 64),
    (2 << 20, 512),
];

/// The stack in bytes that reading a pattern needs, without optimizations: it may be nested 250 levels deep.
const PATTERN_STACK: usize = 1 << 20;

/// How many of these sizes a pattern can have that the condition does not write out: it is read anew
/// each time.
const SMALL_SIZES: usize = 3;

/// The standard functions.
pub(super) static STANDARD: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib()));

/// The functions and macros that people may have meant, when they call one that there is not.
const KNOWN: [&str; 32] = [
    "all",
    "bool",
    "bytes",
    "contains",
    "double",
    "duration",
    "dyn",
    "endsWith",
    "exists",
    "exists_one",
    "filter",
    "getDate",
    "getDayOfMonth",
    "getDayOfWeek",
    "getDayOfYear",
    "getFullYear",
    "getHours",
    "getMilliseconds",
    "getMinutes",
    "getMonth",
    "getSeconds",
    "has",
    "int",
    "map",
    "matches",
    "size",
    "startsWith",
    "string",
    "timestamp",
    "type",
    "uint",
    "hasValue",
];

/// What the same functions are called in other languages.
const FOREIGN: [(&str, &str); 8] = [
    ("len", "size"),
    ("length", "size"),
    ("count", "size"),
    ("includes", "contains"),
    ("starts_with", "startsWith"),
    ("ends_with", "endsWith"),
    ("is_match", "matches"),
    ("any", "exists"),
];

/// A pattern that was read.
pub(super) struct Pattern {
    regex: Regex,
    /// The most bytes that its program has.
    size: usize,
    /// What it costs to search a byte.
    cost: u64,
}

/// The patterns that a condition writes out.
pub(super) type Patterns = HashMap<String, Pattern>;

impl Pattern {
    fn read(text: &str, sizes: &[(usize, u64)]) -> Result<Self, String> {
        with_stack(PATTERN_STACK, || Pattern::read_here(text, sizes))
    }

    fn read_here(text: &str, sizes: &[(usize, u64)]) -> Result<Self, String> {
        let mut refused = String::new();
        for &(size, cost) in sizes {
            match RegexBuilder::new(text).size_limit(size).build() {
                Ok(regex) => return Ok(Pattern { regex, size, cost }),
                Err(regex::Error::CompiledTooBig(_)) => {
                    refused = "it is too large".to_owned();
                }
                Err(error) => {
                    let said = error.to_string();
                    let last = said.lines().last().unwrap_or_default();
                    refused = last.trim_start_matches("error: ").to_owned();
                    break;
                }
            }
        }
        Err(refused)
    }
}

/// Refuses calls of functions that there are not.
pub(super) fn check(expression: &IdedExpr) -> Result<(), Misread> {
    for part in parts(expression) {
        check(part)?;
    }
    match &expression.expr {
        Expr::Call(call) => {
            let name = call.func_name.as_str();
            // Operators are functions whose names are not words.
            let is_word = name.starts_with(|first: char| first.is_alphabetic());
            let is_known = is_standard(name) || name == MATCHES;
            if !is_word || is_known {
                return Ok(());
            }
            let foreign = FOREIGN.iter().find(|(foreign, _)| *foreign == name);
            let meant = foreign.map(|(_, meant)| *meant);
            let misread = Misread::new(format!("CEL has no function `{name}`"));
            Err(match meant.or_else(|| closest(name, KNOWN)) {
                Some(meant) => misread.help(format!("did you mean `{meant}`?")),
                None => misread,
            })
        }
        // A name of the outermost scope, where all keys are.
        Expr::Ident(name) if let Some(key) = name.strip_prefix('.') => {
            let message = format!("the name of a key begins with no dot: `{name}`");
            Err(Misread::new(message).help(format!("write `{key}`")))
        }
        Expr::Struct(one) => {
            let message = format!("there is no type `{}` of objects here", one.type_name);
            Err(Misread::new(message).help("write an object without a type: `{'name': value}`"))
        }
        _ => Ok(()),
    }
}

fn is_standard(name: &str) -> bool {
    let mut context = Context::with_env(Arc::clone(&STANDARD));
    // What the interpreter has cannot be added.
    context.add_function(name, || true).is_err()
}

/// Reads the patterns that an expression writes out. Of the bytes that are left for their programs, what they take is
/// taken away.
///
/// # Errors
///
/// One of them is not a pattern, or too little is left for it.
pub(super) fn patterns(
    expression: &IdedExpr,
    read: &mut Patterns,
    left: &mut usize,
) -> Result<(), Misread> {
    for part in parts(expression) {
        patterns(part, read, left)?;
    }
    let Expr::Call(call) = &expression.expr else {
        return Ok(());
    };
    if call.func_name == MATCHES
        && let Some(Expr::Literal(LiteralValue::String(text))) =
            call.args.last().map(|last| &last.expr)
        && !read.contains_key(text.inner())
    {
        let text = text.inner();
        let pattern = Pattern::read(text, &SIZES).map_err(|refused| {
            Misread::new(format!("`{text}` is not a regular expression: {refused}"))
        })?;
        *left = left.checked_sub(pattern.size).ok_or_else(|| {
            let most = MOST_PATTERNS >> 20;
            let message =
                format!("with `{text}`, the patterns of all conditions take more than {most} MiB");
            Misread::new(message).help("make them simpler, or let a node decide")
        })?;
        read.insert(text.to_owned(), pattern);
    }
    Ok(())
}

type Function = Box<
    dyn for<'context, 'call> Fn(
            &mut FunctionContext<'context, 'call>,
        ) -> Result<CowVal<'context, 'call>, ExecutionError>
        + Send
        + Sync,
>;

/// Adds the functions that are not those of the interpreter.
pub(super) fn add(
    context: &mut Context<'_, '_>,
    budget: &Arc<Budget>,
    patterns: Vec<Arc<Patterns>>,
) {
    let own = Arc::clone(budget);
    let spends: Function = Box::new(move |call| {
        let mut args = std::mem::take(&mut call.args).into_iter();
        let (Some(value), each) = (args.next(), args.next()) else {
            return Err(ExecutionError::missing_argument_or_target());
        };
        let each = each
            .as_deref()
            .and_then(|each| each.downcast_ref::<CelUInt>());
        let each = each.map_or(0, |each| *each.inner());
        if own.spend_for(value.as_ref(), each) {
            Ok(value)
        } else {
            Err(ExecutionError::function_error(SPEND, "nothing is left"))
        }
    });
    let budget = Arc::clone(budget);
    let matches: Function = Box::new(move |call| {
        let texts: Vec<&str> = call
            .this
            .iter()
            .chain(&call.args)
            .filter_map(text)
            .collect();
        let [text, pattern] = texts[..] else {
            return Err(ExecutionError::function_error(
                MATCHES,
                "it is called with two texts",
            ));
        };
        let found = found(text, pattern, &patterns, &budget);
        let found = found.map_err(|why| ExecutionError::function_error(MATCHES, why))?;
        Ok(CowVal::owned(CelBool::from(found)))
    });
    for (name, function) in [(SPEND, spends), (MATCHES, matches)] {
        if context.add_function(name, function).is_err() {
            unreachable!("the interpreter is built without `{name}`");
        }
    }
}

fn text<'a>(value: &'a CowVal<'_, '_>) -> Option<&'a str> {
    let value: &dyn Val = value.as_ref();
    value
        .downcast_ref::<CelString<'_>>()
        .map(|text| text.inner())
}

fn found(
    text: &str,
    pattern: &str,
    known: &[Arc<Patterns>],
    budget: &Budget,
) -> Result<bool, String> {
    let read;
    let pattern = match known.iter().find_map(|known| known.get(pattern)) {
        Some(known) => known,
        None => {
            if !budget.spend(READS_PATTERN) {
                return Err("nothing is left".to_owned());
            }
            read = Pattern::read(pattern, &SIZES[..SMALL_SIZES])
                .map_err(|refused| format!("`{pattern}` is not a regular expression: {refused}"))?;
            &read
        }
    };
    let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
    if budget.spend(bytes.saturating_mul(pattern.cost)) {
        Ok(pattern.regex.is_match(text))
    } else {
        Err("nothing is left".to_owned())
    }
}
