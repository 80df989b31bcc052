//! Registered nodes: their descriptions and the functions that run them, for generated code.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc;

use flow_runtime::Policy;
use flow_runtime::engine::{ExternalType, Failed, Visit};
use flow_spec::document::SettingsDocument;
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::args::{Args, Lent, Writer};
use crate::bounds::Nothing;
use crate::cell::AnyValue;
use crate::outcome::Outcome;
use crate::params::{Param, ParamError};
use crate::ports::Mode;
use crate::value::{Probe, SchemaFunction, ValueType};

/// A registered node.
pub struct Adapter {
    /// The name in documents, such as `review` or `Ask<Gpt>`.
    pub name: &'static str,
    /// The full path.
    pub path: &'static str,
    /// The values that it reads.
    pub reads: Vec<ReadType>,
    /// The values that it writes: first those of every action, then those of each action.
    pub writes: Vec<WriteType>,
    /// The actions that it can take; `default` if it declares none.
    pub actions: Vec<ActionType>,
    /// True if it can fail.
    pub fallible: bool,
    /// True if it fails when no answer arrives in time.
    pub times_out: bool,
    /// True if a missing answer is its only way to fail.
    pub only_times_out: bool,
    /// True if it makes its attempts itself and therefore follows a policy.
    pub takes_policy: bool,
    /// True if an attempt never awaits, so that no timeout can end it.
    pub never_awaits: bool,
    /// The name of its own function that decides about attempts.
    pub retry_if: Option<&'static str>,
    /// Its own policy.
    pub policy: &'static Policy,
    /// The type of its outcome.
    pub outcome: &'static ValueType,
    /// The action in an outcome.
    pub action: fn(&dyn Any) -> &'static str,
    /// True if a loop over it has no results.
    pub returns_nothing: bool,
    /// The source of its value.
    pub make: Make,
    /// The JSON Schema of its settings, if it is known.
    pub schema: Option<SchemaFunction>,
    /// The way it is run.
    pub runs: Runs,
    /// Writes the parts of an outcome.
    pub take_apart: TakeApart,
    /// The description by its author.
    pub about: About,
}

/// The description of a node by its author.
#[derive(Debug, Default)]
pub struct About {
    /// The kind of entry.
    pub kind: NodeKind,
    /// Its doc comment.
    pub description: Option<&'static str>,
    /// Its name for people.
    pub title: Option<&'static str>,
    /// Its icon.
    pub icon: Option<&'static str>,
    /// The group of nodes to which it belongs.
    pub group: Option<&'static str>,
    /// Search terms for it.
    pub tags: &'static [&'static str],
    /// Its settings, as the JSON of a document; `""` if it has none.
    pub settings: &'static str,
    /// The question that it asks people.
    pub prompt: Option<&'static str>,
}

impl About {
    /// Its settings.
    pub(crate) fn settings(&self) -> SettingsDocument {
        if self.settings.is_empty() {
            return SettingsDocument::default();
        }
        serde_json::from_str(self.settings).unwrap_or_else(|error| {
            unreachable!("`#[node]` wrote settings that cannot be read: {error}")
        })
    }
}

/// The kind of an entry of a registry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum NodeKind {
    /// A function.
    #[default]
    Function,
    /// A type. A document can make values of it with different `params`.
    Type,
    /// A type that people are asked for: a node `flow.human` that `expects` it.
    Human,
    /// A signal: a node `flow.signal` that `expects` it.
    Signal,
    /// A flow.
    Flow,
}

impl fmt::Debug for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Adapter")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// A value that a node reads.
pub struct ReadType {
    /// The name of the parameter.
    pub name: &'static str,
    /// The way it is passed.
    pub mode: Mode,
    /// The type as written, without the reference and the `Option`.
    pub rust_type: &'static str,
    /// Its doc comment.
    pub description: Option<&'static str>,
    /// The type in the flow. `None` if any type that can be shown is accepted.
    pub ty: Option<&'static ValueType>,
    /// Returns `true` if it can be read from a value of this type.
    pub accepts: fn(TypeId) -> bool,
}

/// A value that a node writes.
pub struct WriteType {
    /// The name of the value.
    pub name: &'static str,
    /// The type as written.
    pub rust_type: &'static str,
    /// The type.
    pub ty: &'static ValueType,
    /// True if it is added to the key's value.
    pub adds: bool,
}

/// An action of a node.
pub struct ActionType {
    /// The name by which edges route it.
    pub name: &'static str,
    /// The indexes of the values that are written with it.
    pub writes: Vec<usize>,
}

/// A value of a type with settings.
pub(crate) type Receiver = Arc<dyn Any + Send + Sync>;

/// The value of a node, if it has one.
pub type Borrowed<'a> = Option<&'a (dyn Any + Send + Sync)>;

/// The source of a node's value.
pub enum Make {
    /// No value: a function, or a type that people are asked for.
    Nothing,
    /// A value given at registration.
    Given(Receiver),
    /// Made from the `params` of the document.
    FromParams(fn(Param) -> Result<Receiver, ParamError>),
    /// The default; a document has no `params` for it.
    Default(fn() -> Receiver),
}

/// The arguments of a node.
//
// A call stays where it is made, and the work refers to it. Moving it would cost as much as the
// rest of a step: what was written in words is then read in pairs of them.
pub struct Call<'a> {
    /// Its value, if it has one.
    pub receiver: Borrowed<'a>,
    /// The visit.
    pub visit: Visit<'a>,
    /// The values that it reads, and the place for what it returns.
    pub args: Args<'a>,
}

/// Takes the outcome out of an `Option`, writes its parts, and returns the index of its action.
pub type TakeApart = fn(&mut dyn Any, &mut Writer<'_>) -> usize;

/// The work of a visit.
pub type Work<'a> = BoxFuture<'a, Result<Outcome, Failed>>;

/// Makes the work of a visit. Only takes the values; everything else runs when the work is polled.
pub type StepFunction = for<'a> fn(&'a mut Call<'a>) -> Work<'a>;

/// Reads a value that comes from outside.
pub type ExternalFunction = fn(Value) -> Result<AnyValue, serde_json::Error>;

/// The way a node is run.
pub enum Runs {
    /// As a step.
    Step(StepFunction),
    /// By asking a person.
    Human {
        /// The question, with the values filled in.
        prompt: fn(Lent<'_>) -> String,
        /// The type of the answer.
        question: ExternalType,
        /// The answer as a value.
        read: ExternalFunction,
    },
    /// By waiting for a signal.
    Signal {
        /// The type of the signal.
        signal: ExternalType,
        /// The parts of the signal as a value.
        read: ExternalFunction,
    },
}

/// The value of a node.
pub fn receiver<T: 'static>(receiver: Option<&(dyn Any + Send + Sync)>) -> &T {
    match receiver.and_then(|value| value.downcast_ref()) {
        Some(value) => value,
        None => unreachable!("loading makes a value for each node of a type with settings"),
    }
}

/// Stands in for the arguments of code that never runs.
pub fn nothing<T>() -> T {
    unreachable!("only code that never runs calls this")
}

/// Chooses how the value of a type with settings is made.
pub mod makes {
    use super::{Arc, DeserializeOwned, Make, Nothing, Probe};

    /// Made from `params`.
    pub trait FromParams {
        /// Returns the source of the value.
        fn __make(&self) -> Make;
    }

    impl<T: DeserializeOwned + Send + Sync + 'static> FromParams for &&Probe<T> {
        fn __make(&self) -> Make {
            Make::FromParams(|params| Ok(Arc::new(T::deserialize(params)?)))
        }
    }

    /// Made with `Default`.
    pub trait FromDefault {
        /// Returns the source of the value.
        fn __make(&self) -> Make;
    }

    impl<T: Default + Send + Sync + 'static> FromDefault for &Probe<T> {
        fn __make(&self) -> Make {
            Make::Default(|| Arc::new(T::default()))
        }
    }

    /// Cannot be made, which is a compile error.
    pub trait FromNothing {
        /// Returns [`Nothing`].
        fn __make(&self) -> Nothing;
    }

    impl<T> FromNothing for Probe<T> {
        fn __make(&self) -> Nothing {
            Nothing
        }
    }
}
