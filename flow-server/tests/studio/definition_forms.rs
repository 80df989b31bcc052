//! The forms of the editor, and what they say of mistakes.

use flow_definitions::{Content, Status};
use serde_json::{Value, json};

use crate::editing::{Editing, article, choose, save, told, wait_for_problems};
use crate::page::Page;

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

/// One of a type of the program, or any JSON by its name.
#[test]
fn a_signal_is_chosen_or_named() {
    let editing = Editing::new();
    let id = editing.keep(Content::new(article("Article")));
    let Some(page) = editing.open(id) else {
        return;
    };
    page.click("find('[data-type=\"Withdrawal\"]')");
    page.wait("labelled('Expects')?.value === 'Withdrawal' && !labelled('Name')");
    page.click("named('aside summary', 'Values')");
    page.fill("Writes because", "reason");
    let actions = |node: &str, actions: &str| {
        page.wait(&format!(
            "all('[data-node={node}] .action').map((one) => one.textContent.trim()).join() === '{actions}'"
        ));
    };
    actions("withdrawal", "default,timeout");
    // Without a way for the time out, the flow fails then.
    assert_eq!(
        page.eval("all('[data-node=withdrawal] .port.open').map((port) => port.dataset.port)"),
        json!(["default"])
    );
    page.click("find('[data-type=\"flow.signal\"]')");
    actions("signal", "default");
    page.fill("Name", "new_topic");
    choose(&page, "Expects", "Withdrawal");
    page.wait("!labelled('Name') && document.activeElement === labelled('Expects')");
    page.click("named('aside summary', 'Values')");
    page.wait("labelled('Writes because')");
    choose(&page, "Expects", "");
    page.fill("Name", "<b>topic</b>");
    save(&page, 2);
    let stored = editing.stored(id).flow;
    let withdrawal = json!({
        "type": "flow.signal",
        "id": "withdrawal",
        "params": { "expects": "Withdrawal" },
        "settings": { "timeout": "72h" },
        "mappings": { "outputs": { "because": "reason" } },
    });
    assert_eq!(stored["nodes"][5], withdrawal);
    let named =
        json!({ "type": "flow.signal", "id": "signal", "params": { "name": "<b>topic</b>" } });
    assert_eq!(stored["nodes"][6], named);
    assert_eq!(page.eval("all('b').length"), 0);
    page.has_no_problems();
}

/// The ways of the canvas to undo nodes.
const UNDO_WAYS: &str = "all('.way.undo').length";

/// One of the flow's own nodes, or a new one, which is named, removed and left as the others are.
#[test]
fn an_undo_node_is_chosen_or_new() {
    let editing = Editing::new();
    let mut flow = article("Article");
    let nodes = flow["nodes"].as_array_mut().unwrap();
    nodes.push(json!({ "type": "<img src=x>", "id": "odd" }));
    let id = editing.keep(Content::new(flow));
    let Some(page) = editing.open(id) else {
        return;
    };
    let options = "[...labelled('Undo node').options].map((one) => one.textContent)";
    page.point("find('[data-node=draft] .title')");
    // Only code that nothing leads to, and new ones that do not decide.
    page.wait(&format!(
        "{options}.join() === 'none,odd,a new Sign,a new Draft,a new Extend,a new measure'"
    ));
    choose(&page, "Undo node", "new measure");
    page.wait("document.activeElement === labelled('Undo node') && labelled('Undo node').value === 'is measure'");
    page.wait(&format!("{UNDO_WAYS} === 1"));
    page.wait("find('[data-node=draft]').getAttribute('aria-label').includes('undone by measure')");
    // It leads nowhere by itself, and says what it takes back.
    page.wait("find('[data-node=draft] .port') && !find('[data-node=measure] .port')");
    // The other settings are left as they are, and leave it as it is.
    page.click("labelled('Give timeout')");
    page.fill("timeout", "30s");
    page.point("find('[data-node=measure] .title')");
    page.wait("find('.node-panel').textContent.includes('It takes back draft, and leads nowhere by itself.')");
    page.wait("!labelled('Undo node')");
    page.fill("Id", "un_draft");
    page.press("Tab");
    page.wait(&format!(
        "{UNDO_WAYS} === 1 && find('[data-node=un_draft]')"
    ));
    page.point("find('[data-node=sign] .title')");
    choose(&page, "Undo node", "is un_draft");
    page.wait(&format!("{UNDO_WAYS} === 2"));
    page.point("find('[data-node=extend] .title')");
    choose(&page, "Undo node", "is odd");
    page.wait(&format!("{UNDO_WAYS} === 3"));
    // The steps of the language have no settings of their own, and no undo node.
    page.click("find('[data-type=\"flow.undo\"]')");
    page.wait("find('[data-node=undo]') && !labelled('Undo node') && !labelled('params')");
    page.click("find('[data-type=\"flow.commit\"]')");
    page.wait("find('[data-node=commit]')");
    save(&page, 2);
    let stored = editing.stored(id).flow;
    assert_eq!(
        stored["nodes"][0]["settings"],
        json!({ "timeout": "30s", "undo": "un_draft" })
    );
    assert_eq!(stored["nodes"][2]["settings"], json!({ "undo": "odd" }));
    let added = &stored["nodes"].as_array().unwrap()[6..];
    assert_eq!(
        added,
        [
            json!({ "type": "measure", "id": "un_draft" }),
            json!({ "type": "flow.undo", "id": "undo" }),
            json!({ "type": "flow.commit", "id": "commit" }),
        ]
    );
    // What it took back has none then.
    page.point("find('[data-node=un_draft] .title')");
    page.click("named('button', 'Remove')");
    page.wait(&format!("{UNDO_WAYS} === 1"));
    page.point("find('[data-node=extend] .title')");
    choose(&page, "Undo node", "");
    page.wait(&format!("{UNDO_WAYS} === 0"));
    save(&page, 3);
    let stored = editing.stored(id).flow;
    assert!(!stored.to_string().contains("\"undo\":"), "{stored}");
    assert_eq!(page.eval("all('img').length"), 0);
    page.has_no_problems();
}

#[test]
fn each_branch_of_a_race_has_an_action_or_those_of_its_last_node() {
    let editing = Editing::new();
    let id = editing.keep(Content::new(article("Article")));
    let Some(page) = editing.open(id) else {
        return;
    };
    let takes = |actions: &str| {
        page.wait(&format!(
            "all('[data-node=first] .action').map((one) => one.textContent.trim()).join() === '{actions}'"
        ));
    };
    page.click("find('[data-type=\"flow.wait\"]')");
    page.click("find('[data-type=\"review\"]')");
    page.click("find('[data-type=\"flow.first\"]')");
    takes("");
    page.click("named('button', 'Add a branch')");
    page.fill("Steps of branch 1", "review_2");
    takes("good,too_short");
    page.click("named('button', 'Add a branch')");
    page.fill("Steps of branch 2", "wait");
    takes("good,too_short,default");
    page.fill("Action of branch 2", "late");
    takes("good,too_short,late");
    choose(&page, "On \"good\"", "end");
    choose(&page, "On \"late\"", "to extend");
    assert_eq!(
        page.eval("all('[data-node=first] .port.open').map((port) => port.dataset.port)"),
        json!(["too_short"])
    );
    save(&page, 2);
    let stored = editing.stored(id).flow;
    assert_eq!(
        stored["nodes"][7],
        json!({ "type": "flow.first", "id": "first", "params": { "branches": [
            { "steps": ["review_2"] },
            { "steps": ["wait"], "action": "late" },
        ] } })
    );
    // Without its own action, the branch takes the one of its node again.
    page.wait("(labelled('Action of branch 2').select(), true)");
    page.press("Delete");
    takes("good,too_short,default,late");
    page.press_with_ctrl("z");
    takes("good,too_short,late");
    page.click("named('button', 'Remove branch 1')");
    takes("late,good");
    page.press_with_ctrl("z");
    // Whatever names a node names it no more when it is removed.
    page.point("find('[data-node=review_2] .title')");
    page.click("named('button', 'Remove')");
    page.wait("!find('[data-node=review_2]')");
    save(&page, 3);
    assert_eq!(
        editing.stored(id).flow["nodes"][6]["params"],
        json!({ "branches": [{ "steps": ["wait"], "action": "late" }] })
    );
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
            json!([{ "id": "r", "type": "flow.first", "params": { "branches": [1, ["r"], { "steps": ["r", "r"] }, { "steps": 4, "action": {} }] } }, { "id": "f", "type": "flow.fork", "params": { "branches": [1, ["f", "f"], "x"] } }, { "id": "e", "type": "flow.each", "params": { "body": 4, "over": "x" } }]),
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

/// The ids of the nodes in the order in which they are drawn.
fn drawn(page: &Page) -> Value {
    page.eval("all('[data-node]').map((node) => node.dataset.node)")
}
