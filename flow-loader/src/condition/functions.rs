//! The functions of conditions that the interpreter does not have.

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

/// The cost of reading a pattern that is not a literal.
const READS_PATTERN: u64 = 5_000 * STEP;

/// The compiled sizes of patterns in bytes, and the cost of searching a byte with a pattern of this
/// size.
const SIZES: [(usize, u64); 5] = [
    (4 << 10, 1),
    (16 << 10, 4),
    (64 << 10, 16),
    (256 << 10, 64),
    (2 << 20, 512),
];

/// The stack in bytes for reading a pattern without optimizations, nested up to 250 levels.
const PATTERN_STACK: usize = 1 << 20;

/// The number of these sizes that are allowed for a pattern that is not a literal: it is read again
/// each time.
const SMALL_SIZES: usize = 3;

/// The standard functions.
pub(super) static STANDARD: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib()));

/// The functions and macros to suggest for an unknown one.
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

/// The names of the same functions in other languages.
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

/// A compiled pattern.
pub(super) struct Pattern {
    regex: Regex,
    /// The maximum compiled size in bytes.
    size: usize,
    /// The cost of searching a byte.
    cost: u64,
}

/// The patterns that are literals in a condition.
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

/// Refuses calls of unknown functions.
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
    // A function of the interpreter cannot be added again.
    context.add_function(name, || true).is_err()
}

/// Reads the patterns that are literals in an expression. Subtracts their compiled sizes from the
/// bytes that are left.
///
/// # Errors
///
/// One of them is not a pattern, or too few bytes are left for it.
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

/// Adds the functions that the interpreter does not have.
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
