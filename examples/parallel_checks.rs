//! Checks that run at the same time: a post is published if its content and its safety are fine.
//! One of the checks is a chain of two steps. If a check itself fails, the others are dropped, and
//! a person reviews the post.
//!
//! ```text
//! cargo run --example parallel_checks -- posts.json
//! ```

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use typed_flows::prelude::*;

#[derive(Deserialize)]
struct Post {
    author: String,
    text: String,
}

/// The objections against a post. Empty if it is fine.
type Objections = Vec<String>;

/// Stands in for a model that rates content, and takes its time.
#[node(writes = poor_content)]
async fn check_content(post: &Post) -> Objections {
    tokio::time::sleep(Duration::from_millis(20)).await;
    let words = post.text.split_whitespace().count();
    match words {
        0..5 => vec![format!("it has only {words} word(s)")],
        _ => Vec::new(),
    }
}

/// Stands in for a model that finds improper requests.
#[node(writes = unsafe_content)]
async fn check_safety(post: &Post) -> Objections {
    tokio::time::sleep(Duration::from_millis(20)).await;
    let asked_for = ["password", "credit card"]
        .into_iter()
        .filter(|word| post.text.contains(word));
    asked_for
        .map(|word| format!("it asks for your {word}"))
        .collect()
}

/// The hosts that a post links to.
#[node(writes = hosts)]
fn find_links(post: &Post) -> Vec<String> {
    let links = post
        .text
        .split_whitespace()
        .filter_map(|word| word.split_once("://"));
    links
        .map(|(_, rest)| rest.split(['/', ',']).next().unwrap_or(rest).to_owned())
        .collect()
}

/// Stands in for a service that knows bad hosts, and does not always answer.
#[node(writes = bad_links, timeout = "50ms")]
async fn look_up(hosts: &[String]) -> Objections {
    if hosts.iter().any(|host| host.starts_with("slow.")) {
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
    let bad = hosts.iter().filter(|host| host.starts_with("malware."));
    bad.map(|host| format!("it links to {host}")).collect()
}

#[derive(Action)]
enum Decision {
    Publish,
    Reject { reason: String },
}

#[node(actions = Decision)]
fn decide(poor_content: &[String], unsafe_content: &[String], bad_links: &[String]) -> Decision {
    let objections = [poor_content, unsafe_content, bad_links].concat();
    if objections.is_empty() {
        Decision::Publish
    } else {
        Decision::Reject {
            reason: objections.join(", "),
        }
    }
}

#[node(writes = reason)]
fn ask_moderator(error: &NodeError) -> String {
    format!("a moderator has to look: {error:#}")
}

flow! {
    /// Decides whether a post is published.
    ParallelChecks(post: Post) -> (reason: Option<String>) {
        node checks: [check_content, check_safety, find_links >> look_up];

        start >> checks >> decide;
        decide - "publish" >> end("published");
        decide - "reject"  >> end("rejected");
        checks - "error"   >> ask_moderator >> end("held_back");
    }
}

/// Prints the events of each node as they occur.
struct Print;

impl Observer for Print {
    fn on_event(&self, event: &Event<'_>) {
        println!("  {event}");
    }
}

async fn check_all(file: Option<PathBuf>) -> Result<(), Box<dyn Error>> {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/posts.json");
    let path = file.as_deref().unwrap_or(&shipped);
    let explain = |error: &dyn Error| format!("{}: {error}", path.display());
    let json = std::fs::read_to_string(path).map_err(|error| explain(&error))?;
    let posts: Vec<Post> = serde_json::from_str(&json).map_err(|error| explain(&error))?;

    let flow = ParallelChecks::new();
    let mut ends = Vec::new();
    for (number, post) in posts.into_iter().enumerate() {
        let author = post.author.clone();
        let input = ParallelChecksInput::builder().post(post).build();
        let output = if number == 0 {
            println!("The checks of the first post:");
            let options = RunOptions::new().observer(Arc::new(Print));
            flow.run_with(input, options).await?
        } else {
            flow.run(input).await?
        };
        let reason = output.reason.unwrap_or_default();
        println!("{author:<5} {:<9}  {reason}", output.end);
        ends.push(output.end);
    }

    if file.is_none() {
        use ParallelChecksEnd::{HeldBack, Published, Rejected};
        assert_eq!(ends, [Published, Rejected, Rejected, HeldBack, Rejected]);
    }
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    match check_all(std::env::args_os().nth(1).map(PathBuf::from)).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/parallel_checks.rs"]
mod law;
