//! The visits of a run that can be undone, and how they are undone.
//!
//! The list belongs to the run, not to a flow: what a flow has done outlives the flow, which may be
//! dropped before it is undone. A flow finds its own visits by their steps, and by a mark from when
//! it began.
//!
//! A step that charges money must not be dropped in the middle: nobody would know whether to undo it.
//! So steps with an undo node say that they are under way, and whoever drops work first polls it until
//! none of them is: see [`Closing`].

use std::any::Any;
use std::fmt;
use std::future::{Future, pending, poll_fn};
use std::mem;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use pin_project_lite::pin_project;

use crate::engine::{Drive, Hooks};
use crate::error::{Failed, FlowError};
use crate::frame::{FlowInfo, Frame, Place};
use crate::panics::Guarded;
use crate::run::Run;
use crate::scope::Scope;
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

    /// What the engine has kept for it: [`Run::add_undoable`]. `None` if it has another type.
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
}

/// A frame, by its address. It is compared only while the frame is there.
type FrameId = usize;

/// Stands for a frame around all frames of a run, whose flow has a scope that only it knows.
const WHOLE_RUN: FrameId = 0;

fn id_of(frame: &Frame<'_>) -> FrameId {
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
    fn enter(&mut self, frames: &[FrameId]) -> bool {
        let may_enter = !self.is_closing(frames);
        if may_enter {
            self.under_way.push(UnderWay {
                frames: frames.to_vec(),
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

    /// Returns true if a step that rests may be attempted again.
    fn goes_on(&mut self, frames: &[FrameId]) -> bool {
        let is_closing = self.is_closing(frames);
        match self.step(frames[0]) {
            Some(step) if step.rests => {
                step.rests = is_closing;
                !is_closing
            }
            _ => true,
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
}

/// The visits that can be undone.
impl Run {
    /// Adds a visit that is done, with what the engine keeps for its undo node.
    pub fn add_undoable(&self, place: Place, kept: Box<dyn Any + Send>) {
        self.add_undoable_as(self.undo_mark(), place, kept);
    }

    /// Adds a visit that is done under a number, by which an engine that runs a flow again keeps the
    /// order of the first time.
    pub fn add_undoable_as(&self, number: u64, place: Place, kept: Box<dyn Any + Send>) {
        let mut state = self.undo_list().state();
        state.next = state.next.max(number.saturating_add(1));
        let at = state.visits.partition_point(|visit| visit.number <= number);
        let visit = Undoable {
            number,
            place,
            kept,
        };
        state.visits.insert(at, visit);
    }

    /// Shows the visits that can be undone, the oldest first.
    pub fn undoables(&self, mut show: impl FnMut(&Undoable)) {
        if let Some(list) = self.known_undo_list() {
            list.state().visits.iter().for_each(&mut show);
        }
    }

    /// Forgets the visits with numbers below this one.
    pub fn forget_undoables_before(&self, number: u64) {
        if let Some(list) = self.known_undo_list() {
            list.state().visits.retain(|visit| visit.number >= number);
        }
    }

    /// The number from which the visits that come next are counted.
    pub fn undo_mark(&self) -> u64 {
        match self.known_undo_list() {
            Some(list) => list.state().next,
            None => 0,
        }
    }

    /// Forgets the visits of a flow since a mark, so that they are not undone: the step `commit`.
    pub fn forget_undoables(&self, flow: &str, mark: u64) {
        if let Some(list) = self.known_undo_list() {
            let flow = StepKey::new(flow);
            let mut state = list.state();
            state.visits.retain(|visit| !is_of(visit, flow, mark));
        }
    }

    /// The number and the place of the newest visit of a flow since a mark.
    fn newest_undoable(&self, flow: &str, mark: u64) -> Option<(u64, Place)> {
        let state = self.known_undo_list()?.state();
        let flow = StepKey::new(flow);
        let mut visits = state.visits.iter().rev();
        let newest = visits.find(|visit| is_of(visit, flow, mark))?;
        Some((newest.number, newest.place.clone()))
    }

    fn take_undoable(&self, number: u64) -> Option<Undoable> {
        let mut state = self.known_undo_list()?.state();
        let at = state
            .visits
            .iter()
            .position(|visit| visit.number == number)?;
        Some(state.visits.remove(at))
    }

    /// Returns true if a step with an undo node is under way in this frame.
    fn is_under_way_in(&self, frame: FrameId) -> bool {
        self.known_undo_list()
            .is_some_and(|list| list.state().is_under_way_in(frame))
    }

    /// Called before the step of this frame pauses between two attempts: it may be dropped then.
    pub(crate) fn rests(&self, frame: &Frame<'_>) {
        if let Some(list) = self.known_undo_list()
            && !frame.is_undo()
            && let Some(step) = list.state().step(id_of(frame))
        {
            step.rests = true;
        }
    }

    /// Waits until the step of this frame may be attempted again: never, if it is about to be
    /// dropped.
    pub(crate) async fn goes_on(&self, frame: &Frame<'_>) {
        let list = self.known_undo_list();
        let goes_on = list.is_none_or(|list| list.state().goes_on(&frames_of(frame)));
        if !goes_on {
            pending::<()>().await;
        }
    }
}

/// Returns true if a visit belongs to a flow, or to a flow inside it, and is not older than a mark.
fn is_of(visit: &Undoable, flow: StepKey<'_>, mark: u64) -> bool {
    visit.number >= mark && StepKey::new(&visit.place.step).is_inside(flow)
}

fn frames_of(frame: &Frame<'_>) -> Vec<FrameId> {
    let mut frames = vec![id_of(frame)];
    let mut around = frame.around();
    while let Some(frame) = around {
        frames.push(id_of(frame));
        around = frame.around();
    }
    frames.push(WHOLE_RUN);
    frames
}

/// Work that is about to be dropped, in a frame. Until this is dropped, no step with an undo node
/// begins there.
struct Closing<'a> {
    run: &'a Run,
    frame: FrameId,
}

impl<'a> Closing<'a> {
    /// Begins to close what runs at the current node of a frame. `None` if no step with an undo node
    /// is under way there, so that the work can be dropped at once.
    fn of(run: &'a Run, frame: FrameId) -> Option<Closing<'a>> {
        if !run.is_under_way_in(frame) {
            return None;
        }
        run.undo_list().state().closing.push(frame);
        Some(Closing { run, frame })
    }

    /// Polls the work with `poll` until no step with an undo node is under way. Then it may be
    /// dropped.
    pub(crate) async fn finish(self, mut poll: impl FnMut(&mut Context<'_>) + Send) {
        poll_fn(|cx| {
            poll(cx);
            if self.run.is_under_way_in(self.frame) {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        })
        .await;
    }
}

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        let mut state = self.run.undo_list().state();
        let closing = &mut state.closing;
        if let Some(at) = closing.iter().rposition(|frame| *frame == self.frame) {
            closing.remove(at);
        }
    }
}

/// Finishes the steps with an undo node that are under way at the current node of a scope: the
/// branches of a fork or a race, each polled with one of `polls`. They may be dropped then.
pub async fn finish_branches(
    scope: &Scope<'_>,
    polls: &mut [&mut (dyn FnMut(&mut Context<'_>) + Send)],
) {
    if let Some(closing) = Closing::of(scope.run(), id_of(scope.frame())) {
        closing
            .finish(|cx| polls.iter_mut().for_each(|poll| poll(cx)))
            .await;
    }
}

/// Polls a branch that is not done.
#[inline]
pub fn poll_branch<T>(
    mut work: Pin<&mut (impl Future<Output = T> + Send)>,
    mut is_done: bool,
) -> impl FnMut(&mut Context<'_>) + Send {
    move |cx| is_done = is_done || work.as_mut().poll(cx).is_ready()
}

/// Finishes the steps with an undo node that are under way in a frame. The work may be dropped then.
pub async fn finish_under_way<T>(
    run: &Run,
    frame: &Frame<'_>,
    work: Pin<&mut (impl Future<Output = T> + Send)>,
) {
    if let Some(closing) = Closing::of(run, id_of(frame)) {
        closing.finish(poll_branch(work, false)).await;
    }
}

/// Finishes the steps with an undo node that are under way anywhere in a run.
pub(crate) async fn finish_run<T>(run: &Run, work: Pin<&mut (impl Future<Output = T> + Send)>) {
    if let Some(closing) = Closing::of(run, WHOLE_RUN) {
        closing.finish(poll_branch(work, false)).await;
    }
}

/// A step with an undo node: it is under way from its first poll until it is done.
pub fn under_way<'s, W: Future>(scope: &'s Scope<'s>, work: W) -> Finished<'s, W> {
    Finished {
        scope,
        state: Entered::No,
        work,
    }
}

/// Whether a step has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entered {
    No,
    Yes,
    /// It is not to begin.
    Never,
}

pin_project! {
    /// The future of [`under_way`].
    #[derive(Debug)]
    pub struct Finished<'s, W> {
        scope: &'s Scope<'s>,
        state: Entered,
        #[pin]
        work: W,
    }

    impl<W> PinnedDrop for Finished<'_, W> {
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            leave(this.scope, this.state);
        }
    }
}

fn leave(scope: &Scope<'_>, state: &mut Entered) {
    if *state == Entered::Yes {
        let list = scope.run().undo_list();
        list.state().leave(id_of(scope.frame()));
    }
    *state = Entered::Never;
}

impl<W: Future> Future for Finished<'_, W> {
    type Output = W::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if *this.state == Entered::No {
            let frames = frames_of(this.scope.frame());
            let may_enter = this.scope.run().undo_list().state().enter(&frames);
            *this.state = if may_enter {
                Entered::Yes
            } else {
                Entered::Never
            };
        }
        if *this.state == Entered::Never {
            return Poll::Pending;
        }
        let polled = this.work.poll(cx);
        if polled.is_ready() {
            leave(this.scope, this.state);
        }
        polled
    }
}

/// A flow of any kind that can undo its visits: one of `flow!`, or one that is known only at run
/// time.
pub trait Undo<E>: Sync {
    /// True if there may be anything to undo.
    fn undoes(&self) -> bool;

    /// The names of the flow and its nodes.
    fn info(&self) -> &FlowInfo;

    /// Undoes a visit: [`Drive::undo`].
    fn undo_visit<'a>(
        &'a self,
        engine: &'a E,
        scope: &'a Scope<'a>,
        step: StepKey<'a>,
        undoable: Undoable,
    ) -> BoxFuture<'a, Result<(), Failed>>;
}

impl<E, F: Drive<E>> Undo<E> for F {
    fn undoes(&self) -> bool {
        F::UNDOES
    }

    fn info(&self) -> &FlowInfo {
        F::INFO
    }

    fn undo_visit<'a>(
        &'a self,
        engine: &'a E,
        scope: &'a Scope<'a>,
        step: StepKey<'a>,
        undoable: Undoable,
    ) -> BoxFuture<'a, Result<(), Failed>> {
        Drive::undo(self, engine, scope, step, undoable)
    }
}

/// Notes that a flow begins: the visits from now on belong to it.
#[inline]
pub fn begin_flow(scope: &Scope<'_>) {
    scope.frame().set_undo_mark(scope.run().undo_mark());
}

/// Undoes the visits of a flow, the newest first: the step `undo`. `scope` is that of the flow.
///
/// # Errors
///
/// [`FlowError::NotUndone`]: an undo node has failed. Older visits are not undone then.
pub fn undo_visits<'a, F, E>(
    flow: &'a F,
    engine: &'a E,
    scope: &'a Scope<'a>,
) -> BoxFuture<'a, Result<(), Failed>>
where
    F: Undo<E> + ?Sized,
    E: Hooks,
{
    async move {
        let (run, frame) = (scope.run(), scope.frame());
        let (flow_step, mark) = (frame.flow_step(), frame.undo_mark());
        loop {
            engine.before_undo();
            let Some((number, visit)) = run.newest_undoable(&flow_step, mark) else {
                return Ok(());
            };
            let step = StepKey::new(&visit.step).after(StepKey::new(&flow_step));
            let place = visit.clone().undo();
            let scope = scope.undo(&place);
            let undone = under_way(&scope, async {
                // Not before it is under way: otherwise it could be dropped, and never be undone.
                match run.take_undoable(number) {
                    Some(undoable) => {
                        engine.undo_started(&scope);
                        flow.undo_visit(engine, &scope, step, undoable).await
                    }
                    None => Ok(()),
                }
            });
            let undone = Guarded::new(undone, true).await;
            scope.leave();
            let undone = undone.unwrap_or_else(|panicked| {
                Err(Box::new(FlowError::Panicked {
                    path: place.path.clone(),
                    message: panicked.message,
                }))
            });
            if let Err(error) = undone {
                let failed = FlowError::NotUndone {
                    path: visit.path,
                    error,
                    cause: None,
                };
                return Err(engine.undo_failed(&scope, Box::new(failed)).await);
            }
            engine.undo_finished(&scope);
        }
    }
    .boxed()
}

/// Forgets the visits of a flow, so that they are not undone: the step `commit`. `scope` is that of
/// the flow.
pub fn commit_visits(engine: &impl Hooks, scope: &Scope<'_>) {
    let (run, frame) = (engine.run(), scope.frame());
    run.forget_undoables(&frame.flow_step(), frame.undo_mark());
}

/// Undoes the visits of a flow that has failed. If that fails, the failure becomes the reason for
/// the new one. `scope` is that of the flow.
pub fn undo_failed<'a, F, E>(
    flow: &'a F,
    engine: &'a E,
    scope: &'a Scope<'a>,
    failed: &'a mut Failed,
) -> BoxFuture<'a, ()>
where
    F: Undo<E> + ?Sized,
    E: Hooks,
{
    async move {
        let is_undoing = matches!(**failed, FlowError::NotUndone { .. });
        if is_undoing || !engine.undoes(failed) {
            return;
        }
        if let Err(not_undone) = undo_visits(flow, engine, scope).await {
            let reason = mem::replace(failed, not_undone);
            if let FlowError::NotUndone { cause, .. } = &mut **failed {
                *cause = Some(reason);
            }
        }
    }
    .boxed()
}
