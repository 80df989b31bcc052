//! What all graphs have in common.

use std::sync::Arc;

use flow_agents::knowledge::{Fact, Graph, GraphError, MemoryGraph};

use super::{entity, fact, strings};

type Graphs = Vec<(&'static str, Arc<dyn Graph>)>;

/// The graphs, each empty. The folder of the one in a file goes when it is dropped.
fn graphs() -> (Graphs, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let graphs: Graphs = vec![
        ("memory", Arc::new(MemoryGraph::new())),
        #[cfg(feature = "sqlite")]
        (
            "SQLite",
            Arc::new(
                flow_agents::knowledge::SqliteGraph::open(folder.path().join("known.db")).unwrap(),
            ),
        ),
    ];
    (graphs, folder)
}

fn ids(facts: &[Fact]) -> Vec<&str> {
    facts.iter().map(|it| it.id.as_str()).collect()
}

#[tokio::test]
async fn names_are_found_best_first_and_as_many_as_are_wanted() {
    let (graphs, _folder) = graphs();
    for (name, graph) in graphs {
        let known = ["Ann Lee", "Annie", "Bob", "Ann"].map(|name| entity(name, &["a"]));
        graph.save(&known, &[]).await.unwrap();
        let found = |limit| {
            let graph = graph.clone();
            async move {
                let found = graph
                    .find("Does Ann Lee know anything?", limit)
                    .await
                    .unwrap();
                found.into_iter().map(|it| it.name).collect::<Vec<_>>()
            }
        };
        assert_eq!(found(9).await, ["Ann", "Ann Lee"], "{name}");
        assert_eq!(found(1).await, ["Ann"], "{name}");
        assert_eq!(graph.find("", 9).await.unwrap(), [], "{name}");
        // Under another name, it is found under that name only.
        let mut bob = entity("Bob", &["b"]);
        "Robert".clone_into(&mut bob.name);
        graph.save(&[bob.clone()], &[]).await.unwrap();
        assert_eq!(graph.find("Bob", 9).await.unwrap(), [], "{name}");
        bob.sources = strings(&["a", "b"]);
        assert_eq!(graph.find("ROBERT!", 9).await.unwrap(), [bob], "{name}");
    }
}

#[tokio::test]
async fn what_is_saved_twice_is_there_once_and_keeps_what_the_second_time_does_not_say() {
    let (graphs, _folder) = graphs();
    for (name, graph) in graphs {
        let entities = [entity("ann", &["a"]), entity("bob", &["a"])];
        let mut first = fact("1", "ann", "bob", &["a"]);
        first.since = Some("2024".to_owned());
        let replaced = Fact {
            replaced_by: Some("1".to_owned()),
            ..fact("0", "bob", "ann", &["a"])
        };
        let facts = [first.clone(), replaced];
        for _ in 0..2 {
            graph.save(&entities, &facts).await.unwrap();
        }
        let mut again = fact("1", "ann", "bob", &["b"]);
        again.text = "They know each other.".to_owned();
        graph
            .save(&[], &[again, fact("0", "bob", "ann", &["a"])])
            .await
            .unwrap();
        let found = graph
            .facts(&strings(&["thing:ann", "thing:bob"]), 9)
            .await
            .unwrap();
        assert_eq!(ids(&found), ["1", "0"], "{name}: those that hold are first");
        assert_eq!(found[0].text, "They know each other.", "{name}");
        assert_eq!(found[0].since.as_deref(), Some("2024"), "{name}");
        assert_eq!(found[0].sources, ["a", "b"], "{name}");
        assert_eq!(found[1].replaced_by.as_deref(), Some("1"), "{name}");
        assert_eq!(
            graph
                .facts(&strings(&["thing:bob"]), 1)
                .await
                .unwrap()
                .len(),
            1,
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_fact_about_something_unknown_saves_nothing() {
    let (graphs, _folder) = graphs();
    for (name, graph) in graphs {
        let saved = graph
            .save(&[entity("ann", &["a"])], &[fact("1", "ann", "bob", &["a"])])
            .await;
        let error = saved.unwrap_err();
        assert!(
            matches!(&error, GraphError::UnknownEntity { entity, .. } if entity == "thing:bob")
        );
        let told = "the fact \"1\" is about \"thing:bob\", which the graph does not have";
        assert_eq!(error.to_string(), told, "{name}");
        assert_eq!(
            graph.entities(&strings(&["thing:ann"])).await.unwrap(),
            [],
            "{name}"
        );
    }
}

#[tokio::test]
async fn what_only_one_text_said_is_forgotten_with_it() {
    let (graphs, _folder) = graphs();
    for (name, graph) in graphs {
        let entities = [
            entity("ann", &["a", "b"]),
            entity("bob", &["b"]),
            entity("cat", &["a", "b"]),
        ];
        let replaced = Fact {
            replaced_by: Some("2".to_owned()),
            ..fact("3", "cat", "ann", &["a"])
        };
        let facts = [
            fact("1", "ann", "bob", &["a"]),
            fact("2", "ann", "cat", &["b"]),
            replaced,
        ];
        graph.save(&entities, &facts).await.unwrap();
        graph.forget("nothing").await.unwrap();
        graph.forget("b").await.unwrap();
        let all = strings(&["thing:ann", "thing:bob", "thing:cat"]);
        let left = graph.entities(&all).await.unwrap();
        let left: Vec<_> = left
            .iter()
            .map(|it| (it.name.as_str(), it.sources.len()))
            .collect();
        assert_eq!(left, [("ann", 1), ("cat", 1)], "{name}");
        // That about Bob is gone with him, and what was replaced holds again.
        let facts = graph.facts(&all, 9).await.unwrap();
        assert_eq!(ids(&facts), ["3"], "{name}");
        assert_eq!(facts[0].replaced_by, None, "{name}");
    }
}

/// What ended only because something else began goes on when that is forgotten.
#[tokio::test]
async fn what_holds_again_has_no_end() {
    let (graphs, _folder) = graphs();
    for (name, graph) in graphs {
        let entities = [entity("ann", &["a", "b"]), entity("bob", &["a", "b"])];
        let began = Fact {
            since: Some("2024".to_owned()),
            ..fact("2", "ann", "bob", &["b"])
        };
        let ended = |id: &str, until: &str| Fact {
            until: Some(until.to_owned()),
            replaced_by: Some("2".to_owned()),
            ..fact(id, "ann", "bob", &["a"])
        };
        let facts = [began, ended("3", "2024"), ended("4", "2020")];
        graph.save(&entities, &facts).await.unwrap();
        for _ in 0..2 {
            graph.forget("b").await.unwrap();
        }
        let facts = graph.facts(&strings(&["thing:ann"]), 9).await.unwrap();
        let ends: Vec<_> = facts.iter().map(|it| it.until.as_deref()).collect();
        assert_eq!(ends, [None, Some("2020")], "{name}");
        // Nothing is told of an entity by a text that tells nothing.
        let mut silent = entity("ann", &["c"]);
        silent.summary = " \n".to_owned();
        graph.save(&[silent], &[]).await.unwrap();
        let ann = &graph.entities(&strings(&["thing:ann"])).await.unwrap()[0];
        assert_eq!(ann.summary, entity("ann", &["a", "b"]).summary, "{name}");
    }
}

#[cfg(feature = "sqlite")]
mod files {
    use flow_agents::SqliteLedger;
    use flow_agents::knowledge::SqliteGraph;
    use proptest::prelude::*;
    use proptest::test_runner::TestRunner;

    use super::*;

    #[tokio::test]
    async fn a_file_of_something_else_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("spent.db");
        SqliteLedger::open(&path).unwrap();
        let error = SqliteGraph::open(&path).unwrap_err();
        let source = std::error::Error::source(&error).unwrap();
        assert_eq!(
            source.to_string(),
            "the file is a database of something else"
        );
    }

    #[derive(Debug, Clone)]
    enum Call {
        Save(Vec<(u8, u8)>, Vec<(u8, u8, u8, u8, Option<u8>)>),
        Forget(u8),
    }

    fn calls() -> impl Strategy<Value = Vec<Call>> {
        let entities = prop::collection::vec((0..5_u8, 0..3_u8), 0..4);
        let facts = prop::collection::vec(
            (
                0..6_u8,
                0..5_u8,
                0..5_u8,
                0..3_u8,
                prop::option::of(0..6_u8),
            ),
            0..4,
        );
        let call = prop_oneof![
            3 => (entities, facts).prop_map(|(entities, facts)| Call::Save(entities, facts)),
            1 => (0..3_u8).prop_map(Call::Forget),
        ];
        prop::collection::vec(call, 1..12)
    }

    const NAMES: [&str; 5] = ["ann", "ann lee", "bob", "anna", "bobby lee"];

    async fn called(graph: &dyn Graph, call: &Call) -> String {
        let source = |at: u8| at.to_string();
        let done = match call {
            Call::Save(entities, facts) => {
                let entities = entities
                    .iter()
                    .map(|(name, of)| entity(NAMES[usize::from(*name)], &[&source(*of)]));
                let facts = facts
                    .iter()
                    .map(|(id, subject, object, of, replaced_by)| Fact {
                        replaced_by: replaced_by.map(|it| it.to_string()),
                        until: replaced_by.map(|it| format!("200{it}")),
                        ..fact(
                            &id.to_string(),
                            NAMES[usize::from(*subject)],
                            NAMES[usize::from(*object)],
                            &[&source(*of)],
                        )
                    });
                let (entities, facts): (Vec<_>, Vec<_>) = (entities.collect(), facts.collect());
                graph.save(&entities, &facts).await
            }
            Call::Forget(of) => graph.forget(&source(*of)).await,
        };
        let ids = NAMES.map(|name| format!("thing:{name}"));
        let found = (
            done.map_err(|error| error.to_string()),
            graph.find("ann lee and bobby", 4).await.unwrap(),
            graph.entities(&ids).await.unwrap(),
            graph.facts(&ids, 100).await.unwrap(),
            graph.facts(&ids[..1], 2).await.unwrap(),
        );
        format!("{found:#?}")
    }

    /// Whatever is called, both graphs show the same.
    #[test]
    fn a_graph_in_a_file_shows_what_one_in_memory_shows() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let mut runner = TestRunner::new(ProptestConfig::with_cases(60));
        let held = runner.run(&calls(), |calls| {
            runtime.block_on(async {
                let folder = tempfile::tempdir().unwrap();
                let file = SqliteGraph::open(folder.path().join("known.db")).unwrap();
                let memory = MemoryGraph::new();
                for call in &calls {
                    let (one, other) = (called(&memory, call).await, called(&file, call).await);
                    prop_assert_eq!(one, other, "after {:?}", call);
                }
                Ok(())
            })
        });
        held.unwrap();
    }
}
