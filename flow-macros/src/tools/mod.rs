//! `tools![…]`: nodes and flows that a language model may call.
//!
//! For each node, it generates a tool: the JSON Schemas of its reads, and a call with JSON
//! arguments. As for `registry!`, rustc infers the types from a call of the node itself, in code
//! that never runs.

mod call;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Path;

use crate::contract::{Contract, Kind, ReadPort, WritePort};
use crate::crates::{AGENTS, CratePath};
use crate::entries::{List, Told, last_span, name, named_once};
use crate::names::{here, ident, plain, snake_case};

/// The macro `tools!`.
pub(crate) const TOOLS: List = List {
    package: AGENTS,
    name: "tools",
    makes: "Tools",
    wrong_version: |_| Some("a tool has no version\nhelp: remove `@ …`".to_owned()),
    twice: |name, _, _| {
        let name = tool_name(name);
        Some(format!(
            "two tools have the name `{name}`\nhelp: remove one of them: a model calls tools by their names"
        ))
    },
    key: tool_name,
    entry: tool,
};

/// The maximum length of a tool's name, set by providers.
const LONGEST_NAME: usize = 64;

/// The name of the tool for a model: the node's in snake case, without generic arguments.
fn tool_name(name: &str) -> String {
    let end = name.find('<').unwrap_or(name.len());
    snake_case(name[..end].trim_end_matches("::"))
}

fn tool(told: &Told, krate: &CratePath) -> syn::Result<TokenStream> {
    let (tools, path, contract) = (&told.list, &told.entry.path, &told.contract);
    let name = tool_name(&name(path));
    refuse(contract, path, &name)?;
    let site = here(last_span(path));
    let krate = krate.at(site);
    let private = quote!(#krate::__private);
    let (alias, node) = named_once(path);
    let value = match (&told.entry.value, contract.kind) {
        (_, Kind::Function) => quote!(()),
        (Some(value), _) => quote!({
            let __given: #node = #value;
            __given
        }),
        (None, _) => quote_spanned!(site=> #private::default_of::<#node>()),
    };
    let tool = match contract.kind {
        Kind::Flow => of_flow(&node, &name, &value, contract, &private, site),
        _ => {
            told.refuse_value()?;
            of_node(&node, &name, &value, contract, &private, site)
        }
    };
    Ok(quote_spanned!(site=> #krate::Tools::add(&mut #tools, { #alias #tool });))
}

/// Refuses nodes that a model cannot call.
fn refuse(contract: &Contract, path: &Path, name: &str) -> syn::Result<()> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let has_action = |port: &WritePort| plain(&port.name) == "action";
    let text = if !name.chars().all(is_letter) || name.len() > LONGEST_NAME {
        format!(
            "models cannot call a tool by the name `{name}`\nhelp: give it a name of at most {LONGEST_NAME} letters from a to z, digits and `_`"
        )
    } else if contract.kind != Kind::Flow
        && !contract.actions.is_empty()
        && contract.all_writes().any(has_action)
    {
        format!(
            "`{name}` writes the key `action`, which is where a model reads what action it took\nhelp: give the key another name"
        )
    } else if contract.kind == Kind::Human {
        format!(
            "`{name}` is a question to a person, and not a tool\nhelp: ask it in the flow around the agent; whether a tool is called, `ApprovedAgent` asks"
        )
    } else if contract.kind == Kind::Signal {
        format!(
            "`{name}` is a signal, and not a tool\nhelp: wait for it in the flow around the agent, as a branch of `first {{ … }}`"
        )
    } else if contract.transaction {
        format!(
            "`{name}` writes in a transaction of the run's database, and a tool has none\nhelp: write in a transaction of its own"
        )
    } else {
        return Ok(());
    };
    Err(syn::Error::new(last_span(path), text))
}

fn of_node(
    node: &TokenStream,
    name: &str,
    value: &TokenStream,
    contract: &Contract,
    private: &TokenStream,
    site: Span,
) -> TokenStream {
    let keys = keys(contract, site);
    let new_keys = quote_spanned!(site=> #(let #keys = #private::Key::new();)*);
    let call = call::call(node, contract, &keys, private, site);
    let parameters = contract.reads.iter().zip(&keys);
    let parameters = parameters.map(|(port, key)| parameter(port, key, private));
    let description = contract.about.description.as_deref().unwrap_or_default();
    let held = match contract.kind {
        Kind::Type => node.clone(),
        _ => quote!(()),
    };
    quote_spanned! {site=>
        #new_keys
        // Not run: rustc infers from it the types that the node reads.
        if false {
            let (__receiver, __visit, mut __arguments) = #private::nothing::<#held>();
            let _ = (&__receiver, &__visit);
            let _ = #call;
        }
        #private::NodeTool::new(
            #name,
            #description,
            ::std::vec![#(#parameters),*],
            <#node as #private::Step>::POLICY,
            #value,
            |__receiver, __visit, mut __arguments| {
                let _ = (&__receiver, &__visit);
                #new_keys
                ::std::boxed::Box::pin(#call)
            },
        )
    }
}

fn of_flow(
    flow: &TokenStream,
    name: &str,
    value: &TokenStream,
    contract: &Contract,
    private: &TokenStream,
    site: Span,
) -> TokenStream {
    let keys = keys(contract, site);
    let names = contract.reads.iter();
    let names = names.map(|port| ident(&plain(&port.name), port.name.span()));
    let parameters = contract.reads.iter().zip(&keys);
    let parameters = parameters.map(|(port, key)| parameter(port, key, private));
    let description = contract.about.description.as_deref().unwrap_or_default();
    let tells_end = contract.actions.len() > 1;
    quote_spanned! {site=>
        #(let #keys = #private::Key::new();)*
        // Not run: rustc infers from it the types of the inputs.
        if false {
            let __input = #private::no_input::<#flow>();
            let _ = &__input;
            #(#private::Key::is_of(#keys, &__input.#names);)*
        }
        #private::FlowTool::new(
            #name,
            #description,
            ::std::vec![#(#parameters),*],
            #tells_end,
            #value,
        )
    }
}

/// The keys that a node or a flow reads.
fn keys(contract: &Contract, site: Span) -> Vec<Ident> {
    let keys = 0..contract.reads.len();
    keys.map(|read| format_ident!("__key_{read}", span = site))
        .collect()
}

/// The description of a parameter for a model.
fn parameter(port: &ReadPort, key: &Ident, private: &TokenStream) -> TokenStream {
    let name = plain(&port.name);
    let description = port.description.as_deref().unwrap_or_default();
    let required = !port.mode.optional();
    quote_spanned!(key.span()=> #private::parameter(#key, #name, #description, #required))
}
