//! Executions that are undone before they are cancelled.

use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::page::Page;
use crate::server::Served;

#[node(writes = receipt)]
fn charge() -> u32 {
    17
}

#[node]
fn refund(_receipt: &u32) -> Result<(), String> {
    Err("the bank is closed".to_owned())
}

#[node(human = "Ship it?")]
#[derive(Serialize, Deserialize)]
enum Shipping {
    Yes,
}

flow! {
    /// Charges, and asks.
    Sale() -> () {
        node charge: charge with undo = refund;
        start >> charge >> Shipping;
        Shipping - "yes" >> end;
    }
}

#[test]
fn one_that_cannot_be_undone_is_cancelling_until_it_is_ended_as_it_is() {
    let served = Served::new();
    served.runtime.register(Sale::new()).unwrap();
    let id = served.run("Sale", json!({}));
    let Some(page) = Page::open(&served.at(&format!("executions/{id}"))) else {
        return;
    };
    page.wait("find('h1 .status')?.textContent === 'paused'");
    page.click("named('button', 'Cancel …')");
    page.fill("Why?", "too late");
    page.click("named('dialog[open] button', 'Cancel the execution')");
    // Its undo node has failed.
    page.wait("all('h1 .status').map((it) => it.textContent).join() === 'cancelling,halted'");
    page.wait("find('.facts').textContent.includes('Not undone yetsale.charge')");
    page.wait("!find('form.question') && named('button', 'Retry')");
    assert_eq!(page.eval("named('button', 'Cancel …') === undefined"), true);

    page.click("named('button', 'End without undoing …')");
    page.wait("find('dialog[open] ul')?.textContent === 'sale.charge'");
    page.fill("Why?", "the bank is gone");
    page.click("named('dialog[open] button', 'End without undoing')");
    page.wait("all('h1 .status').map((it) => it.textContent).join() === 'cancelled'");
    page.wait("find('.facts').textContent.includes('the bank is gone')");
    page.wait("find('.facts').textContent.includes('Not undonesale.charge')");
    page.has_no_problems();
}

#[test]
fn those_that_are_undone_are_listed() {
    let served = Served::new();
    served.runtime.register(Sale::new()).unwrap();
    let id = served.run("Sale", json!({}));
    let Some(page) = Page::open(&served.at("executions?status=cancelling")) else {
        return;
    };
    page.wait("find('.executions') && all('.executions .row').length === 0");
    let executions = served.runtime.executions();
    let cancelled = executions.cancel(id.parse().unwrap(), "late");
    served.block_on(cancelled).unwrap();
    page.wait(&format!(
        "find('[data-id=\"{id}\"] .status')?.textContent === 'cancelling'"
    ));
    page.has_no_problems();
}
