//! Whether steps may begin.

/// Lets steps begin, and counts those that have.
#[derive(Default)]
pub(super) struct Gate {
    pub(super) is_closed: bool,
    pub(super) begun: usize,
    /// How many of those that have begun only wait to be tried again.
    pub(super) aside: usize,
}
