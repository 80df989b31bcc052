//! A node that stops until it is told to go on.

use flow_runtime::prelude::*;
use tokio::sync::watch;

use crate::support::Calls;

/// Tells nodes to go on.
pub(crate) struct Gate {
    open: watch::Sender<bool>,
    pub(crate) calls: Calls,
}

impl Gate {
    pub(crate) fn closed() -> Self {
        Gate {
            open: watch::Sender::new(false),
            calls: Calls::default(),
        }
    }

    pub(crate) fn open(&self) {
        self.open.send_replace(true);
    }

    /// A node that adds this when it goes on.
    pub(crate) fn node(&self, adds: u64) -> Gated {
        Gated {
            adds,
            open: self.open.subscribe(),
            calls: self.calls.clone(),
        }
    }

    /// How often such a node was run.
    pub(crate) fn runs(&self) -> usize {
        self.calls.of("run")
    }

    /// How often it was dropped before it was done.
    pub(crate) fn dropped(&self) -> usize {
        self.calls.of("dropped")
    }
}

pub(crate) struct Gated {
    adds: u64,
    open: watch::Receiver<bool>,
    calls: Calls,
}

/// Notes that it was dropped, unless it was told not to.
struct Unfinished<'a>(Option<&'a Calls>);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if let Some(calls) = self.0 {
            calls.call("dropped");
        }
    }
}

#[node(writes = passed)]
impl Gated {
    async fn exec(&self, cx: &Context, number: &u64) -> u64 {
        self.calls.call("run");
        self.calls.call(cx.step_id());
        let mut unfinished = Unfinished(Some(&self.calls));
        let mut open = self.open.clone();
        // Somebody has to be there who could open it.
        let _ = open.wait_for(|open| *open).await;
        unfinished.0 = None;
        number + self.adds
    }
}

#[node(writes = number)]
pub(crate) fn increase(number: &u64) -> u64 {
    number + 1
}

flow! {
    /// A step, and one that stops.
    pub(crate) Stops(number: u64) -> (passed: u64) {
        node gated: Gated;
        start >> increase >> gated >> end;
    }
}

/// The flow with this gate.
pub(crate) fn stops(gate: &Gate, adds: u64) -> Stops {
    Stops::builder().gated(gate.node(adds)).build()
}

flow! {
    /// One that stops, and a step after it.
    pub(crate) Later(number: u64) -> (number: u64) {
        node gated: Gated;
        start >> gated >> increase >> end;
    }
}

/// The flow with this gate.
pub(crate) fn later(gate: &Gate, adds: u64) -> Later {
    Later::builder().gated(gate.node(adds)).build()
}

flow_law::law! {
    nodes: [increase],
    flows: [
    ],
    left_out: [Stops, Later],
}
