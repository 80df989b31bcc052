//! Cleanup when a run is over, however it ends.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::panics::panic_message;

/// The end of a run, where nodes clean up: a session, a folder, a connection that several nodes
/// share. A node gets it from [`Context::lifecycle`](crate::Context::lifecycle).
///
/// A run is over when it has reached an end, has failed, was stopped or was dropped. Its functions
/// are then called in the reverse order of their registration. If one panics, the panic is counted,
/// and the others are called. The nodes of inner flows register with the same run. A clone is the
/// same lifecycle.
///
/// In a durable run, the functions are called when this process is done with the execution, even if
/// it is only paused. A process that resumes it does not call them again.
///
/// # Examples
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use flow_runtime::prelude::*;
///
/// type Log = Arc<Mutex<Vec<&'static str>>>;
///
/// struct Open(Log);
///
/// #[node(writes = file)]
/// impl Open {
///     fn exec(&self, cx: &Context) -> String {
///         if let Some(lifecycle) = cx.lifecycle() {
///             let log = self.0.clone();
///             lifecycle.on_finish("file", move || log.lock().unwrap().push("closed"));
///         }
///         "report.txt".to_owned()
///     }
/// }
///
/// #[node(writes = text)]
/// fn read(file: &str) -> Result<String, String> {
///     Err(format!("{file} is empty"))
/// }
///
/// flow! {
///     Report() -> (text: String) {
///         node open: Open;
///         start >> open >> read >> end;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let log = Log::default();
/// let flow = Report::builder().open(Open(log.clone())).build();
/// let failed = flow.run_with(ReportInput::builder().build(), RunOptions::new()).await;
/// assert!(failed.is_err());
/// assert_eq!(*log.lock().unwrap(), ["closed"]);
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Lifecycle(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    registered: Vec<(String, OnFinish)>,
    is_over: bool,
    failures: Vec<String>,
}

type OnFinish = Box<dyn FnOnce() + Send>;

impl fmt::Debug for Lifecycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        let keys: Vec<&str> = state.registered.iter().map(|(key, _)| &**key).collect();
        f.debug_struct("Lifecycle")
            .field("registered", &keys)
            .field("is_over", &state.is_over)
            .finish_non_exhaustive()
    }
}

impl Lifecycle {
    /// A lifecycle of several runs. Its creator calls [`finish`](Lifecycle::finish) when they are
    /// over. Pass it to a run with [`RunOptions::lifecycle`](crate::RunOptions::lifecycle).
    pub fn new() -> Self {
        Lifecycle::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a function under a key, to be called when the run is over. Returns false, and
    /// drops the function, if the key is taken or the run is over. So a node that is retried or
    /// visited again registers once.
    pub fn on_finish(
        &self,
        key: impl Into<String>,
        function: impl FnOnce() + Send + 'static,
    ) -> bool {
        let key = key.into();
        let mut state = self.state();
        if state.is_over || state.registered.iter().any(|(other, _)| *other == key) {
            return false;
        }
        state.registered.push((key, Box::new(function)));
        true
    }

    /// Returns true if a function is registered under this key.
    pub fn has(&self, key: &str) -> bool {
        let state = self.state();
        state.registered.iter().any(|(other, _)| other == key)
    }

    /// Calls the functions, the last one first. The lifecycle is then over: it refuses
    /// registrations, also from these functions, and another call does nothing. A run does this
    /// with its own lifecycle.
    pub fn finish(&self) {
        let registered = {
            let mut state = self.state();
            state.is_over = true;
            std::mem::take(&mut state.registered)
        };
        for (key, function) in registered.into_iter().rev() {
            if let Err(payload) = catch_unwind(AssertUnwindSafe(function)) {
                let failure = format!("`{key}`: {}", panic_message(&*payload));
                #[cfg(feature = "tracing")]
                tracing::error!("at the end of a run: {failure}");
                self.state().failures.push(failure);
            }
        }
    }

    /// The functions that panicked, each with its key and message.
    pub fn failures(&self) -> Vec<String> {
        self.state().failures.clone()
    }
}

/// The lifecycle of a run that was given none. It is over when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct OwnLifecycle(OnceLock<Lifecycle>);

impl OwnLifecycle {
    /// The lifecycle, which is created when a node first asks for a context.
    pub(crate) fn get(&self) -> &Lifecycle {
        self.0.get_or_init(Lifecycle::new)
    }
}

impl Drop for OwnLifecycle {
    #[inline]
    fn drop(&mut self) {
        if let Some(own) = self.0.get() {
            own.finish();
        }
    }
}
