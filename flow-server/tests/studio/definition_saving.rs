//! What is not saved, and what somebody else saves.

use flow_definitions::Content;
use serde_json::json;

use crate::editing::{Editing, article, save, told};

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
    page.wait("named('dialog[open] h2', 'Somebody else has changed it')");
    page.click("named('dialog[open] button', 'Close')");
    assert_eq!(editing.stored(id).flow["name"], "Article");
    page.click("named('button', 'Save')");
    page.click("named('dialog[open] button', 'Show theirs')");
    told(&page, "This is theirs. Undo brings yours back.");
    page.wait(
        "labelled('Description').value === 'Theirs.' && labelled('Name').value === 'Article'",
    );
    page.click("named('button', 'Undo')");
    page.wait("labelled('Description').value === '' && labelled('Name').value === 'Mine'");

    theirs(2, "Theirs again.");
    page.click("named('button', 'Save')");
    page.click("named('dialog[open] button', 'Replace theirs with mine')");
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
