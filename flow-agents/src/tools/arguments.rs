//! The arguments of a call, from JSON to the node.

use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::tool::ToolError;

/// An argument type of a tool. It is read from JSON, and its JSON Schema tells the model how to
/// write it. Implemented by all types with both.
#[diagnostic::on_unimplemented(
    message = "a model cannot give `{Self}` as an argument",
    label = "a tool that reads a `{Self}`",
    note = "for a type of your own, write `#[derive(serde::Deserialize, schemars::JsonSchema)]`",
    note = "what the program has, such as a client, belongs in a field of the tool: `tools![Search = …]`"
)]
pub trait ToolArgument: DeserializeOwned + JsonSchema + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> ToolArgument for T {}

/// A type that a node reads by reference: `T`, `str`, `[T]` or `Path`.
pub trait Readable: 'static {
    /// The type of the argument.
    type Stored: Send + Sync + 'static;
    /// The argument as that type.
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

/// The type with which a node reads an argument, inferred by rustc from a call of the node.
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
    /// Passes an argument by reference.
    pub fn lend(self, stored: &R::Stored) -> &R {
        R::view(stored)
    }

    /// Passes an optional argument by reference.
    pub fn maybe_lend(self, stored: &Option<R::Stored>) -> Option<&R> {
        stored.as_ref().map(|stored| R::view(stored))
    }

    /// Ties the key of an input of a flow to its value.
    pub fn is_of(self, _: &R) {}
}

impl<T: Send + Sync + 'static> Key<T> {
    /// Passes an argument by value.
    pub fn give(self, value: T) -> T {
        value
    }

    /// Passes an optional argument by value.
    pub fn maybe_give(self, value: Option<T>) -> Option<T> {
        value
    }
}

/// The description of an argument with this name for a model.
//
// This is a function, like those that read an argument: for a method, rustc would show the whole
// path beside an error.
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

/// The description of an argument for a model.
pub struct Parameter {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) required: bool,
    pub(super) schema: fn(&mut SchemaGenerator) -> Schema,
}

/// Takes a required argument. `None` if it is missing or wrong.
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

/// Takes an argument that may be missing or `null`. The outer `Option` is `None` if it is wrong.
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

/// The arguments of a call, and their mistakes.
pub struct Arguments {
    left: Map<String, Value>,
    known: Vec<&'static str>,
    wrong: Vec<String>,
    /// True if the call ends once the arguments have been read.
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

    /// The arguments of a call that is only checked: it ends as [refused](Arguments::refused),
    /// without mistakes if they fit.
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

    /// Returns true if there are no mistakes and the node is to be called. It has to be called
    /// after all arguments have been read, since all others are unknown.
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

    /// The error with the mistakes.
    pub fn refused(self) -> ToolError {
        ToolError::Arguments { wrong: self.wrong }
    }
}
