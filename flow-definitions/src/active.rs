//! Definitions whose active flows a runtime has: the store and the runtime stay in step.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use flow_durable::Runtime;
use serde_json::Value;

use crate::definition::{Content, Definition, DefinitionId, Status};
use crate::definitions::Definitions;
use crate::error::{DamagedDefinition, DefinitionError};

/// The definitions of a store, of which a [`Runtime`] runs the active ones.
///
/// An active definition is a flow of the runtime, under its name. A definition that changes is a
/// new version of its flow. One that was renamed, deleted or made a draft again can no longer be
/// started. Changes that other processes make in the store come here with
/// [`current`](Self::current).
pub struct ActiveDefinitions {
    definitions: Definitions,
    runtime: Runtime,
    /// The names of the flows that come from definitions.
    registered: Mutex<BTreeMap<DefinitionId, String>>,
    /// Held from a change in the store until the runtime has it too, so that both stay in step.
    changes: tokio::sync::Mutex<()>,
}

impl fmt::Debug for ActiveDefinitions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActiveDefinitions")
            .field("definitions", &self.definitions)
            .field("flows", &*self.names())
            .finish_non_exhaustive()
    }
}

impl ActiveDefinitions {
    /// Registers the flows of the active definitions. A definition that is damaged, does not load,
    /// or has the name of another flow of the runtime is left out and logged as an error.
    ///
    /// # Errors
    ///
    /// [`DefinitionError::Store`].
    pub async fn new(definitions: Definitions, runtime: Runtime) -> Result<Self, DefinitionError> {
        let stored = definitions.list().await?;
        let active = ActiveDefinitions {
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
            if let Err(error) = active.update(&definition) {
                let (id, name) = (definition.id, definition.name());
                tracing::error!(%id, name, reason = %error, "a definition cannot be used");
            }
        }
        Ok(active)
    }

    /// The definitions of the store, active or not.
    pub fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    /// Stores a new definition, as [`Definitions::create`].
    ///
    /// # Errors
    ///
    /// See [`Definitions::create`]. [`DefinitionError::FlowNameTaken`] and
    /// [`DefinitionError::Runtime`], if the runtime cannot have the flow: nothing is stored then.
    /// [`DefinitionError::StoredOnly`], if that shows after it was stored.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the store may have a change that the runtime does not have.
    pub async fn create(&self, content: Content) -> Result<Definition, DefinitionError> {
        let _changes = self.changes.lock().await;
        self.check_name(name_in(&content.flow), None)?;
        self.check_runs(&content)?;
        let definition = self.definitions.create(content).await?;
        self.update_stored(&definition)?;
        Ok(definition)
    }

    /// Changes a definition by a JSON Merge Patch, as [`Definitions::patch`].
    ///
    /// # Errors
    ///
    /// See [`Definitions::patch`] and [`create`](Self::create).
    ///
    /// # Cancel safety
    ///
    /// See [`create`](Self::create).
    pub async fn patch(
        &self,
        id: DefinitionId,
        revision: u64,
        patch: &Value,
    ) -> Result<Definition, DefinitionError> {
        let _changes = self.changes.lock().await;
        let before = self.definitions.get(id).await?;
        let content = before.content.patched(patch)?;
        self.change(before, revision, content).await
    }

    /// Replaces the content of a definition, as [`Definitions::replace`].
    ///
    /// # Errors
    ///
    /// See [`Definitions::replace`] and [`create`](Self::create).
    ///
    /// # Cancel safety
    ///
    /// See [`create`](Self::create).
    pub async fn replace(
        &self,
        id: DefinitionId,
        revision: u64,
        content: Content,
    ) -> Result<Definition, DefinitionError> {
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
    ) -> Result<Definition, DefinitionError> {
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

    /// Removes a definition and its flow, as [`Definitions::delete`].
    ///
    /// # Errors
    ///
    /// See [`Definitions::delete`].
    ///
    /// # Cancel safety
    ///
    /// See [`create`](Self::create).
    pub async fn delete(&self, id: DefinitionId, revision: u64) -> Result<(), DefinitionError> {
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
    ///
    /// # Errors
    ///
    /// [`DefinitionError::NotFound`], [`DefinitionError::Store`], or the reason why the runtime
    /// cannot have the flow: see [`create`](Self::create).
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the runtime may have the flow of the stored definition or not.
    pub async fn current(&self, id: DefinitionId) -> Result<Definition, DefinitionError> {
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
                Err(error)
            }
        }
    }

    /// Removes the flows of all definitions from the runtime.
    pub fn withdraw_all(&self) {
        let names = std::mem::take(&mut *self.names());
        names.values().for_each(|name| self.retire(name));
    }

    /// Calls [`update`](Self::update) for a stored definition. An error includes the stored
    /// revision.
    fn update_stored(&self, definition: &Definition) -> Result<(), DefinitionError> {
        let stored = definition.revision;
        self.update(definition)
            .map_err(|error| DefinitionError::StoredOnly {
                stored,
                reason: Box::new(error),
            })
    }

    /// Registers the flow of an active definition, or removes that of another one.
    ///
    /// # Errors
    ///
    /// The definition cannot be loaded, or another flow has its name. Nothing has changed.
    fn update(&self, definition: &Definition) -> Result<(), DefinitionError> {
        if definition.content.status != Status::Active {
            self.withdraw(definition.id);
            return Ok(());
        }
        let flow = self.definitions.load(&definition.content)?.flow;
        self.check_name(definition.name(), Some(definition.id))?;
        let name = definition.name().to_owned();
        self.runtime.add_version(flow)?;
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

    /// Refuses a definition that is to be active, but cannot run in this runtime.
    fn check_runs(&self, content: &Content) -> Result<(), DefinitionError> {
        if content.status == Status::Active {
            // The name is tidied only when stored, which does not matter here.
            let loaded = self.definitions.load(content)?;
            self.runtime.check_flow(&loaded.flow)?;
        }
        Ok(())
    }

    /// Refuses a name that belongs to a flow from elsewhere than this definition.
    fn check_name(
        &self,
        name: &str,
        definition: Option<DefinitionId>,
    ) -> Result<(), DefinitionError> {
        let own = definition.and_then(|id| self.names().get(&id).cloned());
        let flows = self.runtime.flows();
        if own.as_deref() != Some(name) && flows.iter().any(|flow| flow.name() == name) {
            return Err(DefinitionError::FlowNameTaken(name.to_owned()));
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
