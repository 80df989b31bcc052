//! Replaces the names of flows in a document with the flows.
//!
//! A few names can stand for very much: ten flows, each of which uses the next one ten times, are
//! ten thousand million flows. So everything that names stand for may be at most as large as one
//! text.

use std::sync::Arc;

use flow_spec::document::{DEEPEST, types};
use flow_spec::{Code, FlowDocument, Problem};
use flow_text::{LARGEST, MOST_VALUES};

use super::Loader;

/// A flow around a node.
#[derive(Clone, Copy)]
struct Around<'w> {
    name: &'w str,
    /// Its document in the registry, if it was named.
    document: Option<&'w Arc<FlowDocument>>,
}

impl Around<'_> {
    /// Returns `true` if it is the flow with this document and name.
    fn is(&self, document: &Arc<FlowDocument>, name: &str) -> bool {
        match self.document {
            Some(own) => Arc::ptr_eq(own, document),
            None => self.name == name,
        }
    }
}

impl Loader<'_> {
    /// The document with the flows that it names inside it, and those that they name.
    pub(super) fn resolve(&mut self, written: &FlowDocument) -> FlowDocument {
        let mut resolved = written.clone();
        resolved.compose_ids();
        let outermost = Around {
            name: written.title(),
            document: None,
        };
        self.fill(&mut resolved, "", &[outermost], None);
        resolved
    }

    /// Puts the flows that a flow names into it. `place` is where the document names the outermost
    /// flow on the way to it.
    fn fill(
        &mut self,
        flow: &mut FlowDocument,
        pointer: &str,
        way: &[Around<'_>],
        place: Option<&str>,
    ) {
        if way.len() > DEEPEST + 1 {
            let message = format!("flows nest deeper than {DEEPEST} levels");
            let place = place.unwrap_or(pointer).to_owned();
            self.problem(Code::Document, place, message, None);
            return;
        }
        for (index, node) in flow.nodes.iter_mut().enumerate() {
            let pointer = format!("{pointer}/nodes/{index}");
            let name = node.r#type.clone();
            let registry = self.registry;
            let named = match &node.internal_flow {
                Some(_) => None,
                None if types::ALL.contains(&name.as_str()) => continue,
                None => match registry.find_flow(&name) {
                    Some(named) => Some(named),
                    None => continue,
                },
            };
            let own_place = format!("{pointer}/type");
            let place = match named {
                Some(_) => Some(place.unwrap_or(&own_place)),
                None => place,
            };
            if let (Some(named), Some(place)) = (named, place) {
                let Some(inner) = self.named(named, &name, way, place) else {
                    continue;
                };
                node.internal_flow = Some(Box::new(inner));
                node.internal_flow_omitted = false;
                self.named.insert(pointer.clone(), name.clone());
            }
            if let Some(inner) = &mut node.internal_flow {
                let around = Around {
                    name: &name,
                    document: named,
                };
                let way = [way, &[around]].concat();
                self.fill(inner, &format!("{pointer}/internalFlow"), &way, place);
            }
        }
    }

    /// A copy of a flow that is named at a place, without namespaces, as in `Flow::SPEC`. `None` if
    /// it cannot be there, which is reported.
    fn named(
        &mut self,
        named: &Arc<FlowDocument>,
        name: &str,
        way: &[Around<'_>],
        place: &str,
    ) -> Option<FlowDocument> {
        if let Some(at) = way.iter().position(|around| around.is(named, name)) {
            let round = way[at..].iter().map(|around| around.name).chain([name]);
            self.report(Problem {
                pointer: place.to_owned(),
                is_name: false,
                code: Code::Recursion,
                message: format!("the flow `{name}` contains itself"),
                notes: vec![format!(
                    "the way round: {}",
                    round.collect::<Vec<_>>().join(" > ")
                )],
                related: Vec::new(),
                help: Some(
                    "lead an edge back to the node from which it has to run again".to_owned(),
                ),
            });
            return None;
        }
        let room = self.room.as_mut()?;
        if !room.take(named) {
            self.room = None;
            let mut outermost = way.iter().filter(|around| around.document.is_some());
            let outermost = outermost.next().map_or(name, |around| around.name);
            let message = format!(
                "with all that it names, `{outermost}` is larger than {} MiB or {MOST_VALUES} values",
                LARGEST >> 20
            );
            self.problem(Code::Document, place.to_owned(), message, None);
            return None;
        }
        let mut copy = FlowDocument::clone(named);
        clear_namespaces(&mut copy);
        Some(copy)
    }

    /// Reports a problem. A problem in a named flow is reported once for each such flow, where the
    /// document names it.
    pub(super) fn report(&mut self, problem: Problem) {
        let Some(problem) = self.at_name(&problem) else {
            self.problems.push(problem);
            return;
        };
        let what = (problem.message.clone(), problem.notes.clone());
        if self.reported.insert(what) {
            self.problems.push(problem);
        }
    }

    /// Moves a problem in a named flow to the name. `None` if it is somewhere else.
    fn at_name(&self, problem: &Problem) -> Option<Problem> {
        const FLOW: &str = "/internalFlow";
        let flows = problem.pointer.match_indices(FLOW);
        let flows = flows.filter_map(|(at, _)| {
            let (node, inside) = (&problem.pointer[..at], &problem.pointer[at + FLOW.len()..]);
            let is_field = inside.is_empty() || inside.starts_with('/');
            let name = self.named.get(node).filter(|_| is_field)?;
            Some((node, name.as_str(), inside))
        });
        let flows: Vec<(&str, &str, &str)> = flows.collect();
        let (&(outermost, ..), &(node, name, inside)) = (flows.first()?, flows.last()?);
        let names = flows.iter().rev().skip(1);
        let around: String = names
            .map(|(_, name, _)| format!(", which `{name}` names"))
            .collect();
        let place = if inside.is_empty() { "/" } else { inside };
        let mut notes = vec![format!("at {place} of `{name}`{around}")];
        notes.extend(problem.notes.iter().cloned());
        let flow = format!("{node}{FLOW}");
        let related = problem.related.iter().map(|(pointer, what)| {
            let inside = pointer.strip_prefix(&flow).unwrap_or(pointer);
            format!("{what} (at {inside})")
        });
        notes.extend(related);
        Some(Problem {
            pointer: format!("{outermost}/type"),
            is_name: false,
            code: problem.code,
            message: format!("in the flow `{name}`: {}", problem.message),
            notes,
            related: Vec::new(),
            help: problem.help.clone(),
        })
    }
}

/// Removes the namespaces of a flow and of the flows in it, which belong to another place.
fn clear_namespaces(flow: &mut FlowDocument) {
    flow.namespace.clear();
    let inner = flow
        .nodes
        .iter_mut()
        .filter_map(|node| node.internal_flow.as_deref_mut());
    inner.for_each(clear_namespaces);
}
