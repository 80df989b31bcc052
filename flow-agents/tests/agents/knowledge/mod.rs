//! What is read from texts, kept, and looked up.

mod graphs;
mod learning;
mod looking;

use flow_agents::knowledge::{Entity, Fact};

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|it| (*it).to_owned()).collect()
}

fn entity(name: &str, sources: &[&str]) -> Entity {
    Entity {
        id: format!("thing:{}", name.to_lowercase()),
        name: name.to_owned(),
        kind: "thing".to_owned(),
        summary: format!("{name}, in {sources:?}"),
        sources: strings(sources),
    }
}

fn fact(id: &str, subject: &str, object: &str, sources: &[&str]) -> Fact {
    Fact {
        id: id.to_owned(),
        subject: format!("thing:{subject}"),
        relation: "knows".to_owned(),
        object: format!("thing:{object}"),
        text: format!("{subject} knows {object}"),
        since: None,
        until: None,
        replaced_by: None,
        sources: strings(sources),
    }
}
