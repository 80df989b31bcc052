//! The way of contracts to `flow!`: through a macro with the name of each node.
//!
//! `flow!` expands to a call of its first node's macro, which appends its contract to a list and
//! calls the next one; the last one calls `flow!`. `use nodes::review;` imports the function and
//! the macro alike, so contracts are found wherever the node is, and rustc itself reports names
//! that are not nodes. A chain of macro calls counts against the recursion limit, so a flow's nodes
//! are queried in groups. The end of a group defines a macro that passes on the collected contracts
//! and speaks the same protocol as a node.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Path, Token, Visibility, braced, bracketed};

use crate::contract::Contract;
use crate::editor::{self, out_of_sight};
use crate::names::{dollar, here, is_type_name, located, plain};
use crate::runtime::Runtime;
use crate::twice::{self, Extent, unique_name};

/// The number of nodes that are queried in one chain.
const GROUP: usize = 60;

/// The name of a node or of an enum of actions, under which it is imported.
pub(crate) struct Named<'a> {
    pub(crate) name: &'a Ident,
    pub(crate) vis: &'a Visibility,
    /// The user's item of this name, if there is one.
    pub(crate) item: Option<Extent>,
    /// The code that is generated for that item alone.
    pub(crate) items: TokenStream,
    pub(crate) runtime: &'a Runtime,
}

/// The macro that passes on the contract of a node.
pub(crate) fn contract_macro(node: &Named<'_>, contract: &Contract) -> TokenStream {
    named_macro(node, Some(contract), &TokenStream::new())
}

/// The macro that is imported together with its namesake, and the items. It passes on the contract,
/// and has these arms.
pub(crate) fn named_macro(
    named: &Named<'_>,
    contract: Option<&Contract>,
    arms: &TokenStream,
) -> TokenStream {
    let Named {
        name,
        vis,
        item,
        items,
        runtime,
    } = named;
    let own = unique_name(name);
    let (unique, public) = match vis {
        Visibility::Public(_) => (own.clone(), quote!([doc])),
        _ => (private_name(name), quote!([])),
    };
    let name = macro_name(name);
    let items = match item {
        None => items.clone(),
        Some(_) => twice::if_own(&name, &own, items),
    };
    let renamed = match item {
        Some(item) if !editor::expands() => item.renamed(&unique, &name),
        _ => {
            // Both at one place: rustc shows the import if the name is private.
            let site = here(name.span());
            let (mut unique, mut name) = (unique.clone(), name.clone());
            unique.set_span(site);
            name.set_span(site);
            out_of_sight(quote!(#unique as #name))
        }
    };
    let contract = contract.map(|contract| quote!(contract { #contract }));
    let (rt, d) = (runtime.hidden(), dollar());
    quote! {
        #rt::named_macro! { #d #own #unique #contract { #arms } #public #vis use #renamed }
        #items
    }
}

/// The name of the macro of an item that is not `pub`. If a flow names it by a path that is private
/// there, rustc shows this name beside the error.
fn private_name(name: &Ident) -> Ident {
    format_ident!(
        "pub_is_missing_before_{}",
        plain(name),
        span = Span::call_site()
    )
}

/// The path of the macro that passes on the contract of the node at this path.
pub(crate) fn macro_path(path: &Path) -> Path {
    let mut path = path.clone();
    for segment in &mut path.segments {
        segment.arguments = syn::PathArguments::None;
    }
    if let Some(last) = path.segments.last_mut() {
        last.ident = macro_name(&last.ident);
    }
    path
}

/// The name of a node's macro: that of the node. A macro with the name of one of std, or of
/// `flow!`, would be ambiguous wherever it is imported, so such a macro gets another name.
pub(crate) fn macro_name(name: &Ident) -> Ident {
    let text = name.to_string();
    let of_macro = macro_text(text.clone());
    if of_macro == text {
        name.clone()
    } else {
        Ident::new(&of_macro, name.span())
    }
}

/// Like `macro_name`, as text.
pub(crate) fn macro_text(text: String) -> String {
    // In alphabetical order.
    const TAKEN: [&str; 37] = [
        "assert",
        "assert_eq",
        "assert_ne",
        "cfg",
        "column",
        "compile_error",
        "concat",
        "dbg",
        "debug_assert",
        "debug_assert_eq",
        "debug_assert_ne",
        "env",
        "eprint",
        "eprintln",
        "file",
        "flow",
        "format",
        "format_args",
        "include",
        "include_bytes",
        "include_str",
        "is_x86_feature_detected",
        "line",
        "matches",
        "module_path",
        "option_env",
        "panic",
        "print",
        "println",
        "stringify",
        "thread_local",
        "todo",
        "unimplemented",
        "unreachable",
        "vec",
        "write",
        "writeln",
    ];
    let plain = text.strip_prefix("r#").unwrap_or(&text);
    if TAKEN.binary_search(&plain).is_ok() {
        format!("{plain}_node")
    } else {
        text
    }
}

/// Asks each of these nodes for its contract, and passes all of them to `flow!` together with
/// `body`.
///
/// For a missing macro, rustc only reports that, and names the macro that wrote the call. The calls
/// are therefore written by a macro whose name says what to do: [`asked`].
pub(crate) fn ask(
    flow: &Ident,
    runtime: &Runtime,
    nodes: &[Path],
    body: &TokenStream,
) -> TokenStream {
    let runtime = runtime.root();
    let ask = Ask {
        resolved: syn::parse_quote!(#runtime::flow),
        flow: flow.clone(),
        nodes: nodes.to_vec(),
        body: body.clone(),
    };
    if editor::expands() {
        return ask.chains();
    }
    let Ask {
        resolved,
        flow,
        nodes,
        body,
    } = &ask;
    quote!(#runtime::every_node_needs_the_attribute_node! { #resolved, #flow [#(#nodes),*] { #body } })
}

/// The calls themselves.
pub(crate) fn asked(input: TokenStream) -> TokenStream {
    match syn::parse2::<Ask>(input) {
        Ok(ask) => ask.chains(),
        Err(error) => error.into_compile_error(),
    }
}

/// A flow that asks for the contracts of its nodes.
struct Ask {
    /// The path of `flow!`, which receives all contracts.
    resolved: Path,
    flow: Ident,
    nodes: Vec<Path>,
    body: TokenStream,
}

impl Parse for Ask {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let resolved = input.call(Path::parse_mod_style)?;
        input.parse::<Token![,]>()?;
        let flow = input.parse()?;
        let (nodes, body);
        bracketed!(nodes in input);
        let nodes = nodes.parse_terminated(Path::parse_mod_style, Token![,])?;
        braced!(body in input);
        Ok(Ask {
            resolved,
            flow,
            nodes: nodes.into_iter().collect(),
            body: body.parse()?,
        })
    }
}

impl Ask {
    fn chains(&self) -> TokenStream {
        let mut tokens = TokenStream::new();
        let mut chain: Vec<TokenStream> = self.nodes.iter().map(called).collect();
        if chain.len() > GROUP {
            let mut groups = Vec::new();
            for (index, group) in chain.chunks(GROUP).enumerate() {
                let collected = format_ident!(
                    "__flow_{}_nodes_{index}",
                    plain(&self.flow),
                    span = Span::call_site()
                );
                tokens.extend(self.chain_of(group, &quote!(@define #collected)));
                groups.push(quote!(#collected));
            }
            chain = groups;
        }
        tokens.extend(self.chain_of(&chain, &self.body));
        tokens
    }

    /// The call of the first of these macros, with the data to call the others.
    fn chain_of(&self, macros: &[TokenStream], body: &TokenStream) -> TokenStream {
        let resolved = out_of_sight(self.resolved.to_token_stream());
        let mut chain = macros.iter().chain([&resolved]);
        let first = chain.next();
        quote!(#first! { @contract [#(#chain),*] { #body } [] })
    }
}

/// The path of a node's macro in a call: shown where the user wrote it, but resolved here.
fn called(path: &Path) -> TokenStream {
    if editor::expands() {
        return out_of_sight(path.to_token_stream());
    }
    let last = path.segments.last();
    // rustc reports one private name once at each place, and a flow has the type in its own code.
    let is_private_type =
        path.segments.len() > 1 && last.is_some_and(|last| is_type_name(&last.ident));
    // At this place, the crate is unknown.
    let names_crate = path.segments.iter().any(|one| one.ident == "$crate");
    if is_private_type || names_crate {
        path.to_token_stream()
    } else {
        located(path)
    }
}

/// The macro that the end of a group defines: it passes on the collected contracts of the group.
pub(crate) fn collected_macro(name: &Ident, told: &TokenStream) -> TokenStream {
    let d = dollar();
    quote! {
        macro_rules! #name {
            (@contract [#d next:path #d(, #d rest:path)*] #d body:tt [#d(#d told:tt)*]) => {
                #d next! { @contract [#d(#d rest),*] #d body [#d(#d told)* #told] }
            };
        }
    }
}
