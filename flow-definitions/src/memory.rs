//! Definitions in memory.

use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::definition::{Definition, DefinitionId};
use crate::error::{DamagedDefinition, DefinitionError};
use crate::store::DefinitionStore;

/// Definitions that are kept until the process ends.
#[derive(Debug, Default)]
pub struct MemoryDefinitions {
    /// The definitions, in the order in which they were inserted.
    stored: Mutex<Vec<Definition>>,
}

impl MemoryDefinitions {
    /// A store without definitions.
    pub fn new() -> Self {
        MemoryDefinitions::default()
    }

    fn stored(&self) -> MutexGuard<'_, Vec<Definition>> {
        // Each change is one assignment, so that a panic cannot leave half of one.
        self.stored.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The index of the definition with this id, if it has the revision.
fn find(stored: &[Definition], id: DefinitionId, expected: u64) -> Result<usize, DefinitionError> {
    let index = stored.iter().position(|definition| definition.id == id);
    let index = index.ok_or(DefinitionError::NotFound(id))?;
    match stored[index].revision {
        revision if revision == expected => Ok(index),
        stored => Err(DefinitionError::Conflict { expected, stored }),
    }
}

fn check_name(stored: &[Definition], new: &Definition) -> Result<(), DefinitionError> {
    let mut stored = stored.iter();
    if stored.any(|other| other.id != new.id && other.name() == new.name()) {
        return Err(DefinitionError::NameTaken(new.name().to_owned()));
    }
    Ok(())
}

#[async_trait]
impl DefinitionStore for MemoryDefinitions {
    async fn list(&self) -> Result<Vec<Result<Definition, DamagedDefinition>>, DefinitionError> {
        Ok(self.stored().iter().rev().cloned().map(Ok).collect())
    }

    async fn get(&self, id: DefinitionId) -> Result<Option<Definition>, DefinitionError> {
        let stored = self.stored();
        let found = stored.iter().find(|definition| definition.id == id);
        Ok(found.cloned())
    }

    async fn insert(&self, definition: &Definition) -> Result<(), DefinitionError> {
        let mut stored = self.stored();
        check_name(&stored, definition)?;
        stored.push(definition.clone());
        Ok(())
    }

    async fn replace(&self, definition: &Definition, expected: u64) -> Result<(), DefinitionError> {
        let mut stored = self.stored();
        let index = find(&stored, definition.id, expected)?;
        check_name(&stored, definition)?;
        stored[index] = definition.clone();
        Ok(())
    }

    async fn remove(&self, id: DefinitionId, expected: u64) -> Result<(), DefinitionError> {
        let mut stored = self.stored();
        let index = find(&stored, id, expected)?;
        stored.remove(index);
        Ok(())
    }
}
