//! Definitions are created, listed, patched, renamed and deleted.

use flow_definitions::{Content, DefinitionError, Position, Status};
use serde_json::json;

use super::{article, definitions, draft};

#[tokio::test]
async fn the_newest_definition_is_listed_first() {
    let definitions = definitions();
    for name in ["One", "Two", "Three"] {
        definitions.create(draft(name)).await.unwrap();
    }
    let listed = definitions.list().await.unwrap();
    let names: Vec<&str> = listed.iter().flatten().map(|one| one.name()).collect();
    assert_eq!(names, ["Three", "Two", "One"]);
}

#[tokio::test]
async fn a_draft_may_be_anything_with_a_name() {
    let definitions = definitions();
    let flow = json!({ "name": "  Begun ", "nodes": "none yet" });
    let begun = definitions.create(Content::new(flow)).await.unwrap();
    assert_eq!(begun.name(), "Begun");
    assert_eq!((begun.revision, begun.content.status), (1, Status::Draft));
    assert_eq!(definitions.get(begun.id).await.unwrap(), begun);

    for nameless in [json!({}), json!({ "name": " \t" })] {
        let error = definitions
            .create(Content::new(nameless))
            .await
            .unwrap_err();
        assert!(matches!(error, DefinitionError::NameRequired), "{error}");
    }
    for shapeless in [json!([]), json!({ "name": 7 })] {
        let error = definitions
            .create(Content::new(shapeless))
            .await
            .unwrap_err();
        assert!(matches!(error, DefinitionError::Malformed(_)), "{error}");
    }
    for number in [f64::NAN, f64::INFINITY] {
        let mut content = Content::new(json!({ "name": "Placed" }));
        let position = Position { x: 0.0, y: number };
        content.layout.insert("here".to_owned(), position);
        let error = definitions.create(content).await.unwrap_err();
        assert_eq!(error.to_string(), "a position is not a number");
    }
    assert_eq!(definitions.list().await.unwrap().len(), 1);
}

#[tokio::test]
async fn what_a_patch_does_not_name_stays() {
    let definitions = definitions();
    let mut content = draft("Article");
    let place = Position { x: 1.5, y: -2.0 };
    content.layout.insert("write".to_owned(), place);
    content.layout.insert("review".to_owned(), place);
    content.configuration.insert("words".to_owned(), 5.into());
    let before = definitions.create(content.clone()).await.unwrap();

    let patch = json!({
        "flow": { "description": "Writes." },
        "layout": { "write": { "x": 10 }, "review": null },
    });
    let after = definitions.patch(before.id, 1, &patch).await.unwrap();
    assert_eq!(after.revision, 2);
    assert_eq!(after.created_at_ms, before.created_at_ms);
    assert!(after.updated_at_ms >= before.updated_at_ms);
    content.flow["description"] = "Writes.".into();
    let place = Position { x: 10.0, y: -2.0 };
    content.layout = [("write".to_owned(), place)].into();
    assert_eq!(after.content, content);
    assert_eq!(definitions.get(before.id).await.unwrap(), after);
}

#[tokio::test]
async fn a_content_is_replaced_as_a_whole() {
    let definitions = definitions();
    let mut content = draft("Article");
    content.configuration.insert("words".to_owned(), 5.into());
    let place = Position { x: 1.5, y: -2.0 };
    content.layout.insert("write".to_owned(), place);
    let before = definitions.create(content).await.unwrap();

    // A patch would remove it.
    let mut written = draft(" Article ");
    written
        .configuration
        .insert("words".to_owned(), json!(null));
    let after = definitions
        .replace(before.id, 1, written.clone())
        .await
        .unwrap();
    assert_eq!((after.revision, after.name()), (2, "Article"));
    assert_eq!(after.content.configuration, written.configuration);
    assert!(after.content.layout.is_empty());
    assert_eq!(definitions.get(before.id).await.unwrap(), after);

    let refused = definitions.replace(before.id, 1, draft("Late")).await;
    let error = refused.unwrap_err();
    assert_eq!(
        (after.revision, error.to_string().contains("revision 2")),
        (2, true),
        "{error}"
    );
    let mut active = draft("Article");
    active.flow["nodes"] = json!("none");
    active.status = Status::Active;
    let refused = definitions.replace(before.id, 2, active).await;
    assert!(matches!(refused, Err(DefinitionError::Unsound(_))));
    assert_eq!(definitions.get(before.id).await.unwrap(), after);
}

#[tokio::test]
async fn a_patch_that_is_refused_changes_nothing() {
    let definitions = definitions();
    definitions.create(draft("Taken")).await.unwrap();
    let before = definitions.create(draft("Article")).await.unwrap();
    let refused = [
        (json!([]), "a patch is an object"),
        (
            json!({ "revision": 7 }),
            "has no `revision` that can be changed",
        ),
        (
            json!({ "status": "published" }),
            "unknown variant `published`",
        ),
        (
            json!({ "layout": { "write": { "x": 1 } } }),
            "missing field `y`",
        ),
        (json!({ "flow": null }), "missing field `flow`"),
        (json!({ "flow": { "name": " " } }), "a flow needs a name"),
        (
            json!({ "flow": { "name": "Taken " } }),
            "has the name `Taken`",
        ),
        // The first field alone would be right.
        (
            json!({ "layout": {}, "flow": { "ends": null }, "status": "active" }),
            "the flow is not sound: /flow/nodes/1",
        ),
    ];
    for (patch, why) in refused {
        let error = definitions.patch(before.id, 1, &patch).await.unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
        assert_eq!(definitions.get(before.id).await.unwrap(), before);
    }
}

#[tokio::test]
async fn two_editors_do_not_overwrite_each_other() {
    let definitions = definitions();
    let id = definitions.create(draft("Article")).await.unwrap().id;
    let first = json!({ "flow": { "description": "first" } });
    definitions.patch(id, 1, &first).await.unwrap();

    let second = json!({ "flow": { "description": "second" } });
    let error = definitions.patch(id, 1, &second).await.unwrap_err();
    let conflict = matches!(
        error,
        DefinitionError::Conflict {
            expected: 1,
            stored: 2
        }
    );
    assert!(conflict, "{error}");
    let stored = definitions.get(id).await.unwrap();
    assert_eq!(stored.description(), Some("first"));

    let error = definitions.delete(id, 1).await.unwrap_err();
    assert!(matches!(error, DefinitionError::Conflict { .. }), "{error}");
    definitions.delete(id, 2).await.unwrap();
    for gone in [
        definitions.get(id).await.unwrap_err(),
        definitions.patch(id, 2, &second).await.unwrap_err(),
        definitions.delete(id, 2).await.unwrap_err(),
    ] {
        assert!(matches!(gone, DefinitionError::NotFound(it) if it == id));
    }
}

#[tokio::test]
async fn a_definition_gets_another_name() {
    let definitions = definitions();
    let id = definitions.create(draft("Article")).await.unwrap().id;
    let renamed = definitions.rename(id, 1, " Essay ").await.unwrap();
    assert_eq!((renamed.name(), renamed.revision), ("Essay", 2));
    assert_eq!(renamed.content.flow, article("Essay"));
    let error = definitions.rename(id, 2, " ").await.unwrap_err();
    assert!(matches!(error, DefinitionError::NameRequired), "{error}");
    // The name that was given up is free again.
    definitions.create(draft("Article")).await.unwrap();
}

#[tokio::test]
async fn an_active_definition_stays_sound() {
    let definitions = definitions();
    let mut content = draft("Article");
    content.status = Status::Active;
    let active = definitions.create(content.clone()).await.unwrap();
    assert_eq!(active.content.status, Status::Active);

    let broken = json!({ "flow": { "entryNodeId": "wriet" } });
    let error = definitions.patch(active.id, 1, &broken).await.unwrap_err();
    assert!(
        error.to_string().contains("did you mean `write`?"),
        "{error}"
    );
    let shelved = json!({ "flow": { "entryNodeId": "wriet" }, "status": "draft" });
    definitions.patch(active.id, 1, &shelved).await.unwrap();

    content.flow["name"] = "Other".into();
    content.flow["nodes"][0]["type"] = "wrote".into();
    let error = definitions.create(content).await.unwrap_err();
    assert!(matches!(error, DefinitionError::Unsound(_)), "{error}");
    assert_eq!(definitions.list().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_definition_runs_and_is_written_as_rust() {
    let definitions = definitions();
    let article = definitions.create(draft("Article")).await.unwrap();
    let loaded = definitions.load(&article.content).unwrap();
    assert!(loaded.warnings.is_empty());
    let output = loaded.flow.run(json!({ "topic": "crabs" })).await.unwrap();
    assert_eq!(output, json!({ "text": "crabs crabs", "end": "default" }));

    let error = definitions.source(&article.content).unwrap_err();
    let untyped = "/flow/inputs/properties/topic: the type of `topic` is not known";
    assert!(error.to_string().contains(untyped), "{error}");
    let types = json!({ "flow": {
        "inputs": { "properties": { "topic": { "rustType": "String" }, "words": { "rustType": "u64" } } },
        "outputs": { "properties": { "text": { "rustType": "String" } } },
    } });
    let article = definitions.patch(article.id, 1, &types).await.unwrap();
    let source = definitions.source(&article.content).unwrap();
    let expected = "\
flow! {
    Article(topic: String, words: u64 = 2) -> (text: String) {
        start >> write >> review;
        review - \"good\" >> end;
        review - \"bad\"  >> end(\"bad\");
    }
}
";
    assert_eq!(source, expected);

    let mut unsayable = article.content.clone();
    unsayable.flow["nodes"][0]["id"] = "step-1".into();
    unsayable.flow["edges"][0]["from"] = "step-1".into();
    unsayable.flow["entryNodeId"] = "step-1".into();
    let error = definitions.source(&unsayable).unwrap_err();
    assert!(error.to_string().contains("/flow/nodes/0/id: "), "{error}");
}
