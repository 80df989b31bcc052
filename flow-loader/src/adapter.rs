//! Registered nodes: what generated code says about them, and how it calls them.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc;

use flow_runtime::Policy;
use flow_runtime::engine::{Failed, QuestionType, Visit};
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
    /// Its name in documents, such as `review` or `Ask<Gpt>`.
    pub name: &'static str,
    /// Its full path.
    pub path: &'static str,
    /// What it reads.
    pub reads: Vec<ReadType>,
    /// What it writes whatever its action, and then what it writes with each action.
    pub writes: Vec<WriteType>,
    /// The actions that it can take: `default` if it declares none.
    pub actions: Vec<ActionType>,
    /// True if it can fail.
    pub fallible: bool,
    /// True if it fails when there is no answer in time.
    pub times_out: bool,
    /// True if that is the only way in which it fails.
    pub only_times_out: bool,
    /// True if it makes its attempts itself, and so follows a policy.
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
    /// Where its value comes from.
    pub make: Make,
    /// The JSON Schema of its settings, if it has some and they have one.
    pub schema: Option<SchemaFunction>,
    /// How it is run.
    pub runs: Runs,
    /// Writes what an outcome consists of.
    pub take_apart: TakeApart,
    /// What its author says about it.
    pub about: About,
}

/// What the author of a node says about it.
#[derive(Debug, Default)]
pub struct About {
    /// What it is.
    pub kind: NodeKind,
    /// Its doc comment.
    pub description: Option<&'static str>,
    /// Its name for people.
    pub title: Option<&'static str>,
    /// Its icon.
    pub icon: Option<&'static str>,
    /// The group of nodes to which it belongs.
    pub group: Option<&'static str>,
    /// Words by which people find it.
    pub tags: &'static [&'static str],
    /// Its settings, as the JSON of a document. `""` if it has none.
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

/// What an entry of a registry is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum NodeKind {
    /// A function.
    #[default]
    Function,
    /// A type, of which a document can make values with different `params`.
    Type,
    /// A type that people are asked for: a node `flow.human` that `expects` it.
    Human,
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
    /// How it is passed.
    pub mode: Mode,
    /// The type as written, without the reference and the `Option`.
    pub rust_type: &'static str,
    /// Its doc comment.
    pub description: Option<&'static str>,
    /// The type that the flow has. `None` if it is any type that can be shown.
    pub ty: Option<&'static ValueType>,
    /// Whether it can be read from a value of this type.
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
}

/// An action of a node.
pub struct ActionType {
    /// The name by which edges route it.
    pub name: &'static str,
    /// The numbers of the values that are written with it.
    pub writes: Vec<usize>,
}

/// A value of a type with settings.
pub(crate) type Receiver = Arc<dyn Any + Send + Sync>;

/// The value of a node, if it has one.
pub type Borrowed<'a> = Option<&'a (dyn Any + Send + Sync)>;

/// Where the value of a node comes from.
pub enum Make {
    /// It has none: a function, or a type that people are asked for.
    Nothing,
    /// It was given where the node was registered.
    Given(Receiver),
    /// It is made from the `params` of the document.
    FromParams(fn(Param) -> Result<Receiver, ParamError>),
    /// It is the default, and a document has no `params` for it.
    Default(fn() -> Receiver),
}

/// What a node is called with.
//
// It stays where it is made, and the work has a reference to it: moving it costs as much as the rest
// of a step, since what was written in words is then read in pairs of them.
pub struct Call<'a> {
    /// Its value, if it has one.
    pub receiver: Borrowed<'a>,
    /// The visit.
    pub visit: Visit<'a>,
    /// What it reads, and where what it returns goes.
    pub args: Args<'a>,
}

/// Takes the outcome out of an `Option`, writes what it consists of, and returns the number of its
/// action.
pub type TakeApart = fn(&mut dyn Any, &mut Writer<'_>) -> usize;

/// The work of a visit.
pub type Work<'a> = BoxFuture<'a, Result<Outcome, Failed>>;

/// Makes the work of a visit. It takes the values, and nothing more before the work is polled.
pub type StepFunction = for<'a> fn(&'a mut Call<'a>) -> Work<'a>;

/// Reads the answer to a question.
pub type AnswerFunction = fn(Value) -> Result<AnyValue, serde_json::Error>;

/// How a node is run.
pub enum Runs {
    /// As a step.
    Step(StepFunction),
    /// By asking a person.
    Human {
        /// The question, with the values filled in.
        prompt: fn(Lent<'_>) -> String,
        /// The type of the answer.
        question: QuestionType,
        /// The answer as a value.
        read: AnswerFunction,
    },
}

/// The value of a node.
pub fn receiver<T: 'static>(receiver: Option<&(dyn Any + Send + Sync)>) -> &T {
    match receiver.and_then(|value| value.downcast_ref()) {
        Some(value) => value,
        None => unreachable!("loading makes a value for each node of a type with settings"),
    }
}

/// Stands in for what code that never runs is given.
pub fn nothing<T>() -> T {
    unreachable!("only code that never runs calls this")
}

/// Chooses how the value of a type with settings is made.
pub mod makes {
    use super::{Arc, DeserializeOwned, Make, Nothing, Probe};

    /// From `params`.
    pub trait FromParams {
        /// How.
        fn __make(&self) -> Make;
    }

    impl<T: DeserializeOwned + Send + Sync + 'static> FromParams for &&Probe<T> {
        fn __make(&self) -> Make {
            Make::FromParams(|params| Ok(Arc::new(T::deserialize(params)?)))
        }
    }

    /// Its default.
    pub trait FromDefault {
        /// How.
        fn __make(&self) -> Make;
    }

    impl<T: Default + Send + Sync + 'static> FromDefault for &Probe<T> {
        fn __make(&self) -> Make {
            Make::Default(|| Arc::new(T::default()))
        }
    }

    /// Not at all, which does not compile.
    pub trait FromNothing {
        /// Nothing.
        fn __make(&self) -> Nothing;
    }

    impl<T> FromNothing for Probe<T> {
        fn __make(&self) -> Nothing {
            Nothing
        }
    }
}
