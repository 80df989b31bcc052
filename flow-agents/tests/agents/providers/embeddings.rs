//! Embeddings of real providers.

use flow_agents::{Embedding as _, ModelError, Usage};
use serde_json::{Value, json};

use super::model;
use super::server::{Answer, Server};

fn texts(count: usize) -> Vec<String> {
    (0..count).map(|it| format!("text {it}")).collect()
}

/// As OpenAI and Ollama answer, with a vector `[place, 0.5]` for each place, in this order.
fn vectors(places: impl IntoIterator<Item = usize>) -> Value {
    let data = places
        .into_iter()
        .map(|place| json!({ "object": "embedding", "index": place, "embedding": [place, 0.5] }));
    json!({
        "object": "list", "data": data.collect::<Vec<_>>(), "model": "text-embedding-3-small",
        "usage": { "prompt_tokens": 8, "total_tokens": 8 },
    })
}

#[tokio::test]
async fn each_text_has_its_vector() {
    let gemini = json!({ "embeddings": [{ "values": [0.0, 0.5] }, { "values": [1.0, 0.5] }] });
    let cases = [
        (
            "openai:text-embedding-3-small",
            "/embeddings",
            vectors([1, 0]),
            Usage::new(8, 0),
        ),
        (
            "ollama:embeddinggemma",
            "/embeddings",
            vectors([0, 1]),
            Usage::new(8, 0),
        ),
        (
            "mistral:mistral-embed",
            "/embeddings",
            vectors([0, 1]),
            Usage::new(8, 0),
        ),
        (
            "gemini:gemini-embedding-001",
            "/models/gemini-embedding-001:batchEmbedContents",
            gemini,
            Usage::new(0, 0),
        ),
    ];
    for (name, path, body, usage) in cases {
        let server = Server::start([Answer::json(&body)]).await;
        let embedded = model(name, &server)
            .dimensions(2)
            .embed(&texts(2))
            .await
            .unwrap();
        assert_eq!(embedded.vectors, [[0.0, 0.5], [1.0, 0.5]], "{name}");
        assert_eq!(embedded.usage, usage, "{name}");
        let asked = &server.asked()[0];
        assert_eq!(asked.path, path);
        if name.starts_with("gemini") {
            assert_eq!(
                asked.body["requests"][1]["content"]["parts"][0]["text"],
                "text 1"
            );
            assert_eq!(asked.body["requests"][1]["outputDimensionality"], 2);
        } else {
            assert_eq!(asked.body["input"], json!(["text 0", "text 1"]));
            assert_eq!(asked.body["dimensions"], 2);
        }
    }
}

#[tokio::test]
async fn many_texts_are_sent_in_groups() {
    let answers = [100, 100, 30].map(|count| Answer::json(&vectors(0..count)));
    let server = Server::start(answers).await;
    let embedded = model("openai:text-embedding-3-small", &server)
        .embed(&texts(230))
        .await
        .unwrap();
    assert_eq!(embedded.vectors.len(), 230);
    assert_eq!(
        (embedded.vectors[101][0], embedded.vectors[229][0]),
        (1.0, 29.0)
    );
    assert_eq!(embedded.usage, Usage::new(24, 0));
    let asked = server.asked();
    assert_eq!(asked[2].body["input"][29], "text 229");

    let none = model("openai:text-embedding-3-small", &server)
        .embed(&[])
        .await
        .unwrap();
    assert!(none.vectors.is_empty());
    assert_eq!(server.asked().len(), 3);
}

#[tokio::test]
async fn an_answer_without_a_vector_for_each_text_is_an_error() {
    let mut longer = vectors([0, 1]);
    longer["data"][1]["embedding"] = json!([1, 2, 3]);
    let mut empty = vectors([0, 1]);
    empty["data"] = json!([{ "index": 0, "embedding": [] }, { "index": 1, "embedding": [] }]);
    for body in [
        vectors([0]),
        vectors([0, 1, 2]),
        vectors([0, 0]),
        longer,
        empty,
        json!({}),
    ] {
        let server = Server::start([Answer::json(&body)]).await;
        let answer = model("openai:text-embedding-3-small", &server)
            .embed(&texts(2))
            .await;
        let error = answer.unwrap_err();
        assert!(
            matches!(error, ModelError::Malformed { .. }),
            "{body}: {error:?}"
        );
    }
    let server = Server::start([Answer::json(&vectors([0, 1]))]).await;
    let other = model("openai:text-embedding-3-small", &server).dimensions(3);
    let error = other.embed(&texts(2)).await.unwrap_err();
    assert!(matches!(error, ModelError::Malformed { .. }), "{error:?}");
}

#[tokio::test]
async fn what_a_provider_refuses_or_does_not_have_is_an_error() {
    let limited = Answer::json(&json!({ "error": { "message": "Slowly." } })).status(429);
    let server = Server::start([limited.header("retry-after", "7")]).await;
    let error = model("openai:text-embedding-3-small", &server)
        .embed(&texts(2))
        .await
        .unwrap_err();
    assert_eq!(error.retry_after(), Some(std::time::Duration::from_secs(7)));
    let error = model("anthropic:claude-sonnet-4-5", &server)
        .embed(&texts(2))
        .await
        .unwrap_err();
    assert!(matches!(error, ModelError::Refused { .. }), "{error:?}");
}
