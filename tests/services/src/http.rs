//! Requests to servers, to see whether they are there.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// Whether a service answers 200 at a path.
pub(crate) fn is_well(port: u16, path: &str) -> bool {
    answers_200(port, "GET", path)
}

/// Whether a service answers 200 to a request without a body.
pub(crate) fn answers_200(port: u16, method: &str, path: &str) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else {
        return false;
    };
    // A server that has not started yet may accept a connection, and never answer on it.
    let patience = Some(Duration::from_secs(2));
    if stream.set_read_timeout(patience).is_err() || stream.set_write_timeout(patience).is_err() {
        return false;
    }
    let end = "Host: 127.0.0.1\r\nContent-Length: 0\r\nConnection: close";
    let request = format!("{method} {path} HTTP/1.1\r\n{end}\r\n\r\n");
    let mut answer = String::new();
    stream.write_all(request.as_bytes()).is_ok()
        && stream.read_to_string(&mut answer).is_ok()
        && answer.starts_with("HTTP/1.1 200")
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_server_that_never_answers_is_not_well() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        assert!(!is_well(listener.local_addr().unwrap().port(), "/health"));
    }
}
