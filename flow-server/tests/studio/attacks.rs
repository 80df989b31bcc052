//! What somebody found who set out to break the editor.

use flow_definitions::Content;
use serde_json::{Value, json};

use crate::editing::{Editing, article, choose, save, told, wait_for_problems};

/// Delays the requests of a page with this method, by this many milliseconds.
const SLOW: &str =
    "(() => { const fetched = window.fetch; window.fetch = async (address, options = {}) => {
    const slow = (options.method ?? 'GET') === window.slow;
    if (slow) await new Promise((done) => setTimeout(done, 600));
    const answer = await fetched(address, options);
    if (slow) window.answered = true;
    return answer;
} })()";

#[test]
fn an_editor_that_was_left_while_it_loaded_does_nothing() {
    let editing = Editing::new();
    let (one, other) = (
        editing.keep(Content::new(article("One"))),
        editing.keep(Content::new(article("Other"))),
    );
    // What is not saved would be saved by the editor that was left.
    let Some(page) = editing.open(one) else {
        return;
    };
    page.fill("Description", "begun");
    told(&page, "Not saved.");
    page.eval("location.hash = '#/definitions'");
    page.wait("find('.cards')");
    page.run(SLOW);
    page.eval("window.slow = 'GET'");
    page.eval(&format!("location.hash = '#/definitions/{one}'"));
    page.wait("!find('.cards')");
    page.eval(&format!("location.hash = '#/definitions/{other}'"));
    page.wait("find('h1')?.textContent === 'Other'");
    page.eval("window.slow = undefined");
    page.fill("Description", "ended");
    page.press_with_ctrl("s");
    told(&page, "Saved as revision 2.");
    page.wait("window.answered");
    std::thread::sleep(std::time::Duration::from_millis(700));
    assert_eq!(page.eval("all('.editor').length"), 1);
    assert_eq!(editing.stored(one).flow, article("One"));
    page.has_no_problems();
}

#[test]
fn a_save_that_ends_late_takes_nothing_away() {
    let editing = Editing::new();
    let id = editing.keep(Content::new(article("Article")));
    let Some(page) = editing.open(id) else {
        return;
    };
    page.run(SLOW);
    page.fill("Description", "one");
    page.eval("window.slow = 'PUT'");
    page.press_with_ctrl("s");
    page.eval("location.hash = '#/flows'");
    page.wait("find('[data-view=flows].view')");
    page.eval(&format!("location.hash = '#/definitions/{id}'"));
    told(&page, "What was not saved is here again.");
    page.fill("Description", "one and two");
    page.wait("window.answered");
    assert_eq!(editing.stored(id).flow["description"], "one");
    page.go(&editing.served.at("flows"));
    page.go(&editing.served.at(&format!("definitions/{id}")));
    page.wait("labelled('Description').value === 'one and two'");

    // Whoever goes on writing during a save is told, and a second save is not forgotten.
    page.run(SLOW);
    page.click("named('button', 'Save')");
    page.click("named('dialog[open] button', 'Replace theirs with mine')");
    told(&page, "Saved as revision 3.");
    page.eval("window.slow = 'PUT'");
    page.fill("Description", "three");
    page.press_with_ctrl("s");
    page.fill("Description", "four");
    page.press_with_ctrl("s");
    told(&page, "Saved as revision 5.");
    assert_eq!(editing.stored(id).flow["description"], "four");
    page.has_no_problems();
}

#[test]
fn a_field_that_is_wrong_takes_no_other_with_it() {
    let editing = Editing::new();
    let id = editing.keep(Content::new(article("Article")));
    let Some(page) = editing.open(id) else {
        return;
    };
    page.point("find('[data-node=sign] .title')");
    page.fill("stars", "300");
    page.fill("name", "Bob");
    page.click("named('button', 'The flow')");
    page.point("find('[data-node=sign] .title')");
    page.wait("labelled('name').value === 'Bob' && labelled('stars').value === '2'");
    // What only the server says does not keep a draft from being saved.
    page.fill("stars", "${STARS}");
    page.wait("labelled('stars').getAttribute('aria-invalid') === 'true'");
    page.click("labelled('Give loud')");
    choose(&page, "loud", "from elsewhere");
    page.eval("find('[aria-label=\"loud from elsewhere\"]').focus()");
    page.write("@cred:loud");
    save(&page, 2);
    let params = |id| editing.stored(id).flow["nodes"][4]["params"].clone();
    assert_eq!(
        params(id),
        json!({ "name": "Bob", "stars": "${STARS}", "loud": "@cred:loud" })
    );
    page.has_no_problems();
}

#[test]
fn what_is_taken_away_from_the_configuration_is_gone() {
    let editing = Editing::new();
    let id = editing.keep(Content::new(article("Article")));
    let Some(page) = editing.open(id) else {
        return;
    };
    page.click("labelled('Give words')");
    page.fill("words", "7");
    page.click("labelled('Give words')");
    page.click("labelled('signed')");
    save(&page, 2);
    let configuration = Value::from(editing.stored(id).configuration);
    assert_eq!(configuration, json!({ "signed": true }));
    page.has_no_problems();
}

#[test]
fn what_is_being_written_is_saved_or_refused() {
    let editing = Editing::new();
    let id = editing.keep(Content::new(article("Article")));
    let Some(page) = editing.open(id) else {
        return;
    };
    page.point("find('[data-node=sign] .title')");
    page.fill("Id", "autograph");
    page.press_with_ctrl("s");
    told(&page, "Saved as revision 2.");
    assert_eq!(editing.stored(id).flow["nodes"][4]["id"], "autograph");
    assert_eq!(page.eval("document.activeElement === labelled('Id')"), true);
    // The first click counts, and so does a drag.
    page.fill("Id", "stamp");
    page.point("named('button', 'Duplicate')");
    page.wait("find('[data-node=stamp_2]')");
    page.point("find('[data-node=stamp] .title')");
    page.fill("Id", "seal");
    page.drag_by("find('[data-node=stamp] .title')", 30.0, 200.0);
    page.wait("find('[data-node=seal]')");
    save(&page, 3);
    let stored = editing.stored(id);
    let places: Vec<&String> = stored.layout.keys().collect();
    assert_eq!(places, ["seal", "stamp_2"]);
    page.press_with_ctrl("s");
    told(&page, "There is nothing to save.");

    page.click("named('summary', 'As JSON')");
    page.fill("The document of the flow", "{ \"name\": \"Half");
    page.point("find('[data-node=draft] .title')");
    page.wait("labelled('The document of the flow').value === '{ \"name\": \"Half'");
    page.press_with_ctrl("s");
    told(
        &page,
        "The JSON below is not used yet: use it, or show what there is.",
    );
    page.click("named('button', 'Show what there is')");
    page.wait("labelled('The document of the flow').value.includes('Article')");
    page.has_no_problems();
}

#[test]
fn a_way_keeps_what_it_says_when_it_is_led_elsewhere() {
    let editing = Editing::new();
    let mut flow = article("Article");
    flow["edges"][0]["mappings"] = json!({ "topic": "subject" });
    flow["edges"][0]["note"] = json!("mine");
    let id = editing.keep(Content::new(flow.clone()));
    let Some(page) = editing.open(id) else {
        return;
    };
    page.drag(
        "find('[data-node=draft] [data-port=default]')",
        "find('[data-node=extend] .title')",
    );
    save(&page, 2);
    flow["edges"][0]["to"] = "extend".into();
    assert_eq!(editing.stored(id).flow, flow);
    page.point("find('[data-node=draft] .title')");
    page.wait("labelled('Values').value === 'subject <- topic'");
    page.fill("Values", "subject <- topic\nfile = text");
    page.wait("all('aside .wrong').some((one) => one.textContent === 'Write \"key <- other\", and not \"file = text\"')");
    page.fill("Values", "title <- topic");
    save(&page, 3);
    flow["edges"][0]["mappings"] = json!({ "topic": "title" });
    assert_eq!(editing.stored(id).flow, flow);
    page.has_no_problems();
}

#[test]
fn no_number_is_written_otherwise() {
    let editing = Editing::new();
    let mut content = Content::new(article("Article"));
    content.flow["inputs"]["properties"]["rate"] = json!({ "rustType": "f64", "default": 2.0 });
    content.layout.insert(
        "draft".to_owned(),
        serde_json::from_value(json!({ "x": 2.0, "y": -0.0 })).unwrap(),
    );
    let before = content.clone();
    let id = editing.keep(content);
    let Some(page) = editing.open(id) else {
        return;
    };
    page.wait("find('[data-node=draft]').getAttribute('transform') === 'translate(2 0)'");
    page.fill("Description", "x");
    save(&page, 2);
    let stored = editing.stored(id);
    assert_eq!(
        stored.flow["inputs"].to_string(),
        before.flow["inputs"].to_string()
    );
    assert_eq!(stored.layout, before.layout);
    page.click("labelled('Give rate')");
    page.fill("rate", "1e999");
    page.wait("labelled('rate').getAttribute('aria-invalid') === 'true'");
    page.click("named('button', 'Save')");
    page.wait("find('.told').textContent !== ''");
    assert!(editing.stored(id).configuration.is_empty());
    page.has_no_problems();
}

#[test]
fn a_node_stays_under_the_pointer() {
    let editing = Editing::new();
    let id = editing.keep(Content::new(article("Article")));
    let Some(page) = editing.open(id) else {
        return;
    };
    page.drag_by("find('[data-node=draft] .title')", -100.0, -30.0);
    save(&page, 2);
    let place = editing.stored(id).layout["draft"];
    assert_eq!((place.x, place.y), (60.0, 10.0));

    // The answer to what was written before comes while it is held.
    page.fill("Description", "x");
    page.hold("find('[data-node=sign] .title')", 0.0, 200.0);
    page.wait("!find('.flow-panel [aria-invalid]') && find('.problems')");
    std::thread::sleep(std::time::Duration::from_millis(700));
    let held = page.eval("find('[data-node=sign]').getAttribute('transform')");
    page.let_go();
    save(&page, 3);
    let place = editing.stored(id).layout["sign"];
    assert_eq!(held, format!("translate({} {})", place.x, place.y));
    assert_eq!(place.y, 240.0);
    page.has_no_problems();
}

#[test]
fn an_odd_value_can_be_mended() {
    let editing = Editing::new();
    let mut flow = article("Article");
    flow["description"] = json!({ "toString": 1 });
    flow["nodes"][0]["title"] = json!({ "toString": 1 });
    flow["nodes"][1]["title"] = json!(u64::MAX);
    flow["nodes"][2]["type"] = json!({ "toString": 1 });
    flow["nodes"][4]["id"] = "constructor".into();
    flow["edges"][4]["to"] = "constructor".into();
    flow["ends"][0]["label"] = json!({ "toString": 1 });
    flow["ends"][1]["from"] = "constructor".into();
    flow["inputs"]["properties"]["constructor"] = json!({ "rustType": "bool", "default": false });
    flow["inputs"]["properties"]["__proto__"] = json!({ "rustType": "bool", "default": false });
    let id = editing.keep(Content::new(flow.clone()));
    let Some(page) = editing.open(id) else {
        return;
    };
    for node in ["draft", "review", "extend", "is_signed", "constructor"] {
        page.point(&format!("find('[data-node={node}] .title')"));
        page.wait("find('.node-panel')");
    }
    page.click("named('button', 'The flow')");
    assert_eq!(page.eval("labelled('constructor').checked"), false);
    page.click("labelled('constructor')");
    page.click("labelled('__proto__')");
    page.drag_by("find('[data-node=constructor] .title')", 0.0, 100.0);
    save(&page, 2);
    let stored = editing.stored(id);
    assert_eq!(stored.flow, flow);
    assert_eq!(
        Value::from(stored.configuration),
        json!({ "constructor": true, "__proto__": true })
    );
    assert!(stored.layout.contains_key("constructor"));
    page.has_no_problems();
}

#[test]
fn a_node_inside_another_leads_nowhere() {
    let editing = Editing::new();
    let mut flow = article("Article");
    let each = json!({ "type": "flow.each", "id": "each", "params": { "item": "item", "over": "lines", "body": "measure" } });
    let nodes = flow["nodes"].as_array_mut().unwrap();
    nodes.extend([each, json!({ "type": "measure", "id": "measure" })]);
    let edges = flow["edges"].as_array_mut().unwrap();
    edges.push(json!({ "from": "measure", "to": "draft", "condition": "default" }));
    let id = editing.keep(Content::new(flow));
    let Some(page) = editing.open(id) else {
        return;
    };
    page.point("find('[data-node=measure] .title')");
    page.click("named('button', 'Remove the way on \"default\"')");
    page.click("find('[data-type=\"extend\"]')");
    page.wait("find('[data-node=extend_2]')");
    save(&page, 2);
    let stored = editing.stored(id).flow;
    assert_eq!(stored["edges"].as_array().unwrap().len(), 5);
    page.has_no_problems();
}

#[test]
fn one_step_is_what_was_done_at_once() {
    let editing = Editing::new();
    let id = editing.keep(Content::new(article("Article")));
    let Some(page) = editing.open(id) else {
        return;
    };
    let names = "all('.keys')[0].querySelectorAll('legend').length";
    page.click("all('.keys')[0].querySelector('fieldset > button')");
    page.click("all('.keys')[0].querySelector('fieldset > button')");
    page.wait(&format!("{names} === 1"));
    page.click("named('button', 'Add an input')");
    page.write("one");
    page.wait(&format!("{names} === 2"));
    page.click("named('button', 'Undo')");
    page.wait(&format!(
        "{names} === 2 && all('.keys')[0].innerText.includes('input')"
    ));
    page.click("named('button', 'Undo')");
    page.wait(&format!("{names} === 1"));
    page.click("named('button', 'Undo')");
    page.wait(&format!("{names} === 2"));
    page.click("named('button', 'Undo')");
    page.wait(&format!("{names} === 3"));
    wait_for_problems(&page, "Nothing is wrong");
    assert_eq!(page.eval("named('button', 'Save').disabled"), true);
    // Whoever chooses with the keyboard goes on there.
    page.tab_to("labelled('First node')");
    page.press("ArrowDown");
    page.press("ArrowDown");
    assert_eq!(
        page.eval("document.activeElement === labelled('First node')"),
        true
    );
    page.has_no_problems();
}

#[test]
fn what_somebody_else_saved_is_seen_after_undo() {
    let editing = Editing::new();
    let id = editing.keep(Content::new(article("Article")));
    let Some(page) = editing.open(id) else {
        return;
    };
    page.fill("Description", "mine");
    told(&page, "Not saved.");
    let patch = json!({ "flow": { "description": "theirs" } });
    let patched = editing.definitions.patch(id, 1, &patch);
    editing.served.block_on(patched).unwrap();
    page.go(&editing.served.at("flows"));
    page.go(&editing.served.at(&format!("definitions/{id}")));
    told(&page, "What was not saved is here again.");
    page.click("named('button', 'Undo')");
    page.wait("labelled('Description').value === 'theirs'");
    // This changes theirs, which is no conflict; what was there before is one.
    page.fill("Name", "Mine");
    save(&page, 3);
    page.click("named('button', 'Undo')");
    page.wait("labelled('Name').value === 'Article'");
    page.has_no_problems();
}
