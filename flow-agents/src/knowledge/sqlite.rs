//! A graph in an SQLite file.

use std::path::Path;

use async_trait::async_trait;
use rusqlite::{OptionalExtension as _, Row, Transaction, params};
use serde_json::json;

use super::graph::{Entity, Fact, Graph, GraphError};
use super::names::{grams, likeness, number};
use crate::sqlite::{Failure, Layout, SqliteFile};

const LAYOUT: Layout = Layout {
    application: 0x666c_6b6e, // `flkn`
    version: 1,
    tables: "
        CREATE TABLE entities (
            id TEXT PRIMARY KEY,
            name TEXT NOT NULL,
            kind TEXT NOT NULL,
            summary TEXT NOT NULL,
            grams INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE grams (
            gram TEXT NOT NULL,
            entity TEXT NOT NULL REFERENCES entities ON DELETE CASCADE,
            PRIMARY KEY (gram, entity)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX grams_of_entity ON grams (entity);
        CREATE TABLE entity_sources (
            source TEXT NOT NULL,
            entity TEXT NOT NULL REFERENCES entities ON DELETE CASCADE,
            PRIMARY KEY (entity, source)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX entities_of_source ON entity_sources (source);
        CREATE TABLE facts (
            id TEXT PRIMARY KEY,
            subject TEXT NOT NULL REFERENCES entities ON DELETE CASCADE,
            relation TEXT NOT NULL,
            object TEXT NOT NULL REFERENCES entities ON DELETE CASCADE,
            text TEXT NOT NULL,
            since TEXT,
            until TEXT,
            replaced_by TEXT
        ) STRICT;
        CREATE INDEX facts_of_subject ON facts (subject);
        CREATE INDEX facts_of_object ON facts (object);
        CREATE INDEX facts_replaced ON facts (replaced_by);
        CREATE TABLE fact_sources (
            source TEXT NOT NULL,
            fact TEXT NOT NULL REFERENCES facts ON DELETE CASCADE,
            PRIMARY KEY (fact, source)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX facts_of_source ON fact_sources (source);
    ",
    added: "",
};

const ENTITY: &str = "
    SELECT id, name, kind, summary,
        (SELECT json_group_array(source) FROM (SELECT source FROM entity_sources WHERE entity = id ORDER BY source))
    FROM entities WHERE id = ?1
";

const ALIKE: &str = "
    SELECT entity, count(*), entities.grams FROM grams JOIN entities ON entities.id = entity
    WHERE gram IN (SELECT value FROM json_each(?1)) GROUP BY entity
";

const FACTS: &str = "
    SELECT id, subject, relation, object, text, since, until, replaced_by,
        (SELECT json_group_array(source) FROM (SELECT source FROM fact_sources WHERE fact = id ORDER BY source))
    FROM facts
    WHERE id IN (
        SELECT id FROM facts WHERE subject IN (SELECT value FROM json_each(?1))
        UNION SELECT id FROM facts WHERE object IN (SELECT value FROM json_each(?1))
    )
    ORDER BY replaced_by IS NOT NULL, id LIMIT ?2
";

const SAVE_ENTITY: &str = "
    INSERT INTO entities (id, name, kind, summary, grams) VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT (id) DO UPDATE
    SET name = excluded.name, kind = excluded.kind, grams = excluded.grams,
        summary = iif(trim(excluded.summary, char(9, 10, 13, 32)) = '', summary, excluded.summary)
";

const SAVE_FACT: &str = "
    INSERT INTO facts (id, subject, relation, object, text, since, until, replaced_by)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
    ON CONFLICT (id) DO UPDATE
    SET subject = excluded.subject, relation = excluded.relation, object = excluded.object, text = excluded.text,
        since = coalesce(excluded.since, since), until = coalesce(excluded.until, until),
        replaced_by = coalesce(excluded.replaced_by, replaced_by)
";

/// Removes everything whose last source is this one, with the facts about it.
const FORGET: &[&str] = &[
    "DELETE FROM entities WHERE id IN (SELECT entity FROM entity_sources WHERE source = ?1)
     AND NOT EXISTS (SELECT 1 FROM entity_sources WHERE entity = id AND source <> ?1)",
    "DELETE FROM facts WHERE id IN (SELECT fact FROM fact_sources WHERE source = ?1)
     AND NOT EXISTS (SELECT 1 FROM fact_sources WHERE fact = id AND source <> ?1)",
    "DELETE FROM entity_sources WHERE source = ?1",
    "DELETE FROM fact_sources WHERE source = ?1",
];

/// The facts that ended when the replacing fact began.
const ENDED: &str = "
    CREATE TEMP TABLE ended AS
    SELECT fact.id FROM facts AS fact JOIN facts AS other ON other.id = fact.replaced_by
    WHERE fact.until = other.since
";

const HOLD_AGAIN: &[&str] = &[
    "UPDATE facts
     SET replaced_by = NULL, until = iif(id IN (SELECT id FROM ended), NULL, until)
     WHERE replaced_by IS NOT NULL AND replaced_by NOT IN (SELECT id FROM facts)",
    "DROP TABLE ended",
];

/// A [`Graph`] in an SQLite file, which several processes may have open.
///
/// Saved data is on disk when the call returns. Calls wait for the disk on tokio's blocking
/// threads, so they need a tokio runtime. A process waits up to five seconds for another one that
/// writes. Names are found by an index of their groups of three letters.
///
/// # Examples
/// ```
/// use flow_agents::knowledge::{Entity, Graph, SqliteGraph};
///
/// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("known.db");
/// let acme = Entity {
///     id: "company:acme".into(),
///     name: "Acme".into(),
///     kind: "company".into(),
///     summary: "It builds bridges.".into(),
///     sources: vec!["letter.txt".into()],
/// };
/// SqliteGraph::open(&path)?.save(std::slice::from_ref(&acme), &[]).await?;
///
/// let again = SqliteGraph::open(&path)?;
/// assert_eq!(again.find("Who is at ACME?", 3).await?, [acme]);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct SqliteGraph {
    file: SqliteFile,
}

impl SqliteGraph {
    /// Opens a file, and creates it if it does not exist. Waits for the disk.
    ///
    /// # Errors
    /// [`GraphError::Store`] if the file cannot be opened, is another kind of database, or comes
    /// from a later version of this crate.
    pub fn open(path: impl AsRef<Path>) -> Result<SqliteGraph, GraphError> {
        let file = SqliteFile::open(path.as_ref(), &LAYOUT).map_err(failed)?;
        Ok(SqliteGraph { file })
    }
}

fn failed(source: Failure) -> GraphError {
    GraphError::Store { source }
}

fn sqlite(error: rusqlite::Error) -> GraphError {
    failed(error.into())
}

fn sources(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<String>> {
    let sources: String = row.get(column)?;
    serde_json::from_str(&sources).map_err(|error| {
        let text = rusqlite::types::Type::Text;
        rusqlite::Error::FromSqlConversionFailure(column, text, Box::new(error))
    })
}

fn entity(row: &Row<'_>) -> rusqlite::Result<Entity> {
    Ok(Entity {
        id: row.get(0)?,
        name: row.get(1)?,
        kind: row.get(2)?,
        summary: row.get(3)?,
        sources: sources(row, 4)?,
    })
}

fn fact(row: &Row<'_>) -> rusqlite::Result<Fact> {
    Ok(Fact {
        id: row.get(0)?,
        subject: row.get(1)?,
        relation: row.get(2)?,
        object: row.get(3)?,
        text: row.get(4)?,
        since: row.get(5)?,
        until: row.get(6)?,
        replaced_by: row.get(7)?,
        sources: sources(row, 8)?,
    })
}

fn find(transaction: &Transaction<'_>, text: &str, limit: usize) -> rusqlite::Result<Vec<Entity>> {
    let wanted = grams(text);
    let mut select = transaction.prepare_cached(ALIKE)?;
    let mut rows = select.query([json!(wanted).to_string()])?;
    let mut found: Vec<(f64, String)> = Vec::new();
    while let Some(row) = rows.next()? {
        let (id, shared, all): (String, u32, u32) = (row.get(0)?, row.get(1)?, row.get(2)?);
        found.extend(likeness(shared, all, number(&wanted)).map(|likeness| (likeness, id)));
    }
    found.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    let ids = found.into_iter().take(limit).map(|(_, id)| id);
    entities(transaction, ids)
}

fn entities(
    transaction: &Transaction<'_>,
    ids: impl Iterator<Item = String>,
) -> rusqlite::Result<Vec<Entity>> {
    let mut select = transaction.prepare_cached(ENTITY)?;
    let mut found = Vec::new();
    for id in ids {
        found.extend(select.query_row([id], entity).optional()?);
    }
    Ok(found)
}

fn facts(transaction: &Transaction<'_>, ids: &str, limit: i64) -> rusqlite::Result<Vec<Fact>> {
    let mut select = transaction.prepare_cached(FACTS)?;
    select.query_map(params![ids, limit], fact)?.collect()
}

fn save_entity(transaction: &Transaction<'_>, entity: &Entity) -> rusqlite::Result<()> {
    let Entity {
        id,
        name,
        kind,
        summary,
        sources,
    } = entity;
    let grams = grams(name);
    let mut save = transaction.prepare_cached(SAVE_ENTITY)?;
    save.execute(params![id, name, kind, summary, number(&grams)])?;
    transaction.execute("DELETE FROM grams WHERE entity = ?1", [id])?;
    let mut add = transaction.prepare_cached("INSERT INTO grams (gram, entity) VALUES (?1, ?2)")?;
    for gram in grams {
        add.execute([&gram, id])?;
    }
    let add = "INSERT OR IGNORE INTO entity_sources (entity, source) VALUES (?1, ?2)";
    let mut add = transaction.prepare_cached(add)?;
    for source in sources {
        add.execute([id, source])?;
    }
    Ok(())
}

fn save_fact(transaction: &Transaction<'_>, fact: &Fact) -> Result<(), GraphError> {
    let known = "SELECT 1 FROM entities WHERE id = ?1";
    let mut known = transaction.prepare_cached(known).map_err(sqlite)?;
    for id in [&fact.subject, &fact.object] {
        if !known.exists([id]).map_err(sqlite)? {
            return Err(GraphError::UnknownEntity {
                fact: fact.id.clone(),
                entity: id.clone(),
            });
        }
    }
    let mut save = transaction.prepare_cached(SAVE_FACT).map_err(sqlite)?;
    let Fact {
        id,
        subject,
        relation,
        object,
        text,
        since,
        until,
        replaced_by,
        sources,
    } = fact;
    let saved = save.execute(params![
        id,
        subject,
        relation,
        object,
        text,
        since,
        until,
        replaced_by
    ]);
    saved.map_err(sqlite)?;
    let add = "INSERT OR IGNORE INTO fact_sources (fact, source) VALUES (?1, ?2)";
    let mut add = transaction.prepare_cached(add).map_err(sqlite)?;
    for source in sources {
        add.execute([id, source]).map_err(sqlite)?;
    }
    Ok(())
}

#[async_trait]
impl Graph for SqliteGraph {
    async fn find(&self, text: &str, limit: usize) -> Result<Vec<Entity>, GraphError> {
        let text = text.to_owned();
        let call =
            move |transaction: &Transaction<'_>| find(transaction, &text, limit).map_err(sqlite);
        self.file.read(failed, call).await
    }

    async fn entities(&self, ids: &[String]) -> Result<Vec<Entity>, GraphError> {
        let ids = ids.to_vec();
        let call = move |transaction: &Transaction<'_>| {
            entities(transaction, ids.into_iter()).map_err(sqlite)
        };
        self.file.read(failed, call).await
    }

    async fn facts(&self, entities: &[String], limit: usize) -> Result<Vec<Fact>, GraphError> {
        let ids = json!(entities).to_string();
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let call =
            move |transaction: &Transaction<'_>| facts(transaction, &ids, limit).map_err(sqlite);
        self.file.read(failed, call).await
    }

    async fn save(&self, entities: &[Entity], facts: &[Fact]) -> Result<(), GraphError> {
        let (entities, facts) = (entities.to_vec(), facts.to_vec());
        let call = move |transaction: &Transaction<'_>| {
            for entity in &entities {
                save_entity(transaction, entity).map_err(sqlite)?;
            }
            facts
                .iter()
                .try_for_each(|fact| save_fact(transaction, fact))
        };
        self.file.within(failed, call).await
    }

    async fn forget(&self, source: &str) -> Result<(), GraphError> {
        let source = source.to_owned();
        let call = move |transaction: &Transaction<'_>| {
            transaction.execute(ENDED, []).map_err(sqlite)?;
            for forget in FORGET {
                transaction.execute(forget, [&source]).map_err(sqlite)?;
            }
            for hold_again in HOLD_AGAIN {
                transaction.execute(hold_again, []).map_err(sqlite)?;
            }
            Ok(())
        };
        self.file.within(failed, call).await
    }
}
