//! What a call is for the run in whose step it is made.

use std::sync::{Arc, Mutex};

use flow_agents::{ToolCall, ToolError, Tools, tools};
use flow_durable::{MemoryStore, Runtime, StartOptions};
use flow_runtime::prelude::*;
use serde_json::json;

use super::{Call, CallInput, Caller};

/// Fails if it is asked to, and says something before.
#[node]
async fn halve(cx: &Context, number: i64) -> Result<i64, String> {
    cx.emit(&format!("[{number}]"));
    tokio::task::yield_now().await;
    cx.emit("!");
    match number {
        7 => panic!("seven"),
        number if number % 2 == 0 => Ok(number / 2),
        _ => Err("it is odd".to_owned()),
    }
}

flow! {
    /// Halves a number.
    Half(number: i64) -> (halve: i64) {
        start >> halve >> end;
    }
}

/// What is told of a run.
#[derive(Default)]
struct Told(Mutex<Vec<String>>);

impl Observer for Told {
    fn on_event(&self, event: &Event<'_>) {
        self.0.lock().unwrap().push(event.to_string());
    }
}

/// For the run, a call is a part of the step that makes it, whether the tool is a node or a flow.
#[tokio::test]
async fn what_a_tool_does_is_told_as_what_its_step_does() {
    for (name, number, result) in [
        ("halve", 4, "2"),
        ("half", 4, "2"),
        ("halve", 5, "Error: it is odd"),
        ("half", 5, "Error: it is odd"),
        ("halve", 7, "Error: the tool panicked: seven"),
        ("half", 7, "Error: the tool panicked: seven"),
    ] {
        let told = Arc::new(Told::default());
        let options = RunOptions::new().observer(told.clone());
        let call = ToolCall::new("call_1", name, &json!({ "number": number }));
        let tools = tools![halve, Half];
        let flow = Call::builder().caller(Caller(tools)).build();
        let output = flow.run_with(CallInput { call }, options).await.unwrap();
        assert_eq!(output.result, result, "{name} {number}");
        assert_eq!(
            *told.0.lock().unwrap(),
            [
                "call.caller started".to_owned(),
                format!("call.caller delta: [{number}]"),
                "call.caller delta: !".to_owned(),
                "call.caller finished: default".to_owned(),
                "call ended: default".to_owned(),
            ],
            "{name} {number}"
        );
    }
}

/// Calls two tools in one step.
struct Both(Tools);

#[node(writes = ids)]
impl Both {
    async fn exec(&self, cx: &Context) -> Result<Vec<String>, ToolError> {
        let call = |name| ToolCall::new("call", name, &json!({}));
        let mut ids = vec![cx.step_id()];
        for name in ["step", "step", "step_flow", "step_flow"] {
            ids.push(self.0.call(cx, &call(name)).await?);
        }
        Ok(ids)
    }
}

#[node]
fn step(cx: &Context) -> String {
    cx.step_id()
}

flow! {
    StepFlow() -> (step: String) { start >> step >> end; }
}

flow! {
    Pays() -> (ids: Vec<String>) {
        node both: Both;
        start >> both >> end;
    }
}

#[tokio::test]
async fn each_call_within_a_step_has_an_id_of_its_own() {
    let runtime = Runtime::new(Arc::new(MemoryStore::new()));
    let flow = Pays::builder().both(Both(tools![step, StepFlow])).build();
    runtime.register(flow).unwrap();
    let started = runtime
        .executions()
        .start::<Pays>(PaysInput {}, StartOptions::new());
    let ended = started.await.unwrap().settled().await.unwrap();
    let ids = ended.output::<Pays>().unwrap().unwrap().ids;
    let step = &ids[0];
    assert_eq!(
        ids[1..],
        [
            format!("{step}/1/pays.both.step"),
            format!("{step}/2/pays.both.step"),
            format!("{step}/3/step_flow.step"),
            format!("{step}/4/step_flow.step"),
        ]
    );
}
