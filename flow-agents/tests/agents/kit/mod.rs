//! The tools that come with the crate, as what a model sends meets them: calls with arguments as JSON.

mod calculator;
mod definitions;
mod exact;
#[cfg(feature = "fetch")]
mod fetch;
#[cfg(all(feature = "files", unix))]
mod files;
#[cfg(feature = "time")]
mod time;

use flow_agents::{ToolCall, Tools};
use flow_runtime::prelude::*;
use serde_json::Value;

/// Calls a tool in a node, as an agent does.
struct Caller(Tools);

#[node(writes = result)]
impl Caller {
    async fn exec(&self, cx: &Context, call: &ToolCall) -> Result<String, String> {
        let result = self.0.call(cx, call).await;
        result.map_err(|error| error.to_string())
    }
}

flow! {
    Call(call: ToolCall) -> (result: String) {
        node caller: Caller;
        start >> caller >> end;
    }
}

/// Calls a tool, and returns its result or what is said in its place.
async fn call(tools: &Tools, name: &str, arguments: Value) -> Result<String, String> {
    let call = ToolCall::new("call_1", name, &arguments);
    let flow = Call::builder().caller(Caller(tools.clone())).build();
    match flow.run(CallInput { call }).await {
        Ok(output) => Ok(output.result),
        Err(FlowError::Node(error)) => Err(error.error().to_string()),
        Err(error) => unreachable!("the node has failed: {error}"),
    }
}
