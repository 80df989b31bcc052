//! A loaded flow, which runs like one that was compiled.

use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;

use flow_runtime::__private::{supervised, undo_failed, until_cancelled};
use flow_runtime::RunOptions;
use flow_runtime::engine::{
    AnyFlow, Direct, ExternalType, Failed, InputError, LoopOrder as _, NodePath, Observed,
    RefusedInput, Run, RunError, Saved, Scope, SignalTypes, Unfit, Unstorable, Violation, run_any,
};
use flow_spec::FlowDocument;
use serde_json::{Map, Value};

use crate::adapter::Runs;
use crate::cell::AnyValue;
use crate::level::{Input, Kind, Level};
use crate::run::{LoadedEngine, LoadedState, counted, drive, returned, written};
use crate::schema;
use crate::value::ValueType;

/// A flow that was loaded from a document: see [`load`](crate::load()).
///
/// It is an [`AnyFlow`] of every engine that runs compiled flows.
#[derive(Clone)]
pub struct LoadedFlow {
    level: Arc<Level>,
    document: Arc<FlowDocument>,
    structure: String,
    left_out: Arc<[flow_text::Problem]>,
}

impl LoadedFlow {
    pub(crate) fn new(document: FlowDocument, level: Arc<Level>) -> Self {
        LoadedFlow {
            level,
            structure: document.to_compact_json(),
            document: Arc::new(document),
            left_out: Arc::default(),
        }
    }

    pub(crate) fn with_left_out(self, left_out: &[flow_text::Problem]) -> Self {
        LoadedFlow {
            left_out: left_out.into(),
            ..self
        }
    }

    /// Returns the parts of another tool's workflow that this flow omits, such as a limit of its
    /// runs, with their places: see [`Document::left_out`](flow_text::Document::left_out). Empty
    /// for a flow document.
    pub fn left_out(&self) -> &[flow_text::Problem] {
        &self.left_out
    }

    /// Returns the flow's name.
    pub fn name(&self) -> &str {
        &self.document.name
    }

    /// Returns the flow's structure as JSON, from which it can be [loaded](crate::load()) again.
    pub fn structure(&self) -> &str {
        &self.structure
    }

    /// Returns the document, as complete as that of a compiled flow. It contains what its nodes
    /// read, write and decide, and the flows that it names.
    ///
    /// Its JSON is the structure that a durable run keeps. A change in a node or in a named flow is
    /// therefore a change in the flows that use it.
    pub fn document(&self) -> &FlowDocument {
        &self.document
    }

    /// Runs the flow to an end. The input and the output are JSON objects by key; the output
    /// contains the label of the end as `end`.
    ///
    /// # Errors
    ///
    /// See [`run_any`]: the input does not fit, and all its mistakes are listed; or the run did not
    /// reach an end.
    ///
    /// # Cancel safety
    ///
    /// See [`Flow::run`](flow_runtime::Flow::run).
    pub async fn run(&self, input: Value) -> Result<Value, RunError> {
        self.run_on(&Direct::new(), input).await
    }

    /// Runs the flow to an end with options, like [`run`](Self::run).
    ///
    /// # Errors
    ///
    /// See [`run`](Self::run).
    ///
    /// # Cancel safety
    ///
    /// See [`run`](Self::run).
    pub async fn run_with<A>(
        &self,
        input: Value,
        options: RunOptions<A>,
    ) -> Result<Value, RunError> {
        let run = Run::numbered(options);
        self.run_on(&Observed::new(&run), input).await
    }

    /// Like [`run_any`], but without a box for the run, and with one object for input and output.
    async fn run_on<E: LoadedEngine>(
        &self,
        engine: &E,
        mut input: Value,
    ) -> Result<Value, RunError> {
        let level = &self.level;
        let Value::Object(values) = &mut input else {
            return Err(RunError::Input(InputError::not_an_object()));
        };
        let is_input = |key: &String| level.inputs.iter().any(|input| input.name == *key);
        if !values.keys().all(is_input) {
            // The error lists everything that is wrong with this and all other values.
            let values = Saved(mem::take(values));
            let ran = Box::pin(run_any(self, engine, values));
            return ran.await.map(Saved::into_json);
        }
        let out_of_range = out_of_range(level, values);
        supervised(self, engine, &level.info, || {
            counted(ran(level, engine, values, out_of_range))
        })
        .await?;
        Ok(input)
    }
}

/// Runs the flow. The object holds its input, and then its output.
async fn ran<E: LoadedEngine>(
    level: &Arc<Level>,
    engine: &E,
    values: &mut Map<String, Value>,
    out_of_range: Option<InputError>,
) -> Result<(), RunError> {
    let mut state = begun(level, values).map_err(RunError::Input)?;
    if let Some(error) = out_of_range {
        return Err(RunError::Input(error));
    }
    values.clear();
    let scope = Scope::root(engine.run(), engine.names(None, &level.info));
    let end = if level.undoes {
        let driven = drive(level, engine, &scope, &mut state);
        Box::pin(until_cancelled(&**level, engine, &scope, driven)).await
    } else {
        drive(level, engine, &scope, &mut state).await
    };
    let end = end.map_err(RunError::Failed)?;
    for port in &level.outputs {
        let value = returned(port, state.cells_mut());
        if let (Some(value), Some(ty)) = (value, port.returned_type()) {
            let value = written(&port.name, ty, value.get()).map_err(RunError::Output)?;
            values.insert(port.name.clone(), value);
        }
    }
    values.insert("end".to_owned(), Value::String(end.to_owned()));
    Ok(())
}

impl fmt::Debug for LoadedFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LoadedFlow")
            .field(&self.document.name)
            .finish()
    }
}

impl<E: LoadedEngine> AnyFlow<E> for LoadedFlow {
    fn name(&self) -> &str {
        &self.document.name
    }

    fn namespace(&self) -> &str {
        &self.document.namespace
    }

    fn structure(&self) -> &str {
        &self.structure
    }

    fn external(&self, path: &str) -> Option<ExternalType> {
        let within = NodePath::new(path).within(&self.document.namespace)?;
        external(&self.level, within)
    }

    fn check_storable(&self) -> Result<(), Unstorable> {
        unstorable_key(&self.level)?;
        if E::Order::HAS_TO_STAY {
            loops_in_order(&self.level)?;
        }
        Ok(())
    }

    fn stored_input(&self, mut input: Saved) -> Result<Saved, RefusedInput> {
        let out_of_range = out_of_range(&self.level, &input.0);
        let state = begun(&self.level, &mut input.0)?;
        if let Some(error) = out_of_range {
            return Err(error.into());
        }
        AnyFlow::<E>::check_storable(self)?;
        let stored = inputs_of(&self.level, &state)?;
        // A number too large for its `f32` is infinite, which JSON does not have.
        match begun(&self.level, &mut stored.0.clone()) {
            Ok(read) => {
                let write = || inputs_of(&self.level, &read);
                stored.unchanged(&write()?, write)?;
                Ok(stored)
            }
            Err(error) => Err(RefusedInput::not_read_back(error)),
        }
    }

    fn inputs(&self) -> Vec<&str> {
        let inputs = self.level.inputs.iter();
        inputs.map(|input| input.name.as_str()).collect()
    }

    fn undoes(&self) -> bool {
        self.level.undoes
    }

    fn undo_failed<'a>(
        &'a self,
        engine: &'a E,
        failed: &'a mut Failed,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            if self.level.undoes {
                let scope = Scope::root(engine.run(), engine.names(None, &self.level.info));
                undo_failed(&*self.level, engine, &scope, false, failed).await;
            }
        })
    }

    fn run<'a>(
        &'a self,
        engine: &'a E,
        mut input: Saved,
    ) -> Pin<Box<dyn Future<Output = Result<Saved, RunError>> + Send + 'a>> {
        Box::pin(async move {
            counted(ran(&self.level, engine, &mut input.0, None)).await?;
            Ok(input)
        })
    }
}

/// The values of a start's input that the schemas of the inputs refuse. Stored values are not
/// checked again.
fn out_of_range(level: &Level, input: &Map<String, Value>) -> Option<InputError> {
    let mut violations = Vec::new();
    let limited = level.inputs.iter();
    for (port, limits) in limited.filter_map(|port| Some((port, port.limits.as_ref()?))) {
        let Some(value) = input.get(&port.name).filter(|value| !value.is_null()) else {
            continue;
        };
        for refused in schema::refused(limits, value) {
            let (pointer, message) = (&refused.pointer, refused.message);
            violations.push(Violation::out_of_range(&port.name, pointer, message));
        }
    }
    InputError::new(violations)
}

/// The initial state of a run with this input. Takes the values out of the object.
fn begun(level: &Arc<Level>, input: &mut Map<String, Value>) -> Result<LoadedState, InputError> {
    let mut violations = Vec::new();
    let state = LoadedState::begun::<InputError>(level, |_, port| {
        let value = value(level, port, input.get_mut(&port.name));
        Ok(value.unwrap_or_else(|violation| {
            violations.push(violation);
            None
        }))
    })?;
    match InputError::new(violations) {
        Some(error) => Err(error),
        None => Ok(state),
    }
}

/// The inputs in a state, as JSON.
fn inputs_of(level: &Level, state: &LoadedState) -> Result<Saved, Unstorable> {
    let mut saved = Saved::default();
    for port in &level.inputs {
        let Some(key) = port.key else { continue };
        if let Some(value) = state.cells().get(key) {
            let value = written(&port.name, level.key(key).ty, value)?;
            saved.0.insert(port.name.clone(), value);
        }
    }
    Ok(saved)
}

/// Takes the value of an input out of the given object.
fn value(
    level: &Level,
    port: &Input,
    given: Option<&mut Value>,
) -> Result<Option<AnyValue>, Violation> {
    // If the value is an `Option` itself, `null` is one of its values.
    let is_value = |key| level.key(key).ty.option.is_some();
    let missing_if_null = port.optional && !port.key.is_some_and(is_value);
    let given = given.filter(|value| !(missing_if_null && value.is_null()));
    if given.is_none() && port.default.is_none() {
        return if port.optional {
            Ok(None)
        } else {
            Err(Violation::missing(&port.name))
        };
    }
    let Some(key) = port.key else {
        return Ok(None);
    };
    let ty = level.key(key).ty;
    let Some(json) = ty.json else {
        let unfit = Unfit::not_json(ty.name());
        return Err(Violation::wrong_type(&port.name, unfit));
    };
    let value = match given {
        Some(value) => mem::take(value),
        None => port.default.clone().unwrap_or_default(),
    };
    let value = (json.read_input)(value).map(Some);
    value.map_err(|unfit| Violation::wrong_type(&port.name, unfit))
}

/// Finds a value of the flow, or of a flow in it, that cannot be stored.
fn unstorable_key(level: &Level) -> Result<(), Unstorable> {
    let unstorable = |key: &str, ty: &ValueType| Unstorable {
        key: key.to_owned(),
        reason: format!("`{}` is not `Serialize` and `Deserialize`", ty.name()),
    };
    for key in &level.keys {
        if !key.ty.is_json() {
            return Err(unstorable(&key.name, key.ty));
        }
    }
    for node in &level.nodes {
        match &node.kind {
            // A signal is stored as the message that came, which is JSON.
            Kind::Step { adapter, .. } if matches!(adapter.runs, Runs::Signal { .. }) => {}
            Kind::Step { adapter, .. } if !adapter.outcome.is_json() => {
                let (name, ty) = (&node.name, adapter.outcome.name());
                return Err(Unstorable {
                    key: name.clone(),
                    reason: format!(
                        "what this node returns, `{ty}`, is not `Serialize` and `Deserialize`"
                    ),
                });
            }
            Kind::Flow(inner) => unstorable_key(inner)?,
            _ => {}
        }
    }
    Ok(())
}

/// Finds a loop of the flow, or of a flow in it, over a collection whose items may have another
/// order when the run resumes.
fn loops_in_order(level: &Level) -> Result<(), Unstorable> {
    for node in &level.nodes {
        match &node.kind {
            Kind::Each { .. } => {
                let Some(key) = node.ports.reads[0].key.map(|key| level.key(key)) else {
                    continue;
                };
                if key.ty.items.is_some_and(|items| !items.are_ordered) {
                    return Err(Unstorable {
                        key: key.name.clone(),
                        reason: format!(
                            "a durable run cannot loop over `{}`, whose items may have another order after a restart",
                            key.ty.name()
                        ),
                    });
                }
            }
            Kind::Flow(inner) => loops_in_order(inner)?,
            _ => {}
        }
    }
    Ok(())
}

/// The type of the value that the node at this path gets from outside. The path begins with the
/// name of a node.
fn external(level: &Level, path: NodePath<'_>) -> Option<ExternalType> {
    let (name, rest) = path.first();
    let mut nodes = level.nodes.iter();
    let mut node = nodes.find(|node| node.name == name)?;
    if let Kind::Each { body, .. } = &node.kind {
        node = level.node(*body);
    }
    match &node.kind {
        Kind::Flow(inner) => external(inner, rest),
        Kind::Step { adapter, .. } => match &adapter.runs {
            Runs::Human { question, .. } => Some(*question),
            Runs::Signal { signal, .. } => Some(*signal),
            Runs::Step(_) => None,
        },
        _ => None,
    }
}

impl flow_runtime::TakesSignals for LoadedFlow {
    fn signals(&self) -> SignalTypes {
        SignalTypes::new(&self.document, |path| {
            external(&self.level, NodePath::new(path))
        })
    }
}
