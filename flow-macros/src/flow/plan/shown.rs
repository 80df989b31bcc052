//! A plan as text, for tests.

use flow_spec::{EdgeSource, NodeId, Reader};

use crate::contract::Contract;
use crate::flow::instances::{InstanceKind, Instances};
use crate::flow::{parse, resolve};
use crate::report::Report;

use super::{
    BranchPlan, EdgeWrite, Handover, Place, Plan, Read, ReadIndex, RouteIndex, Slot, TakenBy,
};

/// The plan of a flow without mistakes: its nodes in the order in which they are written, each with
/// its reads and its routes.
pub(crate) fn shown(tokens: proc_macro2::TokenStream, contracts: &[Contract]) -> String {
    let mut report = Report::default();
    let flow = parse::parse(tokens, &mut report).flow.expect("it parses");
    let instances = Instances::collect(&flow, &mut report);
    let resolved = resolve::resolve(&flow, &instances, contracts, &mut report);
    let resolved = resolved.unwrap_or_else(|_| panic!("{}", report.into_tokens()));
    let plan = super::plan(&flow, &instances, &resolved);
    let mut lines = Vec::new();
    for (index, edge) in resolved.graph.graph().edges.iter().enumerate() {
        if edge.from == EdgeSource::Start {
            plan.show_edge(RouteIndex(index), "start: ", &mut lines);
        }
    }
    for node in plan.in_order() {
        plan.show(node, Place::Loop, "", &mut lines);
    }
    lines.join("\n")
}

impl Plan<'_> {
    fn show(&self, node: NodeId, place: Place<'_>, indent: &str, lines: &mut Vec<String>) {
        let instance = &self.instances[node];
        lines.push(format!("{indent}{}", instance.shown));
        for read in 0..self.resolved.contracts[node].reads.len() {
            let read = self.read(place, node, ReadIndex(read));
            lines.push(format!("{indent}  {}", self.read_text(&read)));
        }
        let deeper = format!("{indent}    ");
        match &instance.kind {
            InstanceKind::Each { .. } => {
                let branch: Option<&BranchPlan<'_>> = match place {
                    Place::Branch(branch) => Some(branch),
                    _ => None,
                };
                self.show(
                    self.instances.body(node),
                    Place::Item { branch, of: node },
                    &deeper,
                    lines,
                );
            }
            InstanceKind::Fork(_) | InstanceKind::Race(_) => {
                for branch in self.branches(node) {
                    lines.push(format!("{indent}  branch {}", branch.number));
                    for by in &branch.takes {
                        let taken = self.read(Place::Loop, by.node, by.read);
                        lines.push(format!("{indent}    takes {}", self.read_text(&taken)));
                    }
                    for &node in branch.chain {
                        self.show(node, Place::Branch(branch), &deeper, lines);
                    }
                }
            }
            _ => {}
        }
        for &route in self.routes(node) {
            let action = self.edge(route).action();
            lines.push(format!("{indent}  \"{action}\" is route {}", route.0));
            self.show_edge(route, &format!("{indent}    "), lines);
        }
    }

    fn read_text(
        &self,
        Read {
            key,
            slot,
            handover,
        }: &Read<'_>,
    ) -> String {
        let name = |node: NodeId| &self.instances[node].shown;
        let slot = match slot {
            Slot::State => "of the state".to_owned(),
            Slot::Base => "of the state at the fork".to_owned(),
            Slot::Own => "of the branch".to_owned(),
            Slot::OwnOrBase => "of the branch or the state at the fork".to_owned(),
            Slot::Taken(TakenBy {
                node,
                read: ReadIndex(read),
            }) => {
                format!("taken for read {read} of {}", name(*node))
            }
            Slot::Item => "the item".to_owned(),
            Slot::Nowhere => "written by nobody".to_owned(),
        };
        let handover = match handover {
            Handover::Borrow => "borrowed".to_owned(),
            Handover::Move => "moved".to_owned(),
            Handover::Clone { later } => self.cloned_text(*later),
        };
        format!("{key}: {slot}, {handover}")
    }

    fn cloned_text(&self, later: Reader) -> String {
        match later {
            Reader::Output => "cloned, since the flow returns it".to_owned(),
            Reader::Node(reader) => {
                let reader = &self.instances[reader].shown;
                format!("cloned, since {reader} needs it later")
            }
            Reader::Adder(adder) => {
                let adder = &self.instances[adder].shown;
                format!("cloned, since {adder} adds to it later")
            }
            Reader::Edge(edge) => format!("cloned, since edge {edge} needs it later"),
        }
    }

    fn show_edge(&self, route: RouteIndex, indent: &str, lines: &mut Vec<String>) {
        for EdgeWrite { key, source, later } in self.edge_writes(route) {
            let handover = later.map_or("moved".to_owned(), |later| self.cloned_text(later));
            lines.push(format!("{indent}{key} from {source}, {handover}"));
        }
    }
}
