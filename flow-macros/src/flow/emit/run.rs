//! The loop of a flow: the steps one after the other, in the order in which they lead to one
//! another.

use std::collections::HashSet;

use flow_spec::{Edge, EdgeSource, EdgeTarget, NodeId};
use proc_macro2::TokenStream;
use quote::{format_ident, quote_spanned};

use crate::flow::items::node_variant;
use crate::flow::plan::RouteIndex;
use crate::flow::syntax::Parameter;
use crate::flow::types::TypeNames;
use crate::names::{camel_case, here, ident, plain};
use crate::text::type_text;

use super::context::Emit;
use super::visit::Visit;

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

impl Emit<'_> {
    /// The function with which an engine runs the flow, and the functions that it calls.
    pub(super) fn drive(&self, visits: &[Visit<'_>]) -> (TokenStream, TokenStream) {
        let name = &self.flow.name;
        let output = &self.names.output;
        let site = here(name.span());
        let rt = self.runtime.hidden_at(site);
        let mut seen = HashSet::new();
        let bounds = visits
            .iter()
            .flat_map(Visit::bounds)
            .chain(self.undo_visits().flat_map(|visit| visit.bounds()))
            .filter(|bound| seen.insert(bound.to_string()));
        let (run, functions) = self.run(visits);
        let (values, fields) = self.outputs();
        let undo = self.undo();
        let drive = quote_spanned! {site=>
            #rt::drive! {
                {
                    impl<__E> #rt::Drive<__E> for #name
                    where
                        for<'__a> &'__a #name: ::core::marker::Send,
                        __E: #rt::StateHooks<__State>,
                        #(#bounds,)*
                }
                { #undo }
                self __engine __scope __input
                {
                    impl ::core::future::Future<
                        Output = #rt::Result<<Self as #rt::Flow>::Output, #rt::Failed>,
                    > + ::core::marker::Send
                }
                async move {
                    let mut __state = __State::new(__input);
                    let __end = #run;
                    #rt::StateHooks::at_end(__engine, __scope, &__state);
                    #rt::Hooks::flow_ended(__engine, __scope, __end.as_str());
                    #(#values)*
                    #rt::Ok(#output { #(#fields)* end: __end })
                }
            }
        };
        (drive, functions)
    }

    /// An expression of the end that the flow reaches, and the functions that the expression calls.
    /// In it, `state` is the state itself.
    fn run(&self, visits: &[Visit<'_>]) -> (TokenStream, TokenStream) {
        let site = here(self.flow.name.span());
        let rt = self.runtime.hidden_at(site);
        let edges = &self.plan.resolved.graph.graph().edges;
        let Some(start) = edges.iter().position(|edge| edge.from == EdgeSource::Start) else {
            let missing = quote_spanned!(site=> ::core::unreachable!("the analysis accepted a flow without a start"));
            return (missing, TokenStream::new());
        };
        let mappings = self.mappings(RouteIndex(start));
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
                #rt::resume!(__engine __scope __state __node: #node);
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
        quote_spanned! {site=>
            let __action = #action;
            #rt::after_node!(__engine __scope __node __action #state);
        }
    }

    /// The code after a node: follows the action that it took, which is an expression of its
    /// `route`. Also returns whether all of its actions lead to ends.
    fn action(&self, visit: &Visit<'_>, part: Part) -> (TokenStream, bool) {
        let site = here(self.flow.name.span());
        let routes = self.plan.routes(visit.node);
        let edges = || routes.iter().map(|route| self.plan.edge(*route));
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
                let bounds = visits.iter().flat_map(Visit::bounds_of_function);
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
            .plan
            .nodes()
            .filter(|(id, instance, _)| self.plan.inner.contains(id) && !instance.hidden);
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

    fn node_variant(&self, node: NodeId) -> TokenStream {
        let (node, variant) = (&self.names.node, node_variant(&self.plan.instances[node]));
        quote_spanned!(here(self.flow.name.span())=> #node::#variant)
    }

    fn end_variant(&self, label: &str) -> TokenStream {
        let span = self.flow.name.span();
        let (end, variant) = (&self.names.end, ident(&camel_case(label), span));
        quote_spanned!(here(span)=> #end::#variant)
    }

    /// The values of the outputs, each bound to a separate name, and the fields of the output.
    fn outputs(&self) -> (Vec<TokenStream>, Vec<TokenStream>) {
        let field = |(index, output): (usize, &Parameter)| {
            let name = &output.name;
            let site = here(name.span());
            let (rt, slot) = (
                self.runtime.hidden_at(site),
                ident(&plain(name), name.span()),
            );
            let value = match (self.state.has(&plain(name)), output.optional) {
                (false, _) => quote_spanned!(site=> #rt::None),
                (true, true) if self.state.flattens(&plain(name), &type_text(&output.ty)) => {
                    quote_spanned!(site=> __state.#slot.flatten())
                }
                (true, true) => quote_spanned!(site=> __state.#slot),
                (true, false) => {
                    let value = quote_spanned!(site=> #rt::take(&mut __state.#slot));
                    self.output_as_declared(output, value)
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
