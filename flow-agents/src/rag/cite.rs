//! Looks up the passages that an answer names.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use flow_runtime::prelude::*;

use super::passages::{Passage, PassageId, Passages, PassagesError};
use super::retrieve::{passages_in, shown};
use crate::message::Message;
use crate::messages::Messages;
use crate::model::Reply;

/// The name of [`SearchDocuments`](super::SearchDocuments) as a tool.
const TOOL: &str = "search_documents";

/// The prefix of the result of a call that failed or was not made.
const ERROR: &str = "Error:";

/// A node that looks up the passages that an answer names. It reads `answer` and `messages`. It
/// writes `citations`, those passages, and `unfounded`, the names that the model did not get.
///
/// A name counts only if this conversation showed the model the passage with its present text: by
/// [`tell_passages`](super::tell_passages), or as the result of the tool `search_documents`. A
/// made-up name is unfounded. So is the name of a passage that no longer exists or has changed, or
/// that came from a person or another tool.
#[derive(Clone)]
pub struct Cite {
    passages: Arc<dyn Passages>,
}

impl Cite {
    /// Creates a node for this store.
    pub fn new(passages: impl Passages + 'static) -> Cite {
        Cite {
            passages: Arc::new(passages),
        }
    }
}

#[node(writes(citations, unfounded))]
impl Cite {
    async fn exec(
        &self,
        answer: Option<&String>,
        messages: &Messages,
    ) -> Result<(Vec<Passage>, Vec<String>), PassagesError> {
        let named = names(answer.map_or("", String::as_str));
        let told = told(messages);
        let mut citations = self.passages.get(&named).await?;
        // Only a passage is shown behind a name in brackets: see `shown`.
        citations.retain(|it| told.iter().any(|told| told.contains(&shown([it]))));
        let is_unfounded = |id: &&PassageId| citations.iter().all(|it| it.id() != **id);
        let unfounded = named.iter().filter(is_unfounded);
        let unfounded = unfounded.map(ToString::to_string).collect();
        Ok((citations, unfounded))
    }
}

/// The texts that may show passages to a model: those of the system, and the results of the tool.
fn told(messages: &Messages) -> Vec<String> {
    let mut told = Vec::new();
    // Some providers reuse ids in later messages. A result belongs to the nearest earlier call.
    let mut searches: BTreeMap<&str, bool> = BTreeMap::new();
    for message in messages.iter() {
        let calls = message.tool_calls().iter();
        searches.extend(calls.map(|call| (call.id.as_str(), call.name == TOOL)));
        match message {
            Message::System { .. } => told.push(passages_in(&message.text()).to_owned()),
            Message::Tool { tool_call_id, .. } => {
                let text = message.text();
                // An error may repeat the text of a model or a person.
                if searches.get(tool_call_id.as_str()) == Some(&true) && !text.starts_with(ERROR) {
                    told.push(text);
                }
            }
            _ => {}
        }
    }
    told
}

/// The name of a passage as a model reads and writes it. Characters that would end the name, or
/// make another one, are percent-encoded.
pub(super) fn name_of(id: &PassageId) -> String {
    let mut name = String::new();
    for (at, letter) in id.source.char_indices() {
        let is_edge = at == 0 || at + letter.len_utf8() == id.source.len();
        let is_special = "[],;%".contains(letter) || letter.is_control();
        if is_special || (letter.is_whitespace() && (is_edge || letter != ' ')) {
            let mut bytes = [0; 4];
            for byte in letter.encode_utf8(&mut bytes).bytes() {
                let _ = write!(name, "%{byte:02X}");
            }
        } else {
            name.push(letter);
        }
    }
    format!("{name}#{}", id.place)
}

/// The source in a name. `None` if its encoding is malformed.
fn source_in(name: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next()?, rest.next()?];
        let digits = std::str::from_utf8(&digits).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
    }
    String::from_utf8(bytes).ok()
}

/// Replaces the brackets around names of passages in a text by round ones.
pub(super) fn without_names(text: &str) -> String {
    let mut parts = text.split('[');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let bracketed = format!("[{part}");
        if names(&bracketed).is_empty() {
            plain.push_str(&bracketed);
        } else {
            plain.push('(');
            plain.push_str(&part.replacen(']', ")", 1));
        }
    }
    plain
}

/// The names of passages in brackets, each once, in order.
fn names(text: &str) -> Vec<PassageId> {
    let mut names: Vec<PassageId> = Vec::new();
    for part in text.split('[').skip(1) {
        let Some((inside, _)) = part.split_once(']') else {
            continue;
        };
        // A model may put several names between two brackets.
        for name in inside.split([',', ';']) {
            let Some((source, place)) = name.trim().rsplit_once('#') else {
                continue;
            };
            if let (Some(source), Ok(place)) = (source_in(source), place.parse()) {
                let id = PassageId { source, place };
                if !names.contains(&id) {
                    names.push(id);
                }
            }
        }
    }
    names
}

/// A node that extracts the text of a reply. It reads `reply` and writes `answer`.
#[node(writes = answer)]
pub fn answer_of(reply: &Reply) -> String {
    reply.content.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_brackets_and_have_a_place() {
        let found = |text| {
            names(text)
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
        };
        let text = "So [a.md#1], [b c#2; a.md#1] and [d#x] or [e] [f#-1] [g#3";
        assert_eq!(found(text), ["a.md#1", "b c#2"]);
        assert_eq!(found("[a#1#2] [[h#4]] ]["), ["a#1#2", "h#4"]);
    }

    #[test]
    fn a_source_cannot_name_another_one() {
        for source in [
            "a.md",
            "a b.md",
            "x, secret.md",
            "x] [secret.md",
            "Smith, J. report.pdf",
            " a\n",
            "50%",
            "%5B",
            "ä\u{a0}",
            "[[",
            "",
        ] {
            let id = PassageId {
                source: source.to_owned(),
                place: 5,
            };
            let name = name_of(&id);
            assert!(!name.contains('\n'), "{name}");
            assert_eq!(names(&format!("[{name}]")), [id], "{name}");
        }
        assert_eq!(names("[50%#1] [%F#2] [%ff#3]"), []);
    }

    #[test]
    fn a_text_without_names_has_none() {
        for text in [
            "[a#1]",
            "x [[a#1] y]",
            "[a#1, b] [c]",
            "[",
            "no [such] thing",
            "[a#1\n] [b#2",
        ] {
            let plain = without_names(text);
            assert_eq!(names(&plain), [], "{plain}");
            let round = |text: &str| text.replace('[', "(").replace(']', ")");
            assert_eq!(round(&plain), round(text));
        }
        assert_eq!(
            without_names("no [such] thing [a#1]"),
            "no [such] thing (a#1)"
        );
    }
}
