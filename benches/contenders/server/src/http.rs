//! The part of HTTP that the load needs.

use std::error::Error;
use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// A connection that stays open.
pub struct Client {
    stream: BufReader<TcpStream>,
}

impl Client {
    pub async fn connect(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Client {
            stream: BufReader::new(stream),
        })
    }

    /// Sends a request, reads the head of the answer, and returns the length of the body, or 0.
    async fn send(&mut self, method: &str, path: &str, accept: &str, body: &str) -> Result<usize> {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAccept: {accept}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.write_all(request.as_bytes()).await?;
        let mut length = 0;
        let mut line = String::new();
        self.stream.read_line(&mut line).await?;
        if !line.starts_with("HTTP/1.1 20") {
            return Err(format!("{path}: {line}").into());
        }
        loop {
            line.clear();
            self.stream.read_line(&mut line).await?;
            if line == "\r\n" {
                return Ok(length);
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse()?;
            }
        }
    }

    pub async fn json(&mut self, method: &str, path: &str, body: &str) -> Result<Value> {
        let length = self.send(method, path, "application/json", body).await?;
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).await?;
        Ok(serde_json::from_slice(&body)?)
    }

    /// Opens a stream of events.
    pub async fn watch(&mut self, path: &str) -> Result<()> {
        self.send("GET", path, "text/event-stream", "").await?;
        Ok(())
    }

    /// Returns the data and the id of the next event, or `None` at the regular end of the stream. A
    /// connection that is cut before is an error.
    pub async fn event(&mut self) -> Result<Option<(Value, String)>> {
        let mut line = String::new();
        let (mut data, mut id) = (None, String::new());
        loop {
            line.clear();
            if self.stream.read_line(&mut line).await? == 0 {
                return Err("the connection was cut before the end of the stream".into());
            }
            if line == "0\r\n" {
                return Ok(None);
            }
            if let Some(text) = line.strip_prefix("data: ") {
                data = Some(serde_json::from_str(text)?);
            } else if let Some(text) = line.strip_prefix("id: ") {
                text.trim().clone_into(&mut id);
            } else if line.trim().is_empty()
                && let Some(data) = data.take()
            {
                return Ok(Some((data, id)));
            }
        }
    }
}
