//! Runs random flows that are stopped at random, and checks that they end as if they had not been.
//!
//! Everything follows from one seed: the flow, what its steps do, when the process dies or the
//! store fails. Time is tokio's paused clock, a process is a tokio runtime that is dropped with all
//! its tasks, and the store survives in memory, or on a server. In some cases, all or some of the processes have the
//! flow as a document, which has to make no difference, or those from some point on have another version of it. In
//! some flows nodes add, and a second implementation of additions says what they read. Some are undone, and a ledger says
//! what they did. A case that violates a law prints the one command
//! that repeats it, with as few stops as do.

mod additions;
mod backend;
mod case;
mod check;
mod clock;
mod laws;
mod ledger;
mod meanwhile;
pub mod nodes;
mod process;
pub mod saga;
mod store;
mod versions;
mod world;

pub use backend::Backend;
pub use case::{Case, Freeze, Loaded, Stop, StopKind};
pub use check::{Compared, Failure, check};
pub use versions::Changed;

use std::cell::RefCell;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};

use flow_durable::{Execution, Runtime, RuntimeError, StartOptions};
use flow_loader::{Format, LoadedFlow, Registry};
use serde_json::{Value, json};

use versions::Version;

/// A flow of a number that gives a number, whatever its type.
#[derive(Clone, Copy)]
pub struct Simulated {
    /// Its name.
    pub name: &'static str,
    spec: &'static str,
    register: fn(&Runtime) -> Result<(), RuntimeError>,
    start: for<'r> fn(&'r Runtime, u64, StartOptions) -> Starting<'r>,
}

type Starting<'r> = Pin<Box<dyn Future<Output = Result<Execution, RuntimeError>> + Send + 'r>>;

macro_rules! simulated {
    ($flow:ident, $input:ident) => {
        Simulated {
            name: stringify!($flow),
            spec: <$flow as flow_runtime::Flow>::SPEC,
            register: |runtime| runtime.register($flow::new()),
            start: |runtime, a, options| {
                Box::pin(runtime.executions().start::<$flow>($input { a }, options))
            },
        }
    };
}

impl Simulated {
    /// Its document.
    fn structure(self) -> Value {
        match serde_json::from_str(self.spec) {
            Ok(document) => document,
            Err(error) => unreachable!("`{}` has been compiled: {error}", self.name),
        }
    }

    /// Another version of it.
    fn document(self, version: Version) -> Arc<LoadedFlow> {
        thread_local! {
            static LAST: RefCell<Option<(&'static str, Version, Arc<LoadedFlow>)>> = RefCell::default();
        }
        // All processes of a case have the same one.
        let last = LAST.with_borrow(|last| {
            last.clone()
                .filter(|last| (last.0, last.1) == (self.name, version))
        });
        if let Some((_, _, flow)) = last {
            return flow;
        }
        static NODES: LazyLock<Registry> = LazyLock::new(nodes::registered);
        let text = match version {
            Version::Changed(at) => versions::changed(self, at),
            Version::Compiled | Version::Loaded => self.spec.to_owned(),
        };
        let flow = match flow_loader::load(&text, Format::Json, &NODES) {
            Ok(flow) => Arc::new(flow),
            Err(error) => unreachable!("`{}` is sound as {version:?}: {error}", self.name),
        };
        LAST.set(Some((self.name, version, flow.clone())));
        flow
    }

    fn register(self, runtime: &Runtime, version: Version) -> Result<(), RuntimeError> {
        match version {
            Version::Compiled => (self.register)(runtime),
            Version::Loaded | Version::Changed(_) => runtime.register(self.document(version)),
        }
    }

    async fn start(
        self,
        runtime: &Runtime,
        a: u64,
        options: StartOptions,
        version: Version,
    ) -> Result<Execution, RuntimeError> {
        match version {
            Version::Compiled => (self.start)(runtime, a, options).await,
            Version::Loaded | Version::Changed(_) => {
                runtime
                    .executions()
                    .start_json(self.name, json!({ "a": a }), options)
                    .await
            }
        }
    }
}

/// The generated flows.
pub mod flows {
    use super::Simulated;
    use super::nodes::*;
    use super::saga::*;
    use flow_runtime::prelude::*;

    include!(concat!(env!("OUT_DIR"), "/flows.rs"));
}
