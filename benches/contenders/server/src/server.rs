//! The servers under load, each a separate process.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::http::{Client, Result};

/// The time limit for the first answer of a server.
const LONGEST_START: Duration = Duration::from_secs(60);

/// The server under load.
#[derive(Clone, Copy)]
pub enum Kind<'a> {
    /// flow-server, with an SQLite file that survives a loss of power.
    Ours,
    /// LangGraph's dev server, which keeps everything in memory: the folder with its environment,
    /// and the folder with the graphs.
    LangGraph(&'a Path, &'a Path),
}

/// A server in a separate process.
pub struct Server {
    process: Child,
    pub address: SocketAddr,
    is_ours: bool,
    _folder: TempDir,
}

impl Server {
    pub async fn start(kind: Kind<'_>) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let (process, address) = match kind {
            Kind::Ours => ours(folder.path()).await?,
            Kind::LangGraph(environment, graphs) => {
                langgraph(environment, graphs, folder.path()).await?
            }
        };
        Ok(Server {
            process,
            address,
            is_ours: matches!(kind, Kind::Ours),
            _folder: folder,
        })
    }

    /// The memory of the process, in MiB.
    pub fn memory(&self) -> u64 {
        let id = self.process.id().unwrap_or_default();
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kib.unwrap_or_default() / 1024
    }

    /// Starts the watched execution, and returns the path of its events.
    pub async fn ticks(&self, steps: u64, pause_ms: u64) -> Result<String> {
        let mut client = Client::connect(self.address).await?;
        let input = json!({ "left": steps, "pause_ms": pause_ms });
        if self.is_ours {
            let path = "/flows/Ticks/executions";
            let started = client.json("POST", path, &input.to_string()).await?;
            return Ok(format!("/executions/{}/events", text(&started["id"])?));
        }
        let thread = client.json("POST", "/threads", "{}").await?;
        let thread = text(&thread["thread_id"])?;
        let run = json!({
            "assistant_id": "Ticks",
            "input": input,
            "stream_mode": ["updates"],
            "stream_resumable": true,
            "config": { "recursion_limit": steps + 10 },
        });
        let path = format!("/threads/{thread}/runs");
        let started = client.json("POST", &path, &run.to_string()).await?;
        let run = text(&started["run_id"])?;
        Ok(format!("{path}/{run}/stream?stream_mode=updates"))
    }

    /// The request that starts an execution of three steps.
    pub fn three(&self, number: u64) -> (&'static str, String) {
        let input = json!({ "number": number });
        if self.is_ours {
            return ("/flows/Three/executions", input.to_string());
        }
        let run = json!({ "assistant_id": "Three", "input": input });
        ("/runs", run.to_string())
    }

    /// Returns true if nothing runs or waits.
    pub async fn is_idle(&self, client: &mut Client) -> Result<bool> {
        if self.is_ours {
            let path = "/executions?status=running&limit=1";
            let running = client.json("GET", path, "").await?;
            return Ok(running["executions"].as_array().is_some_and(Vec::is_empty));
        }
        let queue = &client.json("GET", "/metrics?format=json", "").await?["queue"];
        Ok(queue["n_pending"] == 0 && queue["n_running"] == 0)
    }

    /// The number of an event of the watched execution, and its time in milliseconds since 1970.
    /// `None` for an event that is not counted.
    pub fn numbered(is_ours: bool, event: &Value, id: &str, steps: u64) -> Option<(u64, u64)> {
        if is_ours {
            return Some((event["seq"].as_u64()?, event["timestamp"].as_u64()?));
        }
        let left = event["tick"]["left"].as_u64()?;
        let made = id.split('-').next()?.parse().ok()?;
        Some((steps - left, made))
    }

    /// The number of the first event of the watched execution.
    pub fn first(is_ours: bool) -> u64 {
        if is_ours { 0 } else { 1 }
    }

    /// The number after the last event of the watched execution, which is over.
    pub async fn end(&self, path: &str, steps: u64) -> Result<u64> {
        if !self.is_ours {
            return Ok(Server::first(false) + steps);
        }
        let path = path.strip_suffix("/events").ok_or("not where events are")?;
        let mut client = Client::connect(self.address).await?;
        let execution = client.json("GET", path, "").await?;
        if execution["status"] != "completed" {
            return Err(format!("the streams have ended before it: {execution}").into());
        }
        Ok(execution["records"].as_u64().ok_or("no records")?)
    }

    pub fn is_ours(&self) -> bool {
        self.is_ours
    }
}

fn text(value: &Value) -> Result<&str> {
    value.as_str().ok_or_else(|| "no id".into())
}

async fn ours(folder: &Path) -> Result<(Child, SocketAddr)> {
    let mut process = Command::new(std::env::current_exe()?)
        .arg("serve")
        .arg(folder.join("runs.db"))
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let output = process.stdout.take().ok_or("no output")?;
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).await?;
    Ok((process, line.trim().parse()?))
}

async fn langgraph(
    environment: &Path,
    graphs: &Path,
    folder: &Path,
) -> Result<(Child, SocketAddr)> {
    for name in ["graphs.py", "langgraph.json"] {
        std::fs::copy(graphs.join(name), folder.join(name))?;
    }
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let port = address.port().to_string();
    let process = Command::new(environment.join("bin/langgraph"))
        .args(["dev", "--host", "127.0.0.1", "--port", &port])
        .args(["--no-browser", "--no-reload"])
        .current_dir(folder)
        .env("LANGSMITH_TRACING", "false")
        .env("LOG_LEVEL", "ERROR")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    let answers = async {
        loop {
            if let Ok(mut client) = Client::connect(address).await
                && client.json("GET", "/ok", "").await.is_ok()
            {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(LONGEST_START, answers)
        .await
        .map_err(|_| "LangGraph's dev server does not answer")?;
    Ok((process, address))
}
