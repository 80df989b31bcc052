//! Flows of any type, behind one trait object.

use std::any::{Any, TypeId};
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;

use flow_spec::FlowDocument;
use futures_util::FutureExt as _;
use futures_util::future::{Either, select};
use serde_json::Value;

use crate::engine::undo::{Undo, finish_under_way, undo_failed};
use crate::engine::{
    Drive, ExternalType, Failed, Hooks, InputError, Json, NodePath, RefusedInput, Saved, Scope,
    StoredFlow, Unstorable,
};
use crate::flow::Flow;
use crate::input::unexpected;

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
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a flow that can be run here",
    label = "not such a flow",
    note = "write the flow itself, such as `Expense::new()`, whose values can be stored"
)]
pub trait AnyFlow<E>: Send + Sync {
    /// The flow's name, as written.
    fn name(&self) -> &str;

    /// The first segments of the paths of its nodes.
    fn namespace(&self) -> &str;

    /// Its structure as JSON: see [`Flow::SPEC`].
    fn structure(&self) -> &str;

    /// Its structure with the values of its nodes' settings that are not secret.
    /// [`Export::export`](crate::Export::export) writes the same, with the defaults of inputs and
    /// the schemas of types. `None` if the [structure](Self::structure) has all values, or if they
    /// are unknown: a compiled flow needs the feature `json`.
    ///
    /// # Panics
    ///
    /// `Serialize` of a setting panics.
    fn with_settings(&self) -> Option<FlowDocument> {
        None
    }

    /// The type of the value that the node at a path, such as `orders.approval`, gets from outside:
    /// of the answer to its question, or of its signal. `None` for all other nodes.
    fn external(&self, path: &str) -> Option<ExternalType>;

    /// Checks that the values and actions of the flow can be stored. A compiled flow always passes:
    /// otherwise it is not an `AnyFlow` of an engine that stores them.
    ///
    /// # Errors
    ///
    /// A value or an action cannot be written as JSON and read back, or the engine cannot resume a
    /// loop of the flow.
    fn check_storable(&self) -> Result<(), Unstorable> {
        Ok(())
    }

    /// The input as it is stored: read as by [`run`](AnyFlow::run), and written again.
    ///
    /// # Errors
    ///
    /// A value of the input is missing, has another type, or cannot be written as JSON and read
    /// back; or the flow has values that cannot.
    fn stored_input(&self, input: Saved) -> Result<Saved, RefusedInput>;

    /// The input that it takes as a value of Rust. `None` if it takes its input as JSON only.
    fn typed_input(&self) -> Option<TypedInput> {
        None
    }

    /// The names of its inputs. [`run_any`](crate::engine::run_any) and [`accepted_input`] refuse
    /// values under other names.
    fn inputs(&self) -> Vec<&str>;

    /// Returns true if visits of the flow, or of a flow in it, can be undone. By default, none can.
    fn undoes(&self) -> bool {
        false
    }

    /// Undoes what a run has done that was dropped or panicked, given its failure. A run that fails by
    /// itself has undone it. By default, there is nothing to undo.
    fn undo_failed<'a>(
        &'a self,
        engine: &'a E,
        failed: &'a mut Failed,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        let _ = (engine, failed);
        Box::pin(std::future::ready(()))
    }

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

/// A type of inputs in Rust, and how they become JSON. See [`AnyFlow::typed_input`].
#[derive(Debug, Clone, Copy)]
pub struct TypedInput {
    of: TypeId,
    save: fn(&dyn Any) -> Option<Result<Saved, Unstorable>>,
}

impl TypedInput {
    fn of<F: Flow + StoredFlow<Json>>() -> Self {
        TypedInput {
            of: TypeId::of::<F::Input>(),
            save: |input| Some(F::save_input(input.downcast_ref()?)),
        }
    }

    /// Returns true if both are the same type.
    pub fn is(&self, other: &TypedInput) -> bool {
        self.of == other.of
    }

    /// The input as JSON. `None` if it is of another type.
    ///
    /// # Errors
    ///
    /// A value cannot be stored.
    pub fn save(&self, input: &dyn Any) -> Option<Result<Saved, Unstorable>> {
        (self.save)(input)
    }
}

/// The error of a run of an [`AnyFlow`].
#[derive(Debug)]
pub enum RunError {
    /// The run did not reach an end.
    Failed(Failed),
    /// The input does not fit the flow.
    Input(InputError),
    /// A value of the output cannot be turned into JSON.
    Output(Unstorable),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Failed(failed) => failed.fmt(f),
            RunError::Input(error) => error.fmt(f),
            RunError::Output(unstorable) => write!(f, "output {unstorable}"),
        }
    }
}

impl Error for RunError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            RunError::Failed(failed) => failed.source(),
            // Their messages say everything.
            RunError::Input(_) | RunError::Output(_) => None,
        }
    }
}

/// Checks the input of a flow, and returns it as it is stored.
///
/// # Errors
///
/// Everything that is wrong with it: it is not an object, or values are missing, have another type,
/// or are not among the inputs of the flow. Or a value cannot be stored.
pub fn accepted_input<E>(flow: &dyn AnyFlow<E>, input: Value) -> Result<Saved, RefusedInput> {
    let Some(input) = Saved::from_json(input) else {
        return Err(InputError::not_an_object().into());
    };
    let unexpected = unexpected(&input, &flow.inputs());
    match (flow.stored_input(input), InputError::new(unexpected)) {
        (stored, None) => stored,
        (Err(RefusedInput::Input(error)), Some(unexpected)) => Err(error.and(unexpected).into()),
        (_, Some(unexpected)) => Err(unexpected.into()),
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

    #[cfg(feature = "json")]
    fn with_settings(&self) -> Option<FlowDocument> {
        Some(crate::export::with_settings(self))
    }

    fn external(&self, path: &str) -> Option<ExternalType> {
        let within = NodePath::new(path).within(F::NAMESPACE)?;
        <F as StoredFlow<Json>>::external(within.as_str())
    }

    fn stored_input(&self, input: Saved) -> Result<Saved, RefusedInput> {
        let stored = F::save_input(&F::load_input(input)?)?;
        match F::load_input(stored.clone()) {
            Ok(read) => {
                let write = || F::save_input(&read);
                stored.unchanged(&write()?, write)?;
                Ok(stored)
            }
            Err(error) => Err(RefusedInput::not_read_back(error)),
        }
    }

    fn typed_input(&self) -> Option<TypedInput> {
        Some(TypedInput::of::<F>())
    }

    fn inputs(&self) -> Vec<&str> {
        F::INPUTS.to_vec()
    }

    fn undoes(&self) -> bool {
        F::UNDOES
    }

    fn undo_failed<'a>(
        &'a self,
        engine: &'a E,
        failed: &'a mut Failed,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            if F::UNDOES {
                let scope = Scope::root(engine.run(), engine.names(None, F::INFO));
                undo_failed(self, engine, &scope, false, failed).await;
            }
        })
    }

    fn run<'a>(
        &'a self,
        engine: &'a E,
        input: Saved,
    ) -> Pin<Box<dyn Future<Output = Result<Saved, RunError>> + Send + 'a>> {
        Box::pin(async move {
            let input = F::load_input(input).map_err(RunError::Input)?;
            let scope = Scope::root(engine.run(), engine.names(None, F::INFO));
            let output = if F::UNDOES {
                let driven = self.drive(engine, &scope, input);
                until_cancelled(self, engine, &scope, driven).await
            } else {
                self.drive(engine, &scope, input).await
            };
            F::save_output(&output.map_err(RunError::Failed)?).map_err(RunError::Output)
        })
    }
}

/// Runs a flow with the work that drives it to an end, or until its engine [cancels](Hooks::cancelled)
/// it. What it has done by then is undone. `scope` is that of the flow.
pub async fn until_cancelled<F: Undo<E> + ?Sized, E: Hooks, T: Send>(
    flow: &F,
    engine: &E,
    scope: &Scope<'_>,
    work: impl Future<Output = Result<T, Failed>> + Send,
) -> Result<T, Failed> {
    let mut work = pin!(Some(work));
    let mut cancelled = pin!(engine.cancelled(scope));
    let mut failed = {
        let Some(work) = work.as_mut().as_pin_mut() else {
            unreachable!("the work has just begun")
        };
        // The work first: a step that was under way when a process died has to be finished, although
        // the run is cancelled by now.
        match select(work, cancelled.as_mut()).await {
            Either::Left((Ok(output), _)) => return Ok(output),
            Either::Left((Err(failed), _)) if engine.undoes(&failed, false) => failed,
            // It could continue later, but not if it is cancelled.
            Either::Left((Err(failed), _)) => match cancelled.now_or_never() {
                Some(cancelled) => cancelled,
                None => failed,
            },
            Either::Right((failed, work)) => {
                finish_under_way(scope.run(), scope.frame(), work).await;
                failed
            }
        }
    };
    work.set(None);
    undo_failed(flow, engine, scope, false, &mut failed).await;
    Err(failed)
}

// Otherwise the compiler offers it to whoever has a value that cannot be stored.
#[diagnostic::do_not_recommend]
impl<E, F: AnyFlow<E> + ?Sized> AnyFlow<E> for Arc<F> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn namespace(&self) -> &str {
        (**self).namespace()
    }

    fn structure(&self) -> &str {
        (**self).structure()
    }

    fn with_settings(&self) -> Option<FlowDocument> {
        (**self).with_settings()
    }

    fn external(&self, path: &str) -> Option<ExternalType> {
        (**self).external(path)
    }

    fn check_storable(&self) -> Result<(), Unstorable> {
        (**self).check_storable()
    }

    fn stored_input(&self, input: Saved) -> Result<Saved, RefusedInput> {
        (**self).stored_input(input)
    }

    fn typed_input(&self) -> Option<TypedInput> {
        (**self).typed_input()
    }

    fn inputs(&self) -> Vec<&str> {
        (**self).inputs()
    }

    fn undoes(&self) -> bool {
        (**self).undoes()
    }

    fn undo_failed<'a>(
        &'a self,
        engine: &'a E,
        failed: &'a mut Failed,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        (**self).undo_failed(engine, failed)
    }

    fn run<'a>(
        &'a self,
        engine: &'a E,
        input: Saved,
    ) -> Pin<Box<dyn Future<Output = Result<Saved, RunError>> + Send + 'a>> {
        (**self).run(engine, input)
    }
}
