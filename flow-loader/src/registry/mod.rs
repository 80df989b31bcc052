//! The nodes and flows that documents may use.

mod provide;

use std::any::{TypeId, type_name};
use std::collections::BTreeMap;
use std::sync::Arc;

use flow_runtime::{Accumulate, Flow, NodeError, RetryIf};
use flow_spec::FlowDocument;
use semver::Version;

use crate::adapter::Adapter;
use crate::adder::Adder;
use crate::provided::Provided;
use crate::value::ValueType;

/// The nodes and flows that documents may use, by name. Created by [`registry!`](crate::registry!).
///
/// A registry is a value: a program can have several, and two of them share nothing.
///
/// # Flows
///
/// A document names a flow of the registry like a node: `{ type: Exam, id: exam }`. It runs as if
/// its document were there as `internalFlow`, so its nodes have to be in the registry as well.
/// Missing nodes are reported when a document that uses the flow is loaded.
///
/// # Versions
///
/// A name can have several versions, such as `review @ "1.5.0"` and `review @ "2.0.0"`. A document
/// that says `type: review` gets the highest one, by the rules of [semver](https://semver.org):
/// `2.0.0-beta.1` is lower than `2.0.0`, and a node without a version is lower than all others.
/// `type: review@1.5.0` is exactly that version. Adding a version again replaces it.
///
/// # Changes
///
/// Additions take a registry by value. A shared registry (`&Registry` or `Arc<Registry>`) is
/// therefore final, but a clone of it can be extended. A clone shares the nodes and costs little.
///
/// # Examples
///
/// ```
/// use flow_loader::registry;
/// use flow_runtime::prelude::*;
///
/// #[node]
/// fn greet(name: &str) -> String {
///     format!("Hello, {name}!")
/// }
///
/// let nodes = registry![greet];
/// assert_eq!(nodes.names().collect::<Vec<_>>(), ["greet"]);
/// ```
///
/// Nothing can be added to a registry that is shared:
///
/// ```compile_fail,E0507
/// use std::sync::Arc;
/// # use flow_loader::registry;
/// # use flow_runtime::prelude::*;
/// # #[node]
/// # fn greet(name: &str) -> String { format!("Hello, {name}!") }
///
/// let shared = Arc::new(registry![]);
/// let more = shared.with(registry![greet]);
/// ```
///
/// but to a clone of it:
///
/// ```
/// use std::sync::Arc;
/// # use flow_loader::{Registry, registry};
/// # use flow_runtime::prelude::*;
/// # #[node]
/// # fn greet(name: &str) -> String { format!("Hello, {name}!") }
///
/// let shared = Arc::new(registry![]);
/// let more = Registry::clone(&shared).with(registry![greet]);
/// assert_eq!((shared.names().count(), more.names().count()), (0, 1));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Registry {
    entries: BTreeMap<String, Vec<Entry>>,
    /// Values that the program provides to nodes.
    pub(crate) provided: Arc<Provided>,
    /// The functions that decide about attempts.
    decisions: Arc<BTreeMap<String, Decision>>,
    /// Adders that the program has registered, by the type of the value that is added.
    adders: Arc<Vec<(TypeId, Adder)>>,
}

/// A function that decides whether another attempt follows a failure.
type Decision = fn(&NodeError) -> bool;

/// A version of a name.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) version: Option<Version>,
    /// The full path in the program. `None` for a flow that was added as a document.
    pub(crate) path: Option<&'static str>,
    pub(crate) item: Item,
}

/// The item that a name stands for.
#[derive(Debug, Clone)]
pub(crate) enum Item {
    Node(Arc<Adapter>),
    Flow(Arc<FlowDocument>),
}

/// The reasons why a name in a document is not found.
pub(crate) enum Unfound<'r> {
    /// No entry has this name.
    Name,
    /// Several entries without a version have this name: these are their full paths.
    Several(Vec<&'static str>),
    /// The name has no such version, but these.
    Version(Vec<&'r Version>),
    /// The text after the `@` is not a version.
    NotAVersion,
}

impl Registry {
    /// Lets the nodes of documents add values of the type `R` to keys of the type `T`.
    ///
    /// Lists, sets, text and numbers need no registration, and neither do maps that are added to
    /// maps. Types of the program need it, and so do pairs that are added to maps and an `Option`
    /// that is added to a set.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::collections::BTreeMap;
    ///
    /// use flow_loader::registry;
    /// use flow_runtime::prelude::*;
    ///
    /// #[node(writes = +counts)]
    /// fn count(word: &str) -> (String, usize) {
    ///     (word.to_owned(), word.len())
    /// }
    ///
    /// let registry = registry![count].accumulate::<BTreeMap<String, usize>, (String, usize)>();
    /// ```
    #[must_use]
    pub fn accumulate<T, R>(mut self) -> Self
    where
        T: Accumulate<R> + Default + Send + Sync + 'static,
        R: Send + Sync + 'static,
    {
        let adders = Arc::make_mut(&mut self.adders);
        adders.push((TypeId::of::<R>(), Adder::of::<T, R>()));
        self
    }

    /// The adder that the program has registered for these types.
    pub(crate) fn adder(&self, more: &ValueType, to: &ValueType) -> Option<Adder> {
        let (more, to) = ((more.id)(), (to.id)());
        let mut adders = self.adders.iter();
        let found = adders.find(|(of, adder)| *of == more && adder.adds_to(to));
        found.map(|(_, adder)| *adder)
    }

    /// Creates an empty registry.
    pub fn new() -> Self {
        Registry::default()
    }

    /// Adds the nodes and flows of another registry, and the values that it provides. An entry with
    /// the same version or the same full path is replaced, as is a dependency of the same name.
    #[must_use]
    pub fn with(mut self, other: Registry) -> Self {
        for entry in other.entries.into_values().flatten() {
            self.add(entry);
        }
        Arc::make_mut(&mut self.provided).extend(&other.provided);
        Arc::make_mut(&mut self.decisions).extend(
            other
                .decisions
                .iter()
                .map(|(name, decides)| (name.clone(), *decides)),
        );
        Arc::make_mut(&mut self.adders).extend(other.adders.iter());
        self
    }

    /// Adds a function that decides whether another attempt follows a failure, under its name in
    /// documents. It replaces any other function of this name.
    ///
    /// The function in `#[node(retry(…, if = …))]` needs no entry: it comes with the node. If the
    /// flow names the same function in its settings, the node's function is used.
    ///
    /// # Examples
    ///
    /// ```
    /// use flow_loader::{Format, load, registry};
    /// use flow_runtime::prelude::*;
    /// use serde_json::json;
    ///
    /// #[node]
    /// fn fetch(cx: &Context) -> Result<String, String> {
    ///     match cx.attempt() {
    ///         0 => Err("busy".to_owned()),
    ///         _ => Ok("a page".to_owned()),
    ///     }
    /// }
    ///
    /// fn is_busy(error: &NodeError) -> bool {
    ///     format!("{error:#}").contains("busy")
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// let document = "
    /// version: 2.0.0
    /// name: Fetching
    /// namespace: fetching
    /// outputs: { type: object, properties: { fetch: {} }, required: [fetch] }
    /// nodes:
    ///   - { type: fetch, id: fetch, settings: { retry: { attempts: 2, if: is_busy } } }
    /// edges: []
    /// ends:
    ///   - { from: fetch, condition: default, label: default }
    /// ";
    /// let nodes = registry![fetch].with_retry_if("is_busy", is_busy);
    /// let fetching = load(document, Format::Yaml, &nodes).unwrap();
    /// let output = fetching.run(json!({})).await.unwrap();
    /// assert_eq!(output, json!({ "fetch": "a page", "end": "default" }));
    /// # }
    /// ```
    #[must_use]
    pub fn with_retry_if(
        mut self,
        name: impl Into<String>,
        decides: fn(&NodeError) -> bool,
    ) -> Self {
        Arc::make_mut(&mut self.decisions).insert(name.into(), decides);
        self
    }

    /// The function of this name that decides about attempts at a node. `None` if there is none.
    pub(crate) fn retry_if(&self, name: &str, node: Option<&Adapter>) -> Option<RetryIf> {
        if node.is_some_and(|node| node.retry_if == Some(name)) {
            return Some(RetryIf::OfNode);
        }
        self.decisions.get(name).copied().map(RetryIf::OfFlow)
    }

    /// The names of the functions that decide about attempts.
    pub(crate) fn retry_ifs(&self) -> impl Iterator<Item = &str> + Clone {
        self.decisions.keys().map(String::as_str)
    }

    /// Adds a flow as a document, under its name, or under its namespace if it has no name. It
    /// replaces an entry of this name without a version.
    ///
    /// The flow is checked when a document that uses it is loaded. Flows can therefore be added in
    /// any order.
    ///
    /// # Examples
    ///
    /// ```
    /// use flow_loader::{Format, load, registry};
    /// use flow_runtime::prelude::*;
    /// use serde_json::json;
    ///
    /// #[node]
    /// fn greet(name: &str) -> String {
    ///     format!("Hello, {name}!")
    /// }
    ///
    /// flow! {
    ///     Greeting(name: String) -> (greet: String) {
    ///         start >> greet >> end;
    ///     }
    /// }
    ///
    /// const TWICE: &str = "
    /// version: 2.0.0
    /// name: Twice
    /// namespace: twice
    /// inputs: { type: object, properties: { name: {} }, required: [name] }
    /// outputs: { type: object, properties: { greet: {} }, required: [greet] }
    /// nodes:
    ///   - { type: Greeting, id: first, mappings: { outputs: { greet: name } } }
    ///   - { type: Greeting, id: second }
    /// entryNodeId: first
    /// edges: [{ from: first, to: second, condition: default }]
    /// ends: [{ from: second, condition: default, label: default }]
    /// ";
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// // `Greeting` is a flow of the program, and `Twice` becomes one of the registry.
    /// let registry = registry![greet, Greeting];
    /// let twice = load(TWICE, Format::Yaml, &registry).unwrap();
    /// let output = twice.run(json!({ "name": "Ann" })).await.unwrap();
    /// assert_eq!(output["greet"], "Hello, Hello, Ann!!");
    ///
    /// let more = registry.with_flow(twice.document().clone());
    /// assert_eq!(more.names().collect::<Vec<_>>(), ["Greeting", "Twice", "greet"]);
    /// # }
    /// ```
    #[must_use]
    pub fn with_flow(mut self, flow: FlowDocument) -> Self {
        self.add(Entry::document(flow, None));
        self
    }

    /// Adds a flow as a document, as this version of its name, like [`with_flow`](Self::with_flow).
    #[must_use]
    pub fn with_flow_version(mut self, flow: FlowDocument, version: Version) -> Self {
        self.add(Entry::document(flow, Some(version)));
        self
    }

    /// Returns the names of its nodes and flows, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// Everything that is registered, by name, the highest version first.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values().flat_map(|named| {
            let mut named: Vec<&Entry> = named.iter().collect();
            named.sort_by(|one, other| other.version.cmp(&one.version));
            named
        })
    }

    /// Adds a node of the program.
    #[doc(hidden)]
    pub fn __node(&mut self, node: Adapter, version: Option<&str>) {
        self.add(Entry {
            name: node.name.to_owned(),
            version: version.map(checked),
            path: Some(node.path),
            item: Item::Node(Arc::new(node)),
        });
    }

    /// Adds a flow of the program.
    #[doc(hidden)]
    pub fn __flow<F: Flow>(&mut self, name: &str, version: Option<&str>) {
        let document = FlowDocument::parse_spec(F::SPEC).unwrap_or_else(|problems| {
            let first = problems.first().map(ToString::to_string);
            unreachable!("`flow!` wrote a document that cannot be read: {first:?}")
        });
        self.add(Entry {
            name: name.to_owned(),
            version: version.map(checked),
            path: Some(type_name::<F>()),
            item: Item::Flow(Arc::new(document)),
        });
    }

    fn add(&mut self, entry: Entry) {
        let named = self.entries.entry(entry.name.clone()).or_default();
        named.retain(|other| !entry.replaces(other));
        named.push(entry);
    }

    /// Finds the entry for a name or a full path, with an optional version after an `@`.
    pub(crate) fn find(&self, written: &str) -> Result<&Entry, Unfound<'_>> {
        let (name, version) = name_and_version(written);
        let has_path = |entry: &&Entry| entry.path == Some(name);
        let named: Vec<&Entry> = match self.entries.get(name) {
            Some(named) => named.iter().collect(),
            None => self.entries.values().flatten().filter(has_path).collect(),
        };
        let versions = named.iter().map(|entry| entry.version.as_ref());
        let Some(highest) = versions.clone().max() else {
            return Err(Unfound::Name);
        };
        let wanted = match version.map(Version::parse) {
            None => highest.cloned(),
            Some(Ok(version)) => Some(version),
            Some(Err(_)) => return Err(Unfound::NotAVersion),
        };
        let found: Vec<&Entry> = named
            .iter()
            .copied()
            .filter(|entry| entry.version == wanted)
            .collect();
        match found[..] {
            [] => Err(Unfound::Version(versions.flatten().collect())),
            [only] => Ok(only),
            _ => Err(Unfound::Several(
                found.iter().filter_map(|entry| entry.path).collect(),
            )),
        }
    }

    /// The flow that a document names. `None` if the name does not stand for a flow.
    pub(crate) fn find_flow(&self, written: &str) -> Option<&Arc<FlowDocument>> {
        match &self.find(written).ok()?.item {
            Item::Flow(flow) => Some(flow),
            Item::Node(_) => None,
        }
    }
}

impl Entry {
    fn document(flow: FlowDocument, version: Option<Version>) -> Self {
        Entry {
            name: flow.title().to_owned(),
            version,
            path: None,
            item: Item::Flow(Arc::new(flow)),
        }
    }

    /// Returns `true` if it replaces another entry of its name. Without versions, the paths of two
    /// items of the program distinguish them.
    fn replaces(&self, other: &Entry) -> bool {
        let both_have_paths = self.path.is_some() && other.path.is_some();
        let are_told_apart = self.version.is_none() && both_have_paths && self.path != other.path;
        self.version == other.version && !are_told_apart
    }
}

/// Splits a name in a document from the requested version.
pub(crate) fn name_and_version(written: &str) -> (&str, Option<&str>) {
    match written.split_once('@') {
        Some((name, version)) => (name, Some(version)),
        None => (written, None),
    }
}

/// A version that `registry!` has checked.
fn checked(version: &str) -> Version {
    Version::parse(version).unwrap_or_else(|error| {
        unreachable!("`registry!` accepted `{version}`, which is not a version: {error}")
    })
}
