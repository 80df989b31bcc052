//! Checks that the types of readers and writers agree, as far as their spelling shows.
//!
//! One type can be spelled in several ways, and only a compiler knows them all. To avoid false
//! reports, paths are cut to their last part, unknown types agree with all others, and a reader may
//! borrow in the usual forms.

use std::collections::{HashMap, HashSet, VecDeque};

use super::found::Found;
use super::own_types::Apart;
use super::owners::{Owner, other_mapping, other_writer, own_added_keys};
use super::spelling::{
    borrowed, has_aliased_result, is_named, is_standard, item_type, lacks_arguments, paths, plain,
    target, value_type,
};
use crate::diagnostic::{Code, Diagnostic, Site};
use crate::graph::{
    ERROR_ACTION, ERROR_KEY, Edge, EdgeMapping, EdgePart, EdgeTarget, Graph, NodeId, NodeKind,
    NodeRead, Output, ReadMode,
};

/// The types that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compared {
    /// All named types: for front ends without a compiler to compare them.
    Named,
    /// Types that consist of primitive types and of collections and pointers of the standard
    /// library. Their names mean the same everywhere. Used by a front end that reports them better
    /// than the compiler, which compares the others.
    Standard,
}

/// Compares the types of a flow's keys by their spelling. Like [`check`], it reports at most a
/// thousand mistakes.
///
/// [`check`]: crate::check
pub fn check_types(graph: &Graph, compared: Compared) -> Vec<Diagnostic> {
    let mut found = Found::default();
    let apart = Apart::of(graph);
    let mut owners = compared.writers(graph, &apart, &mut found);
    compared.follow_mappings(graph, &mut owners, &mut found);
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
        compared.check_items(graph, id, &owners, &mut found);
        for read in &graph.node(id).reads {
            // An item has its own type, and neither is a key of the flow.
            if loops.contains(read.key.as_str()) {
                continue;
            }
            if read.key == ERROR_KEY {
                if let Some(other) = compared.other_error(graph, &apart, id, read) {
                    found.push(other);
                }
                continue;
            }
            if let Some(owner) = owners.get(read.key.as_str()) {
                let mut others = owner.others.iter();
                if !others.any(|other| compared.reads_as(&read.rust_type, other)) {
                    compared.check_read(graph, id, read, owner, &mut found);
                }
            }
        }
    }
    for (at, output) in graph.outputs.iter().enumerate() {
        if found.is_full() {
            break;
        }
        if let Some(owner) = owners.get(output.key.as_str())
            && !owner.others.contains(&output.rust_type.as_str())
        {
            compared.check_output(at, output, owner, &mut found);
        }
    }
    found.sorted()
}

impl Compared {
    /// The first input or writer of each key whose type is known. Reports later ones that differ.
    fn writers<'g>(
        self,
        graph: &'g Graph,
        apart: &Apart,
        found: &mut Found,
    ) -> HashMap<&'g str, Owner<'g>> {
        let mut owners: HashMap<&str, Owner<'_>> = HashMap::new();
        for (at, input) in graph.inputs.iter().enumerate() {
            let owner = Owner {
                rust_type: &input.rust_type,
                site: Site::Input(at),
                what: "the input is".to_owned(),
                others: Vec::new(),
            };
            if is_named(&input.rust_type) {
                owners.entry(&input.key).or_insert(owner);
            }
        }
        for id in graph.node_ids().filter(|id| !apart.contains(*id)) {
            let node = graph.node(id);
            let writes = node.actions.iter().flat_map(|action| &action.writes);
            // What is added has a type of its own.
            for write in writes
                .filter(|write| !write.adds && is_named(&write.rust_type) && write.key != ERROR_KEY)
            {
                let owner = Owner::writer(graph, id, write);
                let first = owners.entry(&write.key).or_insert(owner);
                if !self.same(first.rust_type, &write.rust_type) {
                    found.push(other_writer(&node.name, id, write, first));
                    first.others.push(&write.rust_type);
                }
            }
        }
        own_added_keys(graph, apart, &mut owners);
        owners
    }

    /// Passes the types of keys on to the keys that edges give their values. Reports those that
    /// have another type.
    fn follow_mappings<'g>(
        self,
        graph: &'g Graph,
        owners: &mut HashMap<&'g str, Owner<'g>>,
        found: &mut Found,
    ) {
        let mut by_source: HashMap<&str, Vec<(Site, &EdgeMapping)>> = HashMap::new();
        let mut waiting: VecDeque<&str> = VecDeque::new();
        for (edge, Edge { mappings, .. }) in graph.edges.iter().enumerate() {
            let mut keys = HashSet::new();
            let mappings = mappings.iter().enumerate();
            // An edge that writes one key twice is reported already.
            for (index, mapping) in mappings.filter(|(_, one)| keys.insert(&one.key)) {
                let site = Site::Edge(edge, EdgePart::Source(index));
                let of_source = by_source.entry(&mapping.source).or_default();
                of_source.push((site, mapping));
                waiting.push_back(&mapping.source);
            }
        }
        waiting.retain(|source| owners.contains_key(source));
        while let Some(source) = waiting.pop_front() {
            for (site, mapping) in by_source.remove(source).into_iter().flatten() {
                let given = &owners[source];
                match owners.get(mapping.key.as_str()) {
                    None => {
                        let owner = Owner {
                            rust_type: given.rust_type,
                            site,
                            what: format!("`{source}`, whose value an edge gives it, is"),
                            others: Vec::new(),
                        };
                        owners.insert(&mapping.key, owner);
                        waiting.push_back(&mapping.key);
                    }
                    Some(own) if !self.same(own.rust_type, given.rust_type) => {
                        found.push(other_mapping(site, mapping, given, own));
                    }
                    Some(_) => {}
                }
            }
        }
    }

    /// The items that the body of a loop reads.
    fn check_items(
        self,
        graph: &Graph,
        id: NodeId,
        owners: &HashMap<&str, Owner<'_>>,
        found: &mut Found,
    ) {
        let node = graph.node(id);
        let (NodeKind::Each { body, item, .. }, Some(over)) = (&node.kind, node.reads.first())
        else {
            return;
        };
        let Some(owner) = owners.get(over.key.as_str()) else {
            return;
        };
        let Some(rust_type) = item_type(owner.rust_type) else {
            return;
        };
        let owner = Owner {
            rust_type,
            site: owner.site,
            what: format!("an item of `{}` is", over.key),
            others: Vec::new(),
        };
        let reads = graph.nodes.get(body.0).into_iter();
        let reads = reads.flat_map(|node| &node.reads);
        for read in reads.filter(|read| read.key == *item) {
            self.check_read(graph, *body, read, &owner, found);
        }
    }

    fn check_read(
        self,
        graph: &Graph,
        id: NodeId,
        read: &NodeRead,
        owner: &Owner<'_>,
        found: &mut Found,
    ) {
        let owned = value_type(owner.rust_type, read.optional);
        let whole = read.optional && self.reads_as(&read.rust_type, owner.rust_type);
        let fits = self.reads_as(&read.rust_type, owned) && !reads_into_option(read, owned);
        if whole || fits {
            return;
        }
        let reader = &graph.node(id).name;
        let (key, wanted) = (&read.key, &read.rust_type);
        // Rust code reads by reference; a document contains only the type.
        let by = match (self, read.mode) {
            (Compared::Standard, ReadMode::Borrow) => "&",
            _ => "",
        };
        let fixed = match by {
            "&" if reads_into_option(read, owned) => {
                let inner = value_type(owned, true);
                format!("Option<&{}>", borrowed(inner))
            }
            "" => owned.to_owned(),
            by => format!("{by}{}", borrowed(owned)),
        };
        let in_option = |text: String| match (self, read.optional) {
            (Compared::Standard, true) => format!("Option<{text}>"),
            _ => text,
        };
        let (wanted, fixed) = (in_option(format!("{by}{wanted}")), in_option(fixed));
        let help = match self {
            Compared::Named => {
                "read the type that is written, or map the read to another key".to_owned()
            }
            Compared::Standard => {
                format!(
                    "read it as `{fixed}`, or map the read to another key: `{{ {key} <- other }}`"
                )
            }
        };
        let message = format!(
            "`{reader}` reads `{key}` as `{wanted}`, but {} `{}`",
            owner.what, owner.rust_type
        );
        found.push(owner.mismatch(Site::Node(id), key, message).help(help));
    }

    /// The report of a node after an `"error"` edge that reads `error` with a wrong type.
    fn other_error(
        self,
        graph: &Graph,
        apart: &Apart,
        id: NodeId,
        read: &NodeRead,
    ) -> Option<Diagnostic> {
        let places = apart.taken_back(id);
        let stands_at = |to: &EdgeTarget| matches!(to, EdgeTarget::Node(at) if *at == id || places.contains(at));
        let mut edges = graph.edges.iter();
        let is_behind_error =
            edges.any(|edge| edge.action() == ERROR_ACTION && stands_at(&edge.to));
        let differs = self.is_known(&read.rust_type) || read.rust_type.starts_with("Box<dyn ");
        let agrees = plain(&read.rust_type) == "NodeError";
        if self == Compared::Named || !is_behind_error || !differs || agrees {
            return None;
        }
        let by = match read.mode {
            ReadMode::Borrow => "&",
            _ => "",
        };
        let (reader, wanted) = (&graph.node(id).name, &read.rust_type);
        let message =
            format!("`{reader}` reads `error` as `{by}{wanted}`, but it is a `NodeError`");
        let help = "read it as `&NodeError`: `error.to_string()` is its text, and `error.downcast_ref::<E>()` the \
                    error that the failed node returned, if it is an `E`";
        Some(Diagnostic::new(Code::TypeMismatch, Site::Node(id), message).help(help))
    }

    fn check_output(self, at: usize, output: &Output, owner: &Owner<'_>, found: &mut Found) {
        let owned = value_type(owner.rust_type, output.optional);
        let whole = output.optional && self.same(&output.rust_type, owner.rust_type);
        if whole || self.same(&output.rust_type, owned) {
            return;
        }
        let message = format!(
            "the output `{}` is declared as `{}`, but {} `{}`",
            output.key, output.rust_type, owner.what, owner.rust_type
        );
        let help = format!("declare it as `{}: {}`", output.key, owner.rust_type);
        found.push(
            owner
                .mismatch(Site::Output(at), &output.key, message)
                .help(help),
        );
    }

    /// Returns `true` if a type is compared at all.
    fn is_known(self, rust_type: &str) -> bool {
        let named = is_named(rust_type);
        match self {
            Compared::Named => named,
            Compared::Standard => {
                named && paths(rust_type).all(is_standard) && !has_aliased_result(rust_type)
            }
        }
    }

    fn same(self, left: &str, right: &str) -> bool {
        !self.is_known(left) || !self.is_known(right) || plain(left) == plain(right)
    }

    /// Returns `true` if a reader may borrow `read` from a value of type `owned`.
    fn reads_as(self, read: &str, owned: &str) -> bool {
        if lacks_arguments(read)
            || self.same(read, owned)
            || target(owned).is_some_and(|target| self.reads_as(read, target))
        {
            return true;
        }
        let (read, owned) = (plain(read), plain(owned));
        let borrows = [
            ("str", "String"),
            ("Path", "PathBuf"),
            ("OsStr", "OsString"),
            ("CStr", "CString"),
        ];
        let pointers = ["Box<", "Arc<", "Rc<"];
        let pointed = pointers
            .iter()
            .find_map(|pointer| owned.strip_prefix(pointer)?.strip_suffix('>'));
        let item = read
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        borrows.contains(&(read.as_str(), owned.as_str()))
            || pointed.is_some_and(|pointed| self.reads_as(&read, pointed))
            || item.is_some_and(|item| {
                owned == format!("Vec<{item}>") || owned.starts_with(&format!("[{item};"))
            })
    }
}

/// Returns `true` if a reader expects a value that is written as an `Option` of it. These types
/// differ, whatever their names mean.
fn reads_into_option(read: &NodeRead, owned: &str) -> bool {
    let inner = value_type(owned, true);
    is_named(&read.rust_type)
        && !read.optional
        && inner != owned
        && Compared::Named.reads_as(&read.rust_type, inner)
}
