//! How the visits of a run are undone.
//!
//! A step that charges money must not be dropped in the middle: nobody would know whether to undo it.
//! So steps with an undo node say that they are under way, and whoever drops work first polls it until
//! none of them is: see [`Closing`].

use std::any::Any;
use std::future::{Future, pending, poll_fn};
use std::mem;
use std::pin::Pin;
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
use crate::undo_list::{FrameId, UndoList, Undoable, WHOLE_RUN, id_of};

/// The visits that can be undone.
impl Run {
    /// Adds a visit that is done, with what the engine keeps for its undo node.
    pub fn add_undoable(&self, place: Place, kept: Box<dyn Any + Send>) {
        self.add_undoable_as(self.undo_mark(), place, kept);
    }

    /// Adds a visit that is done under a number, by which an engine that runs a flow again keeps the
    /// order of the first time.
    pub fn add_undoable_as(&self, number: u64, place: Place, kept: Box<dyn Any + Send>) {
        self.undo_list().add(number, place, kept);
    }

    /// Shows the visits that can be undone, the oldest first.
    pub fn undoables(&self, show: impl FnMut(&Undoable)) {
        if let Some(list) = self.known_undo_list() {
            list.show(show);
        }
    }

    /// Forgets the visits with numbers below this one.
    pub fn forget_undoables_before(&self, number: u64) {
        if let Some(list) = self.known_undo_list() {
            list.forget_before(number);
        }
    }

    /// Returns true if the step of a frame has an undo node: it has begun, and is not to be dropped.
    pub fn is_under_way(&self, frame: &Frame<'_>) -> bool {
        self.known_undo_list()
            .is_some_and(|list| list.is_under_way(frame))
    }

    /// The number from which the visits that come next are counted.
    pub(crate) fn undo_mark(&self) -> u64 {
        self.known_undo_list().map_or(0, UndoList::mark)
    }
}

/// Work that is about to be dropped, in a frame. Until this is dropped, no step with an undo node
/// begins there.
struct Closing<'a> {
    list: &'a UndoList,
    frame: FrameId,
}

impl<'a> Closing<'a> {
    /// Begins to close what runs at the current node of a frame. `None` if no step with an undo node
    /// is under way there, so that the work can be dropped at once.
    fn of(run: &'a Run, frame: FrameId) -> Option<Closing<'a>> {
        let list = run.known_undo_list()?;
        if !list.is_under_way_in(frame) {
            return None;
        }
        list.close(frame);
        Some(Closing { list, frame })
    }

    /// Polls the work with `poll` until no step with an undo node is under way. Then it may be
    /// dropped.
    async fn finish(self, mut poll: impl FnMut(&mut Context<'_>) + Send) {
        poll_fn(|cx| {
            poll(cx);
            if self.list.is_under_way_in(self.frame) {
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
        self.list.reopen(self.frame);
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
        scope.run().undo_list().leave(scope.frame());
    }
    *state = Entered::Never;
}

impl<W: Future> Future for Finished<'_, W> {
    type Output = W::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if *this.state == Entered::No {
            let may_enter = this.scope.run().undo_list().enter(this.scope.frame());
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
    let list = scope.run().undo_list();
    list.set_mark(scope.frame(), list.mark());
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
        let Some(list) = run.known_undo_list() else {
            return Ok(());
        };
        let (flow_step, mark) = (frame.flow_step(), list.mark_of(frame));
        loop {
            let Some((number, visit)) = list.newest(&flow_step, mark) else {
                return Ok(());
            };
            let step = StepKey::new(&visit.step).after(StepKey::new(&flow_step));
            let step = engine.in_present_names(scope, step);
            let step = StepKey::new(&step);
            let place = visit.undo();
            if !engine.before_undo(number, &place).await {
                continue;
            }
            let place = FlowInfo::undo(place);
            let scope = scope.undo(&place);
            let undone = under_way(&scope, async {
                // Not before it is under way: otherwise it could be dropped, and never be undone.
                let Some(undoable) = list.take(number, &visit.step) else {
                    return Ok(());
                };
                engine.undo_started(&scope);
                let undone = flow.undo_visit(engine, &scope, step, undoable);
                let undone = Guarded::new(undone, true).await;
                let undone = undone.unwrap_or_else(|panicked| {
                    Err(Box::new(FlowError::Panicked {
                        path: scope.frame().path().to_string(),
                        message: panicked.message,
                    }))
                });
                let Err(error) = undone else {
                    return Ok(());
                };
                // Under way until the engine knows: the run may be about to end, and would go on with
                // older visits.
                let failed = FlowError::NotUndone {
                    path: visit.path,
                    error,
                    cause: None,
                };
                Err(engine.undo_failed(&scope, Box::new(failed)).await)
            });
            let undone = undone.await;
            scope.leave();
            undone?;
            engine.undo_finished(&scope);
        }
    }
    .boxed()
}

/// Forgets the visits of a flow, so that they are not undone: the step `commit`. `scope` is that of
/// the flow. Never returns if the flow is about to be dropped.
pub async fn commit_visits(engine: &impl Hooks, scope: &Scope<'_>) {
    engine.before_commit(scope).await;
    let (run, frame) = (engine.run(), scope.frame());
    let list = run.known_undo_list();
    if list.is_some_and(|list| list.is_closing(frame)) {
        pending::<()>().await;
    }
    engine.committed(scope);
    if let Some(list) = list {
        list.forget(&frame.flow_step(), list.mark_of(frame));
    }
}

/// Undoes the visits of a flow that has failed. If that fails, the failure becomes the reason for
/// the new one. `scope` is that of the flow. `is_handled` is true if the flow around it goes on after
/// the failure.
pub fn undo_failed<'a, F, E>(
    flow: &'a F,
    engine: &'a E,
    scope: &'a Scope<'a>,
    is_handled: bool,
    failed: &'a mut Failed,
) -> BoxFuture<'a, ()>
where
    F: Undo<E> + ?Sized,
    E: Hooks,
{
    async move {
        let is_undoing = matches!(**failed, FlowError::NotUndone { .. });
        if is_undoing || !engine.undoes(failed, is_handled) {
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
