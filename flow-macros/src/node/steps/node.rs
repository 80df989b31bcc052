//! A node of phases, and the facts that follow from them: its reads, if it can fail, and if there
//! can be more than one attempt.

use flow_spec::Code;
use proc_macro2::Ident;
use proc_macro2::TokenStream;
use syn::{FnArg, Generics, PatType, Signature};

use crate::contract::{Attempts, Contract, Failure, Kind};
use crate::names::snake_case;
use crate::node::attribute::NodeAttribute;
use crate::node::outcome::{Outcome, Returned, returns_future};
use crate::node::parameter::{
    self, GetsTransaction, Parameter, ParameterKind, parameters, used_name,
};
use crate::node::transaction;
use crate::report::Report;

use super::phase::{
    Phase, is_context, is_reference, is_result_of_phase, is_transaction, pattern_name,
};
use super::syntax::Steps;

pub(super) struct Node<'a> {
    pub(super) attribute: &'a NodeAttribute,
    pub(super) prep: Option<Phase>,
    pub(super) exec: Phase,
    pub(super) fallback: Option<Phase>,
    pub(super) post: Option<Phase>,
    /// The reads of all phases, each once.
    pub(super) reads: Vec<Parameter>,
    pub(super) outcome: Outcome,
}

impl<'a> Node<'a> {
    pub(super) fn new(
        name: &Ident,
        attribute: &'a NodeAttribute,
        exec: &Signature,
        steps: &Steps,
        report: &mut Report,
    ) -> Self {
        let transaction = attribute.transaction.is_some();
        let mut phase = |sig: &Signature, is_read: &dyn Fn(&FnArg) -> bool| {
            let gets = match (transaction, sig.ident == "exec") {
                (true, true) => GetsTransaction::Yes,
                (true, false) => GetsTransaction::OnlyExec,
                (false, _) => GetsTransaction::No,
            };
            let inputs = sig.inputs.iter().filter(|input| is_read(input));
            Phase {
                parameters: parameters(inputs, gets, report),
                returned: Returned::new(&sig.output, sig.ident.span(), &attribute.runtime, report),
                sig: sig.clone(),
            }
        };
        let prep = steps.method("prep").map(|sig| phase(sig, &|_| true));
        let exec = match prep {
            Some(_) => phase(exec, &|input| {
                is_context(input) || (transaction && is_transaction(input))
            }),
            None => phase(exec, &|_| true),
        };
        let fallback = steps.method("exec_fallback");
        let fallback = fallback.map(|sig| phase(sig, &is_context));
        let post = steps.method("post");
        let post = post.map(|sig| phase(sig, &|input| !is_result_of_phase(input)));
        let phases = [prep.as_ref(), Some(&exec), post.as_ref()];
        let reads = reads(name, phases.into_iter().flatten(), report);
        let last = post.as_ref().unwrap_or(&exec);
        let outcome = last
            .returned
            .outcome(&snake_case(&name.to_string()), attribute, report);
        let node = Node {
            attribute,
            prep,
            exec,
            fallback,
            post,
            reads,
            outcome,
        };
        node.refuse_settings_without_failure(name, report);
        if let Some(span) = attribute.transaction {
            let kinds = node.exec.parameters.iter().map(|parameter| parameter.kind);
            let has_it = kinds
                .into_iter()
                .any(|kind| kind == ParameterKind::Transaction);
            let is_async = node.exec.sig.asyncness.is_some();
            transaction::refuse(&node.exec.sig.ident, span, is_async, has_it, report);
        }
        node
    }

    /// The lifetimes that its methods name.
    pub(super) fn lifetimes(&self) -> Generics {
        let mut all = Generics::default();
        let phases = [self.prep.as_ref(), Some(&self.exec), self.post.as_ref()];
        for lifetime in phases
            .into_iter()
            .flatten()
            .flat_map(|phase| phase.sig.generics.lifetimes())
        {
            if all
                .lifetimes()
                .all(|other| other.lifetime != lifetime.lifetime)
            {
                all.params
                    .push(syn::GenericParam::Lifetime(lifetime.clone()));
            }
        }
        all
    }

    /// The phase whose value is the node's outcome.
    pub(super) fn last(&self) -> &Phase {
        self.post.as_ref().unwrap_or(&self.exec)
    }

    pub(super) fn exec_can_fail(&self) -> bool {
        self.exec.returned.fallible
            || self.attribute.settings.timeout.is_some()
            || self.attribute.transaction.is_some()
    }

    /// Returns true if an attempt never awaits.
    pub(super) fn never_awaits(&self) -> bool {
        self.exec.sig.asyncness.is_none() && !returns_future(&self.exec.sig.output)
    }

    /// Returns true if a method other than `exec` awaits. If `exec` cannot fail, a flow's timeout
    /// covers all methods.
    fn others_await(&self) -> bool {
        let others = [
            self.prep.as_ref(),
            self.fallback.as_ref(),
            self.post.as_ref(),
        ];
        let mut others = others.into_iter().flatten();
        others.any(|phase| phase.sig.asyncness.is_some())
    }

    pub(super) fn repeats(&self) -> bool {
        self.attribute.settings.repeats()
    }

    pub(super) fn contract(&self) -> Contract {
        let saved = self.fallback.is_some() && !fails(&self.fallback);
        let fails = fails(&self.prep) || fails(&self.post) || (self.exec_can_fail() && !saved);
        let ports = self.reads.iter().filter_map(Parameter::port);
        Contract {
            kind: Kind::Type,
            attempts: self.attempts(),
            failure: Failure::possible_if(fails),
            transaction: self.attribute.transaction.is_some(),
            never_awaits: self.never_awaits() && (self.exec_can_fail() || !self.others_await()),
            awaits_besides: self.others_await() || self.attribute.settings.waits(),
            reads: ports.collect(),
            writes: self.outcome.writes.clone(),
            ..Contract::empty()
        }
    }

    fn phases(&self) -> impl Iterator<Item = &Phase> {
        let phases = [
            self.prep.as_ref(),
            Some(&self.exec),
            self.fallback.as_ref(),
            self.post.as_ref(),
        ];
        phases.into_iter().flatten()
    }

    /// The types of the errors of its parts.
    pub(super) fn errors(&self) -> impl Iterator<Item = &TokenStream> {
        self.phases()
            .filter_map(|phase| phase.returned.error.as_ref())
    }

    pub(super) fn attempts(&self) -> Attempts {
        let has_context = self.phases().any(Phase::has_context);
        if self.exec_can_fail() && self.once() {
            Attempts::One
        } else if self.exec_can_fail() {
            Attempts::Many
        } else if has_context || fails(&self.prep) || fails(&self.post) {
            Attempts::Visit
        } else {
            Attempts::None
        }
    }

    /// Returns true if an attempt consumes the values that `exec` takes.
    pub(super) fn once(&self) -> bool {
        !self.repeats() && self.exec_takes() && !self.exec_clones()
    }

    fn exec_takes(&self) -> bool {
        match &self.prep {
            Some(_) => self
                .exec
                .typed()
                .any(|typed| !parameter::is_context(&typed.ty) && !is_reference(&typed.ty)),
            None => self.exec.parameters.iter().any(Parameter::takes),
        }
    }

    /// Returns true if `exec` gets clones of the values that it takes, for another attempt or for a
    /// later phase.
    pub(super) fn exec_clones(&self) -> bool {
        let later = [self.fallback.as_ref(), self.post.as_ref()]
            .into_iter()
            .flatten();
        self.repeats()
            || later
                .flat_map(Phase::typed)
                .any(|typed| self.is_prep_res(typed))
            || self.fallback.is_some()
    }

    /// The name of the parameter with which `exec` takes the result of `prep`.
    fn prep_name(&self) -> Option<Ident> {
        let is_own = |typed: &&PatType| {
            !parameter::is_context(&typed.ty) && !parameter::is_mutable(&typed.ty)
        };
        let typed = self.exec.typed().find(is_own)?;
        pattern_name(&typed.pat)
    }

    pub(super) fn is_prep_res(&self, typed: &PatType) -> bool {
        self.prep.is_some()
            && pattern_name(&typed.pat).is_some_and(|name| {
                let name = used_name(&name);
                name == "prep_res"
                    || self
                        .prep_name()
                        .is_some_and(|prep| used_name(&prep) == name)
            })
    }
}

fn fails(phase: &Option<Phase>) -> bool {
    phase.as_ref().is_some_and(|phase| phase.returned.fallible)
}

/// The reads of all phases, each once.
fn reads<'a>(
    name: &Ident,
    phases: impl Iterator<Item = &'a Phase>,
    report: &mut Report,
) -> Vec<Parameter> {
    let mut reads: Vec<Parameter> = Vec::new();
    for parameter in phases.flat_map(|phase| &phase.parameters) {
        if !parameter.is_read() {
            continue;
        }
        match reads.iter().find(|read| read.name == parameter.name) {
            None => reads.push(parameter.clone()),
            Some(earlier) if earlier.takes() || parameter.takes() => {
                let message = format!(
                    "`{name}` takes `{0}` in one method and reads it in another",
                    parameter.name
                );
                report.error(
                    Code::TakenTooEarly,
                    parameter.name.span(),
                    message,
                    "read it by reference in both",
                );
            }
            Some(_) => {}
        }
    }
    reads
}
