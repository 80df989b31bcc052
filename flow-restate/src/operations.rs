//! The operations that a running flow wants of its invocation, and their results.
//!
//! The hard thing is the order. A flow registers wants while it is polled. Once nothing wakes the
//! flow, the invocation opens them sorted by name, and delivers one completion at a time.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use bytes::Bytes;

use crate::continued::Between;
use crate::stopped::Refused;

/// An operation that is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Request {
    /// Run a step, or get its outcome.
    Step,
    /// Wait this long.
    Sleep(Duration),
    /// Wait for the answer to a question.
    Promise,
    /// Settle a promise. The first settlement counts.
    Settle(Bytes),
}

/// The kind of an operation. The order of the variants is part of the order in which operations are
/// opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Step,
    Sleep,
    Promise,
    Settle,
}

impl Request {
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Request::Step => Kind::Step,
            Request::Sleep(_) => Kind::Sleep,
            Request::Promise => Kind::Promise,
            Request::Settle(_) => Kind::Settle,
        }
    }
}

/// The invocation's message about an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Said {
    /// The step has no outcome yet: run it.
    Run,
    /// The operation is done, with this value. Empty for a timer.
    Done(Bytes),
}

/// The reason why the flow is left before its end, apart from a failure.
#[derive(Debug)]
pub(crate) enum Left {
    /// It continues from here in a new invocation.
    Between(Between),
    /// It cannot continue from the state that it was given, for this reason.
    Unreadable(String),
}

#[derive(Debug, Default)]
struct Operation {
    said: Option<Said>,
    waker: Option<Waker>,
}

#[derive(Debug, Default)]
struct Table {
    next: u64,
    wanted: BTreeMap<(String, Kind), (u64, Request)>,
    operations: HashMap<u64, Operation>,
    withdrawn: Vec<u64>,
    unasked: BTreeSet<String>,
    proposed: Vec<(u64, Bytes)>,
    replaying: bool,
    failed: Option<Refused>,
    full: bool,
    stays: bool,
    left: Option<Left>,
    deferred: Vec<Waker>,
    task: Option<Waker>,
}

/// The operations of one invocation, shared by the flow and its driver.
#[derive(Debug, Clone, Default)]
pub(crate) struct Operations(Arc<Mutex<Table>>);

/// Wakes the work of one step.
struct WorkWoken {
    operations: Operations,
    work: Mutex<Option<Waker>>,
}

impl WorkWoken {
    fn work(&self) -> MutexGuard<'_, Option<Waker>> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for WorkWoken {
    fn wake(self: Arc<Self>) {
        let work = self.work().take();
        if let Some(work) = work {
            self.operations.defer(work);
        }
    }
}

/// One operation. Dropping it withdraws it.
#[derive(Debug)]
pub(crate) struct Handle {
    id: u64,
    key: (String, Kind),
    all: Operations,
}

/// A question. Dropping it unsettled marks it as no longer asked, so that no answer is lost.
#[derive(Debug)]
pub(crate) struct Question {
    name: String,
    is_settled: bool,
    all: Operations,
}

impl Operations {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a wanted operation. The name is unique among operations of its kind.
    pub(crate) fn want(&self, name: String, request: Request) -> Handle {
        let key = (name, request.kind());
        let mut table = self.table();
        let id = table.next;
        table.next += 1;
        table.operations.insert(id, Operation::default());
        let replaced = table.wanted.insert(key.clone(), (id, request));
        drop(table);
        if replaced.is_some() {
            let name = key.0;
            unreachable!("the names of steps differ, and `{name}` is wanted twice");
        }
        let all = self.clone();
        Handle { id, key, all }
    }

    /// Asks a question. The name is that of its promise.
    pub(crate) fn ask(&self, name: String) -> Question {
        Question {
            name,
            is_settled: false,
            all: self.clone(),
        }
    }

    /// Takes the operations that are wanted but not opened, in the order in which to open them.
    pub(crate) fn take_wanted(&self) -> Vec<(u64, String, Request)> {
        let mut table = self.table();
        let wanted = std::mem::take(&mut table.wanted);
        wanted
            .into_iter()
            .map(|((name, _), (id, request))| (id, name, request))
            .collect()
    }

    /// Takes the outcomes of the steps that ran here since the last call.
    pub(crate) fn take_proposed(&self) -> Vec<(u64, Bytes)> {
        std::mem::take(&mut self.table().proposed)
    }

    /// Takes the operations that the flow has withdrawn since the last call.
    pub(crate) fn take_withdrawn(&self) -> Vec<u64> {
        std::mem::take(&mut self.table().withdrawn)
    }

    /// Takes the questions that the flow has stopped asking since the last call.
    pub(crate) fn take_unasked(&self) -> BTreeSet<String> {
        std::mem::take(&mut self.table().unasked)
    }

    /// Passes a message about an operation to the flow.
    pub(crate) fn say(&self, id: u64, said: Said) {
        let waker = match self.table().operations.get_mut(&id) {
            Some(operation) => {
                operation.said = Some(said);
                operation.waker.take()
            }
            None => None,
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Ends the invocation. The first reason counts.
    pub(crate) fn fail(&self, refused: Refused) {
        self.table().failed.get_or_insert(refused);
    }

    /// The reason why the invocation has to end.
    pub(crate) fn failure(&self) -> Option<Refused> {
        self.table().failed.clone()
    }

    /// Notes that only the failure remains to be reported. Returns false if there is none.
    pub(crate) fn take_failure(&self) -> bool {
        let mut table = self.table();
        table.left = None;
        table.failed.take().is_some()
    }

    /// Leaves the flow. The first reason counts.
    pub(crate) fn leave(&self, left: Left) {
        self.table().left.get_or_insert(left);
    }

    pub(crate) fn take_left(&self) -> Option<Left> {
        self.table().left.take()
    }

    /// Returns true if the flow is being left or the invocation ends, whatever the flow returns.
    pub(crate) fn is_left(&self) -> bool {
        let table = self.table();
        table.left.is_some() || table.failed.is_some()
    }

    /// Returns true if the flow has to be left where nothing is under way.
    pub(crate) fn is_full(&self) -> bool {
        self.table().full
    }

    pub(crate) fn set_full(&self, full: bool) {
        self.table().full = full;
    }

    /// Continues in this invocation despite its long journal: the values cannot be sent.
    pub(crate) fn stay(&self) {
        let mut table = self.table();
        table.full = false;
        table.stays = true;
    }

    /// Returns true if the flow has stayed since the last call.
    pub(crate) fn take_stays(&self) -> bool {
        std::mem::take(&mut self.table().stays)
    }

    /// Sets the task that drives the invocation.
    pub(crate) fn set_task(&self, task: Waker) {
        self.table().task = Some(task);
    }

    /// Wakes the work of a step once the flow is quiet. Work that wakes itself repeatedly must not
    /// hold up the journal.
    fn defer(&self, work: Waker) {
        let mut table = self.table();
        table.deferred.push(work);
        let task = table.task.clone();
        drop(table);
        if let Some(task) = task {
            task.wake();
        }
    }

    pub(crate) fn has_deferred(&self) -> bool {
        !self.table().deferred.is_empty()
    }

    pub(crate) fn wake_deferred(&self) {
        let deferred = std::mem::take(&mut self.table().deferred);
        deferred.into_iter().for_each(Waker::wake);
    }

    /// Runs the work of a step and defers its wakes.
    pub(crate) async fn run<T>(&self, work: impl Future<Output = T> + Send) -> T {
        let mut work = pin!(work);
        let woken = Arc::new(WorkWoken {
            operations: self.clone(),
            work: Mutex::default(),
        });
        let waker = Waker::from(woken.clone());
        poll_fn(|cx| {
            *woken.work() = Some(cx.waker().clone());
            work.as_mut().poll(&mut Context::from_waker(&waker))
        })
        .await
    }

    pub(crate) fn is_replaying(&self) -> bool {
        self.table().replaying
    }

    pub(crate) fn set_replaying(&self, replaying: bool) {
        self.table().replaying = replaying;
    }
}

impl Handle {
    /// The next message of the invocation.
    ///
    /// # Cancel safety
    ///
    /// A message is kept until it is received.
    pub(crate) async fn said(&mut self) -> Said {
        poll_fn(|cx| {
            let mut table = self.all.table();
            let Some(operation) = table.operations.get_mut(&self.id) else {
                unreachable!("an operation is there until its handle is dropped")
            };
            match operation.said.take() {
                Some(said) => Poll::Ready(said),
                None => {
                    operation.waker = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// Returns the value once the operation is done.
    pub(crate) async fn done(&mut self) -> Bytes {
        loop {
            if let Said::Done(value) = self.said().await {
                return value;
            }
        }
    }

    /// Proposes the outcome of a step that was run here.
    pub(crate) fn propose(&self, outcome: Bytes) {
        self.all.table().proposed.push((self.id, outcome));
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let mut table = self.all.table();
        table.operations.remove(&self.id);
        table.withdrawn.push(self.id);
        if table
            .wanted
            .get(&self.key)
            .is_some_and(|(id, _)| *id == self.id)
        {
            table.wanted.remove(&self.key);
        }
    }
}

impl Question {
    /// Marks the question as settled.
    pub(crate) fn settled(mut self) {
        self.is_settled = true;
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        if !self.is_settled {
            let name = std::mem::take(&mut self.name);
            self.all.table().unasked.insert(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

    #[test]
    fn wants_are_opened_by_name_whatever_the_order_in_which_they_came() {
        let operations = Operations::default();
        let _later = operations.want("flow.b".to_owned(), Request::Step);
        let _sooner = operations.want("flow.a".to_owned(), Request::Step);
        let names: Vec<_> = operations
            .take_wanted()
            .into_iter()
            .map(|want| want.1)
            .collect();
        assert_eq!(names, ["flow.a", "flow.b"]);
    }

    #[test]
    fn what_is_dropped_before_it_is_opened_is_never_opened() {
        let operations = Operations::default();
        drop(operations.want("flow.a".to_owned(), Request::Promise));
        assert!(operations.take_wanted().is_empty());
    }

    #[test]
    fn a_step_is_run_proposed_and_then_done() {
        let operations = Operations::default();
        let mut step = operations.want("flow.a".to_owned(), Request::Step);
        let id = operations.take_wanted()[0].0;
        assert_eq!(step.said().now_or_never(), None);
        operations.say(id, Said::Run);
        assert_eq!(step.said().now_or_never(), Some(Said::Run));
        step.propose(Bytes::from_static(b"1"));
        assert_eq!(operations.take_proposed(), [(id, Bytes::from_static(b"1"))]);
        operations.say(id, Said::Done(Bytes::from_static(b"1")));
        assert_eq!(step.done().now_or_never().as_deref(), Some(&b"1"[..]));
        assert!(operations.take_withdrawn().is_empty());
        drop(step);
        assert_eq!(operations.take_withdrawn(), [id]);
    }

    #[test]
    #[should_panic = "`flow.a` is wanted twice"]
    fn no_two_wants_have_one_name() {
        let operations = Operations::default();
        let _first = operations.want("flow.a".to_owned(), Request::Step);
        let _second = operations.want("flow.a".to_owned(), Request::Step);
    }

    #[test]
    fn a_question_is_asked_no_longer_if_it_is_dropped_before_it_is_settled() {
        let operations = Operations::default();
        operations.ask("flow.a".to_owned()).settled();
        assert!(operations.take_unasked().is_empty());
        drop(operations.ask("flow.a".to_owned()));
        assert_eq!(operations.take_unasked(), ["flow.a".to_owned()].into());
        assert!(operations.take_unasked().is_empty());
    }
}
