//! Checks that the mappings of edges read values that are written on every path to the edge.

use super::assignment::{Assignment, Unassigned};
use super::found::Found;
use super::keys::{Key, MappingRead};
use super::model::Model;
use super::reads::{explain, is_left_to_others};
use super::suggestions::{Suggestions, exists};
use super::words;
use crate::diagnostic::{Code, Diagnostic, Site};
use crate::graph::{ERROR_ACTION, ERROR_KEY, EdgeMapping, EdgePart};
use crate::suggest::question_of_name;

/// Reports mappings whose sources nothing writes.
pub(super) fn check_sources(model: &Model<'_>, suggestions: &Suggestions<'_>, found: &mut Found) {
    for (edge, route) in model.routes.edges.iter().enumerate() {
        let mappings = model.graph.edges[edge].mappings.iter().enumerate();
        // The source may have been meant as the key.
        for (index, mapping) in mappings.filter(|_| !route.maps_unread) {
            if found.is_full() {
                return;
            }
            let site = Site::Edge(edge, EdgePart::Source(index));
            if let Some(diagnostic) = check_source(model, suggestions, site, mapping) {
                found.push(diagnostic);
            }
        }
    }
}

/// Reports a mapping whose source nothing writes.
fn check_source(
    model: &Model<'_>,
    suggestions: &Suggestions<'_>,
    site: Site,
    mapping: &EdgeMapping,
) -> Option<Diagnostic> {
    let key = model.keys.get(&mapping.source)?;
    if exists(key) || key.by_undo || key.name == ERROR_KEY {
        return None;
    }
    let message = format!("nothing writes `{}`", key.name);
    let help = match (suggestions.of(key.name), key.loop_only) {
        (_, Some(within)) => format!(
            "`{}` exists only inside `{}`, for one item at a time",
            key.name,
            words::name(model.graph, within)
        ),
        (Some(near), None) => question_of_name(key.name, near),
        (None, None) => format!("let a node write `{}`, or remove this", key.name),
    };
    Some(Diagnostic::new(Code::NamesNothing, site, message).help(help))
}

/// Reports mappings whose sources some path does not write.
pub(super) fn check_paths(
    model: &Model<'_>,
    reached: &[bool],
    assignment: &mut Assignment<'_>,
    found: &mut Found,
) {
    for key in model.keys.iter().filter(|key| !key.given) {
        let is_reported = !exists(key) && key.name != ERROR_KEY;
        if key.mappings.is_empty() || is_reported || is_left_to_others(model, key, reached) {
            continue;
        }
        let asked: Vec<usize> = key.mappings.iter().map(|mapping| mapping.at).collect();
        for missing in assignment.unassigned(&key.written_at, &asked) {
            if found.is_full() {
                return;
            }
            found.push(unassigned(
                model,
                key,
                key.mappings[missing.asked],
                &missing,
            ));
        }
    }
}

fn unassigned(
    model: &Model<'_>,
    key: &Key<'_>,
    MappingRead { edge, index, .. }: MappingRead,
    missing: &Unassigned,
) -> Diagnostic {
    let graph = model.graph;
    let site = Site::Edge(edge, EdgePart::Source(index));
    let report = |message: String| Diagnostic::new(Code::UnassignedRead, site, message);
    let name = key.name;
    let path = words::path(graph, &missing.path);
    let path = format!("this path does not write it: {path}");
    if let Some(input) = key.input {
        let rust_type = &graph.inputs[input].rust_type;
        let what = format!("this edge reads `{name}`, which the caller may leave out");
        let declared = format!("`{name}` is declared as an `Option` here");
        let mut diagnostic = report(what)
            .help(format!("make the input required: `{name}: {rust_type}`"))
            .related(Site::Input(input), declared);
        diagnostic
            .notes
            .extend((!key.written_at.is_empty()).then_some(path));
        return diagnostic;
    }
    let what = format!("this edge reads `{name}`, which is not written on every path to it");
    let diagnostic = report(what).note(path);
    if name == ERROR_KEY {
        return diagnostic.help(format!(
            "it exists only where an \"{ERROR_ACTION}\" edge leads"
        ));
    }
    explain(model, key, &missing.path, diagnostic).help(format!("write `{name}` before"))
}
