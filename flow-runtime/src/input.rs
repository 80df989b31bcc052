//! Mistakes in an input that comes as JSON: all of them, each with its place.

use std::error::Error;
use std::fmt;

use serde::Serialize;
use serde::de::Deserialize;
use serde_json::Value;
use serde_path_to_error::Segment;

use flow_spec::did_you_mean;

use crate::json::{Keep, Saved, Unstorable};

/// The error of an input that does not fit its flow. Serialized, it is the list of its violations.
///
/// # Examples
///
/// ```
/// use flow_runtime::engine::{AnyFlow, Direct, RunError, Saved, run_any};
/// use flow_runtime::prelude::*;
/// use serde_json::json;
///
/// #[node]
/// fn total(prices: &[u32]) -> u32 {
///     prices.iter().sum()
/// }
///
/// flow! {
///     Bill(prices: Vec<u32>, customer: String) -> (total: u32, customer: String) {
///         start >> total >> end;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let input = Saved::from_json(json!({ "prices": [3, "x"], "custmer": "Ann" })).unwrap();
/// let Err(RunError::Input(error)) = run_any(&Bill::new(), &Direct::new(), input).await else {
///     panic!("the input does not fit")
/// };
/// assert_eq!(
///     json!(error),
///     json!([
///         {
///             "code": "input.wrong_type",
///             "path": "prices[1]",
///             "pointer": "/prices/1",
///             "message": "invalid type: string \"x\", expected u32",
///         },
///         {
///             "code": "input.missing",
///             "path": "customer",
///             "pointer": "/customer",
///             "message": "it is missing",
///         },
///         {
///             "code": "input.unexpected",
///             "path": "custmer",
///             "pointer": "/custmer",
///             "message": "the flow has no such input: did you mean `customer`?",
///         },
///     ]),
/// );
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct InputError {
    violations: Vec<Violation>,
}

/// One mistake in an input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    #[serde(skip)]
    key: String,
    code: InputCode,
    path: String,
    pointer: String,
    message: String,
}

/// The kind of a violation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub enum InputCode {
    /// The input is not a JSON object.
    #[serde(rename = "input.not_an_object")]
    NotAnObject,
    /// A value without a default is missing.
    #[serde(rename = "input.missing")]
    Missing,
    /// The flow has no input of this name.
    #[serde(rename = "input.unexpected")]
    Unexpected,
    /// A value, or a part of it, is not of its type.
    #[serde(rename = "input.wrong_type")]
    WrongType,
    /// A value, or a part of it, is outside the range in the schema of the input.
    #[serde(rename = "input.out_of_range")]
    OutOfRange,
}

impl InputCode {
    /// The code as text, such as `input.missing`.
    pub fn as_str(self) -> &'static str {
        match self {
            InputCode::NotAnObject => "input.not_an_object",
            InputCode::Missing => "input.missing",
            InputCode::Unexpected => "input.unexpected",
            InputCode::WrongType => "input.wrong_type",
            InputCode::OutOfRange => "input.out_of_range",
        }
    }
}

impl fmt::Display for InputCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl InputError {
    /// The error with these violations. `None` if the list is empty.
    pub fn new(violations: Vec<Violation>) -> Option<Self> {
        (!violations.is_empty()).then_some(InputError { violations })
    }

    /// The error of an input that is not a JSON object.
    pub fn not_an_object() -> Self {
        let message = "it is not a JSON object".to_owned();
        InputError {
            violations: vec![Violation {
                key: String::new(),
                code: InputCode::NotAnObject,
                path: String::new(),
                pointer: String::new(),
                message,
            }],
        }
    }

    /// This error with the violations of another one.
    pub(crate) fn and(mut self, other: InputError) -> Self {
        self.violations.extend(other.violations);
        self
    }

    /// The violations in the order of the flow's inputs, unexpected values last. At least one.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }
}

/// Prints `input`, its path and its message for each violation.
impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, violation) in self.violations.iter().enumerate() {
            let separator = if number == 0 { "" } else { "; " };
            write!(f, "{separator}{violation}")?;
        }
        Ok(())
    }
}

impl Error for InputError {}

impl Violation {
    /// A missing value.
    pub fn missing(key: &str) -> Self {
        Violation::of_key(InputCode::Missing, key, "it is missing".to_owned())
    }

    /// A value that is not among these inputs of the flow.
    pub fn unexpected(key: &str, inputs: &[&str]) -> Self {
        let message = match did_you_mean(key, inputs.iter().copied()) {
            Some(help) => format!("the flow has no such input: {help}"),
            None => "the flow has no inputs".to_owned(),
        };
        Violation::of_key(InputCode::Unexpected, key, message)
    }

    /// A value of another type.
    pub fn wrong_type(key: &str, unfit: Unfit) -> Self {
        let mut violation = Violation::of_key(InputCode::WrongType, key, unfit.message);
        for part in unfit.path.iter().flatten() {
            violation.enter(part);
        }
        violation
    }

    /// A value, or the part of it at a JSON pointer, outside the range of its schema.
    pub fn out_of_range(key: &str, pointer: &str, message: String) -> Self {
        let mut violation = Violation::of_key(InputCode::OutOfRange, key, message);
        for name in pointer.split('/').skip(1) {
            let part = match name.parse::<usize>() {
                Ok(index) => format!("[{index}]"),
                Err(_) => format!(".{}", name.replace("~1", "/").replace("~0", "~")),
            };
            violation.path.push_str(&part);
        }
        violation.pointer.push_str(pointer);
        violation
    }

    fn of_key(code: InputCode, key: &str, message: String) -> Self {
        Violation {
            key: key.to_owned(),
            code,
            path: key.to_owned(),
            pointer: format!("/{}", escaped(key)),
            message,
        }
    }

    fn enter(&mut self, part: &Segment) {
        match part {
            Segment::Seq { index } => {
                self.path.push_str(&format!("[{index}]"));
                self.pointer.push_str(&format!("/{index}"));
            }
            Segment::Map { key: name } | Segment::Enum { variant: name } => {
                self.path.push_str(&format!(".{name}"));
                self.pointer.push_str(&format!("/{}", escaped(name)));
            }
            Segment::Unknown => {}
        }
    }

    /// The kind of the violation.
    pub fn code(&self) -> InputCode {
        self.code
    }

    /// The name of the input. Empty for the input as a whole.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The place in readable form: `order.lines[1].price`. Empty for the input as a whole.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The place as a JSON pointer: `/order/lines/1/price`.
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// The mistake, in words.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.path {
            "" => write!(f, "input: {}", self.message),
            path => write!(f, "input `{path}`: {}", self.message),
        }
    }
}

/// Escapes a part of a JSON pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The reason why a value is not of its type, and the part at fault.
#[derive(Debug)]
pub struct Unfit {
    /// `None` for the value as a whole.
    path: Option<serde_path_to_error::Path>,
    message: String,
}

impl Unfit {
    /// The error for a value whose type, which has this name, cannot be read from JSON.
    pub fn not_json(rust_type: &str) -> Self {
        Unfit {
            path: None,
            message: format!("`{rust_type}` is not `Serialize` and `Deserialize`"),
        }
    }
}

/// Reads an input from this JSON.
///
/// # Errors
///
/// The JSON is not a value of the type.
pub fn read_input<'de, T: Deserialize<'de>>(value: Value) -> Result<T, Unfit> {
    serde_path_to_error::deserialize(value).map_err(|error| Unfit {
        path: Some(error.path().clone()),
        message: error.inner().to_string(),
    })
}

/// The reason why an input is not stored.
#[derive(Debug)]
pub enum RefusedInput {
    /// The input does not fit the flow.
    Input(InputError),
    /// A value of the input, or of the flow, cannot be stored as JSON.
    Unstorable(Unstorable),
}

impl fmt::Display for RefusedInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RefusedInput::Input(error) => error.fmt(f),
            RefusedInput::Unstorable(unstorable) => unstorable.fmt(f),
        }
    }
}

impl Error for RefusedInput {}

impl From<InputError> for RefusedInput {
    fn from(error: InputError) -> Self {
        RefusedInput::Input(error)
    }
}

impl From<Unstorable> for RefusedInput {
    fn from(unstorable: Unstorable) -> Self {
        RefusedInput::Unstorable(unstorable)
    }
}

impl RefusedInput {
    /// The refusal of an input that was written as JSON and cannot be read back. For example, a
    /// number too large for its `f32` is infinite, which JSON cannot express.
    pub fn not_read_back(error: InputError) -> Self {
        RefusedInput::Unstorable(RefusedInput::Input(error).into_unstorable())
    }

    /// Returns the first mistake in an input that a program wrote as JSON.
    pub fn into_unstorable(self) -> Unstorable {
        match self {
            RefusedInput::Unstorable(unstorable) => unstorable,
            RefusedInput::Input(error) => match error.violations.into_iter().next() {
                Some(Violation { path, message, .. }) => Unstorable {
                    key: path,
                    reason: message,
                },
                None => unreachable!("an error has at least one violation"),
            },
        }
    }
}

/// The violations for values that are not among these inputs of a flow.
pub(crate) fn unexpected(input: &Saved, inputs: &[&str]) -> Vec<Violation> {
    let keys = input.0.keys().filter(|key| !inputs.contains(&key.as_str()));
    keys.map(|key| Violation::unexpected(key, inputs)).collect()
}

/// Reads the inputs of a flow one after the other, and collects the mistakes.
#[doc(hidden)]
#[derive(Debug)]
pub struct InputReader {
    saved: Saved,
    violations: Vec<Violation>,
    /// The number of inputs read.
    read: usize,
    /// The number of inputs still to be skipped, since they have been read before.
    skipped: usize,
}

impl InputReader {
    #[doc(hidden)]
    pub fn new(saved: Saved) -> Self {
        InputReader {
            saved,
            violations: Vec::new(),
            read: 0,
            skipped: 0,
        }
    }

    /// Reads a required value.
    #[doc(hidden)]
    pub fn required<K: Keep<T>, T>(&mut self, key: &str) -> Option<T> {
        self.read += 1;
        let value = self.saved.0.remove(key);
        match value.map(K::give_input) {
            Some(Ok(value)) => return Some(value),
            Some(Err(unfit)) => self.violations.push(Violation::wrong_type(key, unfit)),
            None => self.violations.push(Violation::missing(key)),
        }
        None
    }

    /// Reads an optional value. `null` counts as missing if it is not a value of the type.
    #[doc(hidden)]
    pub fn optional<K: Keep<T>, T>(&mut self, key: &str) -> Option<Option<T>> {
        self.read += 1;
        let Some(value) = self.saved.0.remove(key) else {
            return Some(None);
        };
        let is_null = value.is_null();
        match K::give_input(value) {
            Ok(value) => Some(Some(value)),
            Err(_) if is_null => Some(None),
            Err(unfit) => {
                self.violations.push(Violation::wrong_type(key, unfit));
                None
            }
        }
    }

    /// Begins from the first input again, to check those after the one that was read last.
    #[doc(hidden)]
    pub fn again(&mut self) {
        self.skipped = self.read;
    }

    /// Checks a required value, unless it has been read.
    #[doc(hidden)]
    pub fn check_required<K: Keep<T>, T>(&mut self, key: &str) {
        match self.skipped.checked_sub(1) {
            Some(skipped) => self.skipped = skipped,
            None => drop(self.required::<K, T>(key)),
        }
    }

    /// Checks an optional value, unless it has been read.
    #[doc(hidden)]
    pub fn check_optional<K: Keep<T>, T>(&mut self, key: &str) {
        match self.skipped.checked_sub(1) {
            Some(skipped) => self.skipped = skipped,
            None => drop(self.optional::<K, T>(key)),
        }
    }

    /// The error with all mistakes.
    #[doc(hidden)]
    pub fn error(self) -> InputError {
        InputError {
            violations: self.violations,
        }
    }
}
