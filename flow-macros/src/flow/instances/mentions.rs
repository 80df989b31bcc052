//! Nodes that occur only in edges. Each is one node, however often it is mentioned, and needs its
//! own name.

use flow_spec::{Code, NodeId};
use proc_macro2::Span;
use syn::Path;

use crate::flow::syntax::{FlowSyntax, ForkSyntax, StepSyntax};
use crate::names::{RESERVED, ident, path_text, plain, snake_case};
use crate::protocol::macro_text;
use crate::report::Report;

use super::{Instance, InstanceKind, Instances, contains_itself};

impl Instances {
    pub(super) fn mention(
        &mut self,
        flow: &FlowSyntax,
        step: &StepSyntax,
        report: &mut Report,
    ) -> Option<NodeId> {
        if let Some(id) = self.of(step) {
            return Some(id);
        }
        match step {
            StepSyntax::Start(_) | StepSyntax::End(..) => None,
            StepSyntax::Node(path) => self.mention_path(flow, path, report),
            StepSyntax::Wait(wait) => {
                let (shown, kind) = (
                    format!("wait({})", wait.text),
                    InstanceKind::Wait(wait.duration),
                );
                let id = self.anonymous("wait", shown, kind, wait.span);
                self.by_wait.insert(wait.index, id);
                Some(id)
            }
            StepSyntax::Undo(undo) => {
                let kind = if undo.commits {
                    InstanceKind::Commit
                } else {
                    InstanceKind::Undo
                };
                let id = self.anonymous(undo.word(), undo.word().to_owned(), kind, undo.span);
                self.by_wait.insert(undo.index, id);
                Some(id)
            }
            StepSyntax::Fork(fork) => {
                let branches = self.branches(flow, fork, report);
                let shown = shown_fork(&branches, self);
                let id = self.anonymous("fork", shown, InstanceKind::Fork(branches), fork.span);
                self.by_branches.insert(fork_text(fork), id);
                Some(id)
            }
        }
    }

    /// Adds a node that its author did not name.
    fn anonymous(&mut self, name: &str, shown: String, kind: InstanceKind, span: Span) -> NodeId {
        let mut candidate = name.to_owned();
        let mut number = 1;
        while self.by_name.contains_key(&candidate) {
            number += 1;
            candidate = format!("{name}_{number}");
        }
        let name = ident(&candidate, span);
        self.push(Instance {
            name,
            shown,
            kind,
            declaration: None,
            hidden: false,
            is_external: false,
            span,
        })
    }

    fn mention_path(
        &mut self,
        flow: &FlowSyntax,
        path: &Path,
        report: &mut Report,
    ) -> Option<NodeId> {
        if path
            .get_ident()
            .is_some_and(|name| self.unusable.contains(&plain(name)))
        {
            return None;
        }
        if let Some(word) = path.get_ident().filter(|word| *word == "wait") {
            report.text(word.span(), "a pause says how long it is: `wait(5s)`");
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
        let same = self.by_name.get(&text).copied();
        // A function of such a name is refused where it is defined.
        let is_reserved = plain(&segment.ident) != text && RESERVED.contains(&text.as_str());
        if same.is_some() || is_reserved {
            let message = match same {
                Some(_) => format!("a second node is named `{text}`"),
                None => format!("`{text}` is a word of the language"),
            };
            let path = path_text(path);
            let help = match same {
                Some(same) => format!(
                    "if it is the same one, write `{}` here too; else declare it under another name: `node \
                     other_{text}: {path};`",
                    self[same].shown
                ),
                None => format!("declare it under another name: `node other_{text}: {path};`"),
            };
            report.error(Code::Name, span, message, help);
        }
        let id = same.unwrap_or_else(|| {
            self.push(Instance {
                name,
                shown: path_text(path),
                kind: InstanceKind::Node(path.clone()),
                declaration: None,
                hidden: false,
                is_external: false,
                span,
            })
        });
        self.by_path.insert(path_key(path), id);
        Some(id)
    }
}

/// A fork in the form that messages use.
fn shown_fork(branches: &[Vec<NodeId>], instances: &Instances) -> String {
    let chain = |chain: &Vec<NodeId>| {
        let names: Vec<&str> = chain
            .iter()
            .map(|&node| instances[node].shown.as_str())
            .collect();
        names.join(" >> ")
    };
    let chains: Vec<String> = branches.iter().map(chain).collect();
    format!("[{}]", chains.join(", "))
}

/// A fork as text, for comparison.
pub(super) fn fork_text(fork: &ForkSyntax) -> String {
    let step = |step: &StepSyntax| match step {
        StepSyntax::Start(_) => "start".to_owned(),
        StepSyntax::End(..) => "end".to_owned(),
        StepSyntax::Node(path) => path_key(path),
        StepSyntax::Wait(wait) => format!("wait({})", wait.text),
        StepSyntax::Undo(undo) => undo.word().to_owned(),
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

/// The path of the node's macro as text, for comparison. Each node comes here several times, so
/// rustc is not asked to print it.
pub(crate) fn path_key(path: &Path) -> String {
    let mut names: Vec<String> = Vec::with_capacity(path.segments.len() + 1);
    names.extend(path.leading_colon.map(|_| String::new()));
    names.extend(
        path.segments
            .iter()
            .map(|segment| segment.ident.to_string()),
    );
    if let Some(last) = names.last_mut() {
        *last = macro_text(std::mem::take(last));
    }
    names.join("::")
}
