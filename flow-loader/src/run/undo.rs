//! The visits of a loaded flow that can be undone.

use flow_runtime::__private::{BoxFuture, not_undoable};
use flow_runtime::engine::{Failed, FlowInfo, Scope, StepKey, Undo, Undoable};

use super::LoadedEngine;
use crate::level::Level;

impl<E: LoadedEngine> Undo<E> for Level {
    fn undoes(&self) -> bool {
        false
    }

    fn info(&self) -> &FlowInfo {
        &self.info
    }

    fn undo_visit<'a>(
        &'a self,
        _engine: &'a E,
        scope: &'a Scope<'a>,
        step: StepKey<'a>,
        _undoable: Undoable,
    ) -> BoxFuture<'a, Result<(), Failed>> {
        not_undoable(scope, step)
    }
}
