//! `flow!`: parse → resolve → plan → emit.
//!
//! The first half, [`define`], sees only the flow. It emits everything that does not depend on the
//! nodes' contracts (such as the flow's types) and queries the nodes for theirs. The second half,
//! [`wired`], sees both: it builds the graph, has it checked, plans the run, and emits it. A flow
//! with mistakes has all its types and lacks only the run, so that its users see no second error.
//!
//! The half that knows the flow's own contract emits it: the optional outputs that an end writes
//! follow from the graph. A flow with such outputs and a missing node thus has no contract, and
//! rustc also reports flows that use it.

mod declaration;
mod defaults;
mod editor;
mod emit;
mod instances;
mod items;
mod mapped;
mod parse;
mod plan;
pub(crate) mod printed;
mod resolve;
mod syntax;
mod types;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens as _, quote};
use syn::parse::{Nothing, ParseStream, Parser as _};
use syn::{Token, braced, bracketed};

use crate::configured::alternatives;
use crate::contract::Contract;
use crate::documentation;
use crate::editor::out_of_sight;
use crate::fragments::ungrouped;
use crate::protocol;
use crate::report::Report;
use crate::twice::once;

use instances::Instances;

use syntax::FlowSyntax;

/// The expansion of `flow!`, for a flow as written or for its second half.
pub(crate) fn expand(tokens: TokenStream) -> TokenStream {
    match tokens.clone().into_iter().next() {
        Some(TokenTree::Punct(first)) if first.as_char() == '@' => resolved(tokens),
        _ => define(ungrouped(tokens)),
    }
}

/// The first half: the expansion of `flow! { Name(…) { … } }`.
pub(crate) fn define(tokens: TokenStream) -> TokenStream {
    let mut report = Report::default();
    let parsed = parse::parse(tokens, &mut report);
    let Some(flow) = parsed.flow else {
        return report.into_tokens();
    };
    documentation::refuse_unknown(&flow.attributes, &mut report);
    if let Some(conditions) = conditions(&flow) {
        return conditions;
    }
    let instances = Instances::collect(&flow, &mut report);
    let items = items::expand(&flow, &instances, &mut report);
    let mentions = editor::mentions(&flow);
    if report.is_empty() {
        let ask = protocol::ask(
            &flow.name,
            &flow.runtime,
            &instances.paths(),
            &parsed.tokens,
        );
        return once(&flow.name, "flow", &quote!(#mentions #items #ask));
    }
    let broken = broken(&flow, &instances);
    let (errors, items) = (report.into_tokens(), quote!(#mentions #items #broken));
    let items = once(&flow.name, "flow", &items);
    quote!(#errors #items)
}

/// The other items of a flow with mistakes, which has no second half.
fn broken(flow: &FlowSyntax, instances: &Instances) -> TokenStream {
    let used = instances.paths();
    let used = used.iter().map(|path| out_of_sight(path.to_token_stream()));
    let outcome = items::outcome(flow, &[]);
    let unread = out_of_sight(items::unread(flow, instances));
    let stub = emit::stub(flow);
    quote!(#outcome #unread #stub #(#used! { @nothing })*)
}

/// For a flow with `#[cfg(…)]`: the flow without it, so that it has either all of its items or
/// none. For one with `#[cfg_attr(…)]`: the flow with the added attributes, and the flow without.
fn conditions(flow: &FlowSyntax) -> Option<TokenStream> {
    let (conditions, others): (Vec<_>, Vec<_>) = flow
        .attributes
        .iter()
        .partition(|attribute| attribute.path().is_ident("cfg"));
    let rest = &flow.after_attributes;
    let runtime = flow.runtime.root();
    if !conditions.is_empty() {
        return Some(quote!(#(#conditions)* #runtime::flow! { #(#others)* #rest }));
    }
    let (condition, with, without) = alternatives(&flow.attributes)?;
    Some(quote! {
        #[cfg(#condition)]
        #runtime::flow! { #with #rest }
        #[cfg(not(#condition))]
        #runtime::flow! { #without #rest }
    })
}

/// The second half, which the contract macro of the flow's last node calls: `flow! { @contract [] {
/// … } [contracts] }`. It has no separate name, since rustc shows the name beside errors in its
/// output.
pub(crate) fn resolved(tokens: TokenStream) -> TokenStream {
    let told = match told.parse2(tokens) {
        Ok(told) => told,
        Err(error) => return error.into_compile_error(),
    };
    match told {
        Told::Group { name, contracts } => protocol::collected_macro(&name, &contracts),
        Told::All { flow, contracts } => wired(flow, &contracts),
    }
}

/// The second half of a flow whose nodes have passed on their contracts.
fn wired(tokens: TokenStream, contracts: &[Contract]) -> TokenStream {
    let mut report = Report::default();
    let Some(flow) = parse::parse(tokens, &mut report).flow else {
        return report.into_tokens();
    };
    let instances = Instances::collect(&flow, &mut report);
    let resolved = resolve::resolve(&flow, &instances, contracts, &mut report);
    let errors = report.into_tokens();
    let (run, ends) = match &resolved {
        Ok(resolved) => {
            let plan = plan::plan(&flow, &instances, resolved);
            (emit::emit(&plan), resolved.graph.ends())
        }
        Err(ends) => (emit::stub(&flow), &ends[..]),
    };
    let at_ends = items::at_ends(&flow, ends);
    quote!(#errors #run #at_ends)
}

/// The plan of a flow as text, from the input of [`resolved`].
#[cfg(test)]
pub(crate) fn shown_plan(tokens: TokenStream) -> String {
    match told.parse2(tokens).expect("what the last macro hands over") {
        Told::All { flow, contracts } => plan::shown(flow, &contracts),
        Told::Group { .. } => panic!("the nodes of a large flow"),
    }
}

/// The input from the last macro of a chain.
enum Told {
    /// The contracts of a group of nodes, which a macro with this name passes on.
    Group { name: Ident, contracts: TokenStream },
    /// The flow, and the contracts of all its nodes.
    All {
        flow: TokenStream,
        contracts: Vec<Contract>,
    },
}

fn told(input: ParseStream<'_>) -> syn::Result<Told> {
    input.parse::<Token![@]>()?;
    input.parse::<Ident>()?;
    let nobody_else;
    bracketed!(nobody_else in input);
    nobody_else.parse::<Nothing>()?;
    let body;
    braced!(body in input);
    let contracts;
    bracketed!(contracts in input);
    if body.peek(Token![@]) {
        body.parse::<Token![@]>()?;
        body.parse::<Ident>()?;
        return Ok(Told::Group {
            name: body.parse()?,
            contracts: contracts.parse()?,
        });
    }
    let mut list = Vec::new();
    while !contracts.is_empty() {
        list.push(contracts.parse()?);
    }
    Ok(Told::All {
        flow: body.parse()?,
        contracts: list,
    })
}
