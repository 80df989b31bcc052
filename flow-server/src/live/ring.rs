//! The newest events of an execution, for all clients that watch it.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::frame::Frame;

/// The bytes of events that wait for clients. Clients further behind read from the store again.
const BACKLOG: usize = 64 * 1024;

/// The newest events. Its size does not depend on slow clients.
#[derive(Debug, Default)]
pub(super) struct Ring {
    newest: Mutex<Newest>,
    came: Notify,
}

#[derive(Debug, Default)]
struct Newest {
    frames: VecDeque<Arc<Frame>>,
    bytes: usize,
    /// The number of the next frame, from 0.
    next: u64,
    is_closed: bool,
}

/// The place of a client in the ring.
#[derive(Debug)]
pub(super) struct Place {
    ring: Arc<Ring>,
    next: u64,
}

/// The next event of a client.
#[derive(Debug)]
pub(super) enum Next {
    Frame(Arc<Frame>),
    /// The client was too slow, and some events are gone.
    Lagged,
    /// No event follows.
    Closed,
}

impl Ring {
    fn newest(&self) -> MutexGuard<'_, Newest> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, frame: Frame) {
        let mut newest = self.newest();
        newest.next += 1;
        newest.bytes += frame.bytes();
        newest.frames.push_back(Arc::new(frame));
        while newest.frames.len() > 1
            && newest.bytes > BACKLOG
            && let Some(oldest) = newest.frames.pop_front()
        {
            newest.bytes -= oldest.bytes();
        }
        drop(newest);
        self.came.notify_waiters();
    }

    pub(super) fn close(&self) {
        self.newest().is_closed = true;
        self.came.notify_waiters();
    }

    /// Returns the place after the newest event.
    pub(super) fn place(self: &Arc<Self>) -> Place {
        Place {
            next: self.newest().next,
            ring: self.clone(),
        }
    }
}

impl Place {
    /// Waits for the next event.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, no event is lost.
    pub(super) async fn next(&mut self) -> Next {
        loop {
            let mut came = pin!(self.ring.came.notified());
            // Registers before the look, so that no event is missed between it and the wait.
            came.as_mut().enable();
            let (next, place) = {
                let newest = self.ring.newest();
                let first = newest.next - newest.frames.len() as u64;
                let ahead = self.next.checked_sub(first);
                let index = ahead.and_then(|ahead| usize::try_from(ahead).ok());
                match index.map(|index| newest.frames.get(index)) {
                    Some(Some(frame)) => (Some(Next::Frame(frame.clone())), self.next + 1),
                    Some(None) if newest.is_closed => (Some(Next::Closed), self.next),
                    Some(None) => (None, self.next),
                    None => (Some(Next::Lagged), newest.next),
                }
            };
            if let Some(next) = next {
                self.next = place;
                return next;
            }
            came.await;
        }
    }
}
