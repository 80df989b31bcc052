#![doc = include_str!("../README.md")]

#[cfg(any(feature = "files", all(test, feature = "genai")))]
extern crate self as flow_agents; // the name that `tools!` and the tests use

mod about;
pub mod agent;
mod ask;
mod asked;
mod chat;
mod embedding;
mod error;
mod estimate;
pub mod kit;
#[cfg(feature = "knowledge")]
pub mod knowledge;
mod limits;
mod log;
#[cfg(feature = "mcp")]
mod mcp;
#[cfg(feature = "mcp")]
mod mcp_connection;
mod memory;
mod message;
mod messages;
mod model;
#[cfg(feature = "genai")]
mod providers;
#[cfg(feature = "rag")]
pub mod rag;
mod replay;
mod reply_builder;
mod retrying;
mod scripted;
mod spending;
#[cfg(feature = "sqlite")]
mod sqlite;
mod tool;
mod tools;
mod transient;
mod usage;

pub use about::AboutModel;
pub use ask::error::AskError;
pub use ask::{Answered, Ask, ModelAnswer, ask};
pub use chat::Chat;
pub use embedding::{BagOfWords, Embedded, Embedding};
pub use error::{ModelError, NoRecording};
/// The [`Tools`] that a model may call, made of nodes and flows.
///
/// Each entry is the name or path of a node or a flow. A type without a default needs a value:
/// `tools![search, text::trim, Refund = Refund { client }]`. The model sees of each tool:
///
/// - the name: that of the node in snake case, such as `search` or `refund`. Two tools with the
///   same name are refused;
/// - the description: the doc comment of the node or the flow, up to its first heading;
/// - the JSON Schema of the arguments: the values that the node reads, or the inputs of the flow.
///   Their types must be [`ToolArgument`]s: `serde::Deserialize` and `schemars::JsonSchema`. An
///   argument that the node reads as an `Option` may be missing. Their descriptions are the doc
///   comments of the parameters.
///
/// The result is the value that the node returns, which must be a [`ToolResult`]. A text stays as
/// it is; all else becomes JSON. Several values become an object. Its field `action` names the
/// action of a node, its field `end` the end that a flow reached, if it has several.
///
/// The settings of a node, its `retry` and its `timeout`, apply to each call. Nodes that ask a
/// person a question, wait for a signal or have a transaction are refused.
///
/// # Examples
/// ```
/// use flow_agents::{Tools, tools};
/// use flow_runtime::prelude::*;
/// use serde_json::json;
///
/// /// Converts an amount of money.
/// #[node(timeout = "5s")]
/// async fn convert(
///     /// The amount, in euros.
///     euros: f64,
///     /// The currency to convert to, such as `USD`.
///     to: &str,
///     /// How many digits there are behind the point; 2 without it.
///     digits: Option<usize>,
/// ) -> Result<String, String> {
///     let rate = match to { "USD" => 1.08, "JPY" => 164.0, _ => return Err(format!("no rate for {to}")) };
///     Ok(format!("{:.*} {to}", digits.unwrap_or(2), euros * rate))
/// }
///
/// let tools: Tools = tools![convert];
/// let convert = &tools.definitions()[0];
/// assert_eq!(convert.description, "Converts an amount of money.");
/// assert_eq!(convert.parameters["required"], json!(["euros", "to"]));
/// assert_eq!(convert.parameters["properties"]["euros"]["description"], "The amount, in euros.");
/// ```
pub use flow_macros::tools;
pub use limits::budgeted::Budgeted;
pub use limits::charged::Charged;
pub use limits::limited::Limited;
#[cfg(feature = "mcp")]
pub use mcp::{McpError, McpServer};
pub use memory::Memory;
pub use message::{Image, ImageSource, Message, Part, ToolCall};
pub use messages::{MISSING_RESULT, Messages, Placement};
pub use model::{
    Chunk, Model, OutputSchema, Reply, ReplyStream, Request, Stop, ToolCallChunk, ToolDefinition,
};
#[cfg(feature = "genai")]
pub use providers::{GenAi, GenAiError};
pub use replay::{Recorder, RecordingError, Replay};
pub use reply_builder::ReplyBuilder;
pub use retrying::Retrying;
pub use scripted::ScriptedModel;
pub use spending::account::{Account, Day};
pub use spending::budget::{Budget, Limit, OverBudget, Spent};
pub use spending::error::BudgetError;
pub use spending::ledger::{Ledger, MemoryLedger};
#[cfg(feature = "sqlite")]
pub use spending::ledger_sqlite::SqliteLedger;
pub use spending::money::{Money, ParseMoneyError};
pub use spending::prices::{Price, Prices, UnknownPrice};
pub use tool::{Tool, ToolError};
pub use tools::arguments::ToolArgument;
#[doc(hidden)] // rustc names it in its messages
pub use tools::flow::RunsAlone;
pub use tools::result::ToolResult;
pub use tools::{SameName, Tools};
pub use transient::is_transient;
pub use usage::Usage;
// rustc names it in its messages. A path through `__private` would tell the reader nothing.
#[doc(hidden)]
pub use flow_macros::every_node_needs_the_attribute_node;
#[doc(hidden)]
pub use tools::private as __private;
