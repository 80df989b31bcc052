//! The operations on definitions.

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use flow_loader::{Catalog, LoadedFlow, Registry};
use flow_spec::FlowDocument;
use serde_json::{Value, json};

use crate::check::{self, Checked, in_flow};
use crate::definition::{Content, Definition, DefinitionId, Status};
use crate::error::{DamagedDefinition, DefinitionError, malformed};
use crate::finding::Finding;
use crate::store::DefinitionStore;

/// The definitions of a store, whose flows may use the nodes and flows of a registry.
///
/// Clones share the store.
///
/// # Examples
///
/// See the [crate](crate).
#[derive(Clone)]
pub struct Definitions {
    store: Arc<dyn DefinitionStore>,
    registry: Arc<Registry>,
}

impl fmt::Debug for Definitions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Definitions")
            .field("registry", &self.registry)
            .finish_non_exhaustive()
    }
}

/// A definition that was loaded.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Loaded {
    /// The flow, with the configuration.
    pub flow: LoadedFlow,
    /// The parts of the definition that have no effect.
    pub warnings: Vec<Finding>,
}

impl Definitions {
    /// The definitions in a store.
    pub fn new(store: impl DefinitionStore, registry: Registry) -> Self {
        Definitions {
            store: Arc::new(store),
            registry: Arc::new(registry),
        }
    }

    /// The nodes and flows that definitions may use.
    pub fn catalog(&self) -> Catalog {
        self.registry.catalog()
    }

    /// All definitions, the last created first. A damaged definition stands in its place as an
    /// error.
    ///
    /// # Errors
    ///
    /// [`DefinitionError::Store`].
    pub async fn list(
        &self,
    ) -> Result<Vec<Result<Definition, DamagedDefinition>>, DefinitionError> {
        self.store.list().await
    }

    /// The definition with this id.
    ///
    /// # Errors
    ///
    /// [`DefinitionError::NotFound`] or [`DefinitionError::Store`].
    pub async fn get(&self, id: DefinitionId) -> Result<Definition, DefinitionError> {
        let found = self.store.get(id).await?;
        found.ok_or(DefinitionError::NotFound(id))
    }

    /// Stores a new definition. White space around its name is removed.
    ///
    /// # Errors
    ///
    /// [`DefinitionError::Malformed`], if the flow is not an object;
    /// [`DefinitionError::NameRequired`]; [`DefinitionError::NameTaken`];
    /// [`DefinitionError::Unsound`], if it is to be active; or [`DefinitionError::Store`].
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the definition may be stored or not.
    pub async fn create(&self, content: Content) -> Result<Definition, DefinitionError> {
        let now = now_ms();
        let definition = Definition {
            id: DefinitionId::random(),
            revision: 1,
            created_at_ms: now,
            updated_at_ms: now,
            content: self.accepted(content)?,
        };
        self.store.insert(&definition).await?;
        Ok(definition)
    }

    /// Changes a definition as a whole, and returns it as it is then.
    ///
    /// The patch is a JSON Merge Patch (RFC 7396) of the [`Content`]: a field that it does not name
    /// stays, `null` removes, and a list is replaced as a whole. `revision` is the one that the
    /// caller has seen. White space around a name is removed.
    ///
    /// # Errors
    ///
    /// [`DefinitionError::NotFound`]; [`DefinitionError::Conflict`], if another revision is stored;
    /// [`DefinitionError::Malformed`], if the patch or its result does not have the shape of a
    /// content; [`DefinitionError::NameRequired`]; [`DefinitionError::NameTaken`];
    /// [`DefinitionError::Unsound`], if it is or becomes active. Nothing has changed then. After
    /// [`DefinitionError::Store`], it may have.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the definition may be changed as a whole or not at all.
    pub async fn patch(
        &self,
        id: DefinitionId,
        revision: u64,
        patch: &Value,
    ) -> Result<Definition, DefinitionError> {
        let before = self.seen(id, revision).await?;
        let content = before.content.patched(patch)?;
        self.changed(before, content).await
    }

    /// Replaces the content of a definition, and returns the definition as it is then.
    ///
    /// Unlike a [`patch`](Self::patch), the new content can set a value to `null`. `revision` is
    /// the one that the caller has seen. White space around a name is removed.
    ///
    /// # Errors
    ///
    /// See [`patch`](Self::patch).
    ///
    /// # Cancel safety
    ///
    /// See [`patch`](Self::patch).
    pub async fn replace(
        &self,
        id: DefinitionId,
        revision: u64,
        content: Content,
    ) -> Result<Definition, DefinitionError> {
        let before = self.seen(id, revision).await?;
        self.changed(before, content).await
    }

    /// A definition, if its revision is the one that the caller has seen.
    async fn seen(&self, id: DefinitionId, revision: u64) -> Result<Definition, DefinitionError> {
        let stored = self.get(id).await?;
        if stored.revision != revision {
            return Err(DefinitionError::Conflict {
                expected: revision,
                stored: stored.revision,
            });
        }
        Ok(stored)
    }

    async fn changed(
        &self,
        before: Definition,
        content: Content,
    ) -> Result<Definition, DefinitionError> {
        let definition = Definition {
            revision: before.revision + 1,
            updated_at_ms: now_ms().max(before.updated_at_ms),
            content: self.accepted(content)?,
            ..before
        };
        self.store.replace(&definition, before.revision).await?;
        Ok(definition)
    }

    /// Gives a definition another name. White space around it is removed.
    ///
    /// # Errors
    ///
    /// See [`patch`](Self::patch).
    ///
    /// # Cancel safety
    ///
    /// See [`patch`](Self::patch).
    pub async fn rename(
        &self,
        id: DefinitionId,
        revision: u64,
        name: &str,
    ) -> Result<Definition, DefinitionError> {
        let patch = json!({ "flow": { "name": name } });
        self.patch(id, revision, &patch).await
    }

    /// Removes the configuration, so that all inputs of the flow have their defaults again.
    ///
    /// # Errors
    ///
    /// See [`patch`](Self::patch).
    ///
    /// # Cancel safety
    ///
    /// See [`patch`](Self::patch).
    pub async fn reset_configuration(
        &self,
        id: DefinitionId,
        revision: u64,
    ) -> Result<Definition, DefinitionError> {
        let patch = json!({ "configuration": null });
        self.patch(id, revision, &patch).await
    }

    /// Removes a definition, with its layout and its configuration.
    ///
    /// # Errors
    ///
    /// [`DefinitionError::NotFound`]; [`DefinitionError::Conflict`], if another revision is stored;
    /// or [`DefinitionError::Store`].
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the definition may be removed or not.
    pub async fn delete(&self, id: DefinitionId, revision: u64) -> Result<(), DefinitionError> {
        self.store.remove(id, revision).await
    }

    /// Returns everything that is wrong with a definition, as loading it would, the errors first.
    /// It need not be stored.
    pub fn validate(&self, content: &Content) -> Vec<Finding> {
        check::check(content, &self.registry).findings
    }

    /// Loads the flow of a definition with its configuration, regardless of its status.
    ///
    /// # Errors
    ///
    /// [`DefinitionError::Unsound`], with all findings.
    pub fn load(&self, content: &Content) -> Result<Loaded, DefinitionError> {
        let Checked { flow, findings } = check::check(content, &self.registry);
        match flow {
            Some(flow) => Ok(Loaded {
                flow,
                warnings: findings,
            }),
            None => Err(DefinitionError::Unsound(findings)),
        }
    }

    /// The flow of a definition in Rust: `flow!` without the nodes, see [`flow_render::source`]. It
    /// has the defaults of the flow, not the configuration.
    ///
    /// # Errors
    ///
    /// [`DefinitionError::Unsound`], as for [`load`](Self::load); or [`DefinitionError::NotRust`].
    pub fn source(&self, content: &Content) -> Result<String, DefinitionError> {
        let bare = Content::new(content.flow.clone());
        let loaded = self.load(&bare)?;
        // The registry knows what people leave out of a document.
        let document: &FlowDocument = loaded.flow.document();
        flow_render::source(document).map_err(|unsaid| {
            let unsaid = unsaid.into_iter();
            let reason = unsaid.map(|one| (in_flow(&one.pointer), one.message));
            DefinitionError::NotRust(reason.collect())
        })
    }

    /// The content as it is stored, if it is valid.
    fn accepted(&self, mut content: Content) -> Result<Content, DefinitionError> {
        let Value::Object(flow) = &mut content.flow else {
            return Err(malformed("the flow is not an object"));
        };
        match flow.get_mut("name") {
            Some(Value::String(name)) => *name = name.trim().to_owned(),
            None => {}
            Some(_) => return Err(malformed("the name of the flow is not a text")),
        }
        if content.name().is_none_or(str::is_empty) {
            return Err(DefinitionError::NameRequired);
        }
        let mut positions = content.layout.values();
        if positions.any(|position| !position.x.is_finite() || !position.y.is_finite()) {
            return Err(malformed("a position is not a number"));
        }
        match content.status {
            Status::Draft => {}
            Status::Active => drop(self.load(&content)?),
        }
        Ok(content)
    }
}

fn now_ms() -> u64 {
    // A clock before 1970 is wrong. The times are for people only.
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}
