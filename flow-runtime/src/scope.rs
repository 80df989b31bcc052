//! A running flow: its position, and the run to which it belongs.

use crate::frame::{FlowInfo, Frame};
use crate::run::Run;

/// A [`Frame`] with the run to which it belongs.
///
/// A scope that is dropped at a node did not reach an end. If the node panicked or the run was
/// stopped, the scope reports its position to the run. The innermost scope is dropped first, so the
/// first report counts.
#[derive(Debug)]
pub struct Scope<'a> {
    run: &'a Run,
    frame: Frame<'a>,
}

impl<'a> Scope<'a> {
    /// The scope of a run's own flow.
    #[inline]
    pub fn root(run: &'a Run, flow: &'a FlowInfo) -> Self {
        let frame = Frame::root(flow);
        Scope { run, frame }
    }

    /// The scope of a flow that is the current node of this one, at the given attempt, from 0.
    #[inline]
    pub fn nested<'b>(&'b self, flow: &'b FlowInfo, attempt: u32) -> Scope<'b> {
        let frame = self.frame.nested(flow, attempt);
        Scope {
            run: self.run,
            frame,
        }
    }

    /// A branch of the fork that is the current node.
    #[inline]
    pub fn branch(&self) -> Scope<'_> {
        let frame = self.frame.branch();
        Scope {
            run: self.run,
            frame,
        }
    }

    /// One item of the loop that is the current node, by its index.
    #[inline]
    pub fn item(&self, index: u32) -> Scope<'_> {
        let frame = self.frame.item(index);
        Scope {
            run: self.run,
            frame,
        }
    }

    /// The undo node that takes back a visit of this flow, with its place.
    pub(crate) fn undo<'b>(&'b self, place: &'b FlowInfo) -> Scope<'b> {
        let frame = self.frame.undo(place);
        Scope {
            run: self.run,
            frame,
        }
    }

    /// The run.
    #[inline]
    pub fn run(&self) -> &'a Run {
        self.run
    }

    /// The position of the flow.
    #[inline]
    pub fn frame(&self) -> &Frame<'a> {
        &self.frame
    }

    /// Leaves the current node, because the flow has reached an end.
    #[inline]
    pub fn leave(&self) {
        self.frame.leave();
    }

    /// Called if the scope is dropped at a node. `extern "C"` promises that this does not unwind,
    /// so the code that drops an unfinished flow is short enough to be inlined.
    #[cold]
    #[inline(never)]
    extern "C" fn interrupted(&self) {
        self.run.interrupted_at(self.frame.path());
    }
}

impl Drop for Scope<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.frame.is_at_a_node() {
            self.interrupted();
        }
    }
}
