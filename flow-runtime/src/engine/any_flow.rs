//! Flows of any type, by one that all of them have.

use std::future::Future;
use std::pin::Pin;

use crate::engine::{
    Drive, Failed, Hooks, Json, QuestionType, Saved, Scope, StoredFlow, Unstorable,
};
use crate::flow::Flow;

/// A flow whatever its type, which an engine `E` can carry out, with JSON for its inputs and
/// outputs: what registries, runtimes and servers hold as `dyn AnyFlow<E>`.
///
/// Every flow is one whose values are `Serialize` and `Deserialize`. A flow that is known only when
/// the program runs, such as one that is read from a file, implements it as well.
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

    /// The first segments of all its paths.
    fn namespace(&self) -> &str;

    /// Its structure as JSON: see [`Flow::SPEC`].
    fn structure(&self) -> &str;

    /// What a person is asked at a path, such as `orders.approval`. `None` if nothing is asked
    /// there.
    fn question(&self, path: &str) -> Option<QuestionType>;

    /// Runs it to an end. The output has the values by key, and the label of the end as `end`.
    ///
    /// # Errors
    ///
    /// The run did not reach an end, or the input or the output is not what it should be.
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
    /// It did not reach an end.
    Failed(Failed),
    /// A value of the input is missing, or not of its type.
    Input(Unstorable),
    /// A value of the output cannot be turned into JSON.
    Output(Unstorable),
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
