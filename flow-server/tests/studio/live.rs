//! What is seen while it happens.

use std::sync::Arc;

use flow_durable::{MemoryStore, RuntimeOptions};
use serde_json::json;

use crate::flows::{gate, runtime};
use crate::page::Page;
use crate::server::Served;

#[test]
fn an_execution_is_watched_while_it_runs() {
    let served = Served::new();
    let topic = "the sea is blue";
    let id = served.start("Report", json!({ "topic": topic }));
    let Some(page) = Page::open(&served.at(&format!("executions/{id}"))) else {
        return;
    };
    page.wait("find('[data-path=write]').dataset.state === 'running'");
    gate(topic).add_permits(2);
    page.wait("find('.texts pre')?.textContent === 'the sea '");
    page.wait("find('[data-path=write] .badge').textContent.includes('2 of 4')");
    page.picture("live");
    gate(topic).add_permits(2);
    page.wait("find('[data-path=write]').dataset.state === 'done'");
    page.wait("find('h1 .status').textContent === 'completed'");
    page.wait("find('[data-path=counts] .badge').textContent.includes('4 items')");
    page.wait("named('#connection', '')");
    page.has_no_problems();
}

/// How many items there are is known when the loop begins, also to who comes late.
#[test]
fn items_are_counted_while_they_run() {
    let served = Served::new();
    let lines = ["first line", "second line", "third line"];
    let id = served.start("Held", json!({ "lines": lines }));
    let address = served.at(&format!("executions/{id}"));
    let Some(page) = Page::open(&address) else {
        return;
    };
    let badge = |page: &Page, text: &str| {
        page.wait(&format!(
            "find('[data-path=held] .badge')?.textContent === '{text}'"
        ));
    };
    badge(&page, "▶ 0 of 3 items");
    gate(lines[0]).add_permits(1);
    badge(&page, "▶ 1 of 3 items");
    // The first digits of the id are enough.
    let late = Page::open(&served.at(&format!("executions/{}", &id[..8]))).unwrap();
    badge(&late, "▶ 1 of 3 items");
    for line in &lines[1..] {
        gate(line).add_permits(1);
    }
    for page in [&page, &late] {
        badge(page, "✓ 3 items");
        page.has_no_problems();
    }
}

/// A loop that collects errors goes on, so an item that fails is done too.
#[test]
fn items_that_fail_are_counted() {
    let served = Served::new();
    let lines = ["  \t", "a tolerated line", "another tolerated line"];
    let id = served.start("Tolerant", json!({ "lines": lines }));
    let Some(page) = Page::open(&served.at(&format!("executions/{id}"))) else {
        return;
    };
    let badge = |text: &str| {
        page.wait(&format!(
            "find('[data-path=tolerant] .badge')?.textContent === '{text}'"
        ));
    };
    for (done, line) in lines.iter().enumerate() {
        badge(&format!("▶ {done} of 3 items"));
        gate(line).add_permits(1);
    }
    badge("✓ 3 items");
    page.has_no_problems();
}

/// Its question is open no longer, and the execution goes on.
#[test]
fn what_a_race_drops_is_shown_as_dropped() {
    let served = Served::new();
    let line = "a line that is held";
    let id = served.start("Raced", json!({ "line": line }));
    let Some(page) = Page::open(&served.at(&format!("executions/{id}"))) else {
        return;
    };
    let is = |node: &str, state: &str| {
        page.wait(&format!(
            "find('[data-path={node}]').dataset.state === '{state}'"
        ));
    };
    is("hold", "running");
    is("stop", "waiting");
    page.wait("named('button', 'Answer')");
    gate(line).add_permits(1);
    is("again", "running");
    is("hold", "done");
    is("stop", "dropped");
    is("outcome", "done");
    page.wait("!named('button', 'Answer')");
    page.wait("find('.timeline [data-state=dropped] .told')?.textContent.startsWith('dropped')");
    gate(line).add_permits(1);
    page.wait("find('h1 .status').textContent === 'completed'");
    is("stop", "dropped");
    page.has_no_problems();
}

/// The undo node of a visit has its path and `!undo`, in the records as in the picture.
#[test]
fn a_step_that_takes_back_another_says_so() {
    let served = Served::new();
    let Some(page) = Page::open(&served.at("questions")) else {
        return;
    };
    let shown = page.run(
        "Promise.all(['run-model', 'timeline'].map((name) => import(new URL(`studio/${name}.js`, location.href)))).then(([{ RunModel, markOf }, { Timeline }]) => {
            const model = new RunModel();
            const timeline = new Timeline(() => {});
            document.querySelector('main').replaceChildren(timeline.element);
            let seq = 0;
            const event = (type, namespace, payload = {}) => {
                model.apply({ type, seq: seq++, timestamp: seq * 1000, namespace, step: namespace, visit: 1, payload });
            };
            const rows = () => {
                timeline.draw(model);
                return [...timeline.element.querySelectorAll('.row')].map((row) => ['name', 'told'].map((part) => row.querySelector(`.${part}`).textContent).join(': '));
            };
            const marks = () => [...model.nodes.values()].map((node) => [node.path, node.state, markOf(node)].join(' '));
            event('custom', 'order', { type: 'run_started' });
            for (const path of ['order.reserve', 'order.charge']) {
                event('node_start', path);
                event('node_end', path, { action: 'default' });
                event('custom', path, { type: 'undoable' });
            }
            event('node_start', 'order.charge!undo');
            const before = [rows().at(-1), marks()];
            event('node_end', 'order.charge!undo', { action: 'default' });
            event('node_start', 'order.reserve!undo');
            event('error', 'order.reserve!undo', { record: 'node_failed', error: '<b>no</b>' });
            return [before, rows(), marks()];
        })",
    );
    assert_eq!(
        shown,
        json!([
            [
                "order.charge undo: running",
                ["reserve done ", "charge done ", "charge!undo running "],
            ],
            [
                "order.reserve: done, 1.0 s",
                "order.charge: done, 1.0 s",
                "order.charge undone: done, 1.0 s",
                "order.reserve undo: failed, 1.0 s, <b>no</b>",
            ],
            [
                "reserve done ",
                "charge done undone",
                "charge!undo done ",
                "reserve!undo failed "
            ],
        ])
    );
    page.has_no_problems();
}

/// It leaves the queue without a record.
#[test]
fn what_leaves_the_queue_is_shown_as_running() {
    let store = Arc::new(MemoryStore::new());
    let leaving_all = RuntimeOptions::new().concurrent_executions(0);
    let served = Served::with_options(store.clone(), leaving_all, |server| server);
    let topic = "a queued topic";
    let id = served.start("Report", json!({ "topic": topic }));
    let Some(list) = Page::open(&served.at("executions")) else {
        return;
    };
    let one = Page::open(&served.at(&format!("executions/{id}"))).unwrap();
    let shows = |status: &str| {
        one.wait(&format!("find('h1 .status').textContent === '{status}'"));
        list.wait(&format!(
            "find('[data-id=\"{id}\"] .status')?.textContent === '{status}'"
        ));
    };
    list.wait("named('#connection', 'Live')");
    shows("queued");
    // It was read for the view, for its questions, and when the stream was open: nothing but an event
    // makes the page read it again.
    one.wait(&format!(
        "performance.getEntriesByType('resource').filter((one) => one.name.endsWith('{id}')).length === 3"
    ));
    let worker = RuntimeOptions::new().concurrent_executions(1);
    let worker = runtime(store, worker);
    served.block_on(worker.recover()).unwrap();
    shows("running");
    gate(topic).add_permits(3);
    shows("completed");
    for page in [&one, &list] {
        page.has_no_problems();
    }
}

#[test]
fn who_comes_late_sees_that_something_is_missing() {
    let served = Served::new();
    let topic = "one two three four";
    let id = served.start("Report", json!({ "topic": topic }));
    let address = served.at(&format!("executions/{id}"));
    let Some(first) = Page::open(&address) else {
        return;
    };
    first.wait("find('[data-path=write]').dataset.state === 'running'");
    gate(topic).add_permits(2);
    first.wait("find('.texts pre')?.textContent === 'one two '");
    let late = Page::open(&address).unwrap();
    late.wait("find('[data-path=write]').dataset.state === 'running'");
    gate(topic).add_permits(1);
    first.wait("find('.texts pre').textContent === 'one two three '");
    gate(topic).add_permits(1);
    first.wait("find('.texts pre').textContent === 'one two three four'");
    late.wait("find('.texts pre')?.textContent.endsWith('four')");
    let text = late.eval("find('.texts pre').textContent");
    assert!(text.as_str().unwrap().starts_with("… "), "{text}");
    late.has_no_problems();
}

#[test]
fn a_page_that_nobody_sees_needs_no_connection() {
    let served = Served::new();
    let topic = "a b";
    let id = served.start("Report", json!({ "topic": topic }));
    let Some(page) = Page::open(&served.at(&format!("executions/{id}"))) else {
        return;
    };
    page.wait("find('[data-path=write]').dataset.state === 'running'");
    page.run(
        "(() => {
            Object.defineProperty(document, 'hidden', { get: () => window.isHidden });
            window.isHidden = true;
            // So that the test need not wait.
            const later = window.setTimeout;
            window.setTimeout = (work, ms) => later(work, ms === 20000 ? 0 : ms);
            document.dispatchEvent(new Event('visibilitychange'));
        })()",
    );
    page.wait("find('#connection').dataset.state === 'waiting'");
    gate(topic).add_permits(2);
    let execution = served.block_on(served.runtime.executions().get(id.parse().unwrap()));
    served.block_on(execution.unwrap().settled()).unwrap();
    assert_eq!(
        page.eval("find('[data-path=write]').dataset.state"),
        "running"
    );
    page.run("window.isHidden = false; document.dispatchEvent(new Event('visibilitychange'))");
    page.wait("find('[data-path=counts]').dataset.state === 'done'");
    page.wait("find('h1 .status').textContent === 'completed'");
    page.has_no_problems();
}

#[test]
fn each_node_has_its_colour_however_deep_it_is() {
    let served = Served::new();
    let id = served.run("Nested", json!({ "line": "a", "lines": ["b", "c d"] }));
    let Some(page) = Page::open(&served.at(&format!("executions/{id}"))) else {
        return;
    };
    page.wait("find('h1 .status').textContent === 'completed' && all('[data-path]').length > 8");
    page.wait("all('[data-path]').every((node) => node.dataset.state === 'done')");
    assert_eq!(
        page.eval("find('[data-path=counts] .badge').textContent"),
        "✓ 2 items"
    );
    // Each item runs the whole flow.
    assert_eq!(
        page.eval("find('[data-path=\"found-line.head\"] .badge').textContent"),
        "✓ 2 visits"
    );
    page.has_no_problems();
}

#[test]
fn a_new_execution_appears_in_the_list() {
    let served = Served::new();
    let Some(page) = Page::open(&served.at("executions")) else {
        return;
    };
    page.wait("named('#connection', 'Live')");
    let first = served.run("Claim", json!({ "employee": "Ann", "amount": 30 }));
    page.wait(&format!(
        "find('[data-id=\"{first}\"] .status')?.textContent === 'completed'"
    ));
    let second = served.run("Claim", json!({ "employee": "Ann", "amount": 300 }));
    page.wait(&format!(
        "find('[data-id=\"{second}\"] .status')?.textContent === 'paused'"
    ));
    assert_eq!(
        page.eval("all('.executions .row').map((row) => row.dataset.id)"),
        json!([second, first])
    );
    // One of them changes.
    served
        .block_on(
            served
                .runtime
                .executions()
                .cancel(second.parse().unwrap(), "no"),
        )
        .unwrap();
    page.wait(&format!(
        "find('[data-id=\"{second}\"] .status').textContent === 'cancelled'"
    ));
    page.has_no_problems();
}

#[test]
fn what_happens_before_the_stream_is_open_is_not_missed() {
    let served = Served::new();
    let Some(page) = Page::open(&served.at("flows")) else {
        return;
    };
    page.run(
        "(() => {
            const send = window.fetch;
            const held = new Promise((done) => { window.release = done; });
            window.fetch = async (at, ...rest) => {
                if (String(at).includes('/events?')) await held;
                return send(at, ...rest);
            };
        })()",
    );
    page.click("named('header a', 'Executions')");
    page.wait("find('main [role=status]')?.textContent === '0 executions (all)'");
    let id = served.run("Claim", json!({ "employee": "Ann", "amount": 30 }));
    page.run("window.release()");
    page.wait(&format!(
        "find('[data-id=\"{id}\"] .status')?.textContent === 'completed'"
    ));
    page.has_no_problems();
}

#[test]
fn executions_are_filtered() {
    let served = Served::new();
    let paused = served.run("Claim", json!({ "employee": "Ann", "amount": 300 }));
    let done = served.run("Claim", json!({ "employee": "Ann", "amount": 3 }));
    let other = served.run("Rounds", json!({ "round": 0, "rounds": 1, "pause_ms": 0 }));
    let Some(page) = Page::open(&served.at("executions?flow=Claim")) else {
        return;
    };
    // Of the same millisecond, the one with the larger id is the newer one.
    let mut all = [&paused, &done, &other];
    all.sort_by(|one, other| other.cmp(one));
    let of = |wanted: &[&String]| -> String {
        let found = all.iter().filter(|id| wanted.contains(id));
        found.map(|id| id.as_str()).collect::<Vec<_>>().join(",")
    };
    let ids = "all('.executions .row').map((row) => row.dataset.id).join()";
    page.wait(&format!("{ids} === '{}'", of(&[&done, &paused])));
    let choose = |label: &str, value: &str| {
        let script = format!(
            "(labelled('{label}').value = '{value}', labelled('{label}').dispatchEvent(new Event('input')), true)"
        );
        page.eval(&script);
    };
    choose("Status", "paused");
    page.wait(&format!("{ids} === '{paused}'"));
    choose("Status", "");
    choose("Flow", "");
    page.wait(&format!("{ids} === '{}'", of(&all)));
    choose("Id, or a part of it", &paused);
    page.wait(&format!("{ids} === '{paused}'"));
    choose("Id, or a part of it", &done[30..]);
    page.wait(&format!("{ids} === '{done}'"));
    choose("Id, or a part of it", "");
    choose("Started from", "2100-01-01T00:00");
    page.wait("all('.executions .row').length === 0");
    page.has_no_problems();
}
