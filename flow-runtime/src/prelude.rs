//! Everything a program with flows needs: `use flow_runtime::prelude::*;`

pub use crate::{
    Action, CancellationToken, Context, Event, EventKind, Flow, FlowAction, FlowError, NodeError,
    Observer, RunOptions, flow, node,
};
