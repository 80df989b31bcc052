//! The visits of a run that can be undone, and the steps with an undo node that are under way.
//!
//! The list belongs to the run, not to a flow: what a flow has done outlives the flow, which may be
//! dropped before it is undone. A flow finds its own visits by their steps, and by a mark from when
//! it began.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::frame::{Frame, Place};
use crate::step_key::StepKey;

/// A visit that is done and can be undone, with the values that its undo node reads.
pub struct Undoable {
    number: u64,
    place: Place,
    kept: Box<dyn Any + Send>,
}

impl Undoable {
    /// The place of the visit.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The number of the visit: those with greater numbers are undone first.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// A reference to what the engine has kept for it. `None` if it has another type.
    pub fn kept_ref<T: 'static>(&self) -> Option<&T> {
        self.kept.downcast_ref()
    }

    /// What the engine has kept for it: [`Run::add_undoable`](crate::engine::Run::add_undoable).
    /// `None` if it has another type.
    pub fn kept<T: 'static>(self) -> Option<T> {
        self.kept.downcast().ok().map(|kept| *kept)
    }
}

impl fmt::Debug for Undoable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Undoable")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

/// The visits of a run that can be undone, and the steps that are to be finished before anything is.
#[derive(Default)]
pub(crate) struct UndoList(Mutex<State>);

#[derive(Default)]
struct State {
    /// The number of the next visit.
    next: u64,
    visits: Vec<Undoable>,
    under_way: Vec<UnderWay>,
    /// The frames whose work is about to be dropped.
    closing: Vec<FrameId>,
    /// By the frame of a flow, the number of its first visit. A frame sets it anew when it begins.
    marks: BTreeMap<FrameId, u64>,
}

/// A frame, by its address. It is compared only while the frame is there.
pub(crate) type FrameId = usize;

/// Stands for a frame around all frames of a run, whose flow has a scope that only it knows.
pub(crate) const WHOLE_RUN: FrameId = 0;

pub(crate) fn id_of(frame: &Frame<'_>) -> FrameId {
    std::ptr::from_ref(frame).addr()
}

/// A step with an undo node that has begun.
struct UnderWay {
    /// The frame of the step, and all frames around it: the last one is [`WHOLE_RUN`].
    frames: Vec<FrameId>,
    /// True while it only waits for its next attempt.
    rests: bool,
}

impl State {
    fn is_under_way_in(&self, frame: FrameId) -> bool {
        let in_frame = |step: &UnderWay| !step.rests && step.frames.contains(&frame);
        self.under_way.iter().any(in_frame)
    }

    fn is_closing(&self, frames: &[FrameId]) -> bool {
        self.closing.iter().any(|frame| frames.contains(frame))
    }

    /// Returns true if the step may continue, which is under way from then on.
    fn enter(&mut self, frames: Vec<FrameId>) -> bool {
        let may_enter = !self.is_closing(&frames);
        if may_enter {
            self.under_way.push(UnderWay {
                frames,
                rests: false,
            });
        }
        may_enter
    }

    fn leave(&mut self, step: FrameId) {
        let at = self
            .under_way
            .iter()
            .position(|under_way| under_way.frames.first() == Some(&step));
        if let Some(at) = at {
            self.under_way.swap_remove(at);
        }
    }

    /// Returns true if a step may begin, or be attempted again: one with an undo node is under way from
    /// then on.
    fn goes_on(&mut self, frames: &[FrameId]) -> bool {
        let is_closing = self.is_closing(frames);
        match self.step(frames[0]) {
            Some(step) if step.rests => {
                step.rests = is_closing;
                !is_closing
            }
            Some(_) => true,
            None => !is_closing,
        }
    }

    fn step(&mut self, frame: FrameId) -> Option<&mut UnderWay> {
        let mut steps = self.under_way.iter_mut();
        steps.find(|step| step.frames.first() == Some(&frame))
    }
}

impl fmt::Debug for UndoList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.state().visits).finish()
    }
}

impl UndoList {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a visit under a number. They stay in the order of their numbers.
    pub(crate) fn add(&self, number: u64, place: Place, kept: Box<dyn Any + Send>) {
        let mut state = self.state();
        state.next = state.next.max(number.saturating_add(1));
        let at = state.visits.partition_point(|visit| visit.number <= number);
        let visit = Undoable {
            number,
            place,
            kept,
        };
        state.visits.insert(at, visit);
    }

    /// Shows the visits, the oldest first.
    pub(crate) fn show(&self, show: impl FnMut(&Undoable)) {
        self.state().visits.iter().for_each(show);
    }

    /// The number from which the visits that come next are counted.
    pub(crate) fn mark(&self) -> u64 {
        self.state().next
    }

    /// Notes the number of the first visit of a flow.
    pub(crate) fn set_mark(&self, flow: &Frame<'_>, mark: u64) {
        self.state().marks.insert(id_of(flow), mark);
    }

    /// The number of the first visit of a flow. 0 for the flow of the run.
    pub(crate) fn mark_of(&self, flow: &Frame<'_>) -> u64 {
        let state = self.state();
        match flow.around() {
            Some(_) => state.marks.get(&id_of(flow)).copied().unwrap_or(0),
            None => 0,
        }
    }

    /// Forgets the visits with numbers below this one.
    pub(crate) fn forget_before(&self, number: u64) {
        self.state().visits.retain(|visit| visit.number >= number);
    }

    /// Forgets the visits of a flow since a mark.
    pub(crate) fn forget(&self, flow: &str, mark: u64) {
        let flow = StepKey::new(flow);
        let mut state = self.state();
        state.visits.retain(|visit| !is_of(visit, flow, mark));
    }

    /// The number and the place of the newest visit of a flow since a mark.
    pub(crate) fn newest(&self, flow: &str, mark: u64) -> Option<(u64, Place)> {
        let (state, flow) = (self.state(), StepKey::new(flow));
        let mut visits = state.visits.iter().rev();
        let newest = visits.find(|visit| is_of(visit, flow, mark))?;
        Some((newest.number, newest.place.clone()))
    }

    /// Takes the visit with this number and step.
    pub(crate) fn take(&self, number: u64, step: &str) -> Option<Undoable> {
        let mut state = self.state();
        // Most often the last one.
        let mut visits = state.visits.iter();
        let at = visits.rposition(|visit| visit.number == number && visit.place.step == step)?;
        Some(state.visits.remove(at))
    }

    /// Returns true if the step of this frame may begin. It is under way from then on.
    pub(crate) fn enter(&self, frame: &Frame<'_>) -> bool {
        self.state().enter(frames_of(frame))
    }

    /// Notes that the step of this frame is done, or dropped.
    pub(crate) fn leave(&self, frame: &Frame<'_>) {
        self.state().leave(id_of(frame));
    }

    /// Returns true if the step of this frame is under way.
    pub(crate) fn is_under_way(&self, frame: &Frame<'_>) -> bool {
        self.state().step(id_of(frame)).is_some()
    }

    /// Returns true if a step is under way in a frame.
    pub(crate) fn is_under_way_in(&self, frame: FrameId) -> bool {
        self.state().is_under_way_in(frame)
    }

    /// Lets no step begin in a frame, until [`reopen`](UndoList::reopen).
    pub(crate) fn close(&self, frame: FrameId) {
        self.state().closing.push(frame);
    }

    /// Lets steps begin again.
    pub(crate) fn reopen(&self, frame: FrameId) {
        let closing = &mut self.state().closing;
        if let Some(at) = closing.iter().rposition(|closed| *closed == frame) {
            closing.remove(at);
        }
    }

    /// Called before the step of this frame pauses between two attempts: it may be dropped then.
    pub(crate) fn rests(&self, frame: &Frame<'_>) {
        if !frame.is_undo()
            && let Some(step) = self.state().step(id_of(frame))
        {
            step.rests = true;
        }
    }

    /// Returns true if the step of this frame may begin or be attempted again: not if it is about to be
    /// dropped.
    pub(crate) fn goes_on(&self, frame: &Frame<'_>) -> bool {
        self.state().goes_on(&frames_of(frame))
    }

    /// Returns true if the work at this frame is about to be dropped.
    pub(crate) fn is_closing(&self, frame: &Frame<'_>) -> bool {
        self.state().is_closing(&frames_of(frame))
    }
}

/// Returns true if a visit belongs to a flow, or to a flow inside it, and is not older than a mark.
fn is_of(visit: &Undoable, flow: StepKey<'_>, mark: u64) -> bool {
    visit.number >= mark && StepKey::new(&visit.place.step).is_inside(flow)
}

fn frames_of(frame: &Frame<'_>) -> Vec<FrameId> {
    let mut frames = Vec::with_capacity(8);
    frames.push(id_of(frame));
    let mut around = frame.around();
    while let Some(frame) = around {
        frames.push(id_of(frame));
        around = frame.around();
    }
    frames.push(WHOLE_RUN);
    frames
}
