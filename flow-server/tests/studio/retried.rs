//! Executions that have failed, and are tried again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flow_runtime::prelude::*;
use serde_json::json;

use crate::page::Page;
use crate::server::Served;

#[derive(Clone, Default)]
struct Charge {
    bank_is_open: Arc<AtomicBool>,
}

#[node]
impl Charge {
    fn exec(&self) -> Result<(), String> {
        let is_open = self.bank_is_open.load(Ordering::SeqCst);
        is_open
            .then_some(())
            .ok_or_else(|| "the bank is closed".to_owned())
    }
}

flow! {
    /// Charges.
    Paying() -> () {
        node charge: Charge;
        start >> charge >> end;
    }
}

#[test]
fn one_that_has_failed_is_retried_and_the_page_follows_it() {
    let served = Served::new();
    let charge = Charge::default();
    let flow = Paying::builder().charge(charge.clone()).build();
    served.runtime.register(flow).unwrap();
    let id = served.run("Paying", json!({}));
    let Some(page) = Page::open(&served.at(&format!("executions/{id}"))) else {
        return;
    };
    page.wait("find('h1 .status')?.textContent === 'failed'");
    page.wait("find('.facts').textContent.includes('the bank is closed')");
    charge.bank_is_open.store(true, Ordering::SeqCst);
    page.click("named('button', 'Retry')");
    page.wait("find('h1 .status')?.textContent === 'completed'");
    page.wait("!find('.facts').textContent.includes('the bank is closed')");
    page.wait("find('.journal [data-kind=\"run_retried\"]')");
    assert_eq!(page.eval("named('button', 'Retry') === undefined"), true);
    page.has_no_problems();
}
