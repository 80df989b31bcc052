//! The passages that an answer names.

use std::collections::BTreeSet;
use std::sync::Arc;

use flow_runtime::prelude::*;

use super::passages::{Passage, PassageId, Passages, PassagesError};
use crate::message::Message;
use crate::messages::Messages;
use crate::model::Reply;

/// The name of [`SearchDocuments`](super::SearchDocuments) as a tool.
const TOOL: &str = "search_documents";

/// A node that looks up the passages that an answer names: it reads `answer` and `messages`, and writes
/// `citations`, those passages, and `unfounded`, the names of those that the model was not told.
///
/// A name counts only if the model was told the passage in this conversation: by the system, or as the
/// result of the tool `search_documents`. One that it has made up is unfounded, and so is one whose passage
/// is not kept any more, or one that came from a person or another tool.
#[derive(Clone)]
pub struct Cite {
    passages: Arc<dyn Passages>,
}

impl Cite {
    /// Looks them up there.
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
        let told = told(messages).flat_map(|it| names(&it.text()));
        let told: BTreeSet<PassageId> = told.collect();
        let (mut founded, mut unfounded) = (Vec::new(), Vec::new());
        for id in named {
            if told.contains(&id) {
                founded.push(id);
            } else {
                unfounded.push(id.to_string());
            }
        }
        let citations = self.passages.get(&founded).await?;
        let is_lost = |id: &&PassageId| citations.iter().all(|it| it.id() != **id);
        unfounded.extend(founded.iter().filter(is_lost).map(ToString::to_string));
        Ok((citations, unfounded))
    }
}

/// What tells a model of passages: the message of the system, and the results of the tool.
fn told(messages: &Messages) -> impl Iterator<Item = &Message> {
    let calls = messages.iter().flat_map(Message::tool_calls);
    let searches = calls.filter(|call| call.name == TOOL);
    let searches: BTreeSet<&str> = searches.map(|call| call.id.as_str()).collect();
    messages.iter().filter(move |message| match message {
        Message::System { .. } => true,
        Message::Tool { tool_call_id, .. } => searches.contains(tool_call_id.as_str()),
        _ => false,
    })
}

/// A text whose brackets with names of passages in them are round.
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
        // A model may name several between two brackets.
        for name in inside.split([',', ';']) {
            let Some((source, place)) = name.trim().rsplit_once('#') else {
                continue;
            };
            if let Ok(place) = place.parse() {
                let id = PassageId {
                    source: source.to_owned(),
                    place,
                };
                if !names.contains(&id) {
                    names.push(id);
                }
            }
        }
    }
    names
}

/// A node that takes the text of a reply: it reads `reply`, and writes `answer`.
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
