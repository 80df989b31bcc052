//! The nodes of a flow, each once: those that are declared, and those that edges name by their path.

use std::collections::{HashMap, HashSet};

use flow_spec::Code;
use proc_macro2::{Ident, Span};
use quote::ToTokens as _;
use syn::Path;

use crate::names::{ident, is_type_name, plain, snake_case};
use crate::node::mod_path;
use crate::report::Report;

use super::syntax::{EdgeSyntax, FlowSyntax, NodeSource, NodeSyntax, StepSyntax};

/// Words of the language, which no node can be named.
const RESERVED: [&str; 6] = ["start", "end", "wait", "node", "branch", "namespace"];

/// One node of a flow.
pub(crate) struct Instance {
    /// The name by which the flow speaks of it.
    pub(crate) name: Ident,
    /// What it is, with generic arguments.
    pub(crate) path: Path,
    /// Where its declaration is in [`FlowSyntax::nodes`], if it has one.
    pub(crate) declaration: Option<usize>,
    /// It is a type, and so has a value.
    pub(crate) is_type: bool,
    /// Where it is declared or else first mentioned.
    span: Span,
}

/// The nodes of a flow. Their indexes are those of the graph.
#[derive(Default)]
pub(crate) struct Instances {
    pub(crate) list: Vec<Instance>,
    by_name: HashMap<String, usize>,
    by_path: HashMap<String, usize>,
    /// Names of nodes about which an error says all there is to say.
    unusable: HashSet<String>,
}

impl Instances {
    /// Finds all nodes, those declared first. Reports names that cannot be, and what is not supported yet.
    pub(crate) fn collect(flow: &FlowSyntax, report: &mut Report) -> Self {
        let mut instances = Instances::default();
        let mut unusable = flow.unread.clone();
        for (index, node) in flow.nodes.iter().enumerate() {
            match &node.source {
                NodeSource::Path { path, .. } if path.is_ident(&flow.name) => {
                    contains_itself(path, report);
                    unusable.push(node.name.clone());
                }
                NodeSource::Path { path, .. } => instances.declare(index, node, path, report),
                NodeSource::Each(span) => {
                    unsupported(*span, "a loop over items", report);
                    unusable.push(node.name.clone());
                }
                NodeSource::Fork(span) => {
                    unsupported(*span, "a fork", report);
                    unusable.push(node.name.clone());
                }
            }
        }
        for branch in &flow.branches {
            unsupported(branch.keyword, "`branch`", report);
            unusable.push(branch.name.clone());
        }
        instances.unusable = unusable.iter().map(plain).collect();
        let mut previous = None;
        for edge in &flow.edges {
            check_direction(edge, report);
            // In a chain, the target of one edge is the start of the next.
            for step in [&edge.from, &edge.to] {
                if previous != Some(step.span_key()) {
                    instances.mention(flow, step, report);
                }
                previous = Some(step.span_key());
            }
        }
        instances
    }

    /// The node that a step names.
    pub(crate) fn of(&self, path: &Path) -> Option<usize> {
        let declared = path
            .get_ident()
            .and_then(|name| self.by_name.get(&plain(name)));
        declared
            .or_else(|| self.by_path.get(&path_key(path)))
            .copied()
    }

    /// The paths of all nodes as macros, each once.
    pub(crate) fn paths(&self) -> Vec<Path> {
        let mut seen = HashSet::new();
        self.list
            .iter()
            .map(|node| mod_path(&node.path))
            .filter(|path| seen.insert(path_key(path)))
            .collect()
    }

    fn declare(&mut self, index: usize, node: &NodeSyntax, path: &Path, report: &mut Report) {
        let name = plain(&node.name);
        if RESERVED.contains(&name.as_str()) {
            let help = format!("name it otherwise, such as `{name}_step`");
            report.error(
                Code::Name,
                node.name.span(),
                format!("`{name}` is a word of the language"),
                help,
            );
            return;
        }
        if self.by_name.contains_key(&name) {
            let help = "name one of them otherwise";
            report.error(
                Code::Name,
                node.name.span(),
                format!("a second node is named `{name}`"),
                help,
            );
            return;
        }
        self.by_name.insert(name, self.list.len());
        self.add(
            node.name.clone(),
            path.clone(),
            Some(index),
            node.name.span(),
        );
    }

    fn mention(&mut self, flow: &FlowSyntax, step: &StepSyntax, report: &mut Report) {
        let path = match step {
            StepSyntax::Start(_) | StepSyntax::End(..) => return,
            StepSyntax::Wait(span) => return unsupported(*span, "`wait`", report),
            StepSyntax::Fork(span) => return unsupported(*span, "a fork", report),
            StepSyntax::Node(path) => path,
        };
        let is_unusable = |name| self.unusable.contains(&plain(name));
        if self.of(path).is_some() || path.get_ident().is_some_and(is_unusable) {
            return;
        }
        if path.is_ident(&flow.name) {
            return contains_itself(path, report);
        }
        let Some(segment) = path.segments.last() else {
            return;
        };
        let name = ident(
            &snake_case(&segment.ident.to_string()),
            segment.ident.span(),
        );
        let text = plain(&name);
        if RESERVED.contains(&text.as_str()) {
            let help = format!(
                "declare it under another name: `node {text}_step: {};`",
                crate::names::path_text(path)
            );
            report.error(
                Code::Name,
                segment.ident.span(),
                format!("`{text}` is a word of the language"),
                help,
            );
        } else if let Some(same) = self.list.iter().position(|node| plain(&node.name) == text) {
            let help = format!(
                "declare one of them under another name: `node other_{text}: {};`",
                crate::names::path_text(path)
            );
            report.error(
                Code::Name,
                segment.ident.span(),
                format!("a second node is named `{text}`"),
                help,
            );
            self.by_path.insert(path_key(path), same);
            return;
        }
        self.by_path.insert(path_key(path), self.list.len());
        self.add(name, path.clone(), None, segment.ident.span());
    }

    fn add(&mut self, name: Ident, path: Path, declaration: Option<usize>, span: Span) {
        let is_type = path
            .segments
            .last()
            .is_some_and(|segment| is_type_name(&segment.ident));
        self.list.push(Instance {
            name,
            path,
            declaration,
            is_type,
            span,
        });
    }
}

impl Instance {
    /// Its declaration.
    pub(crate) fn declared<'a>(&self, flow: &'a FlowSyntax) -> Option<&'a NodeSyntax> {
        self.declaration.map(|index| &flow.nodes[index])
    }

    /// Where it is declared or else first mentioned.
    pub(crate) fn span(&self) -> Span {
        self.span
    }
}

impl StepSyntax {
    /// Tells mentions apart by where they are.
    fn span_key(&self) -> (usize, usize) {
        let start = self.span().start();
        (start.line, start.column)
    }
}

/// A path as text, to compare it by.
pub(crate) fn path_key(path: &Path) -> String {
    mod_path(path).to_token_stream().to_string()
}

/// Reports an edge that goes on from an `end`, or back to `start`.
fn check_direction(edge: &EdgeSyntax, report: &mut Report) {
    if let StepSyntax::End(..) = edge.from {
        let help = "begin a statement of its own for what comes from another step";
        let message = "nothing comes after an `end`";
        report.error(Code::Start, edge.arrow, message, help);
    }
    if let StepSyntax::Start(span) = edge.to {
        let help = "lead the edge to the step that is to run again";
        let message = "no edge leads back to `start`";
        report.error(Code::Start, span, message, help);
    }
}

fn contains_itself(path: &Path, report: &mut Report) {
    let message = format!("`{}` contains itself", crate::names::path_text(path));
    let help = "lead an edge back to the step from which it has to run again";
    let span = path.segments.last().map(|last| last.ident.span());
    report.error(
        Code::Recursion,
        span.unwrap_or_else(Span::call_site),
        message,
        help,
    );
}

fn unsupported(span: Span, what: &str, report: &mut Report) {
    let help = "it is part of the language, and will come with a later release";
    report.error(
        Code::Unsupported,
        span,
        format!("{what} is not supported yet"),
        help,
    );
}
