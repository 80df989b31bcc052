//! A connection that closes if its client stops reading.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

/// The send buffer in bytes. The system uses up to twice as much, and by default several megabytes.
const SEND_BUFFER: usize = 64 * 1024;

/// A connection that fails if nothing could be written to it for a while. That frees the buffers
/// and the place of a client that does not read.
#[derive(Debug)]
pub(crate) struct Written {
    stream: TcpStream,
    at_most: Duration,
    /// The timer that runs while the client reads nothing.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Written {
    pub(crate) fn new(stream: TcpStream, at_most: Duration) -> Self {
        // If this fails, the system's default size applies.
        let _ = SockRef::from(&stream).set_send_buffer_size(SEND_BUFFER);
        Written {
            stream,
            at_most,
            stalled: None,
        }
    }

    fn in_time<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let at_most = self.at_most;
        let stalled = self
            .stalled
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(at_most)));
        let reason = "the client takes nothing of what it is sent";
        stalled.as_mut().poll(cx).map(|()| {
            // Unsent data would stay in the system for minutes. If this fails, it does.
            let _ = SockRef::from(&self.stream).set_linger(Some(Duration::ZERO));
            Err(io::Error::new(io::ErrorKind::TimedOut, reason))
        })
    }
}

impl AsyncRead for Written {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Written {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.in_time(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.in_time(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
