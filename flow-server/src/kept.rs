//! Definitions that the server keeps, and the flows of the active ones.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::StatusCode;
use flow_definitions::{
    Content, DamagedDefinition, Definition, DefinitionError, DefinitionId, Definitions, Status,
};
use flow_durable::Runtime;
use serde_json::{Value, json};

use crate::problem::Problem;

pub(crate) struct Kept {
    definitions: Definitions,
    runtime: Runtime,
    /// The names of the flows that come from definitions.
    registered: Mutex<BTreeMap<DefinitionId, String>>,
    /// Held from a change in the store until the runtime has it too, so that both stay in step.
    changes: tokio::sync::Mutex<()>,
}

impl Kept {
    /// Registers the flows of the active definitions.
    pub(crate) async fn new(
        definitions: Definitions,
        runtime: Runtime,
    ) -> Result<Self, DefinitionError> {
        let stored = definitions.list().await?;
        let kept = Kept {
            definitions,
            runtime,
            registered: Mutex::default(),
            changes: tokio::sync::Mutex::default(),
        };
        for stored in stored {
            let definition = match stored {
                Ok(definition) => definition,
                Err(damaged) => {
                    let DamagedDefinition {
                        id, name, reason, ..
                    } = damaged;
                    tracing::error!(id, name, reason, "a definition is damaged");
                    continue;
                }
            };
            if let Err(problem) = kept.update(&definition) {
                let (id, name) = (definition.id, definition.name());
                let reason = problem.detail();
                tracing::error!(%id, name, reason, "a definition cannot be used");
            }
        }
        Ok(kept)
    }

    pub(crate) fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    /// Stores a new definition.
    pub(crate) async fn create(&self, content: Content) -> Result<Definition, Problem> {
        let _changes = self.changes.lock().await;
        self.check_name(name_in(&content.flow), None)?;
        self.check_runs(&content)?;
        let definition = self.definitions.create(content).await?;
        self.update_stored(&definition)?;
        Ok(definition)
    }

    /// Changes a definition by a JSON Merge Patch.
    pub(crate) async fn patch(
        &self,
        id: DefinitionId,
        revision: u64,
        patch: &Value,
    ) -> Result<Definition, Problem> {
        let _changes = self.changes.lock().await;
        let before = self.definitions.get(id).await?;
        let content = before.content.patched(patch)?;
        self.change(before, revision, content).await
    }

    /// Changes a definition to another content.
    pub(crate) async fn replace(
        &self,
        id: DefinitionId,
        revision: u64,
        content: Content,
    ) -> Result<Definition, Problem> {
        let _changes = self.changes.lock().await;
        let before = self.definitions.get(id).await?;
        self.change(before, revision, content).await
    }

    /// Checks a change and stores it, while `changes` is held. A refused change is not stored.
    async fn change(
        &self,
        before: Definition,
        revision: u64,
        content: Content,
    ) -> Result<Definition, Problem> {
        if revision == before.revision {
            self.check_name(name_in(&content.flow), Some(before.id))?;
            self.check_runs(&content)?;
        }
        let changed = self.definitions.replace(before.id, revision, content);
        let definition = changed.await?;
        self.update_stored(&definition)?;
        self.forget_versions(before.name()).await;
        Ok(definition)
    }

    /// Removes a definition.
    pub(crate) async fn delete(&self, id: DefinitionId, revision: u64) -> Result<(), Problem> {
        let _changes = self.changes.lock().await;
        self.definitions.delete(id, revision).await?;
        if let Some(name) = self.withdraw(id) {
            self.forget_versions(&name).await;
        }
        Ok(())
    }

    /// Forgets the earlier versions of a flow that no execution needs. Each change leaves one.
    async fn forget_versions(&self, name: &str) {
        if let Err(error) = self.runtime.forget_versions(name).await {
            let error: &(dyn Error + 'static) = &error;
            tracing::warn!(name, error, "earlier versions of a flow stay in memory");
        }
    }

    /// Returns a definition as it is stored now, after an update of its flow here.
    pub(crate) async fn current(&self, id: DefinitionId) -> Result<Definition, Problem> {
        let _changes = self.changes.lock().await;
        match self.definitions.get(id).await {
            Ok(definition) => {
                self.update(&definition)?;
                Ok(definition)
            }
            Err(error) => {
                if matches!(error, DefinitionError::NotFound(_)) {
                    self.withdraw(id); // another process removed it
                }
                Err(error.into())
            }
        }
    }

    /// Removes the flows of all definitions from the runtime.
    pub(crate) fn withdraw_all(&self) {
        let names = std::mem::take(&mut *self.names());
        names.values().for_each(|name| self.retire(name));
    }

    /// Calls [`update`](Kept::update) for a stored definition; an error includes the stored
    /// revision.
    fn update_stored(&self, definition: &Definition) -> Result<(), Problem> {
        let stored = definition.revision;
        let updated = self.update(definition);
        updated.map_err(|problem| problem.with("storedRevision", stored))
    }

    /// Registers the flow of an active definition, or removes that of another one.
    ///
    /// # Errors
    ///
    /// The definition cannot be loaded, or another flow has its name. Nothing has changed.
    fn update(&self, definition: &Definition) -> Result<(), Problem> {
        if definition.content.status != Status::Active {
            self.withdraw(definition.id);
            return Ok(());
        }
        let flow = self.definitions.load(&definition.content)?.flow;
        self.check_name(definition.name(), Some(definition.id))?;
        let name = definition.name().to_owned();
        self.runtime.add_version_any(Arc::new(flow))?;
        let before = self.names().insert(definition.id, name.clone());
        if let Some(before) = before.filter(|before| *before != name) {
            self.retire(&before);
        }
        Ok(())
    }

    /// Removes the flow of a definition, so that it can no longer be started. Returns its name.
    fn withdraw(&self, id: DefinitionId) -> Option<String> {
        let name = self.names().remove(&id)?;
        self.retire(&name);
        Some(name)
    }

    /// Refuses a definition that is to be active, but cannot run in this server.
    fn check_runs(&self, content: &Content) -> Result<(), Problem> {
        if content.status == Status::Active {
            // The name is tidied only when stored, which does not matter here.
            let loaded = self.definitions.load(content)?;
            self.runtime.check_any(&loaded.flow)?;
        }
        Ok(())
    }

    /// Refuses a name that belongs to a flow from elsewhere than this definition.
    fn check_name(&self, name: &str, definition: Option<DefinitionId>) -> Result<(), Problem> {
        let own = definition.and_then(|id| self.names().get(&id).cloned());
        let flows = self.runtime.flows();
        if own.as_deref() != Some(name) && flows.iter().any(|flow| flow.name() == name) {
            return Err(taken(format!("another flow has the name `{name}`")));
        }
        Ok(())
    }

    fn retire(&self, name: &str) {
        // The program may have retired it already.
        let _ = self.runtime.retire(name);
    }

    fn names(&self) -> std::sync::MutexGuard<'_, BTreeMap<DefinitionId, String>> {
        // The lock is held for single calls only.
        self.registered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the name in the document of a flow, as it would be kept, or `""` if it has none.
fn name_in(flow: &Value) -> &str {
    let name = flow.get("name").and_then(Value::as_str);
    name.unwrap_or_default().trim()
}

fn taken(detail: String) -> Problem {
    let title = "The name is taken";
    Problem::new(StatusCode::CONFLICT, "name-taken", title, detail)
}

impl From<DefinitionError> for Problem {
    fn from(error: DefinitionError) -> Self {
        let detail = error.to_string();
        let unprocessable = |kind, title| {
            Problem::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                kind,
                title,
                detail.clone(),
            )
        };
        match error {
            DefinitionError::NotFound(_) => Problem::not_found(detail),
            DefinitionError::Conflict { stored, .. } => {
                let title = "Somebody else has changed the definition";
                Problem::new(StatusCode::CONFLICT, "revision", title, detail)
                    .with("storedRevision", stored)
            }
            DefinitionError::NameTaken(_) => taken(detail),
            DefinitionError::NameRequired => unprocessable("name", "The name is missing"),
            DefinitionError::Malformed(_) => Problem::bad_request(detail),
            DefinitionError::Unsound(findings) => {
                unprocessable("unsound", "The flow is not sound").with("errors", json!(findings))
            }
            DefinitionError::NotRust(reasons) => {
                let reasons = reasons.into_iter();
                let reasons = reasons
                    .map(|(pointer, message)| json!({ "pointer": pointer, "message": message }));
                let errors: Vec<_> = reasons.collect();
                unprocessable("not-rust", "The flow cannot be written as Rust")
                    .with("errors", errors)
            }
            error => {
                // The error may name files and hosts, which only the operator may see.
                tracing::error!(error = ?error, "the store of definitions failed");
                Problem::unavailable(
                    "the store of definitions failed; the log of the server says why",
                )
            }
        }
    }
}
