//! A flow to which letters are sent.

use std::io;

use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

use crate::effect;

/// A letter with a number.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[node(signal)]
pub struct Letter {
    /// The number.
    pub number: u64,
}

#[node(writes = +numbers)]
async fn file(cx: &Context, number: &u64) -> io::Result<u64> {
    effect(cx).await?;
    Ok(*number)
}

flow! {
    /// Files so many letters.
    pub Mail(count: u64, numbers: Vec<u64>) -> (numbers: Vec<u64>) {
        branch all(numbers, count) {
            numbers.len() as u64 >= *count => "yes",
            else => "no",
        }
        start >> all;
        all - "no" >> Letter >> file >> all;
        all - "yes" >> end;
    }
}
