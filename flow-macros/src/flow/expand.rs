//! Expands the loop: the steps one after the other, in the order in which they lead to one another.

use std::collections::HashSet;

use flow_spec::{Edge, EdgeSource, EdgeTarget, NodeId};
use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};

use crate::contract::Kind;
use crate::editor::out_of_sight;
use crate::names::{camel_case, here, ident, plain};
use crate::text::type_text;

use super::defaults;
use super::document;
use super::editor;
use super::instances::{InstanceKind, Instances};
use super::items::node_variant;
use super::plan::{Place, Plan, RouteIndex};
use super::resolve::Resolved;
use super::state::State;
use super::stored;
use super::syntax::FlowSyntax;
use super::types::TypeNames;
use super::visit::{self, Visit};

/// The number of nodes that one `async fn` runs. rustc compares the values kept across each
/// `.await` with each other, so a function with twice the steps takes four times as long.
const NODES_OF_A_PART: usize = 16;

/// The nodes that a loop runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// All nodes of the flow.
    Whole,
    /// Some of many nodes: those that lead to one another, so that a chain stays within its part.
    OfMany,
}

/// The second half of a flow's expansion.
pub(super) fn expand(flow: &FlowSyntax, instances: &Instances, resolved: &Resolved) -> TokenStream {
    let site = here(flow.name.span());
    let (import, runtime) = flow.runtime.imported(site);
    let plan = Plan::new(flow, instances, resolved, &runtime);
    if crate::editor::expands() {
        let (stub, uses) = (stub(flow), editor::uses(&plan));
        return quote!(#stub #uses);
    }
    let items = plan.expand(&State::of(&plan));
    let (imports, checks) = plan.told(site);
    quote_spanned! {site=>
        const _: () = { #imports #import #items };
        #checks
    }
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

impl Plan<'_> {
    fn expand(&self, state: &State) -> TokenStream {
        let (name, names) = (&self.flow.name, &self.names);
        let site = here(name.span());
        let definition = state.expand(self.flow, names, self.runtime);
        let visits: Vec<Visit<'_>> = self
            .in_order()
            .into_iter()
            .map(|node| Visit::new(self, state, node, Place::Loop))
            .collect();
        let steps = visits.iter().map(Visit::expand);
        let branches = visits.iter().map(|visit| match &visit.instance.kind {
            InstanceKind::Fork(_) => visit::structs(self, state, visit),
            _ => TokenStream::new(),
        });
        let (drive, parts) = self.drive(&visits, state);
        let described = self.described(state);
        let stored = stored::stored(self, state);
        let runs = self.runs();
        quote_spanned! {site=>
            #definition
            #(#branches)*
            #described
            #stored
            impl #name {
                #(#steps)*
                #parts
            }
            #runs
            #drive
        }
    }

    /// The function with which an engine runs the flow, and the functions that it calls.
    fn drive(&self, visits: &[Visit<'_>], state: &State) -> (TokenStream, TokenStream) {
        let name = &self.flow.name;
        let output = &self.names.output;
        let site = here(name.span());
        let rt = self.runtime.hidden_at(site);
        let mut seen = HashSet::new();
        let bounds = visits
            .iter()
            .flat_map(Visit::bounds)
            .filter(|bound| seen.insert(bound.to_string()));
        let (run, functions) = self.run(visits, state);
        let (values, fields) = self.outputs(state);
        let drive = quote_spanned! {site=>
            impl<__E> #rt::Drive<__E> for #name
            where
                for<'__a> &'__a #name: ::core::marker::Send,
                __E: #rt::StateHooks<__State>,
                #(#bounds,)*
            {
                // Not an `async fn`, which would move its arguments once more when it starts.
                fn drive(
                    &self, __engine: &__E, __scope: &#rt::Scope<'_>, __input: <Self as #rt::Flow>::Input,
                ) -> impl ::core::future::Future<
                    Output = #rt::Result<<Self as #rt::Flow>::Output, #rt::Failed>,
                > + ::core::marker::Send {
                    async move {
                        let mut __state = __State::new(__input);
                        let __end = #run;
                        #rt::StateHooks::at_end(__engine, __scope, &__state);
                        #rt::Hooks::flow_ended(__engine, __scope, __end.as_str());
                        #(#values)*
                        #rt::Ok(#output { #(#fields)* end: __end })
                    }
                }
            }
        };
        (drive, functions)
    }

    /// An expression of the end that the flow reaches, and the functions that the expression calls.
    /// In it, `state` is the state itself.
    fn run(&self, visits: &[Visit<'_>], state: &State) -> (TokenStream, TokenStream) {
        let site = here(self.flow.name.span());
        let rt = self.runtime.hidden_at(site);
        let edges = &self.resolved.graph.graph().edges;
        let Some(start) = edges.iter().position(|edge| edge.from == EdgeSource::Start) else {
            let missing = quote_spanned!(site=> ::core::unreachable!("the analysis accepted a flow without a start"));
            return (missing, TokenStream::new());
        };
        let mappings = self.mappings(state, RouteIndex(start));
        let first = match &edges[start].to {
            EdgeTarget::Node(first) => self.node_variant(*first),
            EdgeTarget::End(label) => {
                let end = self.end_variant(label);
                return (
                    quote_spanned!(site=> { #mappings #end }),
                    TokenStream::new(),
                );
            }
        };
        let node = &self.names.node;
        let (run, functions) = if visits.len() <= NODES_OF_A_PART {
            (self.steps(visits), TokenStream::new())
        } else {
            self.parts(visits)
        };
        let run = quote_spanned! {site=>
            {
                #mappings
                let mut __node = #first;
                if let #rt::Some((__at, __restored)) = #rt::StateHooks::<__State>::resume_from(__engine, __scope)? {
                    __node = #node::__ALL[__at];
                    __state = __restored;
                }
                #rt::StateHooks::before_node(__engine, __scope, __node as ::core::primitive::u16, &__state)?;
                #run
            }
        };
        (run, functions)
    }

    /// The loop over the nodes, which ends with the end of the flow. Each node comes after those
    /// that lead to it, so that a step leads straight to the next one: the compiler sees which `if`
    /// holds next. Only edges that lead back go through the `match` at the top.
    fn steps(&self, visits: &[Visit<'_>]) -> TokenStream {
        let site = here(self.flow.name.span());
        let own = visits.iter().map(|visit| self.variant(visit));
        let others = self.inside_others();
        let steps = visits.iter().map(|visit| {
            let (variant, state) = (self.variant(visit), quote_spanned!(site=> &mut __state));
            let (visited, (action, ends_here)) =
                (visited(visit, &state), self.action(visit, Part::Whole));
            let goes_on = if ends_here {
                action
            } else {
                self.after_node(&action, &quote_spanned!(site=> &__state))
            };
            quote_spanned! {site=>
                if let #variant = __node {
                    #visited
                    #goes_on
                }
            }
        });
        quote_spanned! {site=>
            loop {
                match __node { #(#own)|* => {} #others }
                #(#steps)*
            }
        }
    }

    /// The loop over the nodes of a part, which ends with the end of the flow or with the node
    /// after the part. The code after each node occurs only once, because rustc takes long for
    /// several hundred copies.
    fn steps_of_part(&self, visits: &[Visit<'_>]) -> TokenStream {
        let site = here(self.flow.name.span());
        let rt = self.runtime.hidden_at(site);
        let mut end_here = true;
        let mut arms = TokenStream::new();
        for visit in visits {
            let (variant, state) = (self.variant(visit), quote_spanned!(site=> __state));
            let (visited, (action, ends_here)) =
                (visited(visit, &state), self.action(visit, Part::OfMany));
            end_here &= ends_here;
            arms.extend(quote_spanned!(site=> #variant => { #visited #action }));
        }
        let action = quote_spanned! {site=>
            match __node {
                #arms
                __next => return #rt::Ok(#rt::ControlFlow::Continue(__next)),
            }
        };
        let goes_on = if end_here {
            action
        } else {
            self.after_node(&action, &quote_spanned!(site=> &*__state))
        };
        quote_spanned!(site=> loop { #goes_on })
    }

    /// Reports to the engine the action of a node that has led to the next one.
    fn after_node(&self, action: &TokenStream, state: &TokenStream) -> TokenStream {
        let site = here(self.flow.name.span());
        let rt = self.runtime.hidden_at(site);
        // Not with `?`, which takes rustc longer.
        quote_spanned! {site=>
            let __action = #action;
            if let #rt::Err(__failed) = #rt::StateHooks::after_node(__engine, __scope, __action, __node as ::core::primitive::u16, #state) {
                return #rt::Err(__failed);
            }
        }
    }

    /// The code after a node: follows the action that it took, which is an expression of its
    /// `route`. Also returns whether all of its actions lead to ends.
    fn action(&self, visit: &Visit<'_>, part: Part) -> (TokenStream, bool) {
        let site = here(self.flow.name.span());
        let routes = self.routes(visit.node);
        let edges = || routes.iter().map(|route| self.edge(*route));
        let targets: Vec<TokenStream> = edges().map(|edge| self.target(edge, part)).collect();
        // A visit returns the number of one of its own routes, so the last one needs no check.
        let action = match &targets[..] {
            [] => quote_spanned!(site=> ::core::unreachable!("every node has a route")),
            [only] => only.clone(),
            [others @ .., last] => {
                quote_spanned!(site=> match __route { #(#routes => #others,)* _ => #last })
            }
        };
        let ends_here = edges().all(|edge| matches!(edge.to, EdgeTarget::End(_)));
        (action, ends_here)
    }

    /// Follows an edge: to a node, as an expression of the action that led there, or to an end.
    fn target(&self, edge: &Edge, part: Part) -> TokenStream {
        let site = here(self.flow.name.span());
        let (rt, action) = (self.runtime.hidden_at(site), edge.action());
        let label = match &edge.to {
            EdgeTarget::Node(node) => {
                let node = self.node_variant(*node);
                return quote_spanned!(site=> { __node = #node; #action });
            }
            EdgeTarget::End(label) => label,
        };
        let end = self.end_variant(label);
        let left = match part {
            Part::Whole => quote_spanned!(site=> break #end;),
            Part::OfMany => quote_spanned! {site=>
                return #rt::Ok(#rt::ControlFlow::Break(#end));
            },
        };
        quote_spanned!(site=> { #rt::Hooks::node_finished(__engine, __scope, #action); #left })
    }

    /// The loop of a flow of many nodes: a loop over its parts, and their functions.
    fn parts(&self, visits: &[Visit<'_>]) -> (TokenStream, TokenStream) {
        let site = here(self.flow.name.span());
        let rt = self.runtime.hidden_at(site);
        let TypeNames { node, end, .. } = &self.names;
        let parts = visits.chunks(NODES_OF_A_PART).enumerate();
        let (arms, functions): (Vec<_>, Vec<_>) = parts
            .map(|(number, visits)| {
                let function = format_ident!("__part_{number}", span = site);
                let own = visits.iter().map(|visit| self.variant(visit));
                let steps = self.steps_of_part(visits);
                let bounds = visits.iter().flat_map(Visit::bounds);
                let arm = quote_spanned! {site=>
                    #(#own)|* => self.#function(__engine, __scope, &mut __state, __node).await?,
                };
                let function = quote_spanned! {site=>
                    async fn #function<__E>(
                        &self, __engine: &__E, __scope: &#rt::Scope<'_>, __state: &mut __State, mut __node: #node,
                    ) -> #rt::Result<#rt::ControlFlow<#end, #node>, #rt::Failed>
                    where
                        __E: #rt::StateHooks<__State>,
                        #(#bounds,)*
                    {
                        #steps
                    }
                };
                (arm, function)
            })
            .unzip();
        let others = self.inside_others();
        let run = quote_spanned! {site=>
            loop {
                match (match __node { #(#arms)* #others }) {
                    #rt::ControlFlow::Continue(__next) => __node = __next,
                    #rt::ControlFlow::Break(__end) => break __end,
                }
            }
        };
        (run, functions.into_iter().collect())
    }

    /// The arms of the nodes inside others, to which no edge leads.
    fn inside_others(&self) -> TokenStream {
        let site = here(self.flow.name.span());
        let node = &self.names.node;
        let inside = self
            .nodes()
            .filter(|(id, instance, _)| self.inner.contains(id) && !instance.hidden);
        let arms = inside.map(|(_, instance, _)| {
            let variant = node_variant(instance);
            quote_spanned!(site=> #node::#variant => ::core::unreachable!("the analysis accepted an edge into a fork"),)
        });
        arms.collect()
    }

    /// The variant of the node in the enum of nodes.
    fn variant(&self, visit: &Visit<'_>) -> TokenStream {
        let (node, variant) = (&self.names.node, node_variant(visit.instance));
        quote_spanned!(here(self.flow.name.span())=> #node::#variant)
    }

    /// The description of the flow: its JSON, and the code by which an export reads its values.
    fn described(&self, state: &State) -> TokenStream {
        let name = &self.flow.name;
        let site = here(name.span());
        let rt = self.runtime.hidden_at(site);
        let parts = document::parts(self);
        let (text, namespace) = (name.to_string(), self.flow.namespace());
        let values = self
            .nodes()
            .filter(|(_, instance, contract)| instance.is_type() && contract.kind != Kind::Human);
        let values = values.map(|(_, instance, contract)| {
            let (id, field) = (document::id(instance), &instance.name);
            match contract.kind {
                Kind::Flow => quote_spanned!(site=> flow #id self.#field),
                _ => quote_spanned!(site=> node #id self.#field),
            }
        });
        let asks = self.requirements();
        self.check_timeouts();
        let types = state
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

    fn node_variant(&self, node: NodeId) -> TokenStream {
        let (node, variant) = (&self.names.node, node_variant(&self.instances[node]));
        quote_spanned!(here(self.flow.name.span())=> #node::#variant)
    }

    fn end_variant(&self, label: &str) -> TokenStream {
        let span = self.flow.name.span();
        let (end, variant) = (&self.names.end, ident(&camel_case(label), span));
        quote_spanned!(here(span)=> #end::#variant)
    }

    /// The values of the outputs, each bound to a separate name, and the fields of the output.
    fn outputs(&self, state: &State) -> (Vec<TokenStream>, Vec<TokenStream>) {
        let field = |(index, output): (usize, &super::syntax::Parameter)| {
            let name = &output.name;
            let site = here(name.span());
            let (rt, slot) = (
                self.runtime.hidden_at(site),
                ident(&plain(name), name.span()),
            );
            let value = match (state.has(&plain(name)), output.optional) {
                (false, _) => quote_spanned!(site=> #rt::None),
                (true, true) if state.flattens(&plain(name), &type_text(&output.ty)) => {
                    quote_spanned!(site=> __state.#slot.flatten())
                }
                (true, true) => quote_spanned!(site=> __state.#slot),
                (true, false) => {
                    let value = quote_spanned!(site=> #rt::take(&mut __state.#slot));
                    self.output_as_declared(state, output, value)
                }
            };
            // When bound first, it has its own type, so that rustc names that type and the declared
            // one.
            let bound = format_ident!("__output_{index}", span = site);
            (
                quote_spanned!(site=> let #bound = #value;),
                quote_spanned!(site=> #slot: #bound,),
            )
        };
        self.flow.outputs.iter().enumerate().map(field).unzip()
    }
}

/// The visit of a node in the loop. It binds the index of its route, if it chooses one.
fn visited(visit: &Visit<'_>, state: &TokenStream) -> TokenStream {
    let visited = visit.visited(state);
    if visit.chooses() {
        quote_spanned!(visit.site=> let __route: ::core::primitive::usize = #visited;)
    } else {
        quote_spanned!(visit.site=> #visited)
    }
}
