//! What a store of definitions does.

use async_trait::async_trait;

use crate::definition::{Definition, DefinitionId};
use crate::error::{DamagedDefinition, DefinitionError};

/// A store of definitions.
///
/// Each call is one transaction: it is carried out as a whole or not at all, and two calls at the same
/// time have the result of one after the other. The names of the stored definitions differ.
///
/// All calls fail with [`DefinitionError::Store`] if the store cannot carry them out. If the future of a
/// call is dropped, the call may be carried out all the same.
#[async_trait]
pub trait DefinitionStore: Send + Sync + 'static {
    /// All definitions: what was inserted last comes first. One that cannot be read stands damaged in its
    /// place.
    async fn list(&self) -> Result<Vec<Result<Definition, DamagedDefinition>>, DefinitionError>;

    /// The definition with this id. `None` if there is none.
    async fn get(&self, id: DefinitionId) -> Result<Option<Definition>, DefinitionError>;

    /// Adds a definition.
    ///
    /// # Errors
    ///
    /// [`DefinitionError::NameTaken`].
    async fn insert(&self, definition: &Definition) -> Result<(), DefinitionError>;

    /// Puts a definition in the place of the stored one with its id, if that has the revision `expected`.
    ///
    /// # Errors
    ///
    /// [`DefinitionError::NotFound`], [`DefinitionError::Conflict`] or [`DefinitionError::NameTaken`].
    async fn replace(&self, definition: &Definition, expected: u64) -> Result<(), DefinitionError>;

    /// Removes a definition with all that belongs to it, if it has the revision `expected`.
    ///
    /// # Errors
    ///
    /// [`DefinitionError::NotFound`] or [`DefinitionError::Conflict`].
    async fn remove(&self, id: DefinitionId, expected: u64) -> Result<(), DefinitionError>;
}
