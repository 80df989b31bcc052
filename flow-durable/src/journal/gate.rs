//! The gate through which steps begin.

/// Lets steps begin, and counts those that have.
#[derive(Default)]
pub(super) struct Gate {
    pub(super) is_closed: bool,
    pub(super) begun: usize,
    /// The number of steps that have begun and only wait for a retry.
    pub(super) aside: usize,
}
