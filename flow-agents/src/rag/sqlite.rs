//! Passages in an SQLite file.

use std::path::Path;

use async_trait::async_trait;
use rusqlite::{OptionalExtension as _, Transaction, params};

use super::passages::{
    FoundPassage, Passage, PassageId, Passages, PassagesError, likeness, likest, unit,
};
use crate::sqlite::{Failure, Layout, SqliteFile};

const LAYOUT: Layout = Layout {
    application: 0x666c_7061, // `flpa`
    version: 1,
    tables: "
        CREATE TABLE passages (
            source TEXT NOT NULL,
            place INTEGER NOT NULL,
            text TEXT NOT NULL,
            vector BLOB NOT NULL,
            PRIMARY KEY (source, place)
        ) STRICT;
    ",
    added: "",
};

/// [`Passages`] in an SQLite file, which several processes may have open.
///
/// Added passages are on disk when the call returns. For each question, all vectors are read and
/// compared: that is exact, and its time grows with their number. For very many, implement
/// [`Passages`] on a vector database. Calls wait for the disk on tokio's blocking threads, so they
/// need a tokio runtime.
///
/// # Examples
/// ```
/// use flow_agents::rag::{Passage, Passages, SqlitePassages};
///
/// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("passages.db");
/// let passage = Passage {
///     source: "handbook.md".into(),
///     place: 0,
///     text: "Trains are paid in second class.".into(),
/// };
/// SqlitePassages::open(&path)?.add(&[(passage.clone(), vec![0.6, 0.8])]).await?;
///
/// let again = SqlitePassages::open(&path)?;
/// let found = again.nearest(&[1.0, 0.0], 3).await?;
/// assert_eq!((&found[0].passage, found[0].likeness), (&passage, 0.6));
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct SqlitePassages {
    file: SqliteFile,
}

impl SqlitePassages {
    /// Opens a file, and creates it if it does not exist. Waits for the disk.
    ///
    /// # Errors
    /// [`PassagesError::Store`] if the file cannot be opened, is another kind of database, or comes
    /// from a later version of this crate.
    pub fn open(path: impl AsRef<Path>) -> Result<SqlitePassages, PassagesError> {
        let file = SqliteFile::open(path.as_ref(), &LAYOUT).map_err(failed)?;
        Ok(SqlitePassages { file })
    }
}

fn failed(source: Failure) -> PassagesError {
    PassagesError::Store { source }
}

fn sqlite(error: rusqlite::Error) -> PassagesError {
    failed(error.into())
}

/// The dimension of the vectors, if there are any.
fn dimensions(transaction: &Transaction<'_>) -> Result<Option<usize>, PassagesError> {
    let select = "SELECT length(vector) / 4 FROM passages LIMIT 1";
    let found = transaction.query_row(select, [], |row| row.get::<_, u32>(0));
    let found = found.optional().map_err(sqlite)?;
    Ok(found.and_then(|it| usize::try_from(it).ok()))
}

fn numbers(blob: &[u8]) -> impl Iterator<Item = f32> {
    let (numbers, _) = blob.as_chunks::<4>();
    numbers.iter().map(|number| f32::from_le_bytes(*number))
}

fn add(
    transaction: &Transaction<'_>,
    passages: &[(Passage, Vec<f32>)],
) -> Result<(), PassagesError> {
    let mut expected = dimensions(transaction)?;
    let insert =
        "INSERT OR REPLACE INTO passages (source, place, text, vector) VALUES (?1, ?2, ?3, ?4)";
    let mut insert = transaction.prepare_cached(insert).map_err(sqlite)?;
    for (passage, vector) in passages {
        let vector = unit(vector, expected)?;
        expected = Some(vector.len());
        let blob: Vec<u8> = vector.iter().flat_map(|it| it.to_le_bytes()).collect();
        let Passage {
            source,
            place,
            text,
        } = passage;
        insert
            .execute(params![source, place_of(*place), text, blob])
            .map_err(sqlite)?;
    }
    Ok(())
}

fn nearest(
    transaction: &Transaction<'_>,
    vector: &[f32],
    limit: usize,
) -> Result<Vec<FoundPassage>, PassagesError> {
    let vector = unit(vector, dimensions(transaction)?)?;
    let mut select =
        transaction.prepare_cached("SELECT rowid, source, place, vector FROM passages");
    let select = select
        .as_mut()
        .map_err(|error| failed(error.to_string().into()))?;
    let mut rows = select.query([]).map_err(sqlite)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(sqlite)? {
        let blob = row.get_ref(3).map_err(sqlite)?;
        let blob = blob.as_blob().map_err(|error| failed(error.into()))?;
        let place: i64 = row.get(2).map_err(sqlite)?;
        let source: String = row.get(1).map_err(sqlite)?;
        let row: i64 = row.get(0).map_err(sqlite)?;
        found.push((likeness(&vector, numbers(blob)), (source, place, row)));
    }
    let select = "SELECT text FROM passages WHERE rowid = ?1";
    let mut select = transaction.prepare_cached(select).map_err(sqlite)?;
    let mut passages = Vec::new();
    for (likeness, (source, place, row)) in likest(found, limit) {
        let text = select.query_row([row], |row| row.get(0)).map_err(sqlite)?;
        let place = usize::try_from(place).map_err(|error| failed(error.into()))?;
        let passage = Passage {
            source,
            place,
            text,
        };
        passages.push(FoundPassage { passage, likeness });
    }
    Ok(passages)
}

/// Saturates: no document has so many passages.
fn place_of(place: usize) -> i64 {
    i64::try_from(place).unwrap_or(i64::MAX)
}

fn get(transaction: &Transaction<'_>, ids: &[PassageId]) -> rusqlite::Result<Vec<Passage>> {
    let select = "SELECT text FROM passages WHERE source = ?1 AND place = ?2";
    let mut select = transaction.prepare_cached(select)?;
    let mut found = Vec::new();
    for PassageId { source, place } in ids {
        let text = select.query_row(params![source, place_of(*place)], |row| row.get(0));
        found.extend(text.optional()?.map(|text| Passage {
            source: source.clone(),
            place: *place,
            text,
        }));
    }
    Ok(found)
}

#[async_trait]
impl Passages for SqlitePassages {
    async fn add(&self, passages: &[(Passage, Vec<f32>)]) -> Result<(), PassagesError> {
        let passages = passages.to_vec();
        let call = move |transaction: &Transaction<'_>| add(transaction, &passages);
        self.file.within(failed, call).await
    }

    async fn remove_from(&self, source: &str, place: usize) -> Result<(), PassagesError> {
        let source = source.to_owned();
        let call = move |transaction: &Transaction<'_>| {
            let delete = "DELETE FROM passages WHERE source = ?1 AND place >= ?2";
            let deleted = transaction.execute(delete, params![source, place_of(place)]);
            deleted.map(drop).map_err(sqlite)
        };
        self.file.within(failed, call).await
    }

    async fn nearest(
        &self,
        vector: &[f32],
        limit: usize,
    ) -> Result<Vec<FoundPassage>, PassagesError> {
        let vector = vector.to_vec();
        let call = move |transaction: &Transaction<'_>| nearest(transaction, &vector, limit);
        self.file.read(failed, call).await
    }

    async fn get(&self, ids: &[PassageId]) -> Result<Vec<Passage>, PassagesError> {
        let ids = ids.to_vec();
        let call = move |transaction: &Transaction<'_>| get(transaction, &ids).map_err(sqlite);
        self.file.read(failed, call).await
    }
}
