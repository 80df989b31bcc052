//! Tools of an MCP server: a server offers two flows as tools, and an agent calls them, beside a
//! tool of its own. The agent's model is told why a call fails, and corrects it. Each call is an
//! execution of the server, so it can be looked up later.
//!
//! ```text
//! cargo run -p flow-examples --features mcp --example mcp_tools
//! cargo run -p flow-examples --features mcp,genai --example mcp_tools -- --model ollama:qwen3:4b
//! cargo run -p flow-examples --features mcp --example mcp_tools -- --serve
//! ```
//!
//! The last command only serves, for other clients. The tools of any other server are used in the
//! same way: `McpServer::http(address)`, or `McpServer::command(command)` for a program that speaks
//! MCP over its standard input and output.

use std::error::Error;
use std::future::pending;

use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::net::TcpListener;
use typed_flows::agents::agent::{Agent, AgentInput, AgentOutcome};
use typed_flows::agents::{McpServer, Message, Messages, ScriptedModel, tools};
use typed_flows::durable::{ListOptions, MemoryStore, Runtime, Status};
use typed_flows::prelude::*;
use typed_flows::server::Server;

#[derive(Debug, thiserror::Error)]
enum NotComputed {
    #[error("`{0}` is not a whole number, written with at most 38 digits and nothing else")]
    NoNumber(String),
    #[error("the result has more than 38 digits")]
    TooLarge,
}

fn number(text: &str) -> Result<i128, NotComputed> {
    let not_a_number = |_| NotComputed::NoNumber(text.to_owned());
    text.parse().map_err(not_a_number)
}

#[node(writes = sum)]
fn add(a: &str, b: &str) -> Result<String, NotComputed> {
    let sum = number(a)?.checked_add(number(b)?);
    Ok(sum.ok_or(NotComputed::TooLarge)?.to_string())
}

#[derive(Action, Serialize, Deserialize)]
enum Divided {
    Done { quotient: String, remainder: String },
    ByZero,
}

#[node(actions = Divided)]
fn divide(a: &str, b: &str) -> Result<Divided, NotComputed> {
    let (a, b) = (number(a)?, number(b)?);
    if b == 0 {
        return Ok(Divided::ByZero);
    }
    let (quotient, remainder) = (a.checked_div(b), a.checked_rem(b));
    Ok(Divided::Done {
        quotient: quotient.ok_or(NotComputed::TooLarge)?.to_string(),
        remainder: remainder.ok_or(NotComputed::TooLarge)?.to_string(),
    })
}

flow! {
    /// Adds two whole numbers of up to 38 digits.
    Add(
        /// A number, written with digits alone.
        a: String,
        /// Another number, written in the same way.
        b: String,
    ) -> (sum: String) {
        start >> add >> end;
    }
}

flow! {
    /// Divides a whole number of up to 38 digits by another one. The end `by_zero` has no result.
    Divide(
        /// The number to divide, written with digits alone.
        a: String,
        /// The number to divide it by, written in the same way.
        b: String,
    ) -> (quotient: Option<String>, remainder: Option<String>) {
        start >> divide;
        divide - "done"    >> end;
        divide - "by_zero" >> end("by_zero");
    }
}

/// Counts the digits of a number.
#[node(writes = digits)]
fn count_digits(number: &str) -> usize {
    number.chars().filter(char::is_ascii_digit).count()
}

const QUESTION: &str = "What is 982713504867129384651 plus 73916582047365810293746529? How many \
                        digits has the sum, and what remains if it is divided by 97?";

/// Sample replies of a model. It writes a number with commas at first.
fn script() -> ScriptedModel {
    let sum = "73917564760870677423131180";
    let commas = json!({
        "a": "982,713,504,867,129,384,651", "b": "73,916,582,047,365,810,293,746,529",
    });
    let plain = json!({ "a": "982713504867129384651", "b": "73916582047365810293746529" });
    ScriptedModel::new()
        .calls([("Add", commas)])
        .calls([("Add", plain)])
        .calls([
            ("count_digits", json!({ "number": sum })),
            ("Divide", json!({ "a": sum, "b": "97" })),
        ])
        .text(format!(
            "The sum is {sum}. It has 26 digits, and 49 remains."
        ))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let runtime = Runtime::new(MemoryStore::new());
    runtime.register(Add::new())?;
    runtime.register(Divide::new())?;
    runtime.recover().await?;
    // Only programs of this machine reach it. Others would need a token: `Server::authentication`.
    let server = Server::new(runtime.clone());
    if std::env::args().nth(1).as_deref() == Some("--serve") {
        println!("http://127.0.0.1:7878/mcp");
        server.serve("127.0.0.1:7878").await?;
        return Ok(());
    }
    let chosen = flow_examples::model(script())?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = format!("http://{}/mcp", listener.local_addr()?);
    tokio::spawn(server.serve_until(listener, pending()));

    let remote = McpServer::http(&address).await?;
    let mut tools = tools![count_digits];
    tools.extend(&remote.tools().await?)?;
    for tool in tools.definitions().iter() {
        println!("{}: {}", tool.name, tool.description);
    }

    println!("\n{QUESTION}");
    let messages = Messages::from_iter([Message::user(QUESTION)]);
    let input = AgentInput::builder().messages(messages).build();
    let output = Agent::of(chosen.model, tools).run(input).await?;
    for message in &output.messages {
        for call in message.tool_calls() {
            println!("  {call}");
        }
        if let Message::Tool { content, .. } = message {
            println!("    {content}");
        }
    }
    let told = output.messages.clone();
    match output.into_outcome() {
        AgentOutcome::Default { answer, .. } => println!("{answer}"),
        other => return Err(format!("there is no answer: {other:?}").into()),
    }

    let executions = runtime.executions().list(ListOptions::new()).await?;
    println!("\nThe executions of the server:");
    for execution in executions.iter().rev() {
        println!("  {} {}", execution.flow(), execution.status());
    }
    if let Some(script) = chosen.script {
        script.assert_used();
        let mistake = "`982,713,504,867,129,384,651` is not a whole number";
        assert!(told[2].text().contains(mistake), "{}", told[2].text());
        assert_eq!(told[6].text(), "26");
        let division =
            r#"{"quotient":"762036750112068839413723","remainder":"49","end":"default"}"#;
        assert_eq!(told[7].text(), division);
        let failed = executions.iter().filter(|it| it.status() == Status::Failed);
        assert_eq!((executions.len(), failed.count()), (3, 1));
    }
    Ok(())
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/mcp_tools.rs"]
mod law;
