//! One reader for all who watch an execution.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use flow_durable::{EventFilter, ExecutionId, Executions, RuntimeError};
use tokio::sync::{Mutex, broadcast};
use tokio::task::AbortHandle;

use super::frame::Frame;

/// How many events wait for a client, before it reads from the store again.
const BACKLOG: usize = 1024;

/// An execution that is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Watched {
    pub(super) id: ExecutionId,
    /// Whether the events say what nodes read and wrote. A reader that finds this out reads more, so
    /// it reads only for the clients that ask for it.
    pub(super) values: bool,
}

/// The executions that are watched.
#[derive(Debug, Default)]
pub(crate) struct Hub {
    /// Held while a reader begins, so that there is one for each.
    channels: Mutex<HashMap<Watched, Weak<Channel>>>,
}

/// The reader of an execution. It ends with the last client.
#[derive(Debug)]
struct Channel {
    /// Of which each client has one of its own. (A sender here would keep the clients waiting when the
    /// reader has ended.)
    receiver: broadcast::Receiver<Arc<Frame>>,
    reader: AbortHandle,
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

/// What a reader reads, for one client.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) receiver: broadcast::Receiver<Arc<Frame>>,
    /// Keeps it reading.
    _reader: Arc<Channel>,
}

impl Hub {
    /// What happens in an execution from now on. If nobody watches it yet, it begins after the record
    /// with this offset.
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
            let receiver = channel.receiver.resubscribe();
            return Ok(Live {
                receiver,
                _reader: channel,
            });
        }
        let mut filter = EventFilter::new().deltas().from_offset(offset);
        if watched.values {
            filter = filter.values();
        }
        let execution = executions.get(watched.id).await?;
        let mut events = execution.events(filter).await?;
        let (sender, receiver) = broadcast::channel(BACKLOG);
        let reader = tokio::spawn(async move {
            while let Some(event) = events.next().await {
                let frame = match event {
                    Ok(event) => Frame::of(&event),
                    Err(error) => Frame::failed(error),
                };
                // Nobody may be there at this moment.
                let _ = sender.send(Arc::new(frame));
            }
        });
        let reader = reader.abort_handle();
        let channel = Arc::new(Channel {
            receiver: receiver.resubscribe(),
            reader,
        });
        channels.retain(|_, channel| channel.strong_count() > 0);
        channels.insert(watched, Arc::downgrade(&channel));
        Ok(Live {
            receiver,
            _reader: channel,
        })
    }
}
