//! Replaces and retires the flows of a runtime while it runs.

use std::collections::HashSet;
use std::sync::Arc;

use flow_runtime::engine::AnyFlow;
use flow_spec::FlowDocument;
use flow_spec::diff::{Change, Effect};
use flow_store::{ListQuery, Status, Store as _};

use super::Runtime;
use crate::engine::Durable;
use crate::error::RuntimeError;
use crate::registered::{Registered, document};
use crate::shared::PAGE;

impl Runtime {
    /// The flows that can be started here, ordered by name. Each is the version on which executions
    /// start now.
    ///
    /// # Examples
    ///
    /// ```
    /// use flow_durable::{MemoryStore, Runtime};
    /// use flow_runtime::prelude::*;
    ///
    /// # #[node] fn greet(name: &str) -> String { format!("Hello, {name}!") }
    /// # flow! { Greeting(name: String) -> (greet: String) { start >> greet >> end; } }
    /// # fn main() -> Result<(), flow_durable::RuntimeError> {
    /// let runtime = Runtime::new(MemoryStore::new());
    /// runtime.register(Greeting::new())?;
    /// let flows = runtime.flows();
    /// assert_eq!((flows[0].name(), flows[0].inputs()), ("Greeting", vec!["name"]));
    /// # Ok(()) }
    /// ```
    pub fn flows(&self) -> Vec<Arc<dyn AnyFlow<Durable>>> {
        self.shared.registry.flows()
    }

    /// Checks that the store of this runtime can run a flow, before it is
    /// [added](Runtime::add_version) or registered.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::NoTransactions`]: a node writes in a transaction, and the store has no
    /// database; [`RuntimeError::NotStorable`]: a value or an action cannot be stored.
    pub fn check_flow(&self, flow: &dyn AnyFlow<Durable>) -> Result<(), RuntimeError> {
        self.check_transactions(flow.name(), flow.structure())?;
        flow.check_storable()
            .map_err(|unstorable| RuntimeError::NotStorable {
                flow: flow.name().to_owned(),
                name: unstorable.key,
                reason: unstorable.reason,
            })
    }

    /// Refuses a flow that writes in a transaction, if the store has no database for it.
    fn check_transactions(&self, name: &str, structure: &str) -> Result<(), RuntimeError> {
        let has_database = self.shared.store.transactions().is_some();
        if has_database || !structure.contains(r#""transaction":true"#) {
            return Ok(());
        }
        let node = match FlowDocument::parse_spec(structure) {
            Ok(document) => {
                let nodes = document.flatten_nodes();
                let node = nodes.iter().find(|at| at.node.settings.transaction);
                node.map(|at| at.path.clone())
            }
            // It is not known which one it is.
            Err(_) => Some(name.to_owned()),
        };
        match node {
            Some(node) => Err(RuntimeError::NoTransactions {
                flow: name.to_owned(),
                node,
            }),
            None => Ok(()),
        }
    }

    /// Replaces a flow by a new version while the runtime runs. Executions that start from now on
    /// take the new version. Those that have started finish on the version on which they started,
    /// whether they run, wait for people or a time, or are recovered later. This runtime keeps that
    /// version; another process needs it as well ([`add_version`](Runtime::add_version), or
    /// [`load_versions`](crate::RuntimeOptions::load_versions)).
    ///
    /// If no flow of this name is registered, this registers it. A version with the structure of
    /// the registered one takes its place entirely, for instance because it has other settings.
    /// [`start`](crate::Executions::start) goes on taking the typed input of the version before,
    /// and takes that of the new one; both start the new version.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::NoTransactions`] and [`RuntimeError::NotStorable`], as for
    /// [`register`](Runtime::register); or [`RuntimeError::BreakingVersion`]: those who
    /// start the flow or use its output would have to change, or executions in progress could not
    /// continue with only the new version. The latter does not matter if the runtime [loads
    /// versions](crate::RuntimeOptions::load_versions). The registered version stays.
    ///
    /// # Examples
    ///
    /// ```
    /// use flow_durable::{MemoryStore, Runtime, RuntimeError, StartOptions};
    /// use flow_runtime::prelude::*;
    ///
    /// #[node]
    /// fn greet(name: &str) -> String {
    ///     format!("Hello, {name}!")
    /// }
    ///
    /// #[node(writes = greet)]
    /// fn shout(greet: &str) -> String {
    ///     greet.to_uppercase()
    /// }
    ///
    /// mod first {
    ///     use super::*;
    ///     flow! {
    ///         pub Greeting(name: String) -> (greet: String) {
    ///             start >> greet >> end;
    ///         }
    ///     }
    /// }
    ///
    /// // This could as well have been loaded from a document.
    /// mod second {
    ///     use super::*;
    ///     flow! {
    ///         pub Greeting(name: String) -> (greet: String) {
    ///             start >> greet >> shout >> end;
    ///         }
    ///     }
    /// }
    ///
    /// mod third {
    ///     use super::*;
    ///     flow! {
    ///         pub Greeting(name: String, greet: String) -> (greet: String) {
    ///             start >> greet >> shout >> end;
    ///         }
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), RuntimeError> {
    /// let runtime = Runtime::new(MemoryStore::new());
    /// runtime.register(first::Greeting::new())?;
    /// runtime.replace(second::Greeting::new())?;
    ///
    /// let input = first::GreetingInput::builder().name("Ann".into()).build();
    /// let execution = runtime.executions().start::<first::Greeting>(input, StartOptions::new()).await?;
    /// let output = execution.settled().await?.output::<first::Greeting>()?;
    /// assert_eq!(output.unwrap().greet, "HELLO, ANN!");
    ///
    /// let refused = runtime.replace(third::Greeting::new()).unwrap_err();
    /// assert!(refused.to_string().contains("input `greet` was added"), "{refused}");
    /// # Ok(()) }
    /// ```
    pub fn replace(&self, flow: impl AnyFlow<Durable> + 'static) -> Result<(), RuntimeError> {
        self.check_flow(&flow)?;
        self.put_version(Arc::new(flow), |old, new| {
            let breaking = self.breaking(old, new);
            if breaking.is_empty() {
                return Ok(());
            }
            Err(RuntimeError::BreakingVersion {
                flow: new.name().to_owned(),
                changes: breaking,
            })
        })
    }

    /// Adds a version of a flow and keeps the others, like [`replace`](Runtime::replace) without
    /// its check. Executions that start from now on take the version that was added last.
    /// [`start`](crate::Executions::start) takes the typed input of every version that was added,
    /// if the newest one can read it.
    ///
    /// A process that is to finish the executions of an earlier version adds that version first,
    /// and the newest one last.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::NoTransactions`] and [`RuntimeError::NotStorable`], as for
    /// [`register`](Runtime::register). Nothing has changed then.
    ///
    /// # Examples
    ///
    /// ```
    /// use flow_durable::{MemoryStore, Runtime};
    /// use flow_runtime::prelude::*;
    ///
    /// mod v1 {
    ///     use super::*;
    ///     #[node]
    ///     fn pick() -> u32 { 1 }
    ///     flow! { pub Release() -> (pick: u32) { start >> pick >> end; } }
    /// }
    ///
    /// mod v2 {
    ///     use super::*;
    ///     #[node]
    ///     fn choose(channel: &str) -> usize { channel.len() }
    ///     flow! { pub Release(channel: String) -> (choose: usize) { start >> choose >> end; } }
    /// }
    ///
    /// # fn main() -> Result<(), flow_durable::RuntimeError> {
    /// let runtime = Runtime::new(MemoryStore::new());
    /// runtime.add_version(v1::Release::new())?;
    /// assert!(runtime.replace(v2::Release::new()).is_err());
    /// runtime.add_version(v2::Release::new())?;
    /// # Ok(()) }
    /// ```
    pub fn add_version(&self, flow: impl AnyFlow<Durable> + 'static) -> Result<(), RuntimeError> {
        self.check_flow(&flow)?;
        self.put_version(Arc::new(flow), |_, _| Ok(()))
    }

    /// Puts a version in the place of the current one, if the check allows it.
    fn put_version<E>(
        &self,
        flow: Arc<dyn AnyFlow<Durable>>,
        check: impl Fn(&Registered, &dyn AnyFlow<Durable>) -> Result<(), E>,
    ) -> Result<(), E> {
        let name = flow.name().to_owned();
        loop {
            let old = self.shared.registry.current(&name);
            let new = match &old {
                Some(old) => {
                    check(old, &*flow)?;
                    old.replaced_by(flow.clone())
                }
                None => Registered::new(flow.clone()),
            };
            // Otherwise another version was put there during the check.
            if self.shared.put_version(&name, old.as_ref(), new) {
                return Ok(());
            }
        }
    }

    /// The changes that forbid replacing a version by another one.
    fn breaking(&self, old: &Registered, new: &dyn AnyFlow<Durable>) -> Vec<String> {
        let new = document(new.structure());
        let diff = match old
            .document()
            .and_then(|old| Ok(flow_spec::diff(old, &new?)))
        {
            Ok(diff) => diff,
            // What cannot be compared may break everything.
            Err(reason) => return vec![reason],
        };
        let stays = self.shared.registry.loads_versions();
        let breaks = |change: &&Change| {
            change.callers == Effect::Breaking || (change.executions == Effect::Breaking && !stays)
        };
        let breaking = diff.changes.iter().filter(breaks);
        breaking.map(ToString::to_string).collect()
    }

    /// Retires a flow: no further execution of it starts, and those that have started finish. It
    /// can be registered again.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::NotRegistered`].
    pub fn retire(&self, name: &str) -> Result<(), RuntimeError> {
        self.shared.registry.retire(name)
    }

    /// Forgets the earlier versions of a flow that no execution in the store still needs, and
    /// returns their number. A program that replaces flows for months calls this now and then:
    /// otherwise all versions stay in memory.
    ///
    /// An execution that is over does not need its version to continue, but
    /// [`state`](crate::Executions::state) and [`copy`](crate::Executions::copy) do: without it
    /// they replay the execution with the newest version, and are refused if that does not fit.
    ///
    /// # Errors
    ///
    /// The store could not be read: no version is forgotten.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, no version is forgotten.
    pub async fn forget_versions(&self, name: &str) -> Result<usize, RuntimeError> {
        // No execution starts on these, so those that the store then does not list are unused.
        let registry = &self.shared.registry;
        let at_rest = registry.at_rest(name);
        if at_rest.is_empty() {
            return Ok(0);
        }
        let mut needed = self.structures_in_use(name).await?;
        for structure in needed.clone() {
            if registry.version_with(name, &structure).is_none() {
                let renamed = registry.renamed(name, &structure).await?;
                needed.extend(renamed.map(|version| version.hash().to_owned()));
            }
        }
        Ok(registry.forget(name, &at_rest, &needed))
    }

    /// The hashes of the structures of the unfinished executions of a flow, of all owners.
    async fn structures_in_use(&self, name: &str) -> Result<HashSet<String>, RuntimeError> {
        let mut structures = HashSet::new();
        let names = self.shared.registry.names_with_parts(name);
        let statuses = [Status::Queued, Status::Running, Status::Paused];
        let all = names
            .iter()
            .flat_map(|name| statuses.map(|status| (name, status)));
        for (name, status) in all {
            let mut query = ListQuery {
                flow: Some(name.clone()),
                status: Some(status),
                limit: Some(PAGE),
                ..ListQuery::default()
            };
            loop {
                let page = self.shared.store.list(&query).await?;
                // A damaged execution cannot continue on any version.
                let rows: Vec<_> = page.into_iter().flatten().collect();
                query.before = rows.last().map(|row| row.id);
                structures.extend(rows.into_iter().map(|row| row.structure));
                if query.before.is_none() {
                    break;
                }
            }
        }
        Ok(structures)
    }
}
