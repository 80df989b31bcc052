//! Signals in the page: awaited, sent, taken, and left over.

use flow_durable::{MemoryStore, RuntimeOptions, SignalOptions, Status};
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::page::Page;
use crate::server::Served;

const MARKUP: &str = "<img src=x onerror=alert(1)>";

/// The customer has changed their mind.
#[node(signal)]
#[derive(Serialize, Deserialize)]
struct CancelRequest {
    reason: String,
}

/// The parcel is there.
#[node(signal, timeout = "14d")]
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct Delivered {
    at: u32,
}

flow! {
    /// Sends what was ordered.
    Order() -> (reason: Option<String>, at: Option<u32>) {
        node outcome: first { CancelRequest => "cancelled", Delivered => "delivered" };

        start >> outcome;
        outcome - "cancelled" >> end("cancelled");
        outcome - "delivered" >> end;
    }
}

/// Why it takes so long.
#[node(human = "Why is it late?")]
#[derive(Serialize, Deserialize)]
struct Excuse(String);

flow! {
    /// Asks, until the customer has changed their mind.
    Late() -> (reason: Option<String>, excuse: Option<Excuse>) {
        node outcome: first { CancelRequest => "cancelled", Excuse => "excused" };

        start >> outcome;
        outcome - "cancelled" >> end("cancelled");
        outcome - "excused"   >> end;
    }
}

fn served(options: RuntimeOptions) -> Served {
    let served = Served::with_options(MemoryStore::new(), options, |server| server);
    served.runtime.register(Order::new()).unwrap();
    served.runtime.register(Late::new()).unwrap();
    served
}

/// Starts an order, and opens its page when it has this status.
fn opened(served: &Served, status: &str) -> Option<(Page, String)> {
    let id = served.start("Order", json!({}));
    let page = Page::open(&served.at(&format!("executions/{id}")))?;
    page.wait(&format!("find('h1 .status')?.textContent === '{status}'"));
    Some((page, id))
}

fn send(served: &Served, id: &str, name: &str, body: Value, options: SignalOptions) {
    let executions = served.runtime.executions();
    let sent = executions.signal_json(id.parse().unwrap(), name, body, options);
    served.block_on(sent).unwrap();
}

/// The row of the timeline with the visit to this node.
fn row(node: &str) -> String {
    format!(
        "all('.timeline .row').find((row) => row.querySelector('.name').textContent === 'order.{node}')?.querySelector('.told').textContent"
    )
}

#[test]
fn an_execution_says_what_it_waits_for_and_is_sent_a_signal() {
    let served = served(RuntimeOptions::new());
    let Some((page, id)) = opened(&served, "paused") else {
        return;
    };
    page.wait(&format!(
        "{} === 'waiting for CancelRequest'",
        row("cancel_request")
    ));
    page.wait(&format!(
        "{}.startsWith('waiting for Delivered until ')",
        row("delivered")
    ));
    page.wait("find('[data-path=delivered]').dataset.state === 'waiting'");
    page.click("named('button', 'Send signal …')");
    page.wait("named('dialog[open] h2', 'Send a signal')");
    // The form is that of the signal.
    page.wait(
        "((select) => (select.value = 'Delivered', select.dispatchEvent(new Event('change')), true))(labelled('Signal'))",
    );
    page.fill("Body", "soon");
    page.click("named('dialog[open] button', 'Send')");
    page.wait("labelled('Body').getAttribute('aria-invalid') === 'true'");
    page.eval("((select) => (select.value = 'CancelRequest', select.dispatchEvent(new Event('change')), true))(labelled('Signal'))");
    page.fill("reason", MARKUP);
    page.picture("signal");
    page.click("named('dialog[open] button', 'Send')");
    page.wait("find('h1 .status').textContent === 'completed'");
    page.wait("!find('dialog[open]') && !named('button', 'Send signal …')");
    page.wait(&format!(
        "{}.includes('received {{\"reason\":\"{MARKUP}\"}}')",
        row("cancel_request")
    ));
    page.wait(&format!("{}.startsWith('dropped')", row("delivered")));
    let execution = served.runtime.executions().get(id.parse().unwrap());
    let output = served.block_on(execution).unwrap().output_json().unwrap();
    assert_eq!(output.unwrap()["reason"], MARKUP);
    assert_eq!(page.eval("all('img').length"), 0);
    page.opened_no_dialog();
    page.has_no_problems();
}

#[test]
fn why_a_signal_is_refused_stands_at_its_form() {
    let served = served(RuntimeOptions::new());
    let Some((page, id)) = opened(&served, "paused") else {
        return;
    };
    page.click("named('button', 'Send signal …')");
    page.fill("reason", "too late");
    let cancelled = served
        .runtime
        .executions()
        .cancel(id.parse().unwrap(), "by somebody else");
    assert_eq!(
        served.block_on(cancelled).unwrap().status(),
        Status::Cancelled
    );
    page.wait("find('h1 .status').textContent === 'cancelled'");
    page.click("named('dialog[open] button', 'Send')");
    page.wait("named('dialog[open] .problem strong', 'The execution is over')");
}

#[test]
fn signals_that_were_not_taken_are_listed() {
    let served = served(RuntimeOptions::new().concurrent_executions(0));
    let Some((page, id)) = opened(&served, "queued") else {
        return;
    };
    let keyed = SignalOptions::new().idempotency_key(MARKUP);
    send(
        &served,
        &id,
        "CancelRequest",
        json!({ "reason": MARKUP }),
        keyed,
    );
    send(&served, &id, "Delivered", json!(7), SignalOptions::new());
    page.go(&served.at(&format!("executions/{id}")));
    page.wait("named('h2', 'Signals not taken')");
    let listed = page.eval("all('[aria-label=Signals] li').map((one) => one.innerText)");
    let (first, second) = (listed[0].as_str().unwrap(), listed[1].as_str().unwrap());
    assert!(first.starts_with("CancelRequest, sent "), "{first}");
    assert!(
        first.contains(&format!("idempotency key {MARKUP}")),
        "{first}"
    );
    assert!(
        first.contains(&format!("\"reason\": \"{MARKUP}\"")),
        "{first}"
    );
    assert!(
        second.starts_with("Delivered, sent ") && second.ends_with('7'),
        "{second}"
    );
    // The one that is sent here is listed as well.
    page.click("named('button', 'Send signal …')");
    page.fill("reason", "too late");
    page.click("named('dialog[open] button', 'Send')");
    page.wait("all('[aria-label=Signals] li').length === 3");
    assert_eq!(page.eval("all('img').length"), 0);
    page.opened_no_dialog();
    page.has_no_problems();
}

/// The list of questions hears of it by the signal.
#[test]
fn a_question_that_a_signal_has_withdrawn_is_not_listed_any_more() {
    let served = served(RuntimeOptions::new());
    let id = served.run("Late", json!({}));
    let Some(page) = Page::open(&served.at("questions")) else {
        return;
    };
    page.wait("named('main a', 'Why is it late?')");
    let body = json!({ "reason": "too late" });
    send(&served, &id, "CancelRequest", body, SignalOptions::new());
    page.wait("named('main p', 'Nobody is asked anything.')");
    page.has_no_problems();
}
