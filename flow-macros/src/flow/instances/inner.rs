//! Nodes inside others: in the branches of a fork or a race, and as the body of a loop over items.

use flow_spec::{Code, NodeId};
use proc_macro2::{Ident, Span};

use crate::flow::syntax::{
    DeclarationIndex, FlowSyntax, ForkSyntax, NodeSource, NodeSyntax, RaceBranchSyntax, StepSyntax,
};
use crate::names::{ident, plain, snake_case};
use crate::report::Report;

use super::{Instance, InstanceKind, Instances, RaceBranch};

impl Instances {
    /// The nodes in the branches of a fork.
    pub(super) fn branches(
        &mut self,
        flow: &FlowSyntax,
        fork: &ForkSyntax,
        report: &mut Report,
    ) -> Vec<Vec<NodeId>> {
        let help = "a fork begins where an edge leads to it, and goes on when all its branches are done: \
                    `start >> [a, b] >> end;`";
        let branches = fork.branches.iter();
        branches
            .map(|chain| self.branch(flow, chain, ("fork", help), report))
            .collect()
    }

    /// The branches of a race.
    pub(super) fn branches_of_race(
        &mut self,
        flow: &FlowSyntax,
        race: &Ident,
        branches: &[RaceBranchSyntax],
        report: &mut Report,
    ) -> Vec<RaceBranch> {
        let help = format!(
            "a race begins where an edge leads to it, and edges lead on from its actions: \
             `{race} - \"action\" >> end;`"
        );
        let branches = branches.iter().map(|branch| RaceBranch {
            chain: self.branch(flow, &branch.chain, ("race", &help), report),
            action: branch.action.clone(),
        });
        branches.collect()
    }

    /// The nodes of one branch. `of` is its fork or race, and `help` the help for one that
    /// starts or ends the flow.
    fn branch(
        &mut self,
        flow: &FlowSyntax,
        chain: &[StepSyntax],
        (of, help): (&str, &str),
        report: &mut Report,
    ) -> Vec<NodeId> {
        let mut nodes = Vec::new();
        for step in chain {
            if let StepSyntax::Start(span) | StepSyntax::End(span, _) = step {
                let message = format!("a branch of a {of} neither starts nor ends the flow");
                report.error(Code::ForkShape, *span, message, help);
            } else if let Some(inner) = self.inner(step) {
                let help = format!("make a flow of the inner {inner}, and put that flow here");
                let message = format!("a {inner} directly inside a {of}");
                report.error(Code::ForkShape, step.span(), message, help);
            } else {
                nodes.extend(self.mention(flow, step, report));
            }
        }
        nodes
    }

    /// The word for a step of a branch that has branches itself.
    fn inner(&self, step: &StepSyntax) -> Option<&'static str> {
        match self.of(step).map(|id| &self[id].kind) {
            Some(InstanceKind::Race(_)) => Some("race"),
            Some(InstanceKind::Fork(_)) => Some("fork"),
            _ => matches!(step, StepSyntax::Fork(_)).then_some("fork"),
        }
    }

    /// Finds the node that takes back the visits of a declared node.
    pub(super) fn find_undo_node(
        &mut self,
        flow: &FlowSyntax,
        node: &NodeSyntax,
        report: &mut Report,
    ) {
        let Some((_, path)) = &node.settings.undo else {
            return;
        };
        let step = StepSyntax::Node(path.clone());
        if let (Some(owner), Some(undo)) =
            (self.named(&node.name), self.mention(flow, &step, report))
        {
            self.undo_nodes.insert(owner, undo);
        }
    }

    /// Finds the body of a loop over items: a declared node, or one that only the loop knows.
    pub(super) fn find_body(
        &mut self,
        declaration: DeclarationIndex,
        node: &NodeSyntax,
        report: &mut Report,
    ) {
        let (NodeSource::Each { path, mapping, .. }, Some(each)) =
            (&node.source, self.named(&node.name))
        else {
            return;
        };
        // A loop may have the same name as the function that it runs.
        let declared = path.get_ident().and_then(|name| self.named(name));
        let declared = declared.filter(|&declared| declared != each);
        if let Some(body) = declared.filter(|&body| self[body].path().is_none()) {
            let shown = &self[body].shown;
            let span = path.segments.last().map(|last| last.ident.span());
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
                        self[body].shown
                    );
                    let help = format!("write `node {}: … {{ … }};`", self[body].shown);
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
                self.push(Instance {
                    name: ident(&format!("{batch}_{last}"), span),
                    shown: format!("{batch}.{last}"),
                    kind: InstanceKind::Node(path.clone()),
                    declaration: Some(declaration),
                    hidden: true,
                    is_external: false,
                    span,
                })
            }
        };
        self.bodies.insert(each, found);
    }
}
