//! A server that gives the answers of a list, one for each connection, and keeps what it was asked.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What the server answers.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    status: u16,
    content_type: &'static str,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    end: End,
    /// How many bytes are written at once.
    piece: usize,
}

/// How a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// With what says that it is whole.
    Whole,
    /// The connection is closed, which is all that says that it is whole.
    Closed,
    /// The connection is closed before what says that it is whole.
    Broken,
    /// Never.
    Never,
}

impl Answer {
    pub(crate) fn json(body: &Value) -> Answer {
        Answer::new("application/json", body.to_string())
    }

    pub(crate) fn events(events: &[String]) -> Answer {
        Answer::new("text/event-stream", events.concat())
    }

    pub(crate) fn new(content_type: &'static str, body: impl Into<Vec<u8>>) -> Answer {
        Answer {
            status: 200,
            content_type,
            headers: Vec::new(),
            body: body.into(),
            end: End::Whole,
            piece: 61,
        }
    }

    pub(crate) fn status(mut self, status: u16) -> Answer {
        self.status = status;
        self
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Answer {
        self.headers.push((name, value.into()));
        self
    }

    /// Writes this many bytes at once.
    pub(crate) fn piece(mut self, piece: usize) -> Answer {
        self.piece = piece;
        self
    }

    pub(crate) fn end(mut self, end: End) -> Answer {
        self.end = end;
        self
    }
}

/// What the server was asked.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) headers: String,
    pub(crate) body: Value,
}

pub(crate) struct Server {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    pub(crate) async fn start(answers: impl IntoIterator<Item = Answer>) -> Server {
        let answers: Vec<Answer> = answers.into_iter().collect();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::<Mutex<Vec<Asked>>>::default();
        let kept = Arc::clone(&asked);
        tokio::spawn(async move {
            for answer in answers {
                let (mut connection, _) = listener.accept().await.unwrap();
                let request = read(&mut connection).await;
                kept.lock().unwrap().push(request);
                write(&mut connection, &answer).await;
            }
        });
        Server { url, asked }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

async fn read(connection: &mut TcpStream) -> Asked {
    let mut bytes = Vec::new();
    let head = loop {
        connection.read_buf(&mut bytes).await.unwrap();
        if let Some(end) = bytes.windows(4).position(|it| it == b"\r\n\r\n") {
            break end + 4;
        }
    };
    let headers = String::from_utf8(bytes[..head].to_vec())
        .unwrap()
        .to_lowercase();
    let length = headers
        .lines()
        .find_map(|it| it.strip_prefix("content-length: "));
    let length: usize = length.map_or(0, |it| it.parse().unwrap());
    while bytes.len() < head + length {
        connection.read_buf(&mut bytes).await.unwrap();
    }
    let first = String::from_utf8_lossy(&bytes);
    let path = first.split(' ').nth(1).unwrap().to_owned();
    let body = serde_json::from_slice(&bytes[head..]).unwrap();
    Asked {
        path,
        headers,
        body,
    }
}

/// Writes in pieces of a few bytes, so that events and letters are split everywhere.
async fn write(connection: &mut TcpStream, answer: &Answer) {
    let mut head = format!(
        "HTTP/1.1 {} Status\r\ncontent-type: {}\r\nconnection: close\r\n",
        answer.status, answer.content_type
    );
    for (name, value) in &answer.headers {
        head += &format!("{name}: {value}\r\n");
    }
    if answer.end != End::Closed {
        head += "transfer-encoding: chunked\r\n";
    }
    connection
        .write_all(format!("{head}\r\n").as_bytes())
        .await
        .unwrap();
    for piece in answer.body.chunks(answer.piece) {
        let framed = match answer.end {
            End::Closed => piece.to_vec(),
            End::Whole | End::Broken | End::Never => {
                [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat()
            }
        };
        // Who has read enough closes the connection.
        if connection.write_all(&framed).await.is_err() {
            return;
        }
        tokio::task::yield_now().await;
    }
    if answer.end == End::Whole {
        let _ = connection.write_all(b"0\r\n\r\n").await;
    }
    if answer.end == End::Never {
        std::future::pending::<()>().await;
    }
    let _ = connection.shutdown().await;
}
