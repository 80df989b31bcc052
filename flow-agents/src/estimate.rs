//! How many tokens texts have, about.

use crate::message::Message;

/// The tokens of so many characters: one for each four.
pub(crate) fn tokens(characters: usize) -> u64 {
    (characters as u64).div_ceil(4)
}

/// The characters of a message and of its calls.
pub(crate) fn characters(message: &Message) -> usize {
    let calls = message.tool_calls().iter();
    let calls: usize = calls.map(|it| it.name.len() + it.arguments.len()).sum();
    message.text().chars().count() + calls
}
