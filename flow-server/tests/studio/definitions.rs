//! Definitions are made in the page, with the mouse and with the keyboard.

use flow_definitions::{Content, Status};
use serde_json::{Value, json};

use crate::editing::{Editing, article, choose, save, told, wait_for_problems};
use crate::page::Page;
use crate::server::Served;

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
    page.click("named('dialog[open] button', 'Create')");
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
    page.click("named('dialog[open] button', 'Start')");
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
    page.click("named('dialog[open] button', 'Copy')");
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
    page.click("named('dialog[open] button', 'Create')");
    page.wait("find('dialog[open] .problem').textContent.startsWith('The name is taken')");
    page.click("named('dialog[open] button', 'Close')");
    page.click("all('.cards li')[1].querySelector('button.danger')");
    page.click("named('dialog[open] button', 'Remove')");
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

fn sorted(list: &Value) -> Value {
    let mut items = list.as_array().unwrap().clone();
    items.sort_by_key(Value::to_string);
    items.into()
}
