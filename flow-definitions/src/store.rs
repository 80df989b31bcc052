//! The interface of stores of definitions.

use async_trait::async_trait;

use crate::definition::{Definition, DefinitionId};
use crate::error::{DamagedDefinition, DefinitionError};

/// A store of definitions.
///
/// Each call is one transaction: it is carried out as a whole or not at all, and concurrent calls
/// have the result of one after the other. The names of the stored definitions differ.
///
/// All calls fail with [`DefinitionError::Store`] if the store cannot carry them out. If the future
/// of a call is dropped, the call may still be carried out.
#[async_trait]
pub trait DefinitionStore: Send + Sync + 'static {
    /// All definitions, the last inserted first. A damaged definition stands in its place as an
    /// error.
    async fn list(&self) -> Result<Vec<Result<Definition, DamagedDefinition>>, DefinitionError>;

    /// The definition with this id, if it exists.
    async fn get(&self, id: DefinitionId) -> Result<Option<Definition>, DefinitionError>;

    /// Adds a definition.
    ///
    /// # Errors
    ///
    /// [`DefinitionError::NameTaken`].
    async fn insert(&self, definition: &Definition) -> Result<(), DefinitionError>;

    /// Replaces the definition with the same id, if the stored one has the revision `expected`.
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
