//! A server of tools that hangs ends with the program that has started it, however that ends.
//!
//! The program is this test, which runs itself again. Its processes share one pipe for what they say: the pipe
//! is closed when all of them have ended.

use std::env;
use std::io::Read as _;
use std::process::Stdio;
use std::time::Duration;

use flow_agents::agent::{Agent, AgentInput};
use flow_agents::{McpServer, Message, Messages, ScriptedModel};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::Command;

/// A server that answers nothing, and neither its input nor a signal ends it, nor what it has started.
const HANGS: &str = "trap '' TERM INT HUP; (while :; do sleep 100; done) & echo started >&2; \
                     while :; do sleep 100; done";

/// The part that is the program: it starts a server, and ends in the way that it is told.
#[test]
fn the_program() {
    let Some(way) = env::var_os("ENDS_BY") else {
        return;
    };
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.enable_all().build().unwrap();
    runtime.spawn(async {
        let mut command = Command::new("sh");
        command.args(["-c", HANGS]);
        McpServer::command(command).await.map(drop)
    });
    let mut told = [0];
    std::io::stdin().read_exact(&mut told).unwrap();
    match way.to_str() {
        Some("exit") => std::process::exit(0),
        Some("abort") => std::process::abort(),
        Some("wait") => drop(std::io::stdin().read_to_end(&mut Vec::new())), // until it is killed
        _ => drop(runtime),
    }
}

#[tokio::test]
async fn a_server_that_hangs_ends_with_the_program() {
    for way in ["return", "exit", "abort", "wait"] {
        let mut program = Command::new(env::current_exe().unwrap());
        program.args(["--exact", "mcp_process::the_program"]);
        program.env("ENDS_BY", way);
        program.stdin(Stdio::piped()).stdout(Stdio::null());
        let mut program = program.stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(program.stderr.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).await.unwrap();
        assert_eq!(line, "started\n", "{way}");
        let mut told = program.stdin.take().unwrap();
        told.write_all(b"x").await.unwrap();
        if way == "wait" {
            program.start_kill().unwrap();
        }
        let mut rest = Vec::new();
        let all_have_ended = said.read_to_end(&mut rest);
        let ended = tokio::time::timeout(Duration::from_secs(30), all_have_ended).await;
        assert!(ended.is_ok(), "{way}: a process is left");
        program.wait().await.unwrap();
    }
}

#[tokio::test]
async fn a_server_that_is_given_up_ends() {
    let (read, write) = std::io::pipe().unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", HANGS]).stderr(write);
    let server = McpServer::command(command); // which holds the other end of the pipe, and so does the server
    let mut read = tokio::net::unix::pipe::Receiver::from_owned_fd(read.into()).unwrap();
    let mut line = [0; 8];
    tokio::select! {
        connected = server => panic!("{connected:?}"),
        started = read.read_exact(&mut line) => drop(started.unwrap()),
    }
    assert_eq!(&line, b"started\n");
    let mut rest = Vec::new();
    let ended = read.read_to_end(&mut rest);
    let ended = tokio::time::timeout(Duration::from_secs(30), ended).await;
    assert_eq!(ended.unwrap().unwrap(), 0);
}

/// A server that lists a tool, and then reads nothing more.
const IS_DEAF: &str = r#"
answer() {
    read -r asked
    id=$(printf '%s' "$asked" | sed 's/.*"id":\([0-9]*\).*/\1/')
    printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"
}
answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"deaf","version":"1"}}'
read -r initialized
answer '{"tools":[{"name":"say","description":"Says it.","inputSchema":{"type":"object"}}]}'
while :; do sleep 100; done
"#;

/// What was written to it is still on its way when its input is to be closed.
#[tokio::test]
async fn a_server_that_reads_nothing_more_ends_when_it_is_given_up() {
    let (read, write) = std::io::pipe().unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", IS_DEAF]).stderr(write);
    let server = McpServer::command(command).await.unwrap();
    let tools = server
        .timeout(Duration::from_millis(100))
        .tools()
        .await
        .unwrap();
    let text = "x".repeat(1 << 20);
    let model = ScriptedModel::new()
        .calls([("say", json!({ "text": text }))])
        .text("Done.");
    let messages = Messages::from_iter([Message::user("Go.")]);
    let agent = Agent::of(model, tools);
    let input = AgentInput::builder().messages(messages).build();
    let output = agent.run(input).await.unwrap();
    let told = output.messages[2].text();
    assert!(told.ends_with("gives no result within 100ms"), "{told}");
    drop(agent);
    let mut read = tokio::net::unix::pipe::Receiver::from_owned_fd(read.into()).unwrap();
    let mut rest = Vec::new();
    let ended = read.read_to_end(&mut rest);
    let ended = tokio::time::timeout(Duration::from_secs(30), ended).await;
    assert_eq!(ended.unwrap().unwrap(), 0);
}
