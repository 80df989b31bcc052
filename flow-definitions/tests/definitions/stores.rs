//! What every store does.

use flow_definitions::{
    Definition, DefinitionError, DefinitionStore, Definitions, MemoryDefinitions,
};
use serde_json::json;

use super::{draft, nodes};

/// A definition that no store has yet.
async fn new(name: &str) -> Definition {
    let definitions = Definitions::new(MemoryDefinitions::new(), nodes());
    definitions.create(draft(name)).await.unwrap()
}

async fn keeps_its_promises(store: impl DefinitionStore) {
    let (one, two) = (new("One").await, new("Two").await);
    assert_eq!(store.get(one.id).await.unwrap(), None);
    store.insert(&one).await.unwrap();
    store.insert(&two).await.unwrap();
    assert_eq!(
        store.list().await.unwrap(),
        [Ok(two.clone()), Ok(one.clone())]
    );
    let taken = store.insert(&new("One").await).await.unwrap_err();
    assert!(matches!(taken, DefinitionError::NameTaken(name) if name == "One"));

    // A change does not move it to the front.
    let mut changed = one.clone();
    changed.revision = 2;
    changed
        .content
        .configuration
        .insert("share".to_owned(), json!(0.1));
    store.replace(&changed, 1).await.unwrap();
    assert_eq!(
        store.list().await.unwrap(),
        [Ok(two.clone()), Ok(changed.clone())]
    );
    let late = store.replace(&one, 1).await.unwrap_err();
    assert!(matches!(
        late,
        DefinitionError::Conflict {
            expected: 1,
            stored: 2
        }
    ));
    changed.content.flow["name"] = "Two".into();
    let taken = store.replace(&changed, 2).await.unwrap_err();
    assert!(matches!(taken, DefinitionError::NameTaken(name) if name == "Two"));
    assert_eq!(store.get(one.id).await.unwrap().unwrap().name(), "One");
    let unknown = store.replace(&new("Three").await, 1).await.unwrap_err();
    assert!(matches!(unknown, DefinitionError::NotFound(_)));

    let late = store.remove(one.id, 1).await.unwrap_err();
    assert!(matches!(
        late,
        DefinitionError::Conflict {
            expected: 1,
            stored: 2
        }
    ));
    store.remove(one.id, 2).await.unwrap();
    let unknown = store.remove(one.id, 2).await.unwrap_err();
    assert!(matches!(unknown, DefinitionError::NotFound(id) if id == one.id));
    assert_eq!(store.list().await.unwrap(), [Ok(two)]);
}

/// Of many patches of the same revision at the same time, one is stored. The others see that.
async fn takes_one_of_many(editors: &[Definitions]) {
    let first = &editors[0];
    let id = first.create(draft("Article")).await.unwrap().id;
    let patches = (0..32).map(|number: usize| {
        let definitions = editors[number % editors.len()].clone();
        tokio::spawn(async move {
            let patch = json!({ "configuration": { "words": number } });
            definitions.patch(id, 1, &patch).await
        })
    });
    let mut stored = Vec::new();
    for patch in patches.collect::<Vec<_>>() {
        match patch.await.unwrap() {
            Ok(definition) => stored.push(definition),
            Err(DefinitionError::Conflict { .. }) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
    assert_eq!(stored.len(), 1);
    assert_eq!(first.get(id).await.unwrap(), stored[0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn memory() {
    keeps_its_promises(MemoryDefinitions::new()).await;
    let definitions = Definitions::new(MemoryDefinitions::new(), nodes());
    takes_one_of_many(&[definitions]).await;
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use std::error::Error as _;

    use flow_definitions::{Definitions, SqliteDefinitions};
    use tempfile::TempDir;

    use super::{draft, keeps_its_promises, nodes, takes_one_of_many};

    fn opened(folder: &TempDir) -> SqliteDefinitions {
        SqliteDefinitions::open(folder.path().join("definitions.db")).unwrap()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_file() {
        let folder = tempfile::tempdir().unwrap();
        keeps_its_promises(opened(&folder)).await;
        // As two processes have it open.
        let editors = [opened(&folder), opened(&folder)];
        takes_one_of_many(&editors.map(|store| Definitions::new(store, nodes()))).await;
    }

    #[tokio::test]
    async fn a_file_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let definitions = Definitions::new(opened(&folder), nodes());
        let created = definitions.create(draft("Article")).await.unwrap();
        drop(definitions);
        let definitions = Definitions::new(opened(&folder), nodes());
        assert_eq!(definitions.list().await.unwrap(), [Ok(created)]);
    }

    #[tokio::test]
    async fn one_that_is_damaged_is_named_beside_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let definitions = Definitions::new(opened(&folder), nodes());
        let one = definitions.create(draft("One")).await.unwrap();
        let two = definitions.create(draft("Two")).await.unwrap();
        let other = rusqlite::Connection::open(folder.path().join("definitions.db")).unwrap();
        let damage = "UPDATE definitions SET definition = '{' WHERE name = 'Two'";
        assert_eq!(other.execute(damage, []).unwrap(), 1);
        let listed = definitions.list().await.unwrap();
        let damaged = listed[0].as_ref().unwrap_err();
        assert_eq!(
            (damaged.id.as_str(), damaged.name.as_str()),
            (&*two.id.to_string(), "Two")
        );
        assert!(damaged.to_string().contains("is damaged: EOF"), "{damaged}");
        assert_eq!(listed[1..], [Ok(one)]);
    }

    #[tokio::test]
    async fn files_of_others_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |sql: &str, why: &str| {
            let path = folder.path().join("other.db");
            let other = rusqlite::Connection::open(&path).unwrap();
            other.execute_batch(sql).unwrap();
            let error = SqliteDefinitions::open(&path).unwrap_err();
            let error = error.source().unwrap().to_string();
            assert!(error.contains(why), "{error}");
        };
        refused("CREATE TABLE own (id)", "is a database of something else");
        refused(
            "PRAGMA application_id = 0x666c6466; PRAGMA user_version = 2",
            "has the version 2, and this program knows the version 1",
        );
        std::fs::write(
            folder.path().join("text.db"),
            "It is a text, and no database.",
        )
        .unwrap();
        assert!(SqliteDefinitions::open(folder.path().join("text.db")).is_err());
    }

    #[tokio::test]
    async fn damage_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let definitions = Definitions::new(opened(&folder), nodes());
        let id = definitions.create(draft("Article")).await.unwrap().id;
        let other = rusqlite::Connection::open(folder.path().join("definitions.db")).unwrap();
        other
            .execute("UPDATE definitions SET definition = '{}'", [])
            .unwrap();
        let error = definitions.get(id).await.unwrap_err();
        let reason = error.source().unwrap().to_string();
        assert!(
            reason.contains("a stored definition is damaged"),
            "{reason}"
        );
    }
}
