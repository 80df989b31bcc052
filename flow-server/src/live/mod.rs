//! Events as they happen, for many clients.
//!
//! One task reads the events of an execution, however many clients watch it, and a second one if
//! some of them ask for values. A client first reads from the store what it has not seen, and then
//! takes what its task reads. Each knows the offset of its last record, so it misses none and gets
//! none twice; a client that is too slow reads from the store again, and holds up nobody. What waits in memory for
//! the clients has a bound in bytes, however many events there are and however large they are.

mod frame;
mod hub;
mod ring;
mod watch;

pub(crate) use frame::{Frame, READ_AHEAD, Wanted};
pub(crate) use hub::Hub;
pub(crate) use watch::Watch;
