//! Estimates of the number of tokens in texts.

use crate::message::Message;

/// The tokens of this many characters: one for every four.
pub(crate) fn tokens(characters: usize) -> u64 {
    (characters as u64).div_ceil(4)
}

/// The number of characters in a message and its calls.
pub(crate) fn characters(message: &Message) -> usize {
    let calls = message.tool_calls().iter();
    let calls: usize = calls.map(|it| it.name.len() + it.arguments.len()).sum();
    message.text().chars().count() + calls
}
