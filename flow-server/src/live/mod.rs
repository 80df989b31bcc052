//! Events as they happen, for many clients.
//!
//! One task reads the events of an execution, however many clients watch it, and a second one if
//! some of them ask for values. A client first reads what it has not seen from the store, then
//! follows its task. Each client knows the offset of its last record, so it misses none and gets
//! none twice. A client that is too slow reads from the store again, and delays nobody. The events
//! that wait in memory for clients are limited in bytes.

mod frame;
mod hub;
mod ring;
mod watch;

pub(crate) use frame::{Frame, READ_AHEAD, Wanted};
pub(crate) use hub::Hub;
pub(crate) use watch::Watch;
