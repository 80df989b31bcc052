#![doc = include_str!("../README.md")]

mod chat;
mod error;
mod message;
mod messages;
mod model;
mod replay;
mod reply_builder;
mod retrying;
mod scripted;

pub use chat::Chat;
pub use error::{ModelError, NoRecording, is_transient};
pub use message::{Image, ImageSource, Message, Part, ToolCall};
pub use messages::{MISSING_RESULT, Messages, Placement};
pub use model::{
    Chunk, Model, Reply, ReplyStream, Request, Stop, ToolCallChunk, ToolDefinition, Usage,
};
pub use replay::{Recorder, RecordingError, Replay};
pub use reply_builder::ReplyBuilder;
pub use retrying::Retrying;
pub use scripted::ScriptedModel;
