//! What all parts of a flow's code have in common.

use crate::flow::plan::Plan;
use crate::flow::syntax::FlowSyntax;
use crate::flow::types::TypeNames;
use crate::runtime::Runtime;

use super::state::State;

/// A planned flow, with what its code has in common.
pub(super) struct Emit<'a> {
    pub(super) plan: &'a Plan<'a>,
    pub(super) flow: &'a FlowSyntax,
    pub(super) names: TypeNames,
    pub(super) state: State,
    /// The runtime, for items that have imported it.
    pub(super) runtime: &'a Runtime,
}
