//! Messages as lines, with a maximum length.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// The number of bytes from which a message is too long. rmcp silently skips a longer one.
const TOO_LONG: usize = 16 << 20;

/// The reason why a connection has ended, for callers that wait for an answer.
pub(crate) type Fault = Arc<OnceLock<&'static str>>;

/// Reads the output of a server, until a line is too long.
pub(super) struct Lines<R> {
    inner: R,
    /// The length of the current line.
    length: usize,
    fault: Fault,
}

impl<R> Lines<R> {
    pub(super) fn new(inner: R, fault: Fault) -> Lines<R> {
        Lines {
            inner,
            length: 0,
            fault,
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Lines<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buffer))?;
        let mut lines = buffer.filled()[before..].split(|byte| *byte == b'\n');
        self.length += lines.next().map_or(0, <[u8]>::len);
        let mut longest = self.length;
        for line in lines {
            self.length = line.len();
            longest = longest.max(self.length);
        }
        if longest >= TOO_LONG {
            let fault = "a message of the server has 16 MiB or more";
            let _ = self.fault.set(fault); // or it has one already
            buffer.set_filled(before);
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, fault)));
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    #[tokio::test]
    async fn a_line_that_rmcp_would_pass_over_is_an_error() {
        for (length, is_read) in [(TOO_LONG - 1, true), (TOO_LONG, false)] {
            let text = format!("one\n{}\ntwo\n", "x".repeat(length));
            let fault = Fault::default();
            let mut lines = Lines::new(text.as_bytes(), Fault::clone(&fault));
            let read = lines.read_to_end(&mut Vec::new()).await;
            assert_eq!((read.is_ok(), fault.get().is_none()), (is_read, is_read));
        }
    }
}
