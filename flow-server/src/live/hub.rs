//! One reader for all clients that watch an execution.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use flow_durable::{EventFilter, ExecutionId, Executions, RuntimeError};
use tokio::sync::Mutex;
use tokio::task::AbortHandle;

use super::frame::{Frame, READ_AHEAD};
use super::ring::{Next, Place, Ring};

/// An execution that is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Watched {
    pub(super) id: ExecutionId,
    /// `true` if events contain the values that nodes read and wrote. Finding them costs reads, so
    /// only the clients that ask for them share this reader.
    pub(super) values: bool,
}

/// The executions that are watched.
#[derive(Debug, Default)]
pub(crate) struct Hub {
    /// Held while a reader starts, so that each execution has only one.
    channels: Mutex<HashMap<Watched, Weak<Channel>>>,
}

/// The reader of an execution. It stops with its last client.
#[derive(Debug)]
struct Channel {
    ring: Arc<Ring>,
    reader: AbortHandle,
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

/// Closes the ring however the reader ends.
struct Closes(Arc<Ring>);

impl Drop for Closes {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// The events of a reader, for one client.
#[derive(Debug)]
pub(super) struct Live {
    place: Place,
    /// Keeps the reader running.
    _reader: Arc<Channel>,
}

impl Live {
    fn of(channel: Arc<Channel>) -> Self {
        Live {
            place: channel.ring.place(),
            _reader: channel,
        }
    }

    /// Waits for the next event. Cancel safe.
    pub(super) async fn next(&mut self) -> Next {
        self.place.next().await
    }
}

impl Hub {
    /// Subscribes to new events of an execution. If nobody watches it yet, reading starts after the
    /// record with this offset.
    ///
    /// # Errors
    ///
    /// The store could not be read, or the execution was removed.
    pub(super) async fn subscribe(
        &self,
        executions: &Executions,
        watched: Watched,
        offset: u64,
    ) -> Result<Live, RuntimeError> {
        let mut channels = self.channels.lock().await;
        let known = channels.get(&watched).and_then(Weak::upgrade);
        if let Some(channel) = known.filter(|channel| !channel.reader.is_finished()) {
            return Ok(Live::of(channel));
        }
        let mut filter = EventFilter::new().read_ahead(READ_AHEAD);
        filter = filter.deltas().from_offset(offset);
        if watched.values {
            filter = filter.values();
        }
        let execution = executions.get(watched.id).await?;
        let mut events = execution.events(filter).await?;
        let ring = Arc::new(Ring::default());
        let closes = Closes(ring.clone());
        let reader = tokio::spawn(async move {
            while let Some(event) = events.next().await {
                let frame = match event {
                    Ok(event) => Frame::of(&event),
                    Err(error) => Frame::failed(error),
                };
                closes.0.add(frame);
            }
        });
        let reader = reader.abort_handle();
        let channel = Arc::new(Channel { ring, reader });
        channels.retain(|_, channel| channel.strong_count() > 0);
        channels.insert(watched, Arc::downgrade(&channel));
        Ok(Live::of(channel))
    }
}
