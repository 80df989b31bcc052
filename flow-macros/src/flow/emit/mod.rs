//! The code of a flow that depends on its nodes: its run, and what describes it.
//!
//! It follows the plan, which has all decisions. Each part of a flow without mistakes is a method
//! of [`Emit`].

mod checks;
mod context;
mod document;
mod requirements;
mod results;
mod run;
mod runs;
mod state;
mod stored;
mod visit;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};

use crate::contract::Kind;
use crate::editor::out_of_sight;
use crate::names::{here, plain};

use super::defaults;
use super::editor;
use super::instances::InstanceKind;
use super::plan::{Place, Plan, RouteIndex};
use super::syntax::FlowSyntax;
use super::types::TypeNames;

use context::Emit;
use state::{State, told_of_type};
use visit::Visit;

/// The code of a flow without mistakes.
pub(super) fn emit(plan: &Plan<'_>) -> TokenStream {
    let flow = plan.flow;
    if crate::editor::expands() {
        let (stub, uses) = (stub(flow), editor::uses(plan));
        return quote!(#stub #uses);
    }
    let site = here(flow.name.span());
    let (import, runtime) = flow.runtime.imported(site);
    let state = State::of(plan, &runtime);
    if let Some((adder, key)) = state.untyped(plan) {
        let (stub, message) = (stub(flow), told_of_type(&adder.shown, &key));
        let error = quote_spanned!(adder.span=> ::core::compile_error! { #message });
        return quote!(#error #stub);
    }
    let emit = Emit {
        plan,
        flow,
        names: TypeNames::of(flow),
        state,
        runtime: &runtime,
    };
    emit.expand(&import)
}

/// The items that a flow with mistakes has instead, so that an outer flow has no second error.
pub(super) fn stub(flow: &FlowSyntax) -> TokenStream {
    let TypeNames { input, output, .. } = TypeNames::of(flow);
    let name = &flow.name;
    let site = here(name.span());
    let (rt, runtime) = (flow.runtime.hidden_at(site), flow.runtime.root_at(site));
    let ended = quote_spanned! {site=>
        impl ::core::future::Future<Output = ::core::result::Result<#output, #rt::FlowError>> + ::core::marker::Send
    };
    out_of_sight(quote_spanned! {site=>
        const _: () = {
            // As in a flow without mistakes: it runs without an import of the trait `Flow`.
            impl #name {
                /// Does not run: the flow has mistakes.
                pub fn run(&self, _: #input) -> #ended + use<'_> {
                    async { ::core::unreachable!("a flow with mistakes does not compile") }
                }
                /// Does not run: the flow has mistakes.
                pub fn run_with<__Answers>(&self, _: #input, _: #runtime::RunOptions<__Answers>) -> #ended + use<'_, __Answers> {
                    async { ::core::unreachable!("a flow with mistakes does not compile") }
                }
            }
            #runtime::stored! { broken #name #input #output }
            impl<__E: #rt::Hooks> #rt::Drive<__E> for #name {
                async fn drive(
                    &self, _: &__E, _: &#rt::Scope<'_>, _: #input,
                ) -> #rt::Result<#output, #rt::Failed> {
                    ::core::unreachable!("a flow with mistakes does not compile")
                }
            }
        };
    })
}

impl ToTokens for RouteIndex {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.0.to_tokens(tokens);
    }
}

impl Emit<'_> {
    fn expand(&self, import: &TokenStream) -> TokenStream {
        let name = &self.flow.name;
        let site = here(name.span());
        let definition = self.state.expand(self.flow, &self.names, self.runtime);
        let visits: Vec<Visit<'_>> = self
            .plan
            .in_order()
            .into_iter()
            .map(|node| Visit::new(self, node, Place::Loop))
            .collect();
        let steps = visits.iter().map(Visit::expand);
        let branches = visits.iter().map(|visit| match &visit.instance.kind {
            InstanceKind::Fork(_) | InstanceKind::Race(_) => visit::structs(visit),
            _ => TokenStream::new(),
        });
        let undo_visits: Vec<Visit<'_>> = self.undo_visits().collect();
        let undo = self.undo_functions();
        let (drive, parts) = self.drive(&visits);
        let described = self.described();
        let stored = stored::stored(self);
        let runs = self.runs();
        let checks = checks::checks(self, visits.iter().chain(&undo_visits));
        let traits = (!checks.is_empty()).then(|| checks::traits(&self.flow.runtime, site));
        quote_spanned! {site=>
            const _: () = {
                #traits
                #import
                #definition
                #(#branches)*
                #described
                #stored
                impl #name {
                    #(#steps)*
                    #undo
                    #parts
                }
                #runs
                #drive
            };
            #(const _: () = { #import #traits #checks };)*
        }
    }

    /// The description of the flow: its JSON, and the code by which an export reads its values.
    fn described(&self) -> TokenStream {
        let name = &self.flow.name;
        let site = here(name.span());
        let rt = self.runtime.hidden_at(site);
        let parts = document::parts(self.plan);
        let (text, namespace) = (name.to_string(), self.flow.namespace());
        let values = self
            .plan
            .nodes()
            .filter(|(_, instance, contract)| instance.is_type() && !contract.kind.is_external());
        let values = values.map(|(_, instance, contract)| {
            let (id, field) = (document::id(instance), &instance.name);
            match contract.kind {
                Kind::Flow => quote_spanned!(site=> flow #id self.#field),
                _ => quote_spanned!(site=> node #id self.#field),
            }
        });
        let asks = self.requirements();
        let types = self
            .state
            .types()
            .map(|(key, ty)| quote_spanned!(site=> #key #ty));
        let unshown = self.flow.inputs.iter().filter_map(|input| {
            let default = defaults::call(input, &self.names)?;
            let text = plain(&input.name);
            let is_shown = input.default.as_ref().and_then(defaults::json).is_some();
            (!is_shown).then(|| quote_spanned!(site=> #text #default))
        });
        quote_spanned! {site=>
            impl #name {
                #asks
                #rt::inner! { #parts }
                #rt::values! { self {#(#values,)*} {#(#types,)*} {#(#unshown,)*} }
            }
            #rt::embed!(#name, #text, #namespace);
        }
    }
}
