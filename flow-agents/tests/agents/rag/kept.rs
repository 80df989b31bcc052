//! What all stores of passages have in common.

use std::sync::Arc;

use flow_agents::rag::{MemoryPassages, Passages, PassagesError};

use super::passage;

type Stores = Vec<(&'static str, Arc<dyn Passages>)>;

/// The stores, each empty. The folder of the one in a file goes when it is dropped.
fn stores() -> (Stores, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let stores: Stores = vec![
        ("memory", Arc::new(MemoryPassages::new())),
        #[cfg(feature = "sqlite")]
        (
            "SQLite",
            Arc::new(
                flow_agents::rag::SqlitePassages::open(folder.path().join("passages.db")).unwrap(),
            ),
        ),
    ];
    (stores, folder)
}

#[tokio::test]
async fn the_likest_are_first_whatever_the_length_of_their_vectors() {
    let (stores, _folder) = stores();
    for (name, store) in stores {
        assert_eq!(store.nearest(&[1.0], 3).await.unwrap(), [], "{name}");
        let kept = [
            (passage("a", 1, "east"), vec![100.0, 0.0]),
            (passage("b", 0, "nowhere"), vec![0.0, 0.0]),
            (passage("a", 0, "north-east"), vec![0.5, 0.5]),
            (passage("a", 2, "west"), vec![-3.0, 0.0]),
            (passage("0", 9, "east, too"), vec![0.1, 0.0]),
        ];
        store.add(&kept).await.unwrap();
        let found = store.nearest(&[7.0, 0.0], 4).await.unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|it| (it.passage.text.as_str(), it.likeness))
            .collect();
        assert_eq!(found[..2], [("east, too", 1.0), ("east", 1.0)], "{name}");
        assert_eq!(found[2].0, "north-east", "{name}");
        assert!((found[2].1 - 0.5_f32.sqrt()).abs() < 1e-6, "{name}");
        assert_eq!(found[3..], [("nowhere", 0.0)], "{name}");
        assert_eq!(store.nearest(&[0.0, 1.0], 0).await.unwrap(), [], "{name}");
    }
}

#[tokio::test]
async fn a_passage_is_kept_once_and_removed_with_its_document_from_a_place_on() {
    let (stores, _folder) = stores();
    for (name, store) in stores {
        let kept: Vec<_> = (0..4)
            .map(|it| (passage("a", it, "old"), vec![1.0]))
            .collect();
        store.add(&kept).await.unwrap();
        store
            .add(&[
                (passage("a", 1, "new"), vec![1.0]),
                (passage("b", 3, "other"), vec![1.0]),
            ])
            .await
            .unwrap();
        store.remove_from("a", 2).await.unwrap();
        let ids: Vec<_> = (0..4).rev().map(|it| passage("a", it, "").id()).collect();
        let found = store.get(&ids).await.unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|it| (it.place, it.text.as_str()))
            .collect();
        assert_eq!(found, [(1, "new"), (0, "old")], "{name}");
        assert_eq!(store.nearest(&[1.0], 9).await.unwrap().len(), 3, "{name}");
        store.remove_from("a", 0).await.unwrap();
        assert_eq!(store.nearest(&[1.0], 9).await.unwrap().len(), 1, "{name}");
    }
}

#[tokio::test]
async fn vectors_of_another_embedding_are_refused_and_nothing_is_kept() {
    let (stores, _folder) = stores();
    for (name, store) in stores {
        let two_lengths = [
            (passage("a", 0, ""), vec![1.0]),
            (passage("a", 1, ""), vec![1.0, 0.0]),
        ];
        store.add(&two_lengths).await.unwrap_err();
        let error = store
            .add(&[(passage("a", 0, ""), vec![f32::NAN])])
            .await
            .unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("it has a number that is not finite"),
            "{name}: {error}"
        );
        assert_eq!(store.nearest(&[1.0], 9).await.unwrap(), [], "{name}");
        store.add(&two_lengths[..1]).await.unwrap();
        let error = store.nearest(&[1.0, 0.0], 9).await.unwrap_err();
        assert!(matches!(error, PassagesError::Vector { .. }));
        let told = "a vector cannot be compared: it has 2 numbers, and those that are kept have 1";
        assert_eq!(error.to_string(), told, "{name}");
    }
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn a_file_of_something_else_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spent.db");
    flow_agents::SqliteLedger::open(&path).unwrap();
    let error = flow_agents::rag::SqlitePassages::open(&path).unwrap_err();
    let source = std::error::Error::source(&error).unwrap();
    assert_eq!(
        source.to_string(),
        "the file is a database of something else"
    );
}
