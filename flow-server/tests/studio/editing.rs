//! A server with definitions, and what the tests of the editor do in its page.

use flow_definitions::{Content, DefinitionId, Definitions, MemoryDefinitions};
use flow_loader::{Registry, registry};
use flow_runtime::Params;
use flow_runtime::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::page::Page;
use crate::server::Served;

#[derive(Action, Serialize, Deserialize)]
enum Verdict {
    Good,
    TooShort,
}

/// Drafts an article.
#[node(writes = text, title = "Draft", icon = "📝", group = "writing")]
fn draft(topic: &str, words: u64) -> String {
    vec![topic; words as usize].join(" ")
}

/// Says whether an article is long enough.
#[node(actions = Verdict, title = "Review", icon = "🔎", group = "checking")]
fn review(text: &str) -> Verdict {
    if text.len() > 20 {
        Verdict::Good
    } else {
        Verdict::TooShort
    }
}

/// Adds a sentence.
#[node(writes = text, title = "Extend", icon = "➕", group = "writing")]
fn extend(text: String) -> String {
    text + " And that is all that can be said of it."
}

/// Puts a name below an article.
#[derive(Debug, Default, Deserialize, JsonSchema, Params, Serialize)]
#[serde(default, deny_unknown_fields)]
struct Sign {
    /// Whose name it is.
    name: String,
    /// How many stars stand around it.
    stars: u8,
    loud: bool,
}

#[node(writes = text, title = "Sign", icon = "🖋", group = "writing")]
impl Sign {
    async fn exec(&self, text: String) -> String {
        let stars = "*".repeat(usize::from(self.stars));
        format!("{text} {stars}{}{stars} {}", self.name, self.loud)
    }
}

/// What somebody says of an article.
#[node(human = "Is this ready? {text}", timeout = "2d", title = "Approval")]
#[derive(Serialize, Deserialize)]
enum Approval {
    Publish,
    Discard,
}

/// The author takes it back.
#[node(signal, timeout = "3d", title = "Withdrawal")]
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct Withdrawal {
    because: String,
}

#[node(writes = length)]
fn measure(item: &str) -> usize {
    item.len()
}

fn nodes() -> Registry {
    registry![draft, review, extend, Sign, Approval, Withdrawal, measure]
}

/// A flow that drafts an article and reviews it.
pub(crate) fn article(name: &str) -> Value {
    json!({
        "version": "2.0.0",
        "name": name,
        "namespace": "article",
        "inputs": {
            "type": "object",
            "properties": {
                "topic": { "rustType": "String" },
                "words": { "rustType": "u64", "default": 3 },
                "signed": { "rustType": "bool", "default": false },
            },
            "required": ["topic"],
        },
        "outputs": { "type": "object", "properties": { "text": { "rustType": "String" } }, "required": ["text"] },
        "nodes": [
            { "type": "draft", "id": "draft" },
            { "type": "review", "id": "review" },
            { "type": "extend", "id": "extend" },
            { "type": "flow.branch", "id": "is_signed", "params": {
                "cases": [{ "when": "signed", "action": "yes" }],
                "otherwise": "no",
            } },
            { "type": "Sign", "id": "sign", "params": { "name": "Ann", "stars": 2 } },
        ],
        "edges": [
            { "from": "draft", "to": "review", "condition": "default" },
            { "from": "review", "to": "extend", "condition": "too_short" },
            { "from": "extend", "to": "review", "condition": "default" },
            { "from": "review", "to": "is_signed", "condition": "good" },
            { "from": "is_signed", "to": "sign", "condition": "yes" },
        ],
        "entryNodeId": "draft",
        "ends": [
            { "from": "is_signed", "condition": "no", "label": "default" },
            { "from": "sign", "condition": "default", "label": "default" },
        ],
    })
}

/// A server with definitions, and one of them opened in the page.
pub(crate) struct Editing {
    pub(crate) served: Served,
    pub(crate) definitions: Definitions,
}

impl Editing {
    pub(crate) fn new() -> Self {
        let definitions = Definitions::new(MemoryDefinitions::new(), nodes());
        let served = Served::editing(definitions.clone());
        Editing {
            served,
            definitions,
        }
    }

    pub(crate) fn keep(&self, content: Content) -> DefinitionId {
        let created = self.served.block_on(self.definitions.create(content));
        created.unwrap().id
    }

    pub(crate) fn stored(&self, id: DefinitionId) -> Content {
        let stored = self.served.block_on(self.definitions.get(id));
        stored.unwrap().content
    }

    pub(crate) fn open(&self, id: DefinitionId) -> Option<Page> {
        let page = Page::open(&self.served.at(&format!("definitions/{id}")))?;
        page.viewport(1500, 1000, false);
        page.wait("find('flow-canvas svg')");
        Some(page)
    }
}

/// Waits until the server has been asked what is wrong, and this is what it has answered.
pub(crate) fn wait_for_problems(page: &Page, title: &str) {
    page.wait(&format!("find('.problems h2').textContent === {title:?}"));
}

/// Saves, and waits for the answer.
pub(crate) fn save(page: &Page, revision: u64) {
    page.click("named('button', 'Save')");
    told(page, &format!("Saved as revision {revision}."));
}

pub(crate) fn told(page: &Page, text: &str) {
    page.wait(&format!("find('.told').textContent === {text:?}"));
}

/// Chooses something in a field for choices.
pub(crate) fn choose(page: &Page, label: &str, value: &str) {
    page.wait(&format!(
        "((field) => field && [...field.options].some((one) => one.value === {value:?}) &&
            (field.value = {value:?}, field.dispatchEvent(new Event('change', {{ bubbles: true }})), true))(labelled({label:?}))"
    ));
}
