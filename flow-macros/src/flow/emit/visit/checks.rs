//! The checks of the types of the values that a node reads and writes.

use flow_spec::{Code, ERROR_KEY, Reader};
use proc_macro2::TokenStream;

use crate::contract::{Kind, Mode, ReadPort, WritePort};
use crate::flow::emit::checks::{is_surely_printed, said};
use crate::flow::emit::results::results_type;
use crate::flow::emit::state::{type_written_by_action, written_type};
use crate::flow::instances::InstanceKind;
use crate::flow::mapped::{adds, key_of};
use crate::flow::plan::{Handover, Place, Read, ReadIndex, Slot};
use crate::names::plain;
use crate::text::has_arguments;

use super::Visit;

impl Visit<'_> {
    /// The checks of the node, and of those in it.
    pub(in crate::flow::emit) fn checks(&self) -> Vec<TokenStream> {
        let mut checks = Vec::new();
        match &self.instance.kind {
            InstanceKind::Node(_) => {
                checks.extend(self.checks_of_call());
                checks.extend(self.undo_checks());
                checks.extend(self.addition_checks());
                let ports = self.written_ports().into_iter();
                let ports = ports.filter(|(port, _)| !adds(self.mapping, port));
                checks.extend(ports.filter_map(|(port, ty)| {
                    let key = plain(key_of(self.mapping, &port.name, false));
                    self.write_check(&key, &port.rust_type, &ty)
                }));
            }
            InstanceKind::Fork(_) | InstanceKind::Race(_) => {
                for branch in self.plan.branches(self.node) {
                    for by in &branch.takes {
                        let taker = Visit::new(self.emit, by.node, Place::Loop);
                        checks.extend(taker.read_checks(by.read));
                    }
                    checks.extend(self.branch_visits(branch).iter().flat_map(Visit::checks));
                }
            }
            InstanceKind::Each { .. } => {
                checks.extend(self.read_checks(ReadIndex(0)));
                checks.extend(self.addition_checks());
                if self.contract.writes.iter().any(|port| !port.adds) {
                    let results = results_type(self.plan, self.emit.runtime, self.node);
                    checks.extend(self.write_check(&plain(&self.instance.name), "", &results));
                }
                let body = self.plan.instances.body(self.node);
                checks.extend(self.body_visit(body).checks_of_call());
            }
            InstanceKind::Branch(_) => checks.extend(self.checks_of_reads()),
            InstanceKind::Wait(_) | InstanceKind::Undo | InstanceKind::Commit => {}
        }
        checks
    }

    /// The checks of the values that the node is called with, and that its prompt shows.
    fn checks_of_call(&self) -> Vec<TokenStream> {
        let mut checks = self.checks_of_reads();
        if self.contract.kind == Kind::Human {
            let reads = (0..self.contract.reads.len()).map(ReadIndex);
            checks.extend(reads.filter_map(|read| self.prompt_check(read)));
        }
        checks
    }

    fn checks_of_reads(&self) -> Vec<TokenStream> {
        let reads = (0..self.contract.reads.len()).map(ReadIndex);
        reads.flat_map(|read| self.read_checks(read)).collect()
    }

    fn read_checks(&self, read: ReadIndex) -> Vec<TokenStream> {
        let port = &self.contract.reads[read.0];
        let Read {
            key,
            slot,
            handover,
        } = self.plan.read(self.place, self.node, read);
        let mut checks = Vec::new();
        if matches!(slot, Slot::Item | Slot::Nowhere) {
            return checks;
        }
        if let Handover::Clone { later } = handover {
            checks.extend(self.clone_check((read, key), later, port));
        }
        if let (Some([written, wanted]), true) = (self.compared(read, port, key), key != ERROR_KEY)
        {
            let by = if port.mode == Mode::Borrow { "&" } else { "" };
            let (reader, user) = (&self.instance.shown, self.instance.span);
            let message = self.state.told_to_reader(reader, key, by, &port.rust_type);
            checks.push(if port.mode.takes() {
                self.emit.agreement_check(&written, &wanted, &message, user)
            } else {
                self.emit.loan_check(&written, &wanted, &message, user)
            });
        }
        checks
    }

    /// The check that a value can be cloned, because there is a later reader.
    fn clone_check(
        &self,
        (read, key): (ReadIndex, &str),
        later: Reader,
        port: &ReadPort,
    ) -> Option<TokenStream> {
        let taker = &self.instance.shown;
        let reader = match later {
            Reader::Node(reader) if reader == self.node => "it may need again itself".to_owned(),
            Reader::Adder(adder) if adder == self.node => "it adds to itself".to_owned(),
            later => self.plan.reads_later(later),
        };
        // The type of a generic node may be one of its parameters.
        let is_generic = self.instance.path().is_some_and(has_arguments);
        let ty = (!is_generic).then_some(&*port.rust_type);
        let code = Code::TakenTooEarly;
        let ty = said(ty);
        let help = match self.contract.kind {
            Kind::Flow => format!("derive `Clone` for {ty}: a flow takes its inputs"),
            Kind::Function | Kind::Type | Kind::Human | Kind::Signal => {
                let borrowed = if is_generic {
                    "by reference".to_owned()
                } else {
                    format!("by reference, as `&{}`", port.rust_type)
                };
                format!("let `{taker}` read it {borrowed}, or derive `Clone` for {ty}")
            }
        };
        let message = format!(
            "`{taker}` takes `{key}`, which {reader}, and {ty} is not `Clone` [{code}]\nhelp: {help}"
        );
        let types = self.compared(read, port, key);
        self.emit
            .clone_check(key, types.as_ref(), &message, self.instance.span)
    }

    /// The check that a value which the prompt shows can be printed.
    fn prompt_check(&self, read: ReadIndex) -> Option<TokenStream> {
        let Read { key, slot, .. } = self.plan.read(self.place, self.node, read);
        let text = self.state.text(key);
        if slot == Slot::Item || text.is_some_and(is_surely_printed) {
            return None;
        }
        let (asked, ty) = (&self.instance.shown, said(text));
        let message = format!(
            "the prompt of `{asked}` shows `{{{key}}}`, and {ty} cannot be printed\n\
             help: implement `std::fmt::Display` for {ty}, or let the prompt show another key"
        );
        let user = self.instance.span;
        Some(self.emit.print_check(&self.state.ty(key), &message, user))
    }

    /// The values that it writes, with their types.
    pub(super) fn written_ports(&self) -> Vec<(&WritePort, TokenStream)> {
        let (contract, path, site) = (self.contract, &self.path, self.site);
        let runtime = self.emit.runtime;
        let by_action = |port| type_written_by_action(contract, port, path, site, runtime);
        if contract.kind == Kind::Flow {
            let outputs = contract.outputs().into_iter();
            return outputs.map(|port| (port, by_action(port))).collect();
        }
        let always = contract.writes.iter();
        let always = always.map(|port| (port, written_type(contract, port, path, site, runtime)));
        let actions = contract.actions.iter().flat_map(|action| &action.writes);
        always
            .chain(actions.map(|port| (port, by_action(port))))
            .collect()
    }

    /// The check that a value has the type that others write under the key.
    fn write_check(&self, key: &str, text: &str, ty: &TokenStream) -> Option<TokenStream> {
        let shared = self.state.shared(key, text)?;
        let message = shared.told_by_writers(&self.instance.shown, text);
        let user = self.instance.span;
        Some(self.emit.agreement_check(ty, &shared.ty, &message, user))
    }
}
