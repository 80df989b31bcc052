//! Tools of a server that speaks the Model Context Protocol, over a connection and over HTTP.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use flow_agents::agent::{Agent, AgentInput};
use flow_agents::{McpError, McpServer, Message, Messages, ScriptedModel, Tools};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, ServiceExt as _};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc;

/// A server with tools of these names.
#[derive(Clone)]
struct Server(&'static [&'static str]);

const ALL: &[&str] = &[
    "say",
    "files/read",
    "break",
    "refuse",
    "draw",
    "measure",
    "fail",
    "hang",
];

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema: Map<String, Value> = serde_json::from_value(json!({
            "type": "object",
            "properties": { "text": { "type": "string" } },
        }))
        .unwrap();
        let schema = Arc::new(schema);
        let tools = self.0.iter();
        let tools = tools.map(|name| Tool::new(*name, format!("The tool {name}."), schema.clone()));
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::from(request.arguments.unwrap_or_default());
        let text = |text: &str| vec![ContentBlock::text(text.to_owned())];
        Ok(match &*request.name {
            "say" => CallToolResult::success(text(&arguments.to_string())),
            "files/read" => CallToolResult::success([text("one"), text("two")].concat()),
            "break" => CallToolResult::error(text("it is broken")),
            "draw" => CallToolResult::success(vec![ContentBlock::image("AAAA", "image/png")]),
            "measure" => {
                let mut result = CallToolResult::structured(json!({ "length": 7 }));
                result.content.clear();
                result
            }
            "fail" => CallToolResult::error(Vec::new()),
            "hang" => pending().await,
            _ => return Err(ErrorData::invalid_params("nobody may do that", None)),
        }
        .into())
    }
}

/// Connects over a pipe.
async fn connected(names: &'static [&'static str]) -> McpServer {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    tokio::spawn(async move {
        let service = Server(names).serve(tokio::io::split(theirs)).await.unwrap();
        service.waiting().await.unwrap();
    });
    McpServer::over(ours).await.unwrap()
}

/// What an agent reads as the results of calls.
async fn results(tools: Tools, names: &[&str]) -> Vec<String> {
    let calls = names.iter().map(|name| (*name, json!({ "text": "hello" })));
    let model = ScriptedModel::new().calls(calls).text("Done.");
    let messages = Messages::from_iter([Message::user("Go.")]);
    let input = AgentInput::builder().messages(messages).build();
    let output = Agent::of(model, tools).run(input).await.unwrap();
    let results = output
        .messages
        .iter()
        .filter(|it| matches!(it, Message::Tool { .. }));
    results.map(Message::text).collect()
}

#[tokio::test]
async fn an_agent_calls_the_tools_of_a_server() {
    let server = connected(ALL).await.timeout(Duration::from_millis(200));
    let tools = server.tools().await.unwrap();
    let read = &tools.definitions()[1];
    assert_eq!(
        (read.name.as_str(), read.description.as_str()),
        ("files_read", "The tool files/read.")
    );
    assert_eq!(read.parameters["properties"]["text"]["type"], "string");
    let called = [
        "say",
        "files_read",
        "break",
        "refuse",
        "draw",
        "measure",
        "fail",
        "hang",
    ];
    assert_eq!(
        results(tools, &called).await,
        [
            r#"{"text":"hello"}"#,
            "one\ntwo",
            "Error: it is broken",
            "Error: Mcp error: -32602: nobody may do that",
            "[an image is left out: image/png]",
            r#"{"length":7}"#,
            "Error: the tool does not say why it has failed",
            "Error: the server of tools `connection` (rmcp) gives no result within 200ms",
        ]
    );
}

/// Connects with a server whose tool `say` has this result, or none. It tells which methods it is
/// asked for.
async fn raw(result: Option<Value>) -> (McpServer, mpsc::UnboundedReceiver<Value>) {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (tell, told) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let (read, mut write) = tokio::io::split(theirs);
        let mut lines = BufReader::new(read).lines();
        while let Some(line) = lines.next_line().await.unwrap() {
            let asked: Value = serde_json::from_str(&line).unwrap();
            let result = match asked["method"].as_str().unwrap() {
                "initialize" => Some(json!({
                    "protocolVersion": "2025-06-18",
                    "capabilities": { "tools": {} },
                    "serverInfo": { "name": "raw", "version": "1" },
                })),
                "tools/list" => Some(json!({
                    "tools": [{ "name": "say", "inputSchema": { "type": "object" } }],
                })),
                "tools/call" => result.clone(),
                _ => None,
            };
            if let Some(result) = result {
                let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result });
                let line = format!("{answer}\n");
                write.write_all(line.as_bytes()).await.unwrap();
            }
            let _ = tell.send(asked); // nobody may listen
        }
    });
    (McpServer::over(ours).await.unwrap(), told)
}

#[tokio::test]
async fn texts_beside_a_content_of_an_unknown_kind_are_kept() {
    let text = |text: &str| json!({ "type": "text", "text": text });
    let video = json!({ "type": "video", "data": "AAAA", "mimeType": "video/mp4" });
    let broken = json!({ "type": "image", "uri": "file:///a.png" });
    let left = |kind: &str| format!("[a content that cannot be read is left out: {kind}]");
    let all = [text("one"), video, text("two"), broken, json!(7)];
    let shown = format!(
        "one\n{}\ntwo\n{}\n{}",
        left("video"),
        left("image"),
        left("without a kind")
    );
    for (result, expected) in [
        (json!({ "content": all }), shown.clone()),
        (
            json!({ "content": all, "resultType": "complete" }),
            shown.clone(),
        ),
        (
            json!({ "content": all, "isError": true }),
            format!("Error: {shown}"),
        ),
        (json!({}), "Done.".to_owned()),
        (json!({ "_meta": { "took": 7 } }), "Done.".to_owned()),
        (json!({ "resultType": "complete" }), "Done.".to_owned()),
        (
            json!({ "contents": all }),
            "Error: Unexpected response type".to_owned(),
        ),
        (
            json!({ "content": "one" }),
            "Error: Unexpected response type".to_owned(),
        ),
    ] {
        let (server, _) = raw(Some(result)).await;
        let tools = server.tools().await.unwrap();
        assert_eq!(results(tools, &["say"]).await, [expected]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_is_told_that_nobody_waits_for_a_result() {
    let (server, mut told) = raw(None).await;
    let tools = server.tools().await.unwrap();
    let said = results(tools, &["say"]).await;
    assert!(said[0].ends_with("gives no result within 60s"), "{said:?}");
    let mut call = Value::Null;
    let within = Duration::from_secs(1);
    while let Ok(Some(asked)) = tokio::time::timeout(within, told.recv()).await {
        match asked["method"].as_str().unwrap() {
            "tools/call" => call = asked["id"].clone(),
            "notifications/cancelled" => {
                assert_eq!(asked["params"]["requestId"], call);
                return;
            }
            _ => {}
        }
    }
    panic!("nobody has told it");
}

#[tokio::test]
async fn a_connection_stays_as_long_as_a_tool_does() {
    let server = connected(&["say"]).await;
    let tools = server.tools().await.unwrap();
    drop(server);
    assert_eq!(results(tools, &["say"]).await, [r#"{"text":"hello"}"#]);
}

#[tokio::test]
async fn names_that_cannot_be_told_apart_are_refused() {
    let error = connected(&["a.b", "a/b"]).await.tools().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the tools \"a.b\" and \"a/b\" of the server `connection` (rmcp) would both be called \"a_b\""
    );
}

#[tokio::test]
async fn over_http() {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true);
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(|| Ok(Server(ALL)), sessions, config);
    let router = axum::Router::new().route_service("/mcp", service);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let tools = McpServer::http(&address)
        .await
        .unwrap()
        .tools()
        .await
        .unwrap();
    assert_eq!(
        results(tools, &["say", "break"]).await,
        [r#"{"text":"hello"}"#, "Error: it is broken"]
    );
}

#[tokio::test]
async fn a_server_that_is_not_there() {
    let error = McpServer::http("http://127.0.0.1:9/mcp").await.unwrap_err();
    assert!(matches!(error, McpError::NotConnected(_)), "{error:?}");
    let missing = tokio::process::Command::new("there-is-no-such-program");
    let error = McpServer::command(missing).await.unwrap_err();
    assert!(matches!(error, McpError::NotConnected(_)), "{error:?}");
    for (program, shown) in [("true", "`true`"), ("/no/such/program", "`program`")] {
        let command = tokio::process::Command::new(program);
        let error = McpServer::command(command).await.unwrap_err();
        let McpError::NotConnected(source) = error else {
            panic!("{error:?}");
        };
        assert!(source.to_string().starts_with(shown), "{source}");
    }
}

/// A server of two tools: `say` says hello, and `leave` ends the server.
#[cfg(unix)]
const SHELL: &str = r#"
say() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) say '"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"shell","version":"1"}}' ;;
    *'"tools/list"'*) say '"result":{"tools":[{"name":"say","inputSchema":{"type":"object"}},{"name":"leave","inputSchema":{"type":"object"}}]}' ;;
    *'"leave"'*) exit ;;
    *'"tools/call"'*) say '"result":{"content":[{"type":"text","text":"hello"}]}' ;;
    *'"id"'*) say '"error":{"code":-32601,"message":"there is no such method"}' ;;
  esac
done
"#;

#[cfg(unix)]
#[tokio::test]
async fn a_process_that_has_ended_is_started_again() {
    let mut command = tokio::process::Command::new("/bin/sh");
    command.args(["-c", SHELL]);
    let server = McpServer::command(command).await.unwrap();
    let tools = server.tools().await.unwrap();
    for _ in 0..2 {
        assert_eq!(results(tools.clone(), &["say"]).await, ["hello"]);
        let told = results(tools.clone(), &["leave"]).await;
        let ended = "Error: the server of tools `sh` (shell) has ended";
        assert!(told[0].starts_with(ended), "{told:?}");
    }
    assert_eq!(results(tools, &["say"]).await, ["hello"]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_answer() {
    let (ours, _theirs) = tokio::io::duplex(64 * 1024);
    let error = McpServer::over(ours).await.unwrap_err();
    assert!(matches!(error, McpError::NotConnected(_)), "{error:?}");
}
