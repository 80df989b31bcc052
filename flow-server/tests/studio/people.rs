//! What people do: start, watch, answer, copy.

use flow_runtime::prelude::*;
use serde_json::json;

use crate::page::Page;
use crate::server::Served;

#[test]
fn a_flow_is_started_by_its_form() {
    let served = Served::new();
    let Some(page) = Page::open(&served.at("flows/Claim")) else {
        return;
    };
    page.wait("find('flow-picture [data-path=measure]')");
    page.click("named('button', 'Start')");
    // Both fields are wrong, and the first one has the focus.
    page.wait(
        "all('[aria-invalid=true]').length === 1 && document.activeElement === labelled('amount')",
    );
    page.fill("employee", "Ann");
    page.fill("amount", "18446744073709551616");
    page.click("named('button', 'Start')");
    // It has more than 64 bits.
    page.wait("labelled('amount').getAttribute('aria-invalid') === 'true'");
    page.fill("amount", "30");
    assert_eq!(page.eval("all('[aria-invalid]').length"), 0);
    page.picture("flows");
    page.click("named('button', 'Start')");
    page.wait("find('h1 .status')?.textContent === 'completed'");
    page.wait("find('[data-path=pay]').dataset.state === 'done'");
    assert_eq!(
        page.eval("find('pre[aria-label=Output]').textContent.includes('30 EUR to Ann')"),
        true
    );
    page.has_no_problems();
}

#[test]
fn a_form_that_is_sent_twice_starts_one_execution() {
    let served = Served::new();
    let Some(page) = Page::open(&served.at("flows/Claim")) else {
        return;
    };
    page.fill("employee", "Ann");
    page.fill("amount", "30");
    page.eval("(find('main form').requestSubmit(), find('main form').requestSubmit(), true)");
    page.wait("find('h1 .status')?.textContent === 'completed'");
    let all = served.block_on(
        served
            .runtime
            .executions()
            .list(flow_durable::ListOptions::new()),
    );
    assert_eq!(all.unwrap().len(), 1);
    page.has_no_problems();
}

#[test]
fn a_question_is_answered_with_the_keyboard_alone() {
    let served = Served::new();
    let id = served.run("Claim", json!({ "employee": "Bob", "amount": 950 }));
    let Some(page) = Page::open(&served.at("flows")) else {
        return;
    };
    page.tab_to("named('header a', 'Questions')");
    page.press("Enter");
    page.wait("named('main a', 'Approve 950 EUR for Bob?')");
    page.tab_to("named('main a', 'Approve 950 EUR for Bob?')");
    page.press("Enter");
    page.wait("find('form.question')");
    page.tab_to("find('input[type=radio]')");
    page.press("Space");
    page.picture("question");
    page.tab_to("labelled('comment')");
    page.write("have fun");
    page.tab_to("labelled('Give part')");
    page.press("Space");
    page.tab_to("labelled('part')");
    page.write("a lot");
    page.tab_to("named('button', 'Add to paid_at')");
    page.press("Enter");
    page.wait("labelled('Item')");
    page.write("Monday");
    page.tab_to("named('button', 'Answer')");
    page.press("Enter");
    page.wait("document.activeElement === labelled('part')");
    page.eval("labelled('part').select()");
    page.write("900");
    page.tab_to("named('button', 'Answer')");
    page.press("Enter");
    page.wait("named('p', 'Your answer has arrived.')");
    let journal = served.block_on(async {
        let execution = served
            .runtime
            .executions()
            .get(id.parse().unwrap())
            .await
            .unwrap();
        execution.settled().await.unwrap().journal().await.unwrap()
    });
    let resumed = journal
        .iter()
        .find(|record| record.kind.as_str() == "resumed")
        .unwrap();
    assert!(resumed.payload.contains("have fun"), "{}", resumed.payload);
    assert!(resumed.payload.contains("900") && resumed.payload.contains("Monday"));
    page.has_no_problems();
}

#[test]
fn a_question_that_was_answered_elsewhere_says_so() {
    let served = Served::new();
    let id = served.run("Claim", json!({ "employee": "Bob", "amount": 951 }));
    let execution = served
        .block_on(served.runtime.executions().get(id.parse().unwrap()))
        .unwrap();
    let question = served.block_on(execution.questions()).unwrap().remove(0);
    let Some(page) = Page::open(&served.at(&format!("questions/{}", question.token()))) else {
        return;
    };
    page.click("all('input[type=radio]')[2]");
    let answer = served.runtime.executions();
    served
        .block_on(answer.resume(question.token(), json!("Postpone")))
        .unwrap();
    page.click("named('button', 'Answer')");
    page.wait("find('.problem')?.textContent.includes('already')");
    page.has_no_problems();
}

#[node(writes = +notes)]
fn note(notes: &[String]) -> String {
    format!("note {}", notes.len())
}

flow! {
    Noted(notes: Vec<String>) -> (notes: Vec<String>) {
        node again: note;

        start >> note >> again >> end;
    }
}

#[test]
fn a_plus_before_a_key_says_that_a_node_added_to_it() {
    let served = Served::new();
    served.runtime.register(Noted::new()).unwrap();
    let id = served.run("Noted", json!({ "notes": [] }));
    let Some(page) = Page::open(&served.at(&format!("executions/{id}"))) else {
        return;
    };
    page.wait("find('.journal [data-seq=\"3\"] .kind')");
    page.click("find('.journal [data-seq=\"3\"]')");
    page.wait("named('h3', 'After record 3')");
    page.wait("find('[data-key=notes] code').textContent === '+ notes'");
    page.eval("find('.journal').focus()");
    page.press("Home");
    page.wait("named('h3', 'After record 0')");
    page.wait("find('[data-key=notes][data-change=added] code').textContent === 'notes'");
    page.has_no_problems();
}

#[test]
fn a_copy_goes_on_with_another_value() {
    let served = Served::new();
    let id = served.run("Claim", json!({ "employee": "Ann", "amount": 30 }));
    let Some(page) = Page::open(&served.at(&format!("executions/{id}"))) else {
        return;
    };
    page.wait("find('.journal [data-seq=\"5\"] .kind')");
    page.eval("find('.journal').focus()");
    page.press("Home");
    page.wait("named('h3', 'After record 0')");
    page.wait("find('[data-key=amount]').dataset.change === 'added'");
    page.press("ArrowDown");
    page.wait("named('h3', 'After record 1')");
    page.click("find('.journal [data-seq=\"5\"]')");
    page.wait("find('[data-key=receipt]').dataset.change === 'added'");
    page.eval("find('.journal').scrollIntoView()");
    page.picture("values");
    page.press("Home");
    page.wait("named('h3', 'After record 0')");
    page.click("named('button', 'Copy from here …')");
    page.fill("amount", "thirty");
    page.click("named('dialog[open] button', 'Start the copy')");
    page.wait("labelled('amount').getAttribute('aria-invalid') === 'true'");
    page.fill("amount", "31");
    page.picture("copy");
    page.click("named('dialog[open] button', 'Start the copy')");
    page.wait(&format!(
        "location.hash.startsWith('#/executions/') && !location.hash.includes('{id}')"
    ));
    page.wait("find('h1 .status')?.textContent === 'completed'");
    page.wait("find('main').textContent.includes('31 EUR to Ann')");
    page.has_no_problems();
}

#[test]
fn an_execution_is_cancelled_and_deleted() {
    let served = Served::new();
    let id = served.run("Claim", json!({ "employee": "Ann", "amount": 990 }));
    let Some(page) = Page::open(&served.at(&format!("executions/{id}"))) else {
        return;
    };
    page.click("named('button', 'Cancel …')");
    page.fill("Why?", "nobody wants it");
    page.click("named('dialog[open] button', 'Cancel the execution')");
    page.wait("find('h1 .status').textContent === 'cancelled'");
    page.wait("find('.facts').textContent.includes('nobody wants it')");
    page.wait("!find('form.question')");
    page.click("named('button', 'Delete …')");
    page.click("named('dialog[open] button', 'Delete')");
    page.wait("location.hash === '#/executions'");
    page.wait(
        "find('[role=status]') && find('.executions') && all('.executions .row').length === 0",
    );
    let gone = served.block_on(served.runtime.executions().get(id.parse().unwrap()));
    assert!(gone.is_err());
    page.has_no_problems();
}
