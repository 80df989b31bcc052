//! Messages, and models without a network.

mod agent;
mod approval;
mod ask;
mod budget;
mod budgeted;
mod charged;
mod chat;
mod conversation;
mod embedding;
mod kit;
#[cfg(feature = "knowledge")]
mod knowledge;
mod ledgers;
mod limited;
#[cfg(feature = "mcp")]
mod mcp;
#[cfg(feature = "mcp")]
mod mcp_lists;
#[cfg(all(feature = "mcp", unix))]
mod mcp_process;
mod memory;
mod messages;
#[cfg(feature = "genai")]
mod providers;
#[cfg(feature = "rag")]
mod rag;
mod replay;
mod retrying;
mod streams;
mod tools;
mod turns;
