//! A folder of documents, whose flows are reloaded when its files change.
//!
//! Documents name one another. So all of them are loaded together, each after those that it names.
//! If one is broken, those that name it use its last good version.

mod files;
mod order;
mod problem;
#[cfg(feature = "watch")]
mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use flow_spec::{Code, FlowDocument};
use flow_text::{Document, Format};

pub use problem::FileProblem;
#[cfg(feature = "watch")]
pub use watch::Watch;

use crate::load::{load, load_read};
use crate::loaded::LoadedFlow;
use crate::registry::Registry;
use files::Contents;
use order::names_first;

/// Loads the flow in a file whose name ends in `.json`, `.yaml` or `.yml`, like
/// [`load`](crate::load()).
///
/// # Errors
///
/// The file cannot be read, or is not a regular file; or its document has mistakes. All of them are
/// returned, each with the path, the line and the column.
pub fn load_file(
    path: impl AsRef<Path>,
    registry: &Registry,
) -> Result<LoadedFlow, Vec<FileProblem>> {
    let path = path.as_ref();
    let Some(format) = Format::of_name(path) else {
        let reason = "its name does not end in .json, .yaml or .yml";
        return Err(vec![FileProblem::refused(path, reason)]);
    };
    let bytes = files::contents(path, path).map_err(|problem| vec![problem])?;
    let loaded = load(bytes, format, registry);
    loaded.map_err(|error| documents(path, error.problems().to_vec()).collect())
}

/// The mistakes in the document of a file.
fn documents(path: &Path, found: Vec<flow_text::Problem>) -> impl Iterator<Item = FileProblem> {
    let path = path.to_owned();
    found.into_iter().map(move |problem| FileProblem::Document {
        path: path.clone(),
        problem: Box::new(problem),
    })
}

/// The flows in the documents of a folder.
///
/// These are the files in it and in its subfolders whose names end in `.json`, `.yaml` or `.yml`,
/// with one flow in each. Names that begin with a dot are skipped, as editors use them. A document
/// can name the flows of the others like those of the registry: `type: Exam`. A document replaces a
/// flow of the registry that has the same name and no version.
///
/// A folder has at most [`Folder::MOST_FILES`] documents. Together they are no larger than one
/// document may be ([`flow_text::LARGEST`]). Links that lead out of the folder are refused.
///
/// # Examples
///
/// ```
/// use std::fs;
/// use flow_loader::{Folder, registry};
/// use flow_runtime::prelude::*;
///
/// #[node]
/// fn greet(name: &str) -> String {
///     format!("Hello, {name}!")
/// }
///
/// # fn main() -> std::io::Result<()> {
/// let path = tempfile::tempdir()?;
/// let text = "
/// version: 2.0.0
/// name: Greeting
/// namespace: greeting
/// inputs: { type: object, properties: { name: {} }, required: [name] }
/// outputs: { type: object, properties: { greet: {} }, required: [greet] }
/// nodes:
///   - { type: greet, id: greet }
/// edges: []
/// ends:
///   - { from: greet, condition: default, label: default }
/// ";
/// fs::write(path.path().join("greeting.yaml"), text)?;
///
/// let mut folder = Folder::new(path.path(), registry![greet]);
/// let loaded = folder.reload();
/// assert!(loaded.problems.is_empty());
/// assert_eq!(loaded.changed[0].name(), "Greeting");
///
/// // A mistake leaves the flow as it was.
/// fs::write(path.path().join("greeting.yaml"), text.replace("type: greet", "type: great"))?;
/// let loaded = folder.reload();
/// let problem = loaded.problems[0].to_string();
/// assert!(problem.contains("greeting.yaml:8:13: no node `great` is registered [F004]"), "{problem}");
/// assert!(loaded.changed.is_empty() && loaded.removed.is_empty());
/// assert_eq!(folder.flows().count(), 1);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Folder {
    root: PathBuf,
    registry: Registry,
    /// The loaded files, by path within the folder.
    loaded: BTreeMap<PathBuf, Loaded>,
}

/// The contents of a file when it was last loaded.
#[derive(Debug)]
struct Loaded {
    document: FlowDocument,
    flow: LoadedFlow,
}

/// The result of reloading a folder.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Reload {
    /// The flows that are new, or have changed themselves or in a flow that they name. Sorted by
    /// the paths of their files.
    pub changed: Vec<LoadedFlow>,
    /// The names of the flows that are no longer in the folder.
    pub removed: Vec<String>,
    /// Everything that is wrong in the folder now. A broken flow keeps its last good version, if
    /// there is one. Mistakes in a flow that names a broken one are reported once that one is
    /// fixed.
    pub problems: Vec<FileProblem>,
}

impl Folder {
    /// The largest number of documents in a folder.
    pub const MOST_FILES: usize = 1000;

    /// Creates a folder whose documents may use these nodes and flows. Reads nothing yet: see
    /// [`reload`](Self::reload).
    pub fn new(path: impl Into<PathBuf>, registry: Registry) -> Self {
        Folder {
            root: path.into(),
            registry,
            loaded: BTreeMap::new(),
        }
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// Returns the flows, as they were last loaded.
    pub fn flows(&self) -> impl Iterator<Item = &LoadedFlow> {
        self.loaded.values().map(|loaded| &loaded.flow)
    }

    /// Loads the current contents of the folder, for the first time or again.
    ///
    /// If the folder itself cannot be read, or contains too much, its flows stay unchanged. So do
    /// those of a subfolder that cannot be read, and of a dangling link.
    pub fn reload(&mut self) -> Reload {
        let mut problems = Vec::new();
        match files::read(&self.root, &mut problems) {
            Ok(contents) => self.take(contents, problems),
            Err(problem) => Reload {
                problems: vec![problem],
                ..Reload::default()
            },
        }
    }

    /// Loads these contents.
    fn take(&mut self, contents: Contents, mut problems: Vec<FileProblem>) -> Reload {
        let mut drafts = self.drafts(contents.texts, &mut problems);
        for path in self.loaded.keys() {
            let is_below = |folder: &PathBuf| path.starts_with(folder);
            if contents.unreadable.iter().any(is_below) {
                drafts.entry(path.clone()).or_insert(None);
            }
        }
        self.refuse_same_names(&mut drafts, &mut problems);
        let before = self.structures();
        self.load(drafts, &mut problems);
        problems.sort_by(|one, other| one.path().cmp(other.path()));
        let now = self.structures();
        let is_new = |flow: &&LoadedFlow| before.get(flow.name()) != now.get(flow.name());
        let changed = self.flows().filter(is_new).cloned().collect();
        let is_gone = |name: &String| !now.contains_key(name);
        Reload {
            changed,
            removed: before.into_keys().filter(is_gone).collect(),
            problems,
        }
    }

    /// The structures of the flows, by name.
    fn structures(&self) -> BTreeMap<String, String> {
        let flows = self.flows();
        let structure = |flow: &LoadedFlow| (flow.name().to_owned(), flow.structure().to_owned());
        flows.map(structure).collect()
    }

    /// Parses the texts. `None` for a text that is not a document.
    fn drafts(
        &self,
        texts: BTreeMap<PathBuf, Option<(Vec<u8>, Format)>>,
        problems: &mut Vec<FileProblem>,
    ) -> BTreeMap<PathBuf, Option<Document>> {
        let read = |(path, text): (PathBuf, Option<(Vec<u8>, Format)>)| {
            let draft = text.and_then(|(bytes, format)| {
                let read = flow_text::read(&bytes, format);
                read.map_err(|found| self.report(&path, found, problems))
                    .ok()
            });
            (path, draft)
        };
        texts.into_iter().map(read).collect()
    }

    fn report(&self, path: &Path, found: Vec<flow_text::Problem>, problems: &mut Vec<FileProblem>) {
        problems.extend(documents(&self.root.join(path), found));
    }

    /// Refuses drafts with a name that another file has. The file that had the name before keeps
    /// it, or else the first one.
    fn refuse_same_names(
        &self,
        drafts: &mut BTreeMap<PathBuf, Option<Document>>,
        problems: &mut Vec<FileProblem>,
    ) {
        let mut owners: BTreeMap<String, PathBuf> = BTreeMap::new();
        let mut refused = Vec::new();
        for had_it in [true, false] {
            for (path, draft) in &*drafts {
                let Some(draft) = draft else { continue };
                let name = draft.flow().title();
                let before = self.loaded.get(path);
                if before.is_some_and(|before| before.flow.name() == name) != had_it {
                    continue;
                }
                let Some(owner) = owners.get(name) else {
                    owners.insert(name.to_owned(), path.clone());
                    continue;
                };
                refused.push(path.clone());
                let problem = flow_text::Problem {
                    place: draft.place("/name"),
                    pointer: "/name".to_owned(),
                    code: Code::Name,
                    message: format!("the flow `{name}` is in `{}` already", owner.display()),
                    notes: Vec::new(),
                    help: Some("give one of them another name".to_owned()),
                };
                self.report(path, vec![problem], problems);
            }
        }
        for path in refused {
            drafts.insert(path, None);
        }
    }

    /// Loads the drafts, each after those that it names. A file without a loadable draft keeps its
    /// flow, unless another file has its name now.
    fn load(
        &mut self,
        drafts: BTreeMap<PathBuf, Option<Document>>,
        problems: &mut Vec<FileProblem>,
    ) {
        let mut before = std::mem::take(&mut self.loaded);
        let named = drafts.iter().filter_map(|(path, draft)| {
            let name = draft.as_ref()?.flow().title().to_owned();
            Some((name, path.clone()))
        });
        let named: BTreeMap<String, PathBuf> = named.collect();
        before.retain(|path, loaded| {
            let name = named.get(loaded.flow.name());
            name.is_none_or(|other| other == path)
        });
        let mut registry = self.registry.clone();
        for (path, draft) in &drafts {
            let before = before.get(path).map(|before| &before.document);
            if let Some(flow) = draft.as_ref().map(Document::flow).or(before) {
                registry = registry.with_flow(flow.clone());
            }
        }
        let mut failed: BTreeSet<String> = BTreeSet::new();
        for (path, draft) in names_first(drafts) {
            let before = before.remove(&path);
            let Some((draft, uses)) = draft else {
                failed.extend(before.iter().map(|before| before.flow.name().to_owned()));
                self.loaded.extend(before.map(|before| (path, before)));
                continue;
            };
            match load_read(&draft, &registry) {
                Ok(flow) => {
                    let document = draft.into_flow();
                    self.loaded.insert(path, Loaded { document, flow });
                }
                Err(found) => {
                    if uses.is_disjoint(&failed) {
                        self.report(&path, found, problems);
                    }
                    failed.insert(draft.flow().title().to_owned());
                    if let Some(before) = before {
                        registry = registry.with_flow(before.document.clone());
                        self.loaded.insert(path, before);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
version: 2.0.0
name: Waits
namespace: waits
inputs: { type: object, properties: {} }
outputs: { type: object, properties: {} }
nodes:
  - { type: flow.wait, id: wait, params: { duration: 1s } }
edges: []
ends:
  - { from: wait, condition: default, label: default }
";

    /// Permissions cannot be used here: a privileged user may read everything.
    #[test]
    fn a_folder_inside_that_cannot_be_read_keeps_its_flows() {
        let contents = |texts: &[(&str, &str)], unreadable: &[&str]| Contents {
            texts: texts
                .iter()
                .map(|(path, text)| (path.into(), Some((text.as_bytes().to_vec(), Format::Yaml))))
                .collect(),
            unreadable: unreadable.iter().map(PathBuf::from).collect(),
        };
        let mut folder = Folder::new("flows", Registry::new());
        let other = TEXT.replace("Waits", "Others");
        let both = contents(&[("inside/a.yaml", TEXT), ("b.yaml", &other)], &[]);
        let reload = folder.take(both, Vec::new());
        assert_eq!(reload.changed.len(), 2, "{:?}", reload.problems);
        let reload = folder.take(contents(&[], &["inside"]), Vec::new());
        assert!(reload.changed.is_empty());
        assert_eq!(reload.removed, ["Others"]);
        assert_eq!(
            folder.flows().map(LoadedFlow::name).collect::<Vec<_>>(),
            ["Waits"]
        );
        let reload = folder.take(contents(&[], &[]), Vec::new());
        assert_eq!(reload.removed, ["Waits"]);
    }
}
