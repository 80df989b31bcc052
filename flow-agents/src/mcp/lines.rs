//! Messages as lines, of which none may be too long.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// How many bytes a message may not have. rmcp passes over one of more than these with its line end, and says nothing.
const TOO_LONG: usize = 16 << 20;

/// What has ended a connection, for those who wait for an answer.
pub(crate) type Fault = Arc<OnceLock<&'static str>>;

/// Reads what a server sends, until a line is too long.
pub(super) struct Lines<R> {
    inner: R,
    /// How long the line is that has begun.
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
