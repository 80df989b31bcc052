//! The order in which the documents of a folder are loaded.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use flow_spec::FlowDocument;
use flow_text::Document;

/// A draft, with the names of the flows of the folder that it uses.
type Named = (Document, BTreeSet<String>);

/// Sorts each file after those whose flows it names. Files in a cycle come in any order.
pub(super) fn names_first(
    drafts: BTreeMap<PathBuf, Option<Document>>,
) -> Vec<(PathBuf, Option<Named>)> {
    let mut files: Vec<(PathBuf, Option<Named>)> = Vec::new();
    for (path, draft) in drafts {
        let named = draft.map(|draft| {
            let mut uses = BTreeSet::new();
            add_types(draft.flow(), &mut uses);
            (draft, uses)
        });
        files.push((path, named));
    }
    let mut places = HashMap::new();
    for (place, (_, named)) in files.iter().enumerate() {
        if let Some((draft, _)) = named {
            places.insert(draft.flow().title().to_owned(), place);
        }
    }
    let order = after_all(&files, &places);
    let mut files: Vec<Option<_>> = files.into_iter().map(Some).collect();
    order
        .into_iter()
        .filter_map(|place| files[place].take())
        .collect()
}

/// Adds the names that a flow, or one inside it, may take from the registry.
fn add_types(flow: &FlowDocument, names: &mut BTreeSet<String>) {
    for node in &flow.nodes {
        match &node.internal_flow {
            Some(inner) => add_types(inner, names),
            None => {
                names.insert(node.r#type.clone());
            }
        }
    }
}

/// The places of all files, each after those that it names.
fn after_all(files: &[(PathBuf, Option<Named>)], places: &HashMap<String, usize>) -> Vec<usize> {
    // Files without a draft are already loaded, and name nothing that has to come first.
    let mut order: Vec<usize> = (0..files.len())
        .filter(|at| files[*at].1.is_none())
        .collect();
    let mut begun: Vec<bool> = files.iter().map(|(_, named)| named.is_none()).collect();
    for first in 0..files.len() {
        let mut way = vec![(first, false)];
        // An explicit stack: a folder can have a chain of a thousand names.
        while let Some((place, is_done)) = way.pop() {
            if is_done {
                order.push(place);
                continue;
            }
            if std::mem::replace(&mut begun[place], true) {
                continue;
            }
            way.push((place, true));
            let uses = files[place].1.iter().flat_map(|(_, uses)| uses);
            way.extend(
                uses.filter_map(|name| places.get(name))
                    .map(|to| (*to, false)),
            );
        }
    }
    order
}
