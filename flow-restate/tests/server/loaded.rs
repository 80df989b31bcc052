//! Flows from files.

use std::time::Duration;

use flow_loader::{Format, load, registry};
use flow_restate::Endpoint;
use flow_runtime::prelude::*;
use flow_services::Restate;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::client::{IN_PARTS, Settings, Worker, attach, run, start};
use crate::flows::begin;
use crate::{until_begun, visits_of};

const LOOP: &str = "
version: 2.0.0
name: Loaded
namespace: loaded
inputs: { type: object, properties: { number: {}, limit: {} }, required: [number, limit] }
outputs: { type: object, properties: { number: {} }, required: [number] }
nodes:
  - { type: increase, id: increase }
  - { type: compare, id: compare }
entryNodeId: increase
edges:
  - { from: increase, to: compare, condition: default }
  - { from: compare, to: increase, condition: below }
ends:
  - { from: compare, condition: enough, label: default }
";

#[derive(Action, Serialize, Deserialize)]
enum Size {
    Below,
    Enough,
}

#[node(writes = number)]
async fn increase(cx: &Context, number: u64) -> u64 {
    begin(cx);
    tokio::time::sleep(Duration::from_millis(10)).await;
    number + 1
}

#[node(actions = Size)]
fn compare(number: u64, limit: u64) -> Size {
    if number < limit {
        Size::Below
    } else {
        Size::Enough
    }
}

fn endpoint(settings: Settings) -> Endpoint {
    let flow = load(LOOP, Format::Yaml, &registry![increase, compare]).unwrap();
    Endpoint::new()
        .flow(flow)
        .entries_per_invocation(settings.entries.unwrap())
}

/// The next version of the nodes.
mod next {
    use flow_loader::{Format, load, registry};
    use flow_restate::Endpoint;
    use flow_runtime::prelude::*;

    use super::{LOOP, Settings, Size};

    #[node(writes = number)]
    fn increase(number: String) -> String {
        format!("{number}!")
    }

    #[node(actions = Size)]
    fn compare(number: &str, limit: u64) -> Size {
        if (number.len() as u64) < limit {
            Size::Below
        } else {
            Size::Enough
        }
    }

    pub(super) fn endpoint(_: Settings) -> Endpoint {
        let flow = load(LOOP, Format::Yaml, &registry![increase, compare]).unwrap();
        Endpoint::new().flow(flow)
    }
}

#[tokio::test]
async fn a_flow_from_a_file_goes_on_in_its_version() {
    let Some(server) = Restate::start() else {
        return;
    };
    let worker = Worker::of(endpoint, IN_PARTS);
    worker.register(&server).await;
    let input = json!({ "number": 0, "limit": 60 });
    let invocation = start(&server, "Loaded", "older", &input).await;
    until_begun(&invocation, 10).await;
    let newer = Worker::of(next::endpoint, IN_PARTS);
    newer.register(&server).await;
    assert!(visits_of(&invocation).len() < 50);
    let input = json!({ "number": "", "limit": 3 });
    let output = run(&server, "Loaded", "newer", &input).await;
    assert_eq!(output, Ok(json!({ "number": "!!!", "end": "default" })));
    let output = attach(&server.ingress(), "Loaded", "older").await;
    assert_eq!(output, Ok(json!({ "number": 60, "end": "default" })));
    let each_once: Vec<u32> = (1..=60).collect();
    assert_eq!(visits_of(&invocation), each_once);
}
