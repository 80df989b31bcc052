//! `docs/errors.md` on params: what is said of those that cannot be loaded.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use flow_loader::{Dependency, Format, SecretString, load, registry};
use flow_runtime::prelude::*;
use serde::Deserialize;

trait Model: Send + Sync {}

trait Embedder: Send + Sync {}

struct Fake;

impl Model for Fake {}

impl Embedder for Fake {}

#[derive(Deserialize)]
#[expect(dead_code, reason = "the document is not loaded")]
struct Ask {
    model: Dependency<dyn Model>,
    url: String,
    api_key: SecretString,
    retries: u8,
}

#[node(writes = answer)]
impl Ask {
    fn exec(&self, question: &str) -> String {
        question.to_owned()
    }
}

#[test]
fn params_that_stand_for_something_else() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/errors.md");
    let page = fs::read_to_string(path).unwrap();
    let section = page
        .split("\n### ")
        .find(|part| part.starts_with("Params that"));
    let blocks: Vec<&str> = section.unwrap().split("```").collect();
    let [_, document, _, said, _] = blocks[..] else {
        panic!("a document and what is said of it: {blocks:?}")
    };
    let text = |name: &str, text: &str| BTreeMap::from([(name.to_owned(), text.into())]);
    let registry = registry![Ask]
        .provide::<dyn Model>("fast", Arc::new(Fake))
        .provide::<dyn Embedder>("vectors", Arc::new(Fake))
        .provide_variables(text("HOST", "example.org"))
        .provide_credentials(text("openai", "s3cr3t"));
    let document = document.strip_prefix("yaml\n").unwrap();
    let error = load(document, Format::Yaml, &registry).unwrap_err();
    assert_eq!(format!("text\n{error}\n"), said);
}
