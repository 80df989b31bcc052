//! The place in the document of each part of the graph.

use crate::diagnostic::{Diagnostic, Site};
use crate::document::Schema;
use crate::document::problem::{Problem, inside};
use crate::graph::{EdgePart, NodeId};

use super::graph::Places;
use super::wording;

impl Places<'_> {
    /// Converts a mistake in the graph to a problem with its place in the document, in the
    /// document's words.
    pub(super) fn problem(&self, diagnostic: Diagnostic) -> Problem {
        let related = diagnostic.related.iter();
        let related = related.map(|(site, what)| (self.place(*site), what.clone()));
        let problem = Problem {
            related: related.collect(),
            help: wording::help(&diagnostic),
            notes: diagnostic.notes,
            ..Problem::new(
                diagnostic.code,
                self.place(diagnostic.site),
                diagnostic.message,
            )
        };
        match diagnostic.site {
            Site::Edge(_, EdgePart::Source(_)) => problem.of_name(),
            _ => problem,
        }
    }

    fn place(&self, site: Site) -> String {
        match site {
            Site::Flow => self.pointer.clone(),
            Site::Input(index) => property(&self.pointer, "inputs", &self.flow.inputs, index),
            Site::Output(index) => property(&self.pointer, "outputs", &self.flow.outputs, index),
            Site::Node(NodeId(index)) => self.node(index),
            Site::Read(NodeId(index), read) => {
                let inputs = &self.flow.nodes[index].inputs;
                property(&self.node(index), "inputs", inputs, read)
            }
            Site::Undo(NodeId(index)) => inside(&inside(&self.node(index), "settings"), "undo"),
            Site::Was(NodeId(index)) => inside(&inside(&self.node(index), "settings"), "was"),
            Site::Edge(index, part) => {
                let Some(edge) = self.edge(index) else {
                    return self.pointer.clone();
                };
                let [from, action, to] = &edge.parts;
                match part {
                    EdgePart::From => from.clone(),
                    EdgePart::Action => action.clone(),
                    EdgePart::To | EdgePart::Label => to.clone(),
                    EdgePart::Key(index) | EdgePart::Source(index) => edge.mapping(index),
                }
            }
        }
    }
}

/// The pointer of a value that a flow or a node reads or writes.
fn property(pointer: &str, side: &str, schema: &Schema, index: usize) -> String {
    let name = schema.properties.keys().nth(index);
    let properties = inside(&inside(pointer, side), "properties");
    inside(&properties, name.map_or("", String::as_str))
}
