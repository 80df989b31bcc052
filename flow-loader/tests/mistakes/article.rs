//! A document with most of what documents have, and its nodes.

use flow_loader::{Format, Registry, load, registry};
use flow_runtime::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub(super) struct Draft {
    instruction: String,
    #[cfg_attr(feature = "schemars", schemars(range(min = 1, max = 500)))]
    words: u32,
    #[serde(default)]
    style: Style,
}

#[derive(Default, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub(super) struct Style {
    #[serde(default)]
    formal: bool,
}

#[node(writes = text)]
impl Draft {
    async fn exec(&self, topic: &str) -> String {
        let address = if self.style.formal { "you" } else { "thou" };
        format!("{topic}, {address}: {} ({})", self.instruction, self.words)
    }
}

#[node]
fn score(text: &str) -> u64 {
    text.len() as u64
}

#[node(writes = words)]
fn split_words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

#[node]
fn shout(word: &str) -> String {
    word.to_uppercase()
}

pub(super) const ARTICLE: &str = r#"version: 2.0.0
name: Article
namespace: article
description: Drafts a text until it is good, then asks a person.
inputs:
  type: object
  properties:
    topic: { rustType: String }
    round: { rustType: u64, default: 0, maximum: 10 }
  required: [topic]
outputs:
  type: object
  properties:
    text: {}
    shouted: {}
  required: [text]
nodes:
  - type: Draft
    id: draft
    params:
      instruction: Write a long and friendly text
      words: 50
      style: { formal: true }
    settings: { timeout: 5s, retry: { attempts: 3, wait: 1s, backoff: 2.0, jitter: 0.5 } }
  - type: score
    id: score
  - type: flow.branch
    id: good
    params:
      cases:
        - when: score >= 8
          action: good
        - when: round > 5
          action: too_often
      otherwise: again
  - type: flow.human
    id: publish
    params:
      prompt: "Publish {text} (score {score})?"
  - type: flow.branch
    id: decided
    params:
      cases: [{ when: 'answer == "yes"', action: "yes" }]
      otherwise: "no"
  - type: split_words
    id: split_words
  - type: flow.each
    id: shouted
    params: { item: word, over: words, body: shout }
    settings: { concurrency: 4 }
  - type: shout
    id: shout
entryNodeId: draft
edges:
  - { from: draft, to: score, condition: default }
  - { from: score, to: good, condition: default }
  - { from: good, to: draft, condition: again }
  - { from: good, to: publish, condition: good }
  - { from: publish, to: decided, condition: default }
  - { from: decided, to: split_words, condition: "yes" }
  - { from: split_words, to: shouted, condition: default }
ends:
  - { from: shouted, condition: default, label: default }
  - { from: good, condition: too_often, label: given_up }
  - { from: decided, condition: "no", label: refused }
"#;

pub(super) fn nodes() -> Registry {
    registry![Draft, score, split_words, shout]
}

/// The problems of a document, each with its pointer and its text.
pub(super) fn problems(text: &str, format: Format) -> Vec<(String, String)> {
    match load(text, format, &nodes()) {
        Ok(_) => Vec::new(),
        Err(error) => {
            let problems = error.problems().iter();
            problems
                .map(|problem| (problem.pointer.clone(), problem.to_string()))
                .collect()
        }
    }
}

/// What is said of the article with this in place of that.
pub(super) fn said(from: &str, to: &str) -> String {
    assert!(ARTICLE.contains(from), "{from}");
    let found = problems(&ARTICLE.replacen(from, to, 1), Format::Yaml);
    let texts: Vec<String> = found.into_iter().map(|(_, text)| text).collect();
    texts.join("\n")
}
