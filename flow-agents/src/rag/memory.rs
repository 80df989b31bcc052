//! Passages in memory.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use super::passages::{
    FoundPassage, Passage, PassageId, Passages, PassagesError, likeness, likest, unit,
};

/// [`Passages`] in memory, for tests and temporary data. All vectors are compared.
#[derive(Debug, Default)]
pub struct MemoryPassages {
    kept: Mutex<Kept>,
}

type Kept = BTreeMap<PassageId, (Passage, Vec<f32>)>;

impl MemoryPassages {
    /// Creates an empty store.
    pub fn new() -> MemoryPassages {
        MemoryPassages::default()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn dimensions(kept: &Kept) -> Option<usize> {
    kept.values().next().map(|(_, vector)| vector.len())
}

#[async_trait]
impl Passages for MemoryPassages {
    async fn add(&self, passages: &[(Passage, Vec<f32>)]) -> Result<(), PassagesError> {
        let mut kept = self.kept();
        let mut expected = dimensions(&kept);
        let mut added = Vec::with_capacity(passages.len());
        for (passage, vector) in passages {
            let vector = unit(vector, expected)?;
            expected = Some(vector.len());
            added.push((passage.id(), (passage.clone(), vector)));
        }
        kept.extend(added);
        Ok(())
    }

    async fn remove_from(&self, source: &str, place: usize) -> Result<(), PassagesError> {
        self.kept()
            .retain(|id, _| id.source != source || id.place < place);
        Ok(())
    }

    async fn nearest(
        &self,
        vector: &[f32],
        limit: usize,
    ) -> Result<Vec<FoundPassage>, PassagesError> {
        let kept = self.kept();
        let vector = unit(vector, dimensions(&kept))?;
        let found = kept
            .iter()
            .map(|(id, (_, other))| (likeness(&vector, other.iter().copied()), id));
        let found = likest(found.collect(), limit).into_iter();
        let found = found.filter_map(|(likeness, id)| {
            let (passage, _) = kept.get(id)?;
            Some(FoundPassage {
                passage: passage.clone(),
                likeness,
            })
        });
        Ok(found.collect())
    }

    async fn get(&self, ids: &[PassageId]) -> Result<Vec<Passage>, PassagesError> {
        let kept = self.kept();
        let found = ids.iter().filter_map(|id| kept.get(id));
        Ok(found.map(|(passage, _)| passage.clone()).collect())
    }
}
