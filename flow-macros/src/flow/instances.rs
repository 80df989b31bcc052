//! The nodes of a flow, each once: those that are declared, and those that stand in edges only.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::time::Duration;

use flow_spec::Code;
use proc_macro2::{Ident, Span};
use quote::ToTokens as _;
use syn::Path;

use crate::names::{ident, is_type_name, path_text, plain, snake_case};
use crate::protocol::macro_path;
use crate::report::Report;

use super::syntax::{
    EdgeSyntax, FlowSyntax, ForkSyntax, NodeSource, NodeSyntax, StepSyntax, WaitSyntax,
};

/// Words of the language, which no node can be named.
const RESERVED: [&str; 6] = ["start", "end", "wait", "node", "branch", "namespace"];

/// One node of a flow.
pub(crate) struct Instance {
    /// Its name, in paths and as a variant.
    pub(crate) name: Ident,
    /// What messages call it.
    pub(crate) shown: String,
    pub(crate) kind: InstanceKind,
    /// Where its declaration is in [`FlowSyntax::nodes`], if it has one.
    declaration: Option<usize>,
    /// It is what a loop over items runs, and nothing else: it has no name of its own.
    pub(crate) hidden: bool,
    /// Where it is declared or else first mentioned.
    pub(crate) span: Span,
}

/// What a node is. Other nodes are spoken of by their index.
pub(crate) enum InstanceKind {
    /// A function, a type or a flow, with generic arguments.
    Node(Path),
    /// Branches, each a chain.
    Fork(Vec<Vec<usize>>),
    /// A loop over items.
    Each {
        item: Ident,
        over: Ident,
        body: usize,
    },
    /// Conditions; where they are in [`FlowSyntax::branches`].
    Branch(usize),
    /// A pause.
    Wait(Duration),
}

/// The nodes of a flow. Their indexes are those of the graph; those that are hidden come last.
#[derive(Default)]
pub(crate) struct Instances {
    pub(crate) list: Vec<Instance>,
    by_name: HashMap<String, usize>,
    by_path: HashMap<String, usize>,
    /// A fork that is written twice is one fork.
    by_branches: HashMap<String, usize>,
    /// Names of nodes about which an error says all there is to say.
    unusable: HashSet<String>,
    /// A wait that is the target of one edge and the start of the next is one wait.
    by_wait: HashMap<*const WaitSyntax, usize>,
}

impl Instances {
    /// Finds all nodes, those declared first. Reports names that cannot be.
    pub(crate) fn collect(flow: &FlowSyntax, report: &mut Report) -> Self {
        let mut instances = Instances {
            unusable: flow.unread.iter().map(plain).collect(),
            ..Instances::default()
        };
        for (index, node) in flow.nodes.iter().enumerate() {
            let kind = match &node.source {
                NodeSource::Path { path, .. } if path.is_ident(&flow.name) => {
                    contains_itself(path, report);
                    instances.unusable.insert(plain(&node.name));
                    continue;
                }
                NodeSource::Path { path, .. } => InstanceKind::Node(path.clone()),
                // What they contain may be declared further down, and is filled in below.
                NodeSource::Fork(_) => InstanceKind::Fork(Vec::new()),
                NodeSource::Each { item, over, .. } => InstanceKind::Each {
                    item: item.clone(),
                    over: over.clone(),
                    body: usize::MAX,
                },
            };
            instances.declare(&node.name, kind, Some(index), report);
        }
        for (index, branch) in flow.branches.iter().enumerate() {
            instances.declare(&branch.name, InstanceKind::Branch(index), None, report);
        }
        for node in &flow.nodes {
            if let (NodeSource::Fork(fork), Some(index)) =
                (&node.source, instances.named(&node.name))
            {
                let branches = instances.branches(flow, fork, report);
                instances.list[index].kind = InstanceKind::Fork(branches);
            }
        }
        for edge in &flow.edges {
            check_direction(edge, report);
            instances.mention(flow, &edge.from, report);
            instances.mention(flow, &edge.to, report);
        }
        for (index, node) in flow.nodes.iter().enumerate() {
            instances.body(index, node, report);
        }
        instances
    }

    /// The node that a step stands for.
    pub(crate) fn of(&self, step: &StepSyntax) -> Option<usize> {
        match step {
            StepSyntax::Start(_) | StepSyntax::End(..) => None,
            StepSyntax::Node(path) => self.of_path(path),
            StepSyntax::Fork(fork) => self.by_branches.get(&fork_text(fork)).copied(),
            StepSyntax::Wait(wait) => self.by_wait.get(&Rc::as_ptr(wait)).copied(),
        }
    }

    /// The paths of all functions, types and flows as macros, each once.
    pub(crate) fn paths(&self) -> Vec<Path> {
        let mut seen = HashSet::new();
        let paths = self.list.iter().filter_map(Instance::path);
        paths
            .map(macro_path)
            .filter(|path| seen.insert(path_key(path)))
            .collect()
    }

    /// Those that have a name.
    pub(crate) fn named_ones(&self) -> impl Iterator<Item = &Instance> {
        self.list.iter().filter(|instance| !instance.hidden)
    }

    fn of_path(&self, path: &Path) -> Option<usize> {
        let declared = path.get_ident().and_then(|name| self.named(name));
        declared.or_else(|| self.by_path.get(&path_key(path)).copied())
    }

    fn named(&self, name: &Ident) -> Option<usize> {
        self.by_name.get(&plain(name)).copied()
    }

    fn declare(
        &mut self,
        name: &Ident,
        kind: InstanceKind,
        declaration: Option<usize>,
        report: &mut Report,
    ) {
        let text = plain(name);
        if RESERVED.contains(&text.as_str()) {
            let help = format!("name it otherwise, such as `{text}_step`");
            report.error(
                Code::Name,
                name.span(),
                format!("`{text}` is a word of the language"),
                help,
            );
            return;
        }
        if self.by_name.contains_key(&text) {
            let message = format!("a second node is named `{text}`");
            report.error(
                Code::Name,
                name.span(),
                message,
                "name one of them otherwise",
            );
            return;
        }
        self.by_name.insert(text.clone(), self.list.len());
        self.list.push(Instance {
            name: name.clone(),
            shown: text,
            kind,
            declaration,
            hidden: false,
            span: name.span(),
        });
    }

    fn mention(
        &mut self,
        flow: &FlowSyntax,
        step: &StepSyntax,
        report: &mut Report,
    ) -> Option<usize> {
        if let Some(index) = self.of(step) {
            return Some(index);
        }
        let index = self.list.len();
        match step {
            StepSyntax::Start(_) | StepSyntax::End(..) => return None,
            StepSyntax::Node(path) => return self.mention_path(flow, path, report),
            StepSyntax::Wait(wait) => {
                self.by_wait.insert(Rc::as_ptr(wait), index);
                let shown = format!("wait({})", wait.text);
                self.anonymous("wait", shown, InstanceKind::Wait(wait.duration), wait.span);
            }
            StepSyntax::Fork(fork) => {
                let branches = self.branches(flow, fork, report);
                let index = self.list.len();
                let shown = shown_fork(&branches, &self.list);
                self.by_branches.insert(fork_text(fork), index);
                self.anonymous("fork", shown, InstanceKind::Fork(branches), fork.span);
                return Some(index);
            }
        }
        Some(index)
    }

    /// A node that its author did not name.
    fn anonymous(&mut self, name: &str, shown: String, kind: InstanceKind, span: Span) {
        let taken =
            |name: &str, list: &[Instance]| list.iter().any(|node| plain(&node.name) == name);
        let mut candidate = name.to_owned();
        let mut number = 1;
        while taken(&candidate, &self.list) {
            number += 1;
            candidate = format!("{name}_{number}");
        }
        let name = ident(&candidate, span);
        self.list.push(Instance {
            name,
            shown,
            kind,
            declaration: None,
            hidden: false,
            span,
        });
    }

    fn mention_path(
        &mut self,
        flow: &FlowSyntax,
        path: &Path,
        report: &mut Report,
    ) -> Option<usize> {
        if path
            .get_ident()
            .is_some_and(|name| self.unusable.contains(&plain(name)))
        {
            return None;
        }
        if path.is_ident(&flow.name) {
            contains_itself(path, report);
            return None;
        }
        let segment = path.segments.last()?;
        let span = segment.ident.span();
        let name = ident(&snake_case(&segment.ident.to_string()), span);
        let text = plain(&name);
        let same = self.list.iter().position(|node| plain(&node.name) == text);
        if same.is_some() || RESERVED.contains(&text.as_str()) {
            let message = match same {
                Some(_) => format!("a second node is named `{text}`"),
                None => format!("`{text}` is a word of the language"),
            };
            let help = format!(
                "declare it under another name: `node other_{text}: {};`",
                path_text(path)
            );
            report.error(Code::Name, span, message, help);
        }
        let index = same.unwrap_or(self.list.len());
        self.by_path.insert(path_key(path), index);
        if same.is_none() {
            let (kind, shown) = (InstanceKind::Node(path.clone()), path_text(path));
            self.list.push(Instance {
                name,
                shown,
                kind,
                declaration: None,
                hidden: false,
                span,
            });
        }
        Some(index)
    }

    /// The nodes in the branches of a fork.
    fn branches(
        &mut self,
        flow: &FlowSyntax,
        fork: &ForkSyntax,
        report: &mut Report,
    ) -> Vec<Vec<usize>> {
        let mut branches = Vec::new();
        for chain in &fork.branches {
            let mut nodes = Vec::new();
            for step in chain {
                match step {
                    StepSyntax::Start(span) | StepSyntax::End(span, _) => {
                        let help = "a fork begins where an edge leads to it, and goes on when all its branches are done: \
                                    `start >> [a, b] >> end;`";
                        report.error(
                            Code::ForkShape,
                            *span,
                            "a branch of a fork neither starts nor ends the flow",
                            help,
                        );
                    }
                    step => match self.inner(step) {
                        true => {
                            let help = "make a flow of the inner fork, and put that flow here";
                            let message = "a fork directly inside a fork";
                            report.error(Code::ForkShape, step.span(), message, help);
                        }
                        false => nodes.extend(self.mention(flow, step, report)),
                    },
                }
            }
            branches.push(nodes);
        }
        branches
    }

    /// Whether a step of a branch is a fork itself, written here or declared.
    fn inner(&self, step: &StepSyntax) -> bool {
        let declared = self.of(step).map(|index| &self.list[index].kind);
        matches!(step, StepSyntax::Fork(_)) || matches!(declared, Some(InstanceKind::Fork(_)))
    }

    /// What a loop over items runs: a declared node, or one that only the loop knows.
    fn body(&mut self, declaration: usize, node: &NodeSyntax, report: &mut Report) {
        let (NodeSource::Each { path, mapping, .. }, Some(index)) =
            (&node.source, self.named(&node.name))
        else {
            return;
        };
        // A loop may be named like the function that it runs.
        let declared = path.get_ident().and_then(|name| self.named(name));
        let declared = declared.filter(|&declared| declared != index);
        if let Some(body) = declared.filter(|&body| self.list[body].path().is_none()) {
            let (shown, span) = (
                &self.list[body].shown,
                path.segments.last().map(|last| last.ident.span()),
            );
            let message = format!(
                "a loop over items runs a function, a type or a flow, and `{shown}` is none"
            );
            let help = format!("make a flow of `{shown}`, and run that flow for each item");
            report.error(
                Code::ForkShape,
                span.unwrap_or_else(Span::call_site),
                message,
                help,
            );
        }
        let found = match declared {
            Some(body) => {
                if let Some(one) = mapping.first() {
                    let message = format!(
                        "the mapping of `{}` belongs where it is declared",
                        self.list[body].shown
                    );
                    let help = format!("write `node {}: … {{ … }};`", self.list[body].shown);
                    report.error(Code::NamesNothing, one.port.span(), message, help);
                }
                body
            }
            None => {
                let Some(segment) = path.segments.last() else {
                    return;
                };
                let (batch, last) = (plain(&node.name), snake_case(&segment.ident.to_string()));
                let span = segment.ident.span();
                self.list.push(Instance {
                    name: ident(&format!("{batch}_{last}"), span),
                    shown: format!("{batch}.{last}"),
                    kind: InstanceKind::Node(path.clone()),
                    declaration: Some(declaration),
                    hidden: true,
                    span,
                });
                self.list.len() - 1
            }
        };
        if let InstanceKind::Each { body, .. } = &mut self.list[index].kind {
            *body = found;
        }
    }
}

impl Instance {
    /// Its path, if it is a function, a type or a flow.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.kind {
            InstanceKind::Node(path) => Some(path),
            _ => None,
        }
    }

    /// Whether it is a type or a flow, and so has a value.
    pub(crate) fn is_type(&self) -> bool {
        self.path()
            .and_then(|path| path.segments.last())
            .is_some_and(|segment| is_type_name(&segment.ident))
    }

    /// Its declaration; of a hidden one, that of its loop.
    pub(crate) fn declared<'a>(&self, flow: &'a FlowSyntax) -> Option<&'a NodeSyntax> {
        self.declaration.map(|index| &flow.nodes[index])
    }
}

/// A fork as messages speak of it.
fn shown_fork(branches: &[Vec<usize>], list: &[Instance]) -> String {
    let chain = |chain: &Vec<usize>| {
        let names: Vec<&str> = chain
            .iter()
            .map(|&node| list[node].shown.as_str())
            .collect();
        names.join(" >> ")
    };
    let chains: Vec<String> = branches.iter().map(chain).collect();
    format!("[{}]", chains.join(", "))
}

/// A fork as text, to compare it by.
fn fork_text(fork: &ForkSyntax) -> String {
    let step = |step: &StepSyntax| match step {
        StepSyntax::Start(_) => "start".to_owned(),
        StepSyntax::End(..) => "end".to_owned(),
        StepSyntax::Node(path) => path_key(path),
        StepSyntax::Wait(wait) => format!("wait({})", wait.text),
        StepSyntax::Fork(fork) => fork_text(fork),
    };
    let chain = |chain: &Vec<StepSyntax>| chain.iter().map(step).collect::<Vec<_>>().join(" >> ");
    format!(
        "[{}]",
        fork.branches
            .iter()
            .map(chain)
            .collect::<Vec<_>>()
            .join(", ")
    )
}

/// A path as text, to compare it by.
pub(crate) fn path_key(path: &Path) -> String {
    macro_path(path).to_token_stream().to_string()
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
    let message = format!("`{}` contains itself", path_text(path));
    let help = "lead an edge back to the step from which it has to run again";
    let span = path.segments.last().map(|last| last.ident.span());
    report.error(
        Code::Recursion,
        span.unwrap_or_else(Span::call_site),
        message,
        help,
    );
}
