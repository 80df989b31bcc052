//! Many executions, and long ones.

use std::sync::Arc;

use flow_durable::{ExecutionId, MemoryStore, Store};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::page::Page;
use crate::server::Served;

const EXECUTIONS: usize = 100_000;

/// Three records for each.
const ROUNDS: u64 = 16_700;

/// Scrolls a list to many places. What it costs, in milliseconds, and how many elements there are.
fn scrolled(page: &Page, list: &str) -> Value {
    page.run(&format!(
        "(async () => {{
            const list = document.querySelector('{list}');
            const long = [];
            const watch = new PerformanceObserver((found) => long.push(...found.getEntries().map((one) => one.duration)));
            watch.observe({{ type: 'longtask' }});
            const times = [];
            let elements = 0;
            for (let step = 0; step < 100; step++) {{
                const began = performance.now();
                list.scrollTop = ((step * 37) % 100) / 100 * list.scrollHeight;
                list.dispatchEvent(new Event('scroll'));
                await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
                times.push(performance.now() - began);
                elements = Math.max(elements, document.querySelectorAll('*').length);
            }}
            times.sort((one, other) => one - other);
            return {{ median: times[50], longest: times[99], longTasks: Math.max(0, ...long), elements }};
        }})()"
    ))
}

/// A list that has elements only for the rows in sight scrolls as one of few rows does. How long that took
/// is printed, and not judged: it depends on what else the machine does.
fn has_few_elements(what: &str, measured: &Value) {
    println!("{what}: {measured}");
    assert!(measured["elements"].as_u64() < Some(2500), "{measured}");
}

#[test]
fn a_hundred_thousand_executions_are_few_elements() {
    let store = Arc::new(MemoryStore::new());
    let served = Served::with(store.clone(), |server| server);
    let id = served.run("Claim", json!({ "employee": "Ann", "amount": 3 }));
    served.block_on(async {
        let id = id.parse().unwrap();
        let row = store.execution(id).await.unwrap().unwrap();
        let records = store.records(id, 0, 100).await.unwrap();
        for _ in 1..EXECUTIONS {
            let mut row = row.clone();
            row.id = ExecutionId::from(Uuid::now_v7());
            store
                .create(row, records.clone(), Vec::new(), None)
                .await
                .unwrap();
        }
    });
    let Some(page) = Page::open(&served.at("executions")) else {
        return;
    };
    page.wait(
        "((list) => { list.scrollTop = list.scrollHeight; return list.count >= 100_000; })(find('.executions'))",
    );
    page.wait("find('main [role=status]').textContent === '100000 executions (all)'");
    has_few_elements("100,000 executions", &scrolled(&page, ".executions"));
    // A new one appears at the top.
    page.eval("(find('.executions').scrollTop = 0, true)");
    let new = served.run("Claim", json!({ "employee": "Ann", "amount": 4 }));
    page.wait(&format!("find('[data-id=\"{new}\"]')"));
    // The first one of all is found by its id.
    page.fill("Id, or a part of it", &id);
    page.wait(&format!(
        "all('.executions .row').map((row) => row.dataset.id).join() === '{id}'"
    ));
    page.has_no_problems();
}

#[test]
fn fifty_thousand_records_are_few_elements() {
    let served = Served::new();
    let id = served.run(
        "Rounds",
        json!({ "round": 0, "rounds": ROUNDS, "pause_ms": 0 }),
    );
    let Some(page) = Page::open(&served.at(&format!("executions/{id}"))) else {
        return;
    };
    let began = std::time::Instant::now();
    page.wait(&format!("find('.timeline').count === {ROUNDS}"));
    println!(
        "all events of {} records took {:?}",
        3 * ROUNDS,
        began.elapsed()
    );
    page.wait(&format!("find('.journal').count > {}", 3 * ROUNDS));
    has_few_elements("the journal", &scrolled(&page, ".journal"));
    has_few_elements("the timeline", &scrolled(&page, ".timeline"));
    // The keyboard leads to the end, where the values are those of the last round.
    page.eval("find('.journal').focus()");
    page.press("Home");
    page.wait(
        "named('h3', 'After record 0') && find('.journal [data-seq=\"0\"][aria-selected=true]')",
    );
    page.press("End");
    let last = page.eval("find('.journal').count - 1").as_u64().unwrap();
    page.wait(&format!("named('h3', 'After record {last}')"));
    page.press("ArrowUp");
    page.press("ArrowUp");
    page.wait(&format!("named('h3', 'After record {}')", last - 2));
    page.has_no_problems();
}
