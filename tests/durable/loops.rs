//! Loops over items, in runs that are resumed.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex};

use flow_durable::{Runtime, RuntimeError, StartOptions};
use flow_loader::{Format, load, registry};
use flow_runtime::engine::{Direct, run_any};
use flow_runtime::prelude::*;
use serde_json::json;
use tokio::sync::Semaphore;

use crate::support::{options, store};

/// Handles as many tags as it may.
struct Handle {
    may: Arc<Semaphore>,
    handled: Arc<Mutex<Vec<String>>>,
}

#[node]
impl Handle {
    async fn exec(&self, tag: &str) -> String {
        self.may.acquire().await.unwrap().forget();
        self.handled.lock().unwrap().push(tag.to_owned());
        tag.to_uppercase()
    }
}

flow! {
    Tagged(tags: BTreeSet<String>) -> (done: Vec<String>) {
        node handle: Handle;
        node done: for tag in tags { handle };
        start >> done >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_resumed_loop_over_a_set_goes_on_where_it_was() {
    let store = store();
    let may = Arc::new(Semaphore::new(10));
    let handled = Arc::new(Mutex::new(Vec::new()));
    let flow = || {
        let (may, handled) = (may.clone(), handled.clone());
        Tagged::builder().handle(Handle { may, handled }).build()
    };
    let tags: BTreeSet<String> = (10..30).map(|n| format!("tag-{n}")).rev().collect();
    let first = Runtime::with_options(store.clone(), options());
    first.register(flow()).unwrap();
    let input = TaggedInput { tags: tags.clone() };
    let start = first
        .executions()
        .start::<Tagged>(input, StartOptions::new());
    let id = start.await.unwrap().id();
    while handled.lock().unwrap().len() < 10 {
        tokio::task::yield_now().await;
    }
    first.shut_down().await;

    may.add_permits(tags.len());
    let second = Runtime::with_options(store, options());
    second.register(flow()).unwrap();
    second.recover().await.unwrap();
    let execution = second
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    let done = execution.output::<Tagged>().unwrap().unwrap().done;
    let in_order: Vec<String> = tags.iter().map(|tag| tag.to_uppercase()).collect();
    assert_eq!(done, in_order);
    let handled: BTreeSet<String> = handled.lock().unwrap().iter().cloned().collect();
    assert_eq!(handled, tags);
}

#[node]
fn found(text: &str) -> HashSet<String> {
    text.split(' ').map(str::to_owned).collect()
}

#[node]
fn length(tag: &str) -> usize {
    tag.len()
}

/// After a restart, a `HashSet` has another order, and the results that are recorded would be those
/// of other items. A compiled flow with such a loop does not compile (see the UI cases).
#[tokio::test]
async fn a_loaded_loop_over_a_hash_set_runs_plainly_and_not_durably() {
    let inner = "\
        - id: lengths\n    type: flow.each\n    params: { over: found, item: tag, body: length }\n  \
        - { id: length, type: length }";
    let document = format!(
        "version: 2.0.0\nname: Tagged\nnamespace: tagged\n\
         inputs: {{ type: object, properties: {{ text: {{}} }}, required: [text] }}\n\
         outputs: {{ type: object, properties: {{ lengths: {{}} }}, required: [lengths] }}\n\
         nodes:\n  - {{ id: found, type: found }}\n  {inner}\n\
         entryNodeId: found\nedges:\n  - {{ from: found, to: lengths, condition: default }}\n\
         ends:\n  - {{ from: lengths, condition: default, label: default }}\n"
    );
    let flow = load(document, Format::Yaml, &registry![found, length]);
    let flow = Arc::new(flow.unwrap_or_else(|error| panic!("{error}")));
    let input = json!({ "text": "a bb a" });

    let saved = flow_runtime::engine::Saved::from_json(input.clone()).unwrap();
    let output = run_any(&*flow, &Direct::new(), saved).await.unwrap();
    let mut lengths = output.0["lengths"].as_array().unwrap().clone();
    lengths.sort_by_key(|length| length.as_u64());
    assert_eq!(lengths, [json!(1), json!(2)]);

    let runtime = Runtime::with_options(store(), options());
    let error = runtime.register(flow).unwrap_err();
    assert!(
        matches!(error, RuntimeError::NotStorable { .. }),
        "{error:?}"
    );
    let said = "a durable run cannot loop over `std::collections::hash::set::HashSet<alloc::string::String>`";
    assert!(error.to_string().contains(said), "{error}");
}

fn handle() -> Handle {
    Handle {
        may: Arc::new(Semaphore::new(1_000_000)),
        handled: Arc::default(),
    }
}

/// By which the type of the collection is known.
#[node]
fn size(tags: &BTreeSet<String>) -> usize {
    tags.len()
}

flow_law::law! {
    nodes: [Handle = handle(), size],
    flows: [Tagged(Tagged::builder().handle(handle()).build())],
    types: [BTreeSet<String>],
}
