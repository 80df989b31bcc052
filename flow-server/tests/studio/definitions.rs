//! Definitions are made in the page: nodes, ways, settings, and what is wrong.

use flow_definitions::{Content, DefinitionId, Definitions, MemoryDefinitions, Status};
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
    fn exec(&self, text: String) -> String {
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

#[node(writes = length)]
fn measure(item: &str) -> usize {
    item.len()
}

fn nodes() -> Registry {
    registry![draft, review, extend, Sign, Approval, measure]
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

/// The ids of the nodes in the order in which they are drawn.
fn drawn(page: &Page) -> Value {
    page.eval("all('[data-node]').map((node) => node.dataset.node)")
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

#[test]
fn a_flow_is_made_activated_and_started() {
    let editing = Editing::new();
    let Some(page) = Page::open(&editing.served.at("definitions")) else {
        return;
    };
    page.viewport(1500, 1000, false);
    page.wait("named('p', 'There are no definitions yet.')");
    page.click("named('button', 'New definition …')");
    page.fill("Name", "ArticleDesk");
    page.click("named('dialog button', 'Create')");
    page.wait("find('flow-canvas svg') && find('h1').textContent === 'ArticleDesk'");

    page.click("named('button', 'Add an input')");
    page.write("topic");
    page.click("named('button', 'Add an output')");
    page.write("text");
    page.click("find('[data-type=\"draft\"]')");
    wait_for_problems(&page, "2 errors");
    // What is wrong with a node can be seen at it.
    page.wait("find('[data-node=draft].has-problems')");
    page.click("named('button', 'The flow')");
    page.click("named('button', 'Add an input')");
    page.write("words");
    page.eval("all('.keys')[0].querySelectorAll('fieldset').length");
    page.eval("(all('.keys')[0].querySelectorAll('fieldset')[1].querySelector('[list]').focus(), document.activeElement.select())");
    page.write("u64");
    // A node leads on to the one that is added while it is chosen.
    page.point("find('[data-node=draft] .title')");
    page.click("find('[data-type=\"review\"]')");
    page.wait("find('[data-node=review]')");
    page.click("find('[data-type=\"extend\"]')");
    page.drag(
        "find('[data-node=extend] [data-port=default]')",
        "find('[data-node=review] .title')",
    );
    page.drag(
        "find('[data-node=review] [data-port=too_short]')",
        "find('[data-node=extend] .title')",
    );
    page.point("find('[data-node=review] .title')");
    choose(&page, "On \"good\"", "end");
    page.fill("Name of the end on \"good\"", "default");
    wait_for_problems(&page, "Nothing is wrong");
    page.drag_by("find('[data-node=extend] .title')", 0.0, 120.0);
    page.picture("editor");
    save(&page, 2);
    page.click("named('button', 'Activate')");
    told(&page, "Saved as revision 3.");
    page.wait("find('.heading .status').textContent === 'active'");

    page.click("named('summary', 'As Rust')");
    page.wait(
        "find('.editor > details pre').textContent.includes('review - \"too_short\" >> extend')",
    );
    page.click("named('button', 'Run …')");
    page.fill("topic", "sea");
    page.fill("words", "2");
    page.click("named('dialog button', 'Start')");
    page.wait("location.hash.startsWith('#/executions/') && named('.status', 'completed')");
    page.wait(
        "document.body.innerText.includes('sea sea And that is all that can be said of it.')",
    );

    let stored = editing.served.block_on(editing.definitions.list()).unwrap();
    let definition = stored[0].as_ref().unwrap();
    assert_eq!(definition.content.status, Status::Active);
    let expected = json!({
        "version": "2.0.0",
        "name": "ArticleDesk",
        "namespace": "article_desk",
        "nodes": [
            { "type": "draft", "id": "draft" },
            { "type": "review", "id": "review" },
            { "type": "extend", "id": "extend" },
        ],
        "edges": [
            { "from": "draft", "to": "review", "condition": "default" },
            { "from": "review", "to": "extend", "condition": "too_short" },
            { "from": "extend", "to": "review", "condition": "default" },
        ],
        "ends": [{ "from": "review", "condition": "good", "label": "default" }],
        "entryNodeId": "draft",
        "inputs": {
            "type": "object",
            "properties": { "topic": { "rustType": "String" }, "words": { "rustType": "u64" } },
            "required": ["topic", "words"],
        },
        "outputs": {
            "type": "object",
            "properties": { "text": { "rustType": "String" } },
            "required": ["text"],
        },
    });
    let mut flow = definition.content.flow.clone();
    // In which order the ways were drawn does not matter.
    flow["edges"] = sorted(&flow["edges"]);
    assert_eq!(flow["edges"], sorted(&expected["edges"]));
    flow["edges"] = expected["edges"].clone();
    assert_eq!(flow, expected);
    let layout = &definition.content.layout;
    assert_eq!(layout.len(), 3);
    assert_eq!(layout["extend"].y, layout["review"].y + 120.0);
    page.has_no_problems();
}

fn sorted(list: &Value) -> Value {
    let mut items = list.as_array().unwrap().clone();
    items.sort_by_key(Value::to_string);
    items.into()
}

#[test]
fn the_keyboard_alone_is_enough() {
    let editing = Editing::new();
    let id = editing.keep(Content::new(article("Article")));
    let Some(page) = editing.open(id) else {
        return;
    };
    page.tab_to("find('[data-node=sign]')");
    page.press("Enter");
    page.wait("named('aside h2', 'Sign') && document.activeElement.dataset.node === 'sign'");
    let place = "find('[data-node=sign]').getAttribute('transform')";
    let before = page.eval(place);
    page.press("ArrowRight");
    page.press("ArrowDown");
    page.wait(&format!("{place} !== {before}"));
    let moved = page.eval(place);
    page.press("Delete");
    page.wait("!find('[data-node=sign]')");
    wait_for_problems(&page, "1 error");
    page.press_with_ctrl("z");
    page.wait(&format!("{place} === {moved}"));
    // Both arrows have moved it, which is one step.
    page.press_with_ctrl("z");
    page.wait(&format!("{place} === {before}"));
    assert_eq!(page.eval("named('button', 'Undo').disabled"), true);
    page.press_with_ctrl("y");
    page.wait(&format!("{place} === {moved}"));
    wait_for_problems(&page, "Nothing is wrong");
    page.press_with_ctrl("s");
    told(&page, "Saved as revision 2.");
    assert_eq!(editing.stored(id).flow, article("Article"));
    assert_eq!(editing.stored(id).layout.len(), 1);

    // A way that is chosen can be removed, and so can one in the panel be led elsewhere.
    page.point("all('.way.hit').find((way) => way.dataset.action === 'yes')");
    page.wait("find('.way.chosen')");
    page.press("Delete");
    page.wait("!all('.way').some((way) => way.dataset.action === 'yes')");
    page.wait("named('aside h2', 'Branch')");
    page.tab_to("labelled('On \"yes\"')");
    page.press("End");
    page.wait("find('.way[data-action=yes]')");
    page.press_with_ctrl("s");
    told(&page, "Saved as revision 3.");
    assert_eq!(editing.stored(id).flow, article("Article"));
    page.has_no_problems();
}

#[test]
fn what_is_wrong_is_said_where_it_is() {
    let editing = Editing::new();
    let id = editing.keep(Content::new(article("Article")));
    let Some(page) = editing.open(id) else {
        return;
    };
    wait_for_problems(&page, "Nothing is wrong");
    page.point("find('[data-node=is_signed] .title')");
    // Also in an item of a list.
    page.fill("when", "signed +");
    page.wait("labelled('when').getAttribute('aria-invalid') === 'true'");
    page.fill("when", "signd");
    page.wait("find('.problems .findings li')?.innerText.includes('signd')");
    wait_for_problems(&page, "1 error");
    page.wait(
        "find('[data-node=is_signed].has-problems .mark').textContent.trim() === '1 problem'",
    );
    let finding = page.eval("find('.problems .findings li').innerText");
    assert!(finding.as_str().unwrap().contains("signd"), "{finding}");
    assert_eq!(
        page.eval("find('[data-node=is_signed]').getAttribute('aria-label')"),
        "Branch, is_signed: flow.branch, 1 problem, yes, no"
    );
    // The one of the list leads to the node.
    page.point("find('[data-node=draft] .title')");
    page.wait("named('aside h2', 'Draft')");
    page.click("find('.problems .findings button')");
    page.wait("named('aside h2', 'Branch') && document.activeElement.dataset.node === 'is_signed'");
    assert_eq!(page.eval("labelled('when').value"), "signd");
    page.press_with_ctrl("z");
    wait_for_problems(&page, "Nothing is wrong");

    page.point("find('[data-node=sign] .title')");
    page.click("named('aside summary', 'How it runs')");
    page.click("labelled('Give timeout')");
    page.fill("timeout", "soon");
    page.wait("labelled('timeout').getAttribute('aria-invalid') === 'true'");
    page.fill("timeout", "5s");
    wait_for_problems(&page, "Nothing is wrong");
    page.click("labelled('Give timeout')");

    // A field that the schema refuses is not part of the flow, and says so.
    page.point("find('[data-node=sign] .title')");
    page.fill("stars", "300");
    page.wait("all('aside .wrong').some((one) => one.textContent.startsWith('This has to be: a whole number from 0 to 255'))");
    page.click("named('button', 'The flow')");
    page.point("find('[data-node=sign] .title')");
    page.fill("name", "Bob");
    page.fill("stars", "300");
    page.click("named('button', 'Save')");
    told(&page, "A field is wrong: mend it first.");
    page.fill("stars", "${STARS}");
    wait_for_problems(&page, "1 error");
    // What only the server knows is said at the field as well.
    page.wait(
        "labelled('stars').getAttribute('aria-invalid') === 'true' &&
        all('aside .field .wrong').some((one) => one.textContent.includes('STARS'))",
    );
    page.click("named('button', 'Activate')");
    page.wait("labelled('stars') === document.activeElement");
    page.fill("stars", "3");
    wait_for_problems(&page, "Nothing is wrong");
    save(&page, 2);
    let sign = &editing.stored(id).flow["nodes"][4];
    assert_eq!(sign["params"], json!({ "name": "Bob", "stars": 3 }));
    page.has_no_problems();
}

#[test]
fn an_unsound_flow_can_be_a_draft_only() {
    let editing = Editing::new();
    let id = editing.keep(Content::new(article("Article")));
    let Some(page) = editing.open(id) else {
        return;
    };
    page.point("find('[data-node=sign] .title')");
    choose(&page, "Then", "");
    wait_for_problems(&page, "1 error");
    page.click("named('button', 'Activate')");
    page.wait("named('p', 'An active definition has to be sound. A draft can be saved with any mistake.')");
    assert_eq!(page.eval("find('.heading .status').textContent"), "draft");
    assert_eq!(editing.stored(id).flow, article("Article"));
    save(&page, 2);
    assert_eq!(page.eval("named('button', 'Run …').disabled"), true);
    assert_eq!(editing.stored(id).status, Status::Draft);
    page.has_no_problems();
}

#[test]
fn each_part_of_a_node_can_be_edited() {
    let editing = Editing::new();
    let mut content = Content::new(article("Article"));
    // What the page does not understand stays as it is, and so do numbers that JavaScript would round.
    content.flow["dependencies"] = json!({ "x": null });
    content.flow["inputs"]["properties"]["words"]["default"] = json!(u64::MAX);
    content.flow["nodes"][4]["params"]["more"] = json!([u64::MAX, null]);
    content.flow["edges"][0]["mappings"] = json!({ "topic": "subject" });
    content
        .configuration
        .insert("words".into(), json!(u64::MAX - 1));
    let mut expected = content.flow.clone();
    let id = editing.keep(content);
    let Some(page) = editing.open(id) else {
        return;
    };
    page.point("find('[data-node=sign] .title')");
    page.fill("name", "Eve");
    page.click("labelled('Give loud')");
    choose(&page, "loud", "yes");
    page.fill("Id", "autograph");
    page.press("Tab");
    page.wait("find('[data-node=autograph]')");
    page.click("named('aside summary', 'How it runs')");
    page.click("labelled('Give retry')");
    page.fill("attempts", "3");
    page.click("named('aside summary', 'How people see it')");
    page.click("labelled('Give title')");
    page.fill("title", "Autograph");
    page.click("named('aside summary', 'Values')");
    page.fill("Writes text", "signed_text");
    page.fill("Name of the end on \"default\"", "signed");
    page.point("find('[data-node=draft] .title')");
    choose(&page, "Then", "to extend");
    save(&page, 2);

    let autograph = json!({
        "type": "Sign",
        "id": "autograph",
        "title": "Autograph",
        "params": { "name": "Eve", "stars": 2, "loud": true, "more": [u64::MAX, null] },
        "settings": { "retry": { "attempts": 3 } },
        "mappings": { "outputs": { "text": "signed_text" } },
    });
    expected["nodes"][4] = autograph;
    expected["edges"][4]["to"] = "autograph".into();
    expected["ends"][1] = json!({ "from": "autograph", "condition": "default", "label": "signed" });
    expected["edges"][0]["to"] = "extend".into();
    let stored = editing.stored(id);
    assert_eq!(stored.flow, expected);
    assert_eq!(stored.configuration["words"], json!(u64::MAX - 1));

    // A copy of it, and a loop around it.
    page.point("find('[data-node=autograph] .title')");
    page.click("named('button', 'Duplicate')");
    page.wait("find('[data-node=autograph_2]')");
    page.click("find('[data-type=\"flow.each\"]')");
    choose(&page, "Node inside", "autograph_2");
    page.fill("Item", "text");
    page.fill("Over", "texts");
    page.click("find('[data-type=\"flow.fork\"]')");
    page.fill("Branches", "extend, draft\nreview");
    page.click("find('[data-type=\"flow.wait\"]')");
    page.fill("duration", "5m");
    // A question of the program.
    page.click("find('[data-type=\"Approval\"]')");
    choose(&page, "On \"publish\"", "end");
    choose(&page, "On \"timeout\"", "to extend");
    page.wait("all('[data-node=approval] .action').map((one) => one.textContent.trim()).join() === 'publish,discard,timeout'");
    save(&page, 3);
    let stored = editing.stored(id).flow;
    assert_eq!(
        stored["nodes"][6],
        json!({ "type": "flow.each", "id": "each", "params": { "item": "text", "over": "texts", "body": "autograph_2" } })
    );
    assert_eq!(
        stored["nodes"][7]["params"],
        json!({ "branches": [["extend", "draft"], ["review"]] })
    );
    assert_eq!(stored["nodes"][8]["params"], json!({ "duration": "5m" }));
    let approval = json!({
        "type": "flow.human",
        "id": "approval",
        "params": { "prompt": "Is this ready? {text}", "expects": "Approval" },
        "settings": { "timeout": "48h" },
    });
    assert_eq!(stored["nodes"][9], approval);
    // Nobody has to answer in time, but everybody has to be led on.
    assert_eq!(
        page.eval("all('[data-node=approval] .port.open').map((port) => port.dataset.port)"),
        json!(["discard"])
    );
    // Whatever names a node names it no more when it is removed.
    page.point("find('[data-node=review] .title')");
    page.click("named('button', 'Remove')");
    page.wait("!find('[data-node=review]')");
    save(&page, 4);
    let stored = editing.stored(id).flow;
    assert_eq!(
        stored["nodes"][6]["params"],
        json!({ "branches": [["extend", "draft"]] })
    );
    assert!(!stored.to_string().contains("review"), "{stored}");
    page.has_no_problems();
}

#[test]
fn a_flag_is_a_box_to_tick() {
    let editing = Editing::new();
    let mut content = Content::new(article("Article"));
    content.status = Status::Active;
    content.configuration.insert("wrods".into(), json!(1));
    let id = editing.keep(content);
    let Some(page) = editing.open(id) else {
        return;
    };
    wait_for_problems(&page, "1 warning");
    page.click("named('button', 'Remove its value')");
    wait_for_problems(&page, "Nothing is wrong");
    page.click("labelled('signed')");
    page.click("labelled('Give words')");
    page.fill("words", "7");
    save(&page, 2);
    let configuration = |id| Value::from(editing.stored(id).configuration);
    assert_eq!(configuration(id), json!({ "signed": true, "words": 7 }));
    let input = json!({ "topic": "sea" });
    let execution = editing.served.run("Article", input);
    page.go(&editing.served.at(&format!("executions/{execution}")));
    page.wait("document.body.innerText.includes('sea sea sea sea sea sea sea **Ann** false')");
    // As the flow says it again.
    page.go(&editing.served.at(&format!("definitions/{id}")));
    page.wait("labelled('signed').checked");
    page.click("labelled('signed')");
    page.click("labelled('Give words')");
    save(&page, 3);
    assert_eq!(configuration(id), json!({}));
    page.has_no_problems();
}

#[test]
fn nobody_overwrites_what_somebody_else_has_saved() {
    let editing = Editing::new();
    let id = editing.keep(Content::new(article("Article")));
    let Some(page) = editing.open(id) else {
        return;
    };
    let theirs = |revision: u64, text: &str| {
        let patch = json!({ "flow": { "description": text } });
        let patched = editing.definitions.patch(id, revision, &patch);
        editing.served.block_on(patched).unwrap();
    };
    theirs(1, "Theirs.");
    page.fill("Name", "Mine");
    page.click("named('button', 'Save')");
    page.wait("named('dialog h2', 'Somebody else has changed it')");
    page.click("named('dialog button', 'Close')");
    assert_eq!(editing.stored(id).flow["name"], "Article");
    page.click("named('button', 'Save')");
    page.click("named('dialog button', 'Show theirs')");
    told(&page, "This is theirs. Undo brings yours back.");
    page.wait(
        "labelled('Description').value === 'Theirs.' && labelled('Name').value === 'Article'",
    );
    page.click("named('button', 'Undo')");
    page.wait("labelled('Description').value === '' && labelled('Name').value === 'Mine'");

    theirs(2, "Theirs again.");
    page.click("named('button', 'Save')");
    page.click("named('dialog button', 'Replace theirs with mine')");
    told(&page, "Saved as revision 4.");
    let stored = editing.stored(id).flow;
    assert_eq!(
        (&stored["name"], stored.get("description")),
        (&json!("Mine"), None)
    );
    page.has_no_problems();
}

#[test]
fn what_is_not_saved_is_there_when_the_page_is_loaded_again() {
    let editing = Editing::new();
    let id = editing.keep(Content::new(article("Article")));
    let Some(page) = editing.open(id) else {
        return;
    };
    page.point("find('[data-node=sign] .title')");
    page.fill("name", "Bob");
    told(&page, "Not saved.");
    page.go(&editing.served.at("flows"));
    page.go(&editing.served.at(&format!("definitions/{id}")));
    told(&page, "What was not saved is here again.");
    page.point("find('[data-node=sign] .title')");
    page.wait("labelled('name').value === 'Bob'");
    page.click("named('button', 'Undo')");
    page.wait("labelled('name').value === 'Ann' && named('button', 'Save').disabled");
    page.click("named('button', 'Redo')");
    save(&page, 2);
    page.go(&editing.served.at("flows"));
    page.go(&editing.served.at(&format!("definitions/{id}")));
    page.wait("find('flow-canvas svg')");
    assert_eq!(page.eval("find('.told').textContent"), "");
    page.has_no_problems();
}

#[test]
fn nothing_in_a_definition_is_trusted() {
    let editing = Editing::new();
    let markup = "<img src=x onerror=alert(1)>";
    let mut hostile = article("Hostile");
    hostile["name"] = markup.into();
    hostile["description"] = markup.into();
    hostile["nodes"][0]["title"] = markup.into();
    hostile["nodes"][1]["type"] = markup.into();
    hostile["edges"][0]["condition"] = markup.into();
    hostile["ends"][0]["label"] = markup.into();
    hostile["inputs"]["properties"][markup] = json!({ "description": markup, "default": markup });
    let mut flows = vec![hostile];
    for (at, value) in [
        ("nodes", json!("none yet")),
        (
            "nodes",
            json!([null, 1, [], {}, { "id": 7 }, { "id": "__proto__", "type": 3 }, { "id": "a" }, { "id": "a", "type": "flow.fork", "params": 1 }]),
        ),
        (
            "nodes",
            json!([{ "id": "f", "type": "flow.fork", "params": { "branches": [1, ["f", "f"], "x"] } }, { "id": "e", "type": "flow.each", "params": { "body": 4, "over": "x" } }]),
        ),
        (
            "edges",
            json!([null, {}, { "from": 1, "to": [] }, { "from": "draft", "to": "gone" }, { "from": "draft", "to": null, "condition": 8 }]),
        ),
        (
            "ends",
            json!([null, { "from": "draft" }, { "from": "draft", "label": {} }]),
        ),
        (
            "inputs",
            json!({ "properties": { "x": null, "y": true, "z": { "rustType": 7 } }, "required": "x" }),
        ),
        ("entryNodeId", json!({})),
        ("name", json!("<b>")),
    ] {
        let mut flow = article(&format!("Wrong{}", flows.len()));
        flow[at] = value;
        flows.push(flow);
    }
    flows.push(json!({ "name": "Nothing" }));
    let Some(page) = Page::open(&editing.served.at("definitions")) else {
        return;
    };
    for flow in flows {
        let id = editing.keep(Content::new(flow.clone()));
        page.go(&editing.served.at("definitions"));
        page.go(&editing.served.at(&format!("definitions/{id}")));
        page.wait("find('flow-canvas svg')");
        let nodes = drawn(&page);
        for node in nodes.as_array().unwrap() {
            page.point(&format!(
                "find('[data-node=\"' + CSS.escape({node}) + '\"] .title')"
            ));
            page.wait("find('.node-panel')");
        }
        page.click("named('button', 'The flow')");
        page.wait("find('.flow-panel')");
        assert_eq!(page.eval("all('img, b').length"), 0);
        // Looking at it has changed nothing.
        assert_eq!(
            page.eval("named('button', 'Save').disabled"),
            true,
            "{flow}"
        );
        // It is mended by another click, whatever it was.
        page.click("find('[data-type=\"draft\"]')");
        page.wait("find('.node-panel h2').textContent === 'Draft'");
        page.click("named('button', 'Undo')");
        page.wait("named('button', 'Save').disabled");
        assert_eq!(editing.stored(id).flow, flow);
    }
    page.has_no_problems();
}

#[test]
fn the_document_can_be_edited_as_json() {
    let editing = Editing::new();
    let mut content = Content::new(article("Article"));
    content.status = Status::Active;
    let id = editing.keep(content);
    let Some(page) = editing.open(id) else {
        return;
    };
    page.click("named('summary', 'As JSON')");
    let label = "The document of the flow";
    page.wait(&format!("labelled({label:?}).value.startsWith('{{')"));
    page.fill(label, "{ \"name\": ");
    page.click("named('button', 'Use this')");
    page.wait(
        "all('.wrong').some((one) => one.textContent.startsWith('This is not the JSON of a flow'))",
    );
    let mut flow = article("Article");
    flow["nodes"][4]["id"] = "step-2".into();
    flow["edges"][4]["to"] = "step-2".into();
    flow["ends"][1]["from"] = "step-2".into();
    page.fill(label, &flow.to_string());
    page.click("named('button', 'Use this')");
    page.wait("find('[data-node=step-2]')");
    save(&page, 2);
    assert_eq!(editing.stored(id).flow, flow);
    // Not everything can be said in Rust.
    page.click("named('summary', 'As Rust')");
    page.wait("find('.editor > details pre').textContent.includes('step-2')");
    page.has_no_problems();
}

#[test]
fn definitions_are_listed_copied_and_removed() {
    let editing = Editing::new();
    let mut content = Content::new(article("Article"));
    content.configuration.insert("words".into(), 9.into());
    editing.keep(content);
    let Some(page) = Page::open(&editing.served.at("definitions")) else {
        return;
    };
    page.click("named('button', 'Copy …')");
    page.click("named('dialog button', 'Copy')");
    page.wait("find('h1').textContent === 'ArticleCopy'");
    page.go(&editing.served.at("definitions"));
    page.wait("all('.cards li').length === 2");
    page.picture("definitions");
    let stored = editing.served.block_on(editing.definitions.list()).unwrap();
    let copy = stored[0].as_ref().unwrap();
    assert_eq!(copy.name(), "ArticleCopy");
    assert_eq!(copy.content.configuration["words"], 9);
    // A name that is taken is refused where it is written.
    page.click("named('button', 'New definition …')");
    page.fill("Name", "Article");
    page.click("named('dialog button', 'Create')");
    page.wait("find('dialog .problem').textContent.startsWith('The name is taken')");
    page.click("named('dialog button', 'Close')");
    page.click("all('.cards li')[1].querySelector('button.danger')");
    page.click("named('dialog button', 'Remove')");
    page.wait("all('.cards li').length === 1 && find('.cards a').textContent === 'ArticleCopy'");
    page.has_no_problems();
}

#[test]
fn the_editor_fits_on_a_phone_and_can_be_heard() {
    let editing = Editing::new();
    let mut flow = article("Article");
    flow["nodes"][3]["params"]["cases"][0]["when"] = "signd".into();
    let id = editing.keep(Content::new(flow));
    let (Some(page), Some(axe)) = (editing.open(id), crate::looks::axe()) else {
        return;
    };
    for colours in ["light", "dark"] {
        page.colours(colours);
        page.viewport(1500, 1000, false);
        for address in ["definitions".to_owned(), format!("definitions/{id}")] {
            page.go(&editing.served.at(&address));
            page.wait("find('.cards li, .findings li')");
            page.run(&format!("{axe}; true"));
            assert_eq!(
                page.run(crate::looks::SERIOUS),
                json!([]),
                "{address}, {colours}"
            );
        }
        page.point("find('[data-node=sign] .title')");
        page.wait("find('.node-panel')");
        page.eval("all('details').forEach((one) => { one.open = true; })");
        assert_eq!(
            page.run(crate::looks::SERIOUS),
            json!([]),
            "node, {colours}"
        );
    }
    page.picture("editor-dark");
    page.viewport(390, 800, true);
    for address in ["definitions".to_owned(), format!("definitions/{id}")] {
        page.go(&editing.served.at(&address));
        page.wait("find('.cards li, .findings li')");
        assert_eq!(
            page.eval("document.documentElement.scrollWidth"),
            390,
            "{address}"
        );
    }
    page.has_no_problems();
}

#[test]
fn a_server_without_definitions_shows_none() {
    let served = Served::new();
    let editing = Editing::new();
    let Some(page) = Page::open(&served.at("flows")) else {
        return;
    };
    let shown = "getComputedStyle(find('[data-view=definitions]')).display !== 'none'";
    assert_eq!(page.eval(shown), false);
    page.go(&editing.served.at("flows"));
    assert_eq!(page.eval(shown), true);
}

#[test]
fn nodes_are_found_dropped_and_arranged() {
    let editing = Editing::new();
    let id = editing.keep(Content::new(article("Article")));
    let Some(page) = editing.open(id) else {
        return;
    };
    let shown = "all('.palette li').filter((item) => item.offsetParent).map((item) => item.innerText.split('\\n')[0]).join()";
    page.fill("Find a node", "writing EXT");
    page.wait(&format!("{shown} === '➕ Extend'"));
    page.fill("Find a node", "nothing");
    page.wait("named('p', 'No node is like this.').offsetParent");
    page.fill("Find a node", "article");
    page.wait(&format!("{shown}.split(',').length === 3"));

    page.wait(
        "(() => {
            const transfer = new DataTransfer();
            find('[data-type=draft]').dispatchEvent(new DragEvent('dragstart', { dataTransfer: transfer, bubbles: true }));
            const { left, top } = find('flow-canvas svg').getBoundingClientRect();
            const at = { clientX: left + 405, clientY: top + 320, dataTransfer: transfer, bubbles: true };
            find('flow-canvas svg').dispatchEvent(new DragEvent('drop', at));
            return find('[data-node=draft_2]');
        })()",
    );
    // What is dropped leads nowhere by itself.
    page.wait("find('[data-node=draft_2] .port.open')");
    let width = "find('flow-canvas svg').width.baseVal.value";
    let usual = page.eval(width);
    page.click("named('button', '+')");
    page.wait(&format!("{width} > 1.15 * {usual}"));
    page.click("named('button', '−')");
    page.click("named('button', '−')");
    page.wait(&format!("{width} < 0.9 * {usual}"));
    // A node is moved by what the pointer has moved on the canvas.
    page.drag_by("find('[data-node=draft_2] .title')", 0.0, 50.0);
    page.click("named('button', '100 %')");
    page.wait(&format!("{width} === {usual}"));
    save(&page, 2);
    let place = editing.stored(id).layout["draft_2"];
    assert_eq!((place.x, place.y), (300.0, 360.0));
    page.click("named('button', 'Arrange')");
    save(&page, 3);
    assert!(editing.stored(id).layout.is_empty());

    // The first node stays the first one, whatever it is called.
    page.point("find('[data-node=draft] .title')");
    page.fill("Id", "begin");
    page.press("Tab");
    save(&page, 4);
    let stored = editing.stored(id).flow;
    assert_eq!(stored["entryNodeId"], "begin");
    assert_eq!(stored["edges"][0]["from"], "begin");
    page.drag("find('.start')", "find('[data-node=draft_2] .title')");
    save(&page, 5);
    assert_eq!(editing.stored(id).flow["entryNodeId"], "draft_2");
    page.has_no_problems();
}
