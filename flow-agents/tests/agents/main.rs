//! Messages, and models without a network.

mod chat;
mod messages;
mod replay;
mod retrying;
mod streams;
