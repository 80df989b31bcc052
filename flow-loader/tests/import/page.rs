//! The example of `docs/import.md`.

use flow_loader::registry;
use flow_runtime::Question;
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::support::loaded;

#[derive(Clone, Serialize, Deserialize)]
struct Artifact(String);

#[node]
async fn builder(input: &str) -> Result<Artifact, std::io::Error> {
    Ok(Artifact(format!("{input}.tar")))
}

#[node]
async fn deployer(_build: &Artifact) {}

#[node(human = "Approve?")]
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Approval {
    Approve,
    Reject { reason: String },
}

#[tokio::test]
async fn the_example_runs() {
    let page = include_str!("../../../docs/import.md");
    let (_, after) = page.split_once("```json\n").unwrap();
    let (text, _) = after.split_once("```").unwrap();
    let release = loaded(text, &registry![builder, deployer, Approval]);
    for (answer, end) in [
        (json!("approve"), "default"),
        (json!({ "reject": { "reason": "it is late" } }), "rejected"),
    ] {
        let options = RunOptions::answer(move |_: &Question| answer.clone());
        let ran = release.run_with(json!({ "input": "v1.2" }), options).await;
        assert_eq!(
            ran.unwrap(),
            json!({ "input": "v1.2", "build": "v1.2.tar", "end": end })
        );
    }
}
