//! The events of one client.

use std::sync::Arc;

use flow_durable::{Events, ExecutionId, Executions, RuntimeError};

use super::frame::{Frame, Place, Wanted};
use super::hub::{Hub, Live, Watched};
use super::ring::Next;

/// The events of an execution for one client, from a record to the end of the execution.
pub(crate) struct Watch {
    hub: Arc<Hub>,
    executions: Executions,
    id: ExecutionId,
    wanted: Wanted,
    /// The stored events that the client has not seen. `None` if the client follows live events.
    stored: Option<Events>,
    /// The live events. `None` until the client has read the stored ones.
    live: Option<Live>,
    /// `true` if the execution was over when the stored events were requested, so that none follow.
    is_last: bool,
    /// The offset of the last record that was delivered.
    offset: u64,
    /// The number of the next record.
    next_seq: u64,
    is_over: bool,
}

impl Watch {
    /// Creates a watch of the events after the record with this offset.
    ///
    /// # Errors
    ///
    /// The store could not be read.
    pub(crate) async fn new(
        hub: Arc<Hub>,
        executions: Executions,
        id: ExecutionId,
        offset: u64,
        wanted: Wanted,
    ) -> Result<Self, RuntimeError> {
        let mut watch = Watch {
            hub,
            executions,
            id,
            wanted,
            stored: None,
            live: None,
            is_last: false,
            offset,
            next_seq: 0,
            is_over: false,
        };
        watch.read_stored().await?;
        Ok(watch)
    }

    /// Returns the next event that the client wants, or `None` if the execution is over or removed.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, no record is lost.
    pub(crate) async fn next(&mut self) -> Option<Arc<Frame>> {
        loop {
            let frame = match self.next_of_all().await {
                Ok(frame) => frame?,
                Err(RuntimeError::NotFound(_)) => return None,
                Err(error) => {
                    self.is_over = true;
                    return Some(Arc::new(Frame::failed(error)));
                }
            };
            if self.passes(&frame) && self.wanted.wants(&frame) {
                return Some(frame);
            }
        }
    }

    /// Returns `true` if the last record was delivered, or the execution was removed.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns the offset of the last record that was delivered.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Starts reading the records that were not delivered yet from the store.
    async fn read_stored(&mut self) -> Result<(), RuntimeError> {
        let filter = self
            .wanted
            .filter()
            .execution(self.id)
            .from_offset(self.offset)
            .until_now();
        self.stored = Some(self.executions.events(filter).await?);
        Ok(())
    }

    /// Subscribes to live events, if any can follow.
    async fn go_live(&mut self) -> Result<(), RuntimeError> {
        let execution = self.executions.get(self.id).await?;
        self.is_last = execution.status().is_over();
        if !self.is_last {
            let watched = Watched {
                id: self.id,
                values: self.wanted.values,
            };
            let live = self.hub.subscribe(&self.executions, watched, self.offset);
            self.live = Some(live.await?);
        }
        // Reads the records stored meanwhile.
        self.read_stored().await
    }

    async fn next_of_all(&mut self) -> Result<Option<Arc<Frame>>, RuntimeError> {
        loop {
            if self.is_over {
                return Ok(None);
            }
            if let Some(stored) = &mut self.stored {
                match stored.next().await {
                    Some(Ok(event)) => return Ok(Some(Arc::new(Frame::of(&event)))),
                    Some(Err(error)) => return Ok(Some(Arc::new(Frame::failed(error)))),
                    None => self.stored = None,
                }
                self.is_over = self.is_last;
                continue;
            }
            let Some(live) = &mut self.live else {
                self.go_live().await?;
                continue;
            };
            match live.next().await {
                Next::Frame(frame) => return Ok(Some(frame)),
                Next::Lagged => {
                    self.read_stored().await?;
                    if self.wanted.deltas {
                        return Ok(Some(Arc::new(Frame::missed())));
                    }
                }
                // The reader stops after the end was delivered, or after the removal.
                Next::Closed => self.is_over = true,
            }
        }
    }

    /// Records the delivery of an event. Returns `false` if it was delivered before.
    fn passes(&mut self, frame: &Frame) -> bool {
        match frame.place {
            Place::Record { offset, .. } if offset <= self.offset => false,
            Place::Record { offset, seq } => {
                self.offset = offset;
                self.next_seq = seq + 1;
                // What is stored may go on after an end, if the execution was retried.
                self.is_over |= frame.is_end() && self.stored.is_none();
                true
            }
            Place::Delta { next_seq } => next_seq >= self.next_seq,
            Place::Notice => true,
        }
    }
}
