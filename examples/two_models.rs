//! A flow in a YAML file that names its model. The program provides the models, the host and the
//! credential, so the file can be shared, and an edit is enough to ask another model.
//!
//! ```text
//! cargo run -p flow-examples --example two_models
//! ```

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use typed_flows::documents::{
    Dependency, ExposeSecret as _, Format, Registry, SecretString, load, registry,
};
use typed_flows::prelude::*;

/// The document: see `examples/data/answer.yaml`.
const ANSWERING: &str = include_str!("data/answer.yaml");

/// Stands in for the client of a language model.
trait Model: Send + Sync {
    fn complete(&self, prompt: &str) -> String;
}

struct Careful;

impl Model for Careful {
    fn complete(&self, prompt: &str) -> String {
        format!("Let me think about \"{prompt}\" first.")
    }
}

struct Quick;

impl Model for Quick {
    fn complete(&self, _: &str) -> String {
        "Yes.".to_owned()
    }
}

/// The settings are the `params` of the document.
#[derive(Deserialize)]
struct Ask {
    model: Dependency<dyn Model>,
    url: String,
    api_key: SecretString,
}

#[node(writes = answer)]
impl Ask {
    async fn exec(&self, question: &str) -> String {
        // A client would send the key to the host.
        assert_eq!(self.url, "https://models.example/v1");
        assert_eq!(self.api_key.expose_secret(), "sk-1");
        self.model.complete(question)
    }
}

fn provided() -> Registry {
    // A program would provide `Environment::only(["MODEL_HOST"])` and a `CredentialFile`.
    let variables = BTreeMap::from([("MODEL_HOST".to_owned(), "models.example".into())]);
    let credentials = BTreeMap::from([("models".to_owned(), "sk-1".into())]);
    registry![Ask]
        .provide::<dyn Model>("careful", Arc::new(Careful))
        .provide::<dyn Model>("quick", Arc::new(Quick))
        .provide_variables(variables)
        .provide_credentials(credentials)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let registry = provided();
    let question = json!({ "question": "Is water wet?" });

    let answering = load(ANSWERING, Format::Yaml, &registry)?;
    let careful = answering.run(question.clone()).await?;
    assert_eq!(
        careful["answer"],
        "Let me think about \"Is water wet?\" first."
    );

    let edited = ANSWERING.replace("model: careful", "model: quick");
    let quick = load(edited, Format::Yaml, &registry)?.run(question).await?;
    assert_eq!(quick["answer"], "Yes.");
    println!("careful: {}\nquick: {}", careful["answer"], quick["answer"]);

    // Loading the document reports anything that the program does not provide.
    let misspelt = ANSWERING.replace("model: careful", "model: carefull");
    let error = load(misspelt, Format::Yaml, &registry).expect_err("there is no such model");
    println!("{error}");
    assert!(
        error
            .to_string()
            .contains("no `dyn Model` is provided as `carefull`")
    );

    // The document contains only names.
    assert!(!answering.document().to_json().contains("sk-1"));
    Ok(())
}
