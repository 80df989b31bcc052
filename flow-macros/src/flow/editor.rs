//! The parts of a flow that an editor finds: functions that nobody calls, in which each word of the
//! flow occurs once, with its meaning.
//!
//! They also enable completion, so they exist for an unfinished flow too. [`mentions`] therefore
//! goes by the tokens, even unreadable ones.

use flow_spec::NodeId;
use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::{Path, Stmt};

use crate::contract::{ActionPort, WritePort};
use crate::editor::{expands, located_at, out_of_sight};
use crate::names::{RESERVED, is_type_name, plain};

use super::instances::InstanceKind;
use super::mapped::{adds, key_of, mapping};
use super::plan::Plan;
use super::syntax::{
    BranchSyntax, EdgeMappingSyntax, EdgeSyntax, FlowSyntax, Mapping, NodeSource, NodeSyntax,
    StepSyntax,
};

/// The function with the nodes and the types that a flow names. Empty for rustc.
pub(super) fn mentions(flow: &FlowSyntax) -> TokenStream {
    if !expands() {
        return TokenStream::new();
    }
    let types = flow.inputs.iter().chain(&flow.outputs).map(|key| {
        let (ty, default) = (&key.ty, key.default.iter());
        quote!(#ty #(= #default)*)
    });
    let declared = flow.nodes.iter().map(|node| declared(node, flow));
    let branches = flow.branches.iter().map(|branch| &branch.name);
    // An undo node may be declared below the node that it takes back.
    let undo_nodes = flow.nodes.iter().filter_map(|node| {
        let (_, path) = node.settings.undo.as_ref()?;
        Some(mention(path, flow))
    });
    let steps = steps(body(flow));
    let steps = steps.iter().map(|path| mention(path, flow));
    function(
        flow,
        &quote! {
            #(#declared)*
            #(let #branches = ();)*
            #(#undo_nodes)*
            #(#steps)*
            #(let _: #types;)*
            // Completion needs code after the word that it completes.
            let _ = ();
        },
    )
}

/// The function with the actions and the keys that a flow without mistakes names.
pub(super) fn uses(plan: &Plan<'_>) -> TokenStream {
    let actions = plan.flow.edges.iter().map(|edge| action(plan, edge));
    let keys = keys(plan);
    function(plan.flow, &quote!(#(#actions)* #keys))
}

fn function(flow: &FlowSyntax, body: &TokenStream) -> TokenStream {
    let name = out_of_sight(flow.name.to_token_stream());
    quote! {
        const _: () = {
            impl #name {
                #[allow(warnings)]
                fn __for_the_editor(&self) { #body }
            }
        };
    }
}

/// A declared node: the definition of its name, and its source.
fn declared(node: &NodeSyntax, flow: &FlowSyntax) -> TokenStream {
    let name = &node.name;
    let settings = node.settings.mention();
    let source = match &node.source {
        NodeSource::Path { path, value, .. } if has_field(name, flow) => {
            let value = value.as_ref().map(|value| quote!(= #value));
            // For completion, which does not know the field.
            let known = out_of_sight(name.to_token_stream());
            quote!(let _: #path #value; let #known = ();)
        }
        NodeSource::Path { path, .. } | NodeSource::Each { path, .. } => {
            let path = named(path);
            quote!(#path let #name = ();)
        }
        NodeSource::Fork(fork) => {
            let steps = mentions_of(fork.branches.iter().flatten(), flow);
            quote!(#steps let #name = ();)
        }
        NodeSource::Race(branches) => {
            let steps = branches.iter().flat_map(|branch| &branch.chain);
            let steps = mentions_of(steps, flow);
            quote!(#steps let #name = ();)
        }
    };
    quote!(#source #settings)
}

/// The nodes that steps in branches name.
fn mentions_of<'a>(steps: impl Iterator<Item = &'a StepSyntax>, flow: &FlowSyntax) -> TokenStream {
    let nodes = steps.filter_map(|step| match step {
        StepSyntax::Node(path) => Some(mention(path, flow)),
        _ => None,
    });
    nodes.collect()
}

/// A node where a step names it.
fn mention(path: &Path, flow: &FlowSyntax) -> TokenStream {
    match path.get_ident() {
        Some(name) if has_field(name, flow) => quote!(self.#name;),
        _ => named(path).unwrap_or_default(),
    }
}

/// A node by its path. `None` for a path that is not one in an expression: `try`, `start<Bank>`.
fn named(path: &Path) -> Option<TokenStream> {
    let named = if is_type(path) {
        quote!(let _: #path;)
    } else {
        quote!(let _ = #path;)
    };
    let can_be_read = syn::parse2::<Stmt>(named.clone()).is_ok();
    can_be_read.then_some(named)
}

fn is_type(path: &Path) -> bool {
    let last = path.segments.last();
    last.is_some_and(|last| is_type_name(&last.ident))
}

/// Returns true for a declared node whose value the flow holds.
fn has_field(name: &Ident, flow: &FlowSyntax) -> bool {
    flow.nodes.iter().any(|node| match &node.source {
        NodeSource::Path { external, path, .. } => {
            node.name == *name && external.is_none() && is_type(path)
        }
        NodeSource::Each { .. } | NodeSource::Fork(_) | NodeSource::Race(_) => false,
    })
}

/// The tokens between the braces of the flow.
fn body(flow: &FlowSyntax) -> TokenStream {
    let mut groups = flow.after_attributes.clone().into_iter();
    let last = groups.find_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group.stream()),
        _ => None,
    });
    last.unwrap_or_default()
}

/// The nodes that steps name, in the order written. Declarations are left out.
fn steps(body: TokenStream) -> Vec<Path> {
    let mut steps = Vec::new();
    let mut path: Vec<TokenTree> = Vec::new();
    let mut statement_begins = true;
    let mut tokens = body.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let begins = std::mem::replace(&mut statement_begins, false);
        match token {
            TokenTree::Ident(word) => {
                let names = matches!(tokens.peek(), Some(TokenTree::Ident(_)));
                let declares = ["node", "branch"].iter().any(|one| word == one);
                if (begins && declares && names) || word == "namespace" {
                    let ends = |token: &TokenTree| match token {
                        TokenTree::Punct(punct) => punct.as_char() == ';',
                        TokenTree::Group(group) => {
                            word == "branch" && group.delimiter() == Delimiter::Brace
                        }
                        _ => false,
                    };
                    tokens.by_ref().find(ends);
                    statement_begins = true;
                    continue;
                }
                if matches!(path.last(), Some(TokenTree::Ident(_))) {
                    steps.extend(step(&mut path));
                }
                path.push(word.into());
            }
            TokenTree::Punct(punct) if punct.as_char() == ':' => path.push(punct.into()),
            TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
                steps.extend(step(&mut path));
                steps.extend(self::steps(group.stream()));
            }
            other => {
                steps.extend(step(&mut path));
                statement_begins =
                    matches!(&other, TokenTree::Punct(punct) if punct.as_char() == ';');
            }
        }
    }
    steps.extend(step(&mut path));
    steps
}

/// The path of these tokens, unless it is a word of the language.
fn step(tokens: &mut Vec<TokenTree>) -> Option<Path> {
    let path: Path = syn::parse2(tokens.drain(..).collect()).ok()?;
    let reserved = RESERVED.iter().any(|word| path.is_ident(word));
    (!reserved).then_some(path)
}

/// The action of an edge: a variant that is defined where the node has it.
fn action(plan: &Plan<'_>, edge: &EdgeSyntax) -> Option<TokenStream> {
    let written = edge.action.as_ref()?;
    let contract = &plan.resolved.contracts[plan.instances.of(&edge.from)?];
    let is_it = |action: &&ActionPort| action.name.value() == written.value();
    let action = contract.actions.iter().find(is_it)?;
    let defined = known_here(plan.flow, &action.variant);
    let at = defined.span();
    let fields = action.writes.iter().map(|port| {
        let (name, ty) = (
            Ident::new(&plain(&port.name), at),
            located_at(type_of(port), at),
        );
        quote_spanned!(at=> #name: #ty)
    });
    let fields = quote_spanned!(at=> { #(#fields),* });
    let used = Ident::new(&plain(&defined), written.span());
    Some(quote!({
        enum Actions { #defined #fields }
        let Actions::#used { .. } = ::core::unreachable!();
    }))
}

/// The keys and ports that mappings, loops, conditions and edges name.
fn keys(plan: &Plan<'_>) -> TokenStream {
    let inputs = plan.flow.inputs.iter().map(|input| {
        let (name, ty) = (&input.name, out_of_sight(input.ty.to_token_stream()));
        quote!(let #name: &#ty = ::core::unreachable!();)
    });
    let written = written(plan);
    let writes = written.iter().map(|key| {
        let (name, ty) = (
            known_here(plan.flow, key.name),
            out_of_sight(if key.adds {
                quote!(_)
            } else {
                type_of(key.port)
            }),
        );
        quote!(let #name: &#ty = ::core::unreachable!();)
    });
    let nodes = plan.nodes().map(|(id, instance, _)| {
        let mapped = |node| mapped(plan, node, &written);
        match &instance.kind {
            InstanceKind::Node(_) if !plan.bodies.contains(&id) => mapped(id),
            InstanceKind::Each { item, over } => {
                let mapped = mapped(plan.instances.body(id));
                quote!({ #over; let #item = (); #mapped })
            }
            InstanceKind::Branch(index) => {
                let BranchSyntax { reads, cases, .. } = &plan.flow[*index];
                let conditions = cases.iter().map(|(condition, _)| condition);
                quote!(#(#reads;)* #(let _ = #conditions;)*)
            }
            InstanceKind::Node(_)
            | InstanceKind::Fork(_)
            | InstanceKind::Race(_)
            | InstanceKind::Wait(_)
            | InstanceKind::Undo
            | InstanceKind::Commit => TokenStream::new(),
        }
    });
    let edges = plan.flow.edges.iter().flat_map(|edge| &edge.mappings);
    let edges = edges.map(|mapping| edge_mapping(plan, mapping, &written));
    quote!(#(#inputs)* #(#writes)* #(#edges)* #(#nodes)*)
}

/// A mapping of an edge. It defines its key if no input and no node writes it.
fn edge_mapping(
    plan: &Plan<'_>,
    EdgeMappingSyntax { key, source }: &EdgeMappingSyntax,
    written: &[Written<'_>],
) -> TokenStream {
    let is_it = |other: &Ident| plain(other) == plain(key);
    let is_known = plan.flow.inputs.iter().any(|input| is_it(&input.name))
        || written.iter().any(|other| is_it(other.name));
    if is_known {
        quote!(#source; #key;)
    } else {
        quote!(let #key = #source;)
    }
}

/// A key that a node writes.
struct Written<'a> {
    /// Its first writer.
    writer: NodeId,
    /// The name, in its first writer or in a mapping.
    name: &'a Ident,
    port: &'a WritePort,
    /// True if the value is added to the key's, which is of another type.
    adds: bool,
}

/// The type of a value as written in the node. The editor knows it if the flow's scope has the same
/// name.
fn type_of(port: &WritePort) -> TokenStream {
    let ty: TokenStream = port.rust_type.parse().unwrap_or_default();
    if ty.is_empty() { quote!(_) } else { ty }
}

/// The keys that nodes write, each once.
fn written<'a>(plan: &'a Plan<'_>) -> Vec<Written<'a>> {
    let mut keys: Vec<Written<'a>> = Vec::new();
    for (id, instance, contract) in plan.nodes() {
        if plan.bodies.contains(&id) {
            continue;
        }
        let mapping = mapping(plan.flow, instance);
        for port in contract.all_writes() {
            let name = key_of(mapping, &port.name, false);
            let is_it = |other: &Ident| plain(other) == plain(name);
            let is_known = plan.flow.inputs.iter().any(|input| is_it(&input.name))
                || keys.iter().any(|key| is_it(key.name));
            if !is_known {
                keys.push(Written {
                    writer: id,
                    name,
                    port,
                    adds: adds(mapping, port),
                });
            }
        }
    }
    keys
}

/// A name from a contract, at its place in the node, but resolved in the code of the flow.
fn known_here(flow: &FlowSyntax, name: &Ident) -> Ident {
    let mut name = name.clone();
    name.set_span(name.span().resolved_at(flow.name.span()));
    name
}

/// The mapping of a node: its ports, which are parameters and fields elsewhere, and the keys.
fn mapped(plan: &Plan<'_>, node: NodeId, written: &[Written<'_>]) -> TokenStream {
    let (instance, contract) = (&plan.instances[node], &plan.resolved.contracts[node]);
    let mapping = mapping(plan.flow, instance).iter();
    let uses = mapping.map(
        |Mapping {
             port, key, reads, ..
         }| {
            let read = contract.reads.iter().map(|port| &port.name);
            let mut ports = read.chain(contract.all_writes().map(|port| &port.name));
            let defined = ports.find(|name| plain(name) == plain(port));
            let defined = defined.map(|name| known_here(plan.flow, name));
            let is_definition = !reads
                && written
                    .iter()
                    .any(|one| one.writer == node && plain(one.name) == plain(key));
            let key = (!is_definition).then_some(key);
            quote!(#key; { let #defined = (); #port; })
        },
    );
    uses.collect()
}
