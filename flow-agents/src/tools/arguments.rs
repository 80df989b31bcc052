//! The arguments of a call, on their way from JSON to the node.

use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::tool::ToolError;

/// A value that a model can give a tool as an argument: it is read from JSON, and its JSON Schema says to
/// the model how to write it. Implemented by all types with both.
#[diagnostic::on_unimplemented(
    message = "a model cannot give `{Self}` as an argument",
    label = "a tool that reads a `{Self}`",
    note = "for a type of your own, write `#[derive(serde::Deserialize, schemars::JsonSchema)]`",
    note = "what the program has, such as a client, belongs in a field of the tool: `tools![Search = …]`"
)]
pub trait ToolArgument: DeserializeOwned + JsonSchema + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> ToolArgument for T {}

/// A type as which a node reads a value by reference: `T`, `str`, `[T]` or `Path`.
pub trait Readable: 'static {
    /// The type of the argument.
    type Stored: Send + Sync + 'static;
    /// The argument in that form.
    fn view(stored: &Self::Stored) -> &Self;
}

impl<T: Send + Sync + 'static> Readable for T {
    type Stored = T;
    fn view(stored: &T) -> &T {
        stored
    }
}

impl Readable for str {
    type Stored = String;
    fn view(stored: &String) -> &str {
        stored
    }
}

impl<T: Send + Sync + 'static> Readable for [T] {
    type Stored = Vec<T>;
    fn view(stored: &Vec<T>) -> &[T] {
        stored
    }
}

impl Readable for Path {
    type Stored = PathBuf;
    fn view(stored: &PathBuf) -> &Path {
        stored
    }
}

/// The type as which a node reads an argument, which rustc infers from a call of the node.
pub struct Key<R: ?Sized>(PhantomData<fn(&R)>);

impl<R: ?Sized> Clone for Key<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R: ?Sized> Copy for Key<R> {}

impl<R: ?Sized> Key<R> {
    /// A key whose type is to be inferred.
    #[expect(clippy::new_without_default, reason = "only generated code makes one")]
    pub const fn new() -> Self {
        Key(PhantomData)
    }
}

impl<R: Readable + ?Sized> Key<R> {
    /// An argument that is read by reference.
    pub fn lend(self, stored: &R::Stored) -> &R {
        R::view(stored)
    }

    /// The same, if it is there.
    pub fn maybe_lend(self, stored: &Option<R::Stored>) -> Option<&R> {
        stored.as_ref().map(|stored| R::view(stored))
    }

    /// The key of an input of a flow, of which this is the value.
    pub fn is_of(self, _: &R) {}
}

impl<T: Send + Sync + 'static> Key<T> {
    /// An argument that the node takes.
    pub fn give(self, value: T) -> T {
        value
    }

    /// The same, if it is there.
    pub fn maybe_give(self, value: Option<T>) -> Option<T> {
        value
    }
}

/// What a model is told of an argument with this name, which may have to be there.
//
// A function, as those that read an argument are: of a method, rustc would show the whole path beside an
// error.
pub fn parameter<R>(
    _: Key<R>,
    name: &'static str,
    description: &'static str,
    required: bool,
) -> Parameter
where
    R: Readable<Stored: ToolArgument> + ?Sized,
{
    Parameter {
        name,
        description,
        required,
        schema: |schemas| schemas.subschema_for::<R::Stored>(),
    }
}

/// What a model is told of an argument.
pub struct Parameter {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) required: bool,
    pub(super) schema: fn(&mut SchemaGenerator) -> Schema,
}

/// An argument that has to be there. `None` if it is missing or wrong.
pub fn required_argument<R>(
    arguments: &mut Arguments,
    name: &'static str,
    _: Key<R>,
) -> Option<R::Stored>
where
    R: Readable<Stored: ToolArgument> + ?Sized,
{
    arguments.known.push(name);
    match arguments.left.remove(name) {
        Some(value) => arguments.read(name, value),
        None => {
            arguments.wrong.push(format!("`{name}` is missing"));
            None
        }
    }
}

/// An argument that may be missing, or `null`. The outer `Option` is `None` if it is wrong.
pub fn optional_argument<R>(
    arguments: &mut Arguments,
    name: &'static str,
    _: Key<R>,
) -> Option<Option<R::Stored>>
where
    R: Readable<Stored: ToolArgument> + ?Sized,
{
    arguments.known.push(name);
    match arguments.left.remove(name) {
        None | Some(Value::Null) => Some(None),
        Some(value) => arguments.read(name, value).map(Some),
    }
}

/// The arguments of a call, and what is wrong with them.
pub struct Arguments {
    left: Map<String, Value>,
    known: Vec<&'static str>,
    wrong: Vec<String>,
    /// Whether the call ends when the arguments have been read.
    only_checked: bool,
}

impl Arguments {
    pub(super) fn new(arguments: Map<String, Value>) -> Self {
        Arguments {
            left: arguments,
            known: Vec::new(),
            wrong: Vec::new(),
            only_checked: false,
        }
    }

    /// Those of a call that is not made: it is [refused](Arguments::refused), with nothing that is wrong if
    /// they fit.
    pub(super) fn only_checked(arguments: Map<String, Value>) -> Self {
        Arguments {
            only_checked: true,
            ..Arguments::new(arguments)
        }
    }

    fn read<T: DeserializeOwned>(&mut self, name: &str, value: Value) -> Option<T> {
        match serde_path_to_error::deserialize(value) {
            Ok(value) => Some(value),
            Err(error) => {
                let (place, reason) = (error.path(), error.inner());
                let wrong = match place.iter().next() {
                    Some(_) => format!("`{name}`, at `{place}`: {reason}"),
                    None => format!("`{name}`: {reason}"),
                };
                self.wrong.push(wrong);
                None
            }
        }
    }

    /// Returns true if nothing is wrong and the node is called. Called after all arguments have been read: the others are not
    /// those of the tool.
    pub fn are_right(&mut self) -> bool {
        for name in self.left.keys() {
            let known: Vec<String> = self.known.iter().map(|name| format!("`{name}`")).collect();
            let known = match &known[..] {
                [] => "it has none".to_owned(),
                known => format!("it has {}", known.join(", ")),
            };
            let wrong = format!("the tool has no argument `{name}`: {known}");
            self.wrong.push(wrong);
        }
        self.left.clear();
        self.wrong.is_empty() && !self.only_checked
    }

    /// The error that says what is wrong.
    pub fn refused(self) -> ToolError {
        ToolError::Arguments { wrong: self.wrong }
    }
}
