//! Flows of any type, behind one trait object.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;

use crate::engine::{
    Drive, Failed, Hooks, Json, QuestionType, Saved, Scope, StoredFlow, Unstorable,
};
use crate::flow::Flow;

/// A flow of any type that an engine `E` can drive, with JSON as its inputs and outputs.
/// Registries, runtimes and servers hold it as `dyn AnyFlow<E>`.
///
/// Every flow whose values are `Serialize` and `Deserialize` implements it. A flow that is known
/// only at run time, such as one read from a file, can implement it as well.
///
/// # Examples
///
/// ```
/// use flow_runtime::engine::{AnyFlow, Direct, Saved};
/// use flow_runtime::prelude::*;
/// use serde_json::json;
///
/// #[node]
/// fn greet(name: &str) -> String {
///     format!("Hello, {name}!")
/// }
///
/// flow! {
///     Greeting(name: String) -> (greet: String) {
///         start >> greet >> end;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let flows: Vec<Box<dyn AnyFlow<Direct>>> = vec![Box::new(Greeting::new())];
/// for flow in &flows {
///     let input = Saved::from_json(json!({ "name": "Ann" })).unwrap();
///     let output = flow.run(&Direct::new(), input).await.unwrap();
///     assert_eq!(output.into_json(), json!({ "greet": "Hello, Ann!", "end": "default" }));
/// }
/// # }
/// ```
pub trait AnyFlow<E>: Send + Sync {
    /// The flow's name, as written.
    fn name(&self) -> &str;

    /// The first segments of the paths of its nodes.
    fn namespace(&self) -> &str;

    /// Its structure as JSON: see [`Flow::SPEC`].
    fn structure(&self) -> &str;

    /// The question at a path, such as `orders.approval`. `None` if nothing is asked there.
    fn question(&self, path: &str) -> Option<QuestionType>;

    /// The input as it is stored: what [`run`](AnyFlow::run) makes of it, written again.
    ///
    /// # Errors
    ///
    /// A value of the input is missing, has another type, or cannot be written as JSON and read
    /// back; or the flow has values that cannot.
    fn stored_input(&self, input: Saved) -> Result<Saved, Unstorable>;

    /// Runs it to an end. The output contains the values by key, and the label of the end as `end`.
    ///
    /// # Errors
    ///
    /// The run did not reach an end, or a value of the input or the output does not fit.
    ///
    /// # Panics
    ///
    /// A node panics.
    fn run<'a>(
        &'a self,
        engine: &'a E,
        input: Saved,
    ) -> Pin<Box<dyn Future<Output = Result<Saved, RunError>> + Send + 'a>>;
}

/// Why a run of an [`AnyFlow`] has no output.
#[derive(Debug)]
pub enum RunError {
    /// The run did not reach an end.
    Failed(Failed),
    /// A value of the input is missing, or has another type.
    Input(Unstorable),
    /// A value of the output cannot be turned into JSON.
    Output(Unstorable),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Failed(failed) => failed.fmt(f),
            RunError::Input(unstorable) => write!(f, "input {unstorable}"),
            RunError::Output(unstorable) => write!(f, "output {unstorable}"),
        }
    }
}

impl Error for RunError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            RunError::Failed(failed) => failed.source(),
            // Their message is all there is.
            RunError::Input(_) | RunError::Output(_) => None,
        }
    }
}

impl<E, F> AnyFlow<E> for F
where
    E: Hooks,
    F: Flow + StoredFlow<Json> + Drive<E>,
{
    fn name(&self) -> &str {
        F::NAME
    }

    fn namespace(&self) -> &str {
        F::NAMESPACE
    }

    fn structure(&self) -> &str {
        F::SPEC
    }

    fn question(&self, path: &str) -> Option<QuestionType> {
        let within = path.strip_prefix(F::NAMESPACE)?.strip_prefix('.')?;
        <F as StoredFlow<Json>>::question(within)
    }

    fn stored_input(&self, input: Saved) -> Result<Saved, Unstorable> {
        let stored = F::save_input(&F::load_input(input)?)?;
        // A number too large for its `f32` is infinite, which JSON does not have.
        F::load_input(stored.clone())?;
        Ok(stored)
    }

    fn run<'a>(
        &'a self,
        engine: &'a E,
        input: Saved,
    ) -> Pin<Box<dyn Future<Output = Result<Saved, RunError>> + Send + 'a>> {
        Box::pin(async move {
            let input = F::load_input(input).map_err(RunError::Input)?;
            let scope = Scope::root(engine.run(), F::INFO);
            let output = self.drive(engine, &scope, input).await;
            F::save_output(&output.map_err(RunError::Failed)?).map_err(RunError::Output)
        })
    }
}
