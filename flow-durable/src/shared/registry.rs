//! The flows that a runtime knows, with their versions and their stored structures.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use flow_runtime::engine::AnyFlow;
use flow_spec::FlowDocument;
use flow_store::{Row, Store, StoreError};
use serde_json::{Map, Value};

use crate::engine::Durable;
use crate::error::RuntimeError;
use crate::lock::lock;
use crate::names::Names;
use crate::options::LoadVersion;
use crate::parts::{flow_of_parts, flow_with_loop};
use crate::registered::{Registered, document, undoes};
use crate::versions::Versions;

/// The flows that a runtime knows.
pub(crate) struct Registry {
    store: Arc<dyn Store>,
    load_version: Option<LoadVersion>,
    flows: Mutex<HashMap<String, Versions>>,
    /// The hashes of the structures that are stored.
    structures: Mutex<HashSet<String>>,
}

impl Registry {
    pub(super) fn new(store: Arc<dyn Store>, load_version: Option<LoadVersion>) -> Self {
        Registry {
            store,
            load_version,
            flows: Mutex::default(),
            structures: Mutex::default(),
        }
    }

    /// Returns true if earlier versions can be loaded from their structures.
    pub(crate) fn loads_versions(&self) -> bool {
        self.load_version.is_some()
    }

    /// The flows that can be started, ordered by name.
    pub(crate) fn flows(&self) -> Vec<Arc<dyn AnyFlow<Durable>>> {
        let flows = lock(&self.flows);
        let current = flows.values().filter_map(Versions::current);
        let mut current: Vec<_> = current.map(|version| version.flow().clone()).collect();
        drop(flows);
        current.sort_by(|a, b| a.name().cmp(b.name()));
        current
    }

    /// The version on which executions of a flow start. `None` if it is retired or not registered.
    pub(crate) fn current(&self, name: &str) -> Option<Arc<Registered>> {
        let flows = lock(&self.flows);
        flows.get(name).and_then(Versions::current).cloned()
    }

    /// The version on which executions of a flow start.
    pub(crate) fn to_start(&self, name: &str) -> Result<Arc<Registered>, RuntimeError> {
        self.current(name).ok_or_else(|| not_registered(name))
    }

    /// Sets the version on which executions start, if the current one is still this one. Returns
    /// true if it is.
    pub(crate) fn put(
        &self,
        name: &str,
        current: Option<&Arc<Registered>>,
        new: Registered,
    ) -> bool {
        let new = Arc::new(new);
        let mut flows = lock(&self.flows);
        let now = flows.get(name).and_then(Versions::current);
        if now.map(Arc::as_ptr) != current.map(Arc::as_ptr) {
            return false;
        }
        match flows.get_mut(name) {
            Some(versions) => versions.add(new),
            None => {
                flows.insert(name.to_owned(), Versions::new(new));
            }
        }
        true
    }

    /// Retires a flow: no further execution of it starts.
    pub(crate) fn retire(&self, name: &str) -> Result<(), RuntimeError> {
        let mut flows = lock(&self.flows);
        let versions = flows.get_mut(name);
        match versions.filter(|versions| versions.current().is_some()) {
            Some(versions) => {
                versions.retire();
                Ok(())
            }
            None => Err(not_registered(name)),
        }
    }

    /// The earlier versions of a flow with which nothing starts, runs or is resumed.
    pub(crate) fn at_rest(&self, name: &str) -> Vec<Arc<Registered>> {
        let flows = lock(&self.flows);
        flows.get(name).map_or_else(Vec::new, Versions::at_rest)
    }

    /// Forgets those of the versions [at rest](Self::at_rest) whose structures are not needed, and
    /// returns their number.
    pub(crate) fn forget(
        &self,
        name: &str,
        at_rest: &[Arc<Registered>],
        needed: &HashSet<String>,
    ) -> usize {
        let mut flows = lock(&self.flows);
        let Some(versions) = flows.get_mut(name) else {
            return 0;
        };
        let unused = at_rest.iter().filter(|it| !needed.contains(it.hash()));
        unused.filter(|version| versions.forget(version)).count()
    }

    /// The version on which an execution started, or else the newest known one. `None` if its flow
    /// is not registered.
    pub(crate) fn known_version(&self, row: &Row) -> Option<Arc<Registered>> {
        let flows = lock(&self.flows);
        let versions = flows.get(flow_of(&flows, &row.flow))?;
        Some(versions.closest(&row.structure).clone())
    }

    /// The version of a flow whose structure has this hash. `None` if it is not registered.
    pub(crate) fn version_with(&self, flow: &str, structure: &str) -> Option<Arc<Registered>> {
        let flows = lock(&self.flows);
        let version = flows.get(flow)?.closest(structure);
        (version.hash() == structure).then(|| version.clone())
    }

    /// The settings of the node at a path of executions with this structure. `None` if no version
    /// known here has it, under its own names or under former ones.
    ///
    /// # Errors
    ///
    /// The store could not be read.
    pub(crate) async fn settings(
        &self,
        flow: &str,
        structure: &str,
        path: &str,
    ) -> Result<Option<Map<String, Value>>, StoreError> {
        if let Some(version) = self.version_with(flow, structure) {
            return Ok(version.settings(path));
        }
        let Some(version) = self.renamed(flow, structure).await? else {
            return Ok(None);
        };
        let names = self.names_under(structure, &version).await?;
        let names = names.filter(|names| names.hash() == structure);
        Ok(names.and_then(|names| version.settings(&names.present_path(path))))
    }

    /// The version with which an execution continues: the one on which it started, loaded from its
    /// stored structure if necessary and possible. Otherwise the one that has the most former names
    /// in this structure, or else the newest one, if that [fits](super::Shared::load).
    pub(crate) async fn version(&self, row: &Row) -> Result<Arc<Registered>, RuntimeError> {
        let known = self.known_version(row);
        let known = known.ok_or_else(|| not_registered(&row.flow))?;
        if known.hash() == row.structure {
            return Ok(known);
        }
        let renamed = self.renamed(known.name(), &row.structure).await;
        let known = renamed.map_err(RuntimeError::of(row.id))?.unwrap_or(known);
        let Some(load) = &self.load_version else {
            return Ok(known);
        };
        let structure = self.store.structure(&row.structure).await;
        let Some(structure) = structure.map_err(RuntimeError::of(row.id))? else {
            return Ok(known);
        };
        let loaded = load(&structure).map(Registered::new);
        let version = match loaded {
            Ok(loaded) if loaded.name() == known.name() && loaded.hash() == row.structure => loaded,
            Ok(_) => return Ok(stand_in(&known, "what is loaded is another flow")),
            Err(reason) => return Ok(stand_in(&known, &reason)),
        };
        let version = Arc::new(version);
        if let Some(versions) = lock(&self.flows).get_mut(known.name()) {
            versions.add_earlier(version.clone());
        }
        Ok(version)
    }

    /// The version of a flow that has the most former names in the structure with this hash. Of
    /// several, the newest one. `None` if none has any.
    pub(crate) async fn renamed(
        &self,
        flow: &str,
        structure: &str,
    ) -> Result<Option<Arc<Registered>>, StoreError> {
        let versions: Vec<Arc<Registered>> = {
            let flows = lock(&self.flows);
            let versions = flows.get(flow).into_iter().flat_map(Versions::all);
            let renamed = versions.filter(|version| version.has_former_names());
            renamed.cloned().collect()
        };
        let (mut most, mut renamed) = (0, None);
        for version in versions {
            let names = self.names_under(structure, &version).await?;
            let count = names.map_or(0, |names| names.count());
            if count > most {
                (most, renamed) = (count, Some(version));
            }
        }
        Ok(renamed)
    }

    /// The version with which an execution continues. `None` if the flow is not registered.
    pub(crate) async fn version_if_known(
        &self,
        row: &Row,
    ) -> Result<Option<Arc<Registered>>, RuntimeError> {
        match self.known_version(row) {
            Some(_) => self.version(row).await.map(Some),
            None => Ok(None),
        }
    }

    /// The first segments of all paths of an execution, from its flow or else the stored structure.
    /// If neither can be read, the flow's name.
    pub(crate) async fn namespace(&self, row: &Row) -> String {
        if let Some(version) = self.known_version(row) {
            return version.namespace().to_owned();
        }
        let structure = self.store.structure(&row.structure).await;
        let parsed = structure.ok().flatten();
        let parsed = parsed.and_then(|text| FlowDocument::parse_spec(&text).ok());
        parsed.map_or_else(|| row.flow.clone(), |flow| flow.namespace)
    }

    /// Returns true if an execution may have done something that can be undone, by the structure of
    /// its flow.
    ///
    /// # Errors
    ///
    /// The store could not be read.
    pub(crate) async fn undoes(&self, row: &Row) -> Result<bool, RuntimeError> {
        if let Some(version) = self.known_version(row)
            && version.hash() == row.structure
        {
            return Ok(version.undoes());
        }
        let structure = self.store.structure(&row.structure).await;
        let structure = structure.map_err(RuntimeError::of(row.id))?;
        let flow = match structure {
            Some(text) => document(&text),
            None => Err("the structure of its flow is not in the store".to_owned()),
        };
        let flow = flow.map_err(|reason| RuntimeError::Unreadable {
            execution: row.id,
            path: row.flow.clone(),
            reason,
        })?;
        Ok(undoes(&flow))
    }

    /// Stores a structure with this hash.
    pub(crate) async fn store_structure(
        &self,
        hash: &str,
        structure: &str,
    ) -> Result<(), RuntimeError> {
        if lock(&self.structures).contains(hash) {
            return Ok(());
        }
        self.store.put_structure(hash, structure).await?;
        lock(&self.structures).insert(hash.to_owned());
        Ok(())
    }

    /// The former names under which an execution continues with a version of its flow. `None` if it
    /// has the names of that version.
    ///
    /// # Errors
    ///
    /// The store could not be read.
    pub(crate) async fn names(
        &self,
        row: &Row,
        flow: &Registered,
    ) -> Result<Option<Arc<Names>>, RuntimeError> {
        let names = self.names_under(&row.structure, flow).await;
        names.map_err(RuntimeError::of(row.id))
    }

    /// The former names of a version in the structure with this hash.
    async fn names_under(
        &self,
        structure: &str,
        flow: &Registered,
    ) -> Result<Option<Arc<Names>>, StoreError> {
        if structure == flow.hash() || !flow.has_former_names() {
            return Ok(None);
        }
        if let Some(known) = flow.known_names(structure) {
            return Ok(known);
        }
        let text = self.store.structure(structure).await?;
        Ok(text.and_then(|text| flow.names_in(structure, &text)))
    }

    /// The names of the flows that this process has, and those of the parts of their loops.
    pub(crate) fn names_to_take(&self) -> Vec<String> {
        let flows = lock(&self.flows);
        let all = flows
            .iter()
            .flat_map(|(name, versions)| with_parts(name, versions));
        all.collect()
    }

    /// The name of a flow, and those of the parts of its loops.
    pub(crate) fn names_with_parts(&self, name: &str) -> Vec<String> {
        let flows = lock(&self.flows);
        let versions = flows.get(name);
        versions.map_or_else(Vec::new, |versions| with_parts(name, versions).collect())
    }
}

/// The flow that an execution with this flow runs: for a part of a loop, the flow with the loop.
fn flow_of<'a>(flows: &HashMap<String, Versions>, name: &'a str) -> &'a str {
    match flow_with_loop(name) {
        Some(flow) if !flows.contains_key(name) => flow,
        _ => name,
    }
}

fn not_registered(flow: &str) -> RuntimeError {
    RuntimeError::NotRegistered {
        flow: flow.to_owned(),
    }
}

/// A version in the place of one that cannot be loaded.
fn stand_in(known: &Registered, reason: &str) -> Arc<Registered> {
    let reason = format!("the version on which it started cannot be loaded: {reason}");
    Arc::new(known.standing_in(reason))
}

fn with_parts<'a>(name: &'a str, versions: &'a Versions) -> impl Iterator<Item = String> + 'a {
    let parts = versions.all().flat_map(|version| version.spread_loops());
    let parts = parts.map(|each| flow_of_parts(name, each));
    std::iter::once(name.to_owned()).chain(parts)
}
