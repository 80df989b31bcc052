//! A server that is killed, and started again.

use std::net::TcpListener as Port;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use flow_durable::RuntimeOptions;
use flow_server::Server;
use flow_sqlite::SqliteStore;
use serde_json::json;
use tokio::net::TcpListener;

use crate::flows;
use crate::page::Page;

const DATABASE: &str = "STUDIO_TEST_DATABASE";
const ADDRESS: &str = "STUDIO_TEST_ADDRESS";

/// The server in a process of its own: started by the other test, with these variables.
#[tokio::test(flavor = "multi_thread")]
async fn process() {
    let (Ok(database), Ok(address)) = (std::env::var(DATABASE), std::env::var(ADDRESS)) else {
        return;
    };
    let store = SqliteStore::open(database).await.unwrap();
    // The executions of the process that was killed are there soon.
    let options = RuntimeOptions::new().lease(Duration::from_millis(900));
    let runtime = flows::runtime(store, options);
    runtime.recover().await.unwrap();
    let listener = TcpListener::bind(address).await.unwrap();
    let server = Server::new(runtime);
    server
        .serve_until(listener, std::future::pending())
        .await
        .unwrap();
}

struct Process(Child);

impl Process {
    fn start(database: &Path, address: &str) -> Self {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "reconnect::process"])
            .env(DATABASE, database)
            .env(ADDRESS, address)
            .stdout(Stdio::null())
            .spawn();
        Process(child.unwrap())
    }

    /// As `kill -9` does.
    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have been killed already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What the page has heard: the visits in its timeline, each once, and the number of records.
const HEARD: &str = "({ visits: find('.timeline').count, records: find('.journal').count })";

#[test]
fn no_event_is_missed_or_doubled_when_the_server_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("runs.db");
    let port = Port::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let address = format!("127.0.0.1:{port}");
    let mut first = Process::start(&database, &address);
    let Some(page) = Page::open_when_there(&format!("http://{address}/#/flows/Rounds")) else {
        return;
    };
    page.fill("round", "0");
    page.fill("rounds", "40");
    page.fill("pause_ms", "25");
    page.run(COLLECT);
    page.click("named('button', 'Start')");
    page.wait("find('.timeline')?.count > 5");
    first.kill();
    page.wait("find('#connection').dataset.state === 'waiting'");
    let before = page.eval(HEARD);
    let _second = Process::start(&database, &address);
    page.wait("find('h1 .status').textContent === 'completed'");
    page.wait("find('.timeline').count === 40");
    let heard = page.eval(HEARD);
    assert!(before["visits"].as_u64() < Some(40), "{before}");
    // What the streams of this page contained, one after the other: each record once, and in order.
    let records = page.eval("window.records");
    let count = heard["records"].as_u64().unwrap();
    let expected: Vec<u64> = (0..count).collect();
    assert_eq!(records, json!(expected));
    assert!(page.eval("window.streams").as_u64() >= Some(2));
    let told = page.eval("find('[data-path=turn] .badge').textContent");
    assert_eq!(told, "✓ 40 visits");
    page.has_no_problems();
}

/// Notes the records of all streams of events that the page reads.
const COLLECT: &str = "(() => {
    window.records = [];
    window.streams = 0;
    const send = window.fetch;
    window.fetch = async (...request) => {
        const response = await send(...request);
        const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
        if (!isStream || !String(request[0]).includes('/executions/')) return response;
        window.streams += 1;
        const [own, other] = response.body.tee();
        (async () => {
            let rest = '';
            const reader = other.pipeThrough(new TextDecoderStream()).getReader();
            for (;;) {
                const { value, done } = await reader.read().catch(() => ({ done: true }));
                if (done) return;
                const lines = (rest + value).split('\\n');
                rest = lines.pop();
                for (const line of lines) {
                    if (!line.startsWith('data: ')) continue;
                    const { seq } = JSON.parse(line.slice(6));
                    if (seq !== undefined) window.records.push(seq);
                }
            }
        })();
        return new Response(own, response);
    };
})()";
