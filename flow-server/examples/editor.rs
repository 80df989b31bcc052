//! Serves flows that are made in the browser, of the nodes below: open <http://127.0.0.1:7878/#/definitions>.
//! The definitions and their executions are in SQLite files, so they are still there when the program is
//! started again.
//!
//! ```text
//! cargo run -p typed-flows-server --features definitions --example editor [ADDRESS] [FILE]
//! curl localhost:7878/catalog
//! ```

use std::error::Error;

use flow_definitions::{Definitions, SqliteDefinitions};
use flow_durable::{Runtime, RuntimeOptions};
use flow_loader::{Format, load, registry};
use flow_runtime::Params;
use flow_runtime::prelude::*;
use flow_server::Server;
use flow_sqlite::SqliteStore;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

#[derive(Action, Serialize, Deserialize)]
enum Verdict {
    Good,
    TooShort,
}

/// Drafts an article.
#[node(writes = text, title = "Draft", icon = "📝", group = "writing")]
fn draft(topic: &str, words: u64) -> String {
    let words = usize::try_from(words).unwrap_or(usize::MAX).min(1000);
    vec![topic; words].join(" ")
}

/// Says whether an article is long enough.
#[node(actions = Verdict, title = "Review", icon = "🔎", group = "checking")]
fn review(text: &str) -> Verdict {
    if text.len() > 20 {
        Verdict::Good
    } else {
        Verdict::TooShort
    }
}

/// Adds a sentence.
#[node(writes = text, title = "Extend", icon = "➕", group = "writing")]
fn extend(text: String) -> String {
    text + " And that is all that can be said of it."
}

/// Puts a name below an article.
#[derive(Debug, Default, Deserialize, JsonSchema, Params, Serialize)]
#[serde(default, deny_unknown_fields)]
struct Sign {
    /// Whose name it is.
    name: String,
    /// The number of stars around it.
    stars: u8,
    /// Whether it is written in capital letters.
    loud: bool,
}

#[node(writes = text, title = "Sign", icon = "🖋", group = "writing")]
impl Sign {
    fn exec(&self, text: String) -> String {
        let name = if self.loud {
            self.name.to_uppercase()
        } else {
            self.name.clone()
        };
        let stars = "*".repeat(usize::from(self.stars));
        format!("{text}\n{stars}{name}{stars}")
    }
}

/// What somebody says of an article.
#[node(
    human = "Is this ready?\n{text}",
    title = "Approval",
    icon = "🙋",
    group = "checking"
)]
#[derive(Serialize, Deserialize)]
enum Approval {
    Publish,
    Discard,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next();
    let address = address.as_deref().unwrap_or("127.0.0.1:7878");
    let file = arguments.next();
    let file = file.as_deref().unwrap_or("editor.db");
    let listener = TcpListener::bind(address).await?;
    let nodes = registry![draft, review, extend, Sign, Approval];
    let kept = SqliteDefinitions::open(format!("{file}.definitions"))?;
    let definitions = Definitions::new(kept, nodes.clone());
    // What has started finishes on the version on which it has started, also after a restart.
    let options =
        RuntimeOptions::new().load_versions(move |structure| load(structure, Format::Json, &nodes));
    let runtime = Runtime::with_options(SqliteStore::open(file).await?, options);
    let server = Server::new(runtime.clone())
        .definitions(definitions)
        .await?;
    runtime.recover().await?;
    println!("http://{}/#/definitions", listener.local_addr()?);
    let interrupted = async {
        // Without a handler, the process is interrupted at once: that is all right as well.
        let _ = tokio::signal::ctrl_c().await;
    };
    server.serve_until(listener, interrupted).await?;
    Ok(())
}
