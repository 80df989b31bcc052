//! The flows that a runtime knows, of any type.

use std::any::Any;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, OnceLock};

use flow_runtime::Flow;
use flow_runtime::engine::{
    AnyFlow, Drive, ExternalType, Json, RefusedInput, RunError, Saved, SignalTypes, StoredFlow,
    TypedInput, Unstorable, accepted_input,
};
use flow_spec::{ERROR_ACTION, FlowDocument, node_path};
use flow_store::ExecutionId;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::driver::{Ended, Work};
use super::engine::Durable;
use super::error::RuntimeError;
use super::lock::lock;
use super::names::Names;
use super::values::params_at;

/// A compiled flow that can run durably: its inputs, values and outputs can be stored as JSON.
/// Every flow whose values are `Serialize` and `Deserialize` is one; a plain [`run`](Flow::run)
/// does not need that. It is the bound of a generic function that registers a flow and starts it.
pub trait DurableFlow: Flow + StoredFlow<Json> + Drive<Durable> + 'static {}

impl<F: Flow + StoredFlow<Json> + Drive<Durable> + 'static> DurableFlow for F {}

/// A registered flow.
pub(crate) struct Registered {
    flow: Arc<dyn AnyFlow<Durable>>,
    hash: String,
    /// The typed inputs that it takes: its own, and those of the versions before it. Empty if it
    /// takes its input as JSON only.
    typed: Vec<TypedInput>,
    /// The reason this stands in for the version on which an execution started, if it does.
    stands_in: Option<String>,
    /// The structure with the settings, determined on first use.
    settings: OnceLock<Option<FlowDocument>>,
    /// The structure, read on first use.
    document: OnceLock<Result<FlowDocument, String>>,
    /// The loops of the flow itself whose items run in parts.
    spread_loops: OnceLock<Vec<String>>,
    /// The signals for which it waits.
    signals: OnceLock<SignalTypes>,
    /// True if what it does can be undone.
    undoes: OnceLock<bool>,
    /// The former names under which executions of other structures continue, by the hashes of these.
    names: Mutex<HashMap<String, Option<Arc<Names>>>>,
}

impl Registered {
    pub(crate) fn new(flow: Arc<dyn AnyFlow<Durable>>) -> Self {
        Registered {
            hash: hash_of(flow.structure()),
            typed: flow.typed_input().into_iter().collect(),
            flow,
            stands_in: None,
            settings: OnceLock::new(),
            document: OnceLock::new(),
            spread_loops: OnceLock::new(),
            signals: OnceLock::new(),
            undoes: OnceLock::new(),
            names: Mutex::default(),
        }
    }

    /// A new version of this flow, which takes the same typed inputs.
    pub(crate) fn replaced_by(&self, new: Arc<dyn AnyFlow<Durable>>) -> Self {
        let mut new = Registered::new(new);
        for input in &self.typed {
            if !new.typed.iter().any(|known| known.is(input)) {
                new.typed.push(*input);
            }
        }
        new
    }

    /// This flow as a stand-in for a version that cannot be loaded for this reason.
    pub(crate) fn standing_in(&self, reason: String) -> Self {
        Registered {
            flow: self.flow.clone(),
            hash: self.hash.clone(),
            typed: self.typed.clone(),
            stands_in: Some(reason),
            settings: self.settings.clone(),
            document: self.document.clone(),
            spread_loops: self.spread_loops.clone(),
            signals: self.signals.clone(),
            undoes: self.undoes.clone(),
            names: Mutex::default(),
        }
    }

    /// The reason this stands in for the version on which an execution started, if it does.
    pub(crate) fn stands_in(&self) -> Option<&str> {
        self.stands_in.as_deref()
    }

    /// The flow.
    pub(crate) fn flow(&self) -> &Arc<dyn AnyFlow<Durable>> {
        &self.flow
    }

    /// The name of the flow.
    pub(crate) fn name(&self) -> &str {
        self.flow.name()
    }

    /// The input as it is stored, if it is valid.
    pub(crate) fn accepted_input(&self, input: Value) -> Result<Saved, RefusedInput> {
        accepted_input(&*self.flow, input)
    }

    /// The inputs as JSON, if they can be read back: otherwise the first crash would reveal it.
    /// `None` if they belong to another flow.
    pub(crate) fn save_input(&self, input: &dyn Any) -> Option<Result<Saved, Unstorable>> {
        let save = || self.typed.iter().find_map(|typed| typed.save(input));
        Some(save()?.and_then(|saved| {
            self.check_names(&saved)?;
            let stored = self.flow.stored_input(saved.clone());
            let stored = stored.map_err(RefusedInput::into_unstorable)?;
            saved.unchanged(&stored, || save().unwrap_or_else(|| Ok(saved.clone())))?;
            Ok(stored)
        }))
    }

    /// Refuses a value of an input that only an earlier version has.
    fn check_names(&self, input: &Saved) -> Result<(), Unstorable> {
        let names = self.flow.inputs();
        let is_lost =
            |(key, value): &(&String, &Value)| !value.is_null() && !names.contains(&key.as_str());
        match input.0.iter().find(is_lost) {
            Some((key, _)) => Err(Unstorable {
                key: key.clone(),
                reason: "the newest version of the flow has no such input".to_owned(),
            }),
            None => Ok(()),
        }
    }

    /// The first segments of all its paths.
    pub(crate) fn namespace(&self) -> &str {
        self.flow.namespace()
    }

    /// Its structure as JSON.
    pub(crate) fn structure(&self) -> &str {
        self.flow.structure()
    }

    /// The hash of the structure.
    pub(crate) fn hash(&self) -> &str {
        &self.hash
    }

    /// The settings of the node at a path. `None` if only the structure has them or they cannot be
    /// read: the program was built without that, or a `Serialize` panics.
    pub(crate) fn settings(&self, path: &str) -> Option<Map<String, Value>> {
        let told = || catch_unwind(AssertUnwindSafe(|| self.flow.with_settings()));
        let settings = self.settings.get_or_init(|| told().ok().flatten());
        settings.as_ref().map(|flow| params_at(flow, path))
    }

    /// Its structure.
    ///
    /// # Errors
    ///
    /// It is not that of a flow.
    pub(crate) fn document(&self) -> Result<&FlowDocument, String> {
        let document = self.document.get_or_init(|| document(self.structure()));
        document.as_ref().map_err(Clone::clone)
    }

    /// Returns true if one of its nodes says that it had another name.
    pub(crate) fn has_former_names(&self) -> bool {
        // Most flows have none, and need not be read.
        self.structure().contains("\"was\"")
    }

    /// The names under which executions of the structure with this hash continue, if they were looked
    /// for already.
    pub(crate) fn known_names(&self, structure: &str) -> Option<Option<Arc<Names>>> {
        lock(&self.names).get(structure).cloned()
    }

    /// The names under which executions of this structure continue: `None` if these are its own.
    pub(crate) fn names_in(&self, hash: &str, structure: &str) -> Option<Arc<Names>> {
        let (Ok(old), Ok(new)) = (document(structure), self.document()) else {
            return None; // The structures are compared next, which reports it.
        };
        let names = new
            .under_names_of(&old)
            .map(|former| Arc::new(Names::new(former, hash_of)));
        lock(&self.names).insert(hash.to_owned(), names.clone());
        names
    }

    /// The names, present and former, of the loops of the flow itself whose items can run in
    /// parts.
    pub(crate) fn spread_loops(&self) -> &[String] {
        self.spread_loops.get_or_init(|| {
            // Most flows have none, and need not be read.
            let has_some = self.structure().contains("\"spread\"");
            let flow = has_some.then(|| self.document().ok()).flatten();
            let nodes = flow.into_iter().flat_map(|flow| &flow.nodes);
            let each = nodes.filter(|node| node.settings.spread.is_some());
            each.flat_map(|node| [Some(node.id.clone()), node.settings.was.clone()])
                .flatten()
                .collect()
        })
    }

    /// Returns true if an edge leads on from the failure of this node of the flow itself.
    pub(crate) fn routes_failure_of(&self, node: &str) -> bool {
        let Ok(flow) = self.document() else {
            return false;
        };
        let edges = flow.edges.iter();
        let edges = edges.map(|edge| (Some(edge.from.as_str()), Some(edge.condition.as_str())));
        let ends = flow.ends.iter();
        let ends = ends.map(|end| (end.from.as_deref(), end.condition.as_deref()));
        edges
            .chain(ends)
            .any(|route| route == (Some(node), Some(ERROR_ACTION)))
    }

    /// The type of the value that the node at a path gets from outside.
    pub(crate) fn external(&self, path: &str) -> Option<ExternalType> {
        self.flow.external(path)
    }

    /// The type of the value that the node at a path of an execution gets from outside. The path has these
    /// former names.
    pub(crate) fn external_under(&self, names: Option<&Names>, path: &str) -> Option<ExternalType> {
        match names {
            Some(names) => self.external(&names.present_path(path)),
            None => self.external(path),
        }
    }

    /// Returns true if it or a flow in it has nodes whose visits can be undone.
    pub(crate) fn undoes(&self) -> bool {
        *self.undoes.get_or_init(|| {
            // Most flows have none, and need not be read.
            let has_some = self.structure().contains("\"undo\"");
            has_some && self.document().is_ok_and(undoes)
        })
    }

    /// The signals for which it and its inner flows wait.
    ///
    /// # Errors
    ///
    /// Its structure is not that of a flow.
    pub(crate) fn signals(&self) -> Result<&SignalTypes, String> {
        if let Some(signals) = self.signals.get() {
            return Ok(signals);
        }
        let external = |path: &str| self.external(&node_path(self.namespace(), path));
        let signals = SignalTypes::new(self.document()?, external);
        Ok(self.signals.get_or_init(|| signals))
    }

    /// A run of it.
    pub(crate) fn run(
        self: &Arc<Self>,
        execution: ExecutionId,
        engine: Arc<Durable>,
        input: Saved,
    ) -> Work {
        let version = self.clone();
        Box::pin(async move {
            let flow = &version.flow;
            let output = flow.run(&engine, input).await;
            output.map_err(|error| {
                let path = flow.namespace().to_owned();
                match error {
                    RunError::Failed(failed) => Ended::Failed(*failed),
                    RunError::Input(error) => Ended::Refused(RuntimeError::Unreadable {
                        execution,
                        path,
                        reason: format!("what was stored does not fit: {error}"),
                    }),
                    RunError::Output(Unstorable { key, reason }) => {
                        Ended::Refused(RuntimeError::Unstorable {
                            execution: Some(execution),
                            path,
                            reason: format!("`{key}`: {reason}"),
                        })
                    }
                }
            })
        })
    }
}

/// Returns true if a flow or a flow in it has nodes whose visits can be undone.
pub(crate) fn undoes(flow: &FlowDocument) -> bool {
    flow.nodes.iter().any(|node| {
        let inner = node.internal_flow.as_deref();
        node.settings.undo.is_some() || inner.is_some_and(undoes)
    })
}

/// SHA-256, in hexadecimal digits.
pub(crate) fn hash_of(text: &str) -> String {
    Sha256::digest(text)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The document of a flow's structure.
///
/// # Errors
///
/// The structure is not that of a flow.
pub(crate) fn document(structure: &str) -> Result<FlowDocument, String> {
    FlowDocument::parse_spec(structure).map_err(|problems| {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        format!(
            "the structure of its flow is damaged: {}",
            problems.join("; ")
        )
    })
}
