//! Checks that the types of readers and writers agree, as far as their spelling shows.
//!
//! The hard thing is to avoid false reports: one type can be spelled in several ways, and only a
//! compiler knows them all. So paths are cut to their last part, unknown types agree with all
//! others, and a reader may borrow in the usual forms.

use std::collections::{HashMap, HashSet};

use super::found::Found;
use crate::diagnostic::{Code, Diagnostic, Site};
use crate::graph::{ERROR_KEY, Graph, NodeId, NodeKind, NodeRead, Output};

/// Compares the types of a flow's keys by their spelling, for front ends without a compiler. Like
/// [`check`], it reports at most a thousand mistakes.
///
/// [`check`]: crate::check
pub fn check_types(graph: &Graph) -> Vec<Diagnostic> {
    let mut found = Found::default();
    let owners = writers(graph, &mut found);
    let loops: HashSet<&str> = graph
        .nodes
        .iter()
        .filter_map(|node| match &node.kind {
            NodeKind::Each { item, .. } => Some(item.as_str()),
            _ => None,
        })
        .collect();
    for id in graph.node_ids() {
        if found.is_full() {
            break;
        }
        for read in &graph.node(id).reads {
            // An item has its own type, and is not a key of the flow.
            if loops.contains(read.key.as_str()) {
                continue;
            }
            if let Some(owner) = owners.get(read.key.as_str()) {
                check_read(graph, id, read, owner, &mut found);
            }
        }
    }
    for (at, output) in graph.outputs.iter().enumerate() {
        if found.is_full() {
            break;
        }
        if let Some(owner) = owners.get(output.key.as_str()) {
            check_output(at, output, owner, &mut found);
        }
    }
    found.sorted()
}

fn check_read(graph: &Graph, id: NodeId, read: &NodeRead, owner: &Owner<'_>, found: &mut Found) {
    let owned = value_type(owner.rust_type, read.optional);
    if reads_as(&read.rust_type, owned) {
        return;
    }
    let message = format!(
        "`{}` reads `{}` as `{}`, but {} is `{}`",
        graph.node(id).name,
        read.key,
        read.rust_type,
        owner.what,
        owner.rust_type
    );
    found.push(
        Diagnostic::new(Code::TypeMismatch, Site::Node(id), message)
            .help("read the type that is written, or map the read to another key")
            .related(owner.site, owner.text(&read.key)),
    );
}

fn check_output(at: usize, output: &Output, owner: &Owner<'_>, found: &mut Found) {
    let owned = value_type(owner.rust_type, output.optional);
    if same(&output.rust_type, owned) {
        return;
    }
    let message = format!(
        "the output `{}` is declared as `{}`, but {} is `{}`",
        output.key, output.rust_type, owner.what, owner.rust_type
    );
    let help = format!("declare it as `{}: {}`", output.key, owner.rust_type);
    found.push(
        Diagnostic::new(Code::TypeMismatch, Site::Output(at), message)
            .help(help)
            .related(owner.site, owner.text(&output.key)),
    );
}

/// The input or write that gives a key its type.
struct Owner<'g> {
    rust_type: &'g str,
    site: Site,
    what: String,
}

impl Owner<'_> {
    /// The text at its place.
    fn text(&self, key: &str) -> String {
        format!("`{key}` is `{}` here", self.rust_type)
    }
}

/// The first input or writer of each key whose type is known. Reports later ones with another type.
fn writers<'g>(graph: &'g Graph, found: &mut Found) -> HashMap<&'g str, Owner<'g>> {
    let mut owners: HashMap<&str, Owner<'_>> = HashMap::new();
    for (at, input) in graph
        .inputs
        .iter()
        .enumerate()
        .filter(|(_, input)| is_known(&input.rust_type))
    {
        let owner = Owner {
            rust_type: &input.rust_type,
            site: Site::Input(at),
            what: "the input".to_owned(),
        };
        owners.entry(&input.key).or_insert(owner);
    }
    for id in graph.node_ids() {
        let node = graph.node(id);
        let writes = node.actions.iter().flat_map(|action| &action.writes);
        for write in writes.filter(|write| is_known(&write.rust_type) && write.key != ERROR_KEY) {
            let what = format!("what `{}` writes", node.name);
            let owner = Owner {
                rust_type: &write.rust_type,
                site: Site::Node(id),
                what,
            };
            let first = owners.entry(&write.key).or_insert(owner);
            if same(first.rust_type, &write.rust_type) {
                continue;
            }
            let message = format!(
                "`{}` writes `{}` as `{}`, but {} is `{}`",
                node.name, write.key, write.rust_type, first.what, first.rust_type
            );
            found.push(
                Diagnostic::new(Code::WriterTypes, Site::Node(id), message)
                    .help(format!(
                        "write one type, or another key: `{0} -> {0}_2`",
                        write.key
                    ))
                    .related(
                        first.site,
                        format!("`{}` is `{}` here", write.key, first.rust_type),
                    ),
            );
        }
    }
    owners
}

fn is_known(rust_type: &str) -> bool {
    let mut names = rust_type.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    !rust_type.trim().is_empty() && names.all(|name| name != "_")
}

fn same(left: &str, right: &str) -> bool {
    !is_known(left) || !is_known(right) || plain(left) == plain(right)
}

/// The type of the value, if there is one: a node that returns an `Option` may leave its key
/// unwritten.
fn value_type(rust_type: &str, optional: bool) -> &str {
    let inner = rust_type
        .trim()
        .strip_prefix("Option<")
        .and_then(|rest| rest.strip_suffix('>'));
    inner.filter(|_| optional).unwrap_or(rust_type)
}

/// The type to which a reference or a `Cow` dereferences.
fn target(owned: &str) -> Option<&str> {
    let owned = owned.trim();
    let after_lifetime = |text: &'_ str| match text.strip_prefix('\'') {
        Some(lifetime) => lifetime.find([' ', ',']),
        None => None,
    };
    if let Some(rest) = owned.strip_prefix('&') {
        let rest = rest.trim_start();
        return Some(after_lifetime(rest).map_or(rest, |at| rest[at + 1..].trim_start()));
    }
    let inner = owned.rsplit_once("Cow<")?.1.strip_suffix('>')?;
    after_lifetime(inner).map(|at| inner[at + 1..].trim_start_matches([' ', ',']))
}

/// Returns true if a reader may borrow `read` from a value of type `owned`.
fn reads_as(read: &str, owned: &str) -> bool {
    if same(read, owned) || target(owned).is_some_and(|target| reads_as(read, target)) {
        return true;
    }
    let (read, owned) = (plain(read), plain(owned));
    let borrows = [
        ("str", "String"),
        ("Path", "PathBuf"),
        ("OsStr", "OsString"),
        ("CStr", "CString"),
    ];
    let boxed = [
        format!("Box<{read}>"),
        format!("Arc<{read}>"),
        format!("Rc<{read}>"),
    ];
    let item = read
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    borrows.contains(&(read.as_str(), owned.as_str()))
        || boxed.contains(&owned)
        || item.is_some_and(|item| {
            owned == format!("Vec<{item}>") || owned.starts_with(&format!("[{item};"))
        })
}

/// The type without spaces and without the paths of its names.
fn plain(rust_type: &str) -> String {
    let mut text = String::with_capacity(rust_type.len());
    let letters: Vec<char> = rust_type
        .chars()
        .filter(|letter| !letter.is_whitespace())
        .collect();
    let mut name = 0;
    let mut at = 0;
    while at < letters.len() {
        if letters[at] == ':' && letters.get(at + 1) == Some(&':') {
            text.truncate(name);
            at += 2;
            continue;
        }
        text.push(letters[at]);
        if !letters[at].is_alphanumeric() && letters[at] != '_' {
            name = text.len();
        }
        at += 1;
    }
    text
}
