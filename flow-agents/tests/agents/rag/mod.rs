//! Answers from documents.

mod answers;
mod kept;
mod split;

use flow_agents::rag::Passage;

fn passage(source: &str, place: usize, text: &str) -> Passage {
    Passage {
        source: source.to_owned(),
        place,
        text: text.to_owned(),
    }
}
