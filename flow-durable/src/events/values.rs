//! The values that nodes read and write, for the subscribers who ask for them.

use flow_spec::FlowDocument;
use flow_store::{ExecutionId, Record, RecordKind, Store, StoreError};

use crate::error::RuntimeError;
use crate::retried::counting;
use crate::shared::records_since_snapshot;
use crate::values::{NodeValues, State, Values};

/// The values of an execution at the position of the stream.
#[derive(Debug, Default)]
pub(super) enum Followed {
    /// The records before the next one have still to be read.
    #[default]
    Unknown,
    Known(Box<State>),
    /// A record is damaged, so the values after it are not known.
    Unreadable,
}

impl Followed {
    /// Follows the next record, and returns the values that its node read or wrote by it. `None` if
    /// an earlier record is damaged; the first damaged one is an error.
    pub(super) async fn add(
        self,
        store: &dyn Store,
        id: ExecutionId,
        structure: &FlowDocument,
        record: &Record,
    ) -> Result<(Option<Result<NodeValues, RuntimeError>>, Followed), StoreError> {
        if record.kind == RecordKind::RunRetried {
            // Other records count after it.
            return Ok((Some(Ok(NodeValues::default())), Followed::Unknown));
        }
        let mut earlier = Vec::new();
        let state = match self {
            Followed::Unreadable => return Ok((None, Followed::Unreadable)),
            Followed::Known(state) => *state,
            Followed::Unknown => {
                let records = records_since_snapshot(store, id, record.seq).await?;
                match counting(id, records) {
                    Ok(counting) => earlier = counting,
                    Err(error) => return Ok((Some(Err(error)), Followed::Unreadable)),
                }
                State::default()
            }
        };
        let mut values = Values::new(id, structure, state);
        let mut accessed = Ok(NodeValues::default());
        for record in earlier.iter().chain([record]) {
            accessed = values.accessed(record);
            if accessed.is_err() {
                break;
            }
        }
        let followed = match accessed {
            Ok(_) => Followed::Known(Box::new(values.into_state())),
            Err(_) => Followed::Unreadable,
        };
        Ok((Some(accessed), followed))
    }
}
