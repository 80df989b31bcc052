//! The store of a branch of a fork: what the branch writes, and what it has taken out of the flow's
//! store before it started.
//!
//! Values are taken then because branches only look at the flow's store while they run.

use flow_spec::{NodeId, NodeKind, ReadMode, Take};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};

use crate::flow::plan::Plan;
use crate::flow::store::Store;
use crate::names::{here, ident, plain};

use super::Visit;

/// What a branch writes, and what it has taken before it started.
pub(in crate::flow) struct BranchStore {
    /// The name of its struct.
    pub(in crate::flow) name: Ident,
    pub(super) chain: Vec<usize>,
    /// By position in the chain: the keys that a node writes, and whether it may leave them
    /// unwritten.
    writes: Vec<Vec<(String, bool)>>,
    /// By node and read: what is taken out of the store as it stood at the fork.
    pub(super) takes: Vec<(usize, usize)>,
    /// Those of them that leave the key empty.
    moves: Vec<(String, usize, usize)>,
}

impl BranchStore {
    pub(super) fn new(plan: &Plan<'_>, fork: &Visit<'_>, number: usize, chain: &[usize]) -> Self {
        let graph = plan.resolved.graph.graph();
        let of_node = |&node: &usize| {
            let writes = graph.nodes[node]
                .actions
                .iter()
                .flat_map(|action| &action.writes);
            writes
                .map(|write| (write.key.clone(), write.optional))
                .collect()
        };
        let mut branch = BranchStore {
            name: format_ident!(
                "__Branch_{}_{number}",
                plain(&fork.instance.name),
                span = here(fork.instance.span)
            ),
            chain: chain.to_vec(),
            writes: chain.iter().map(of_node).collect(),
            takes: Vec::new(),
            moves: Vec::new(),
        };
        for &node in chain {
            if matches!(graph.nodes[node].kind, NodeKind::Each { .. }) {
                continue;
            }
            for (read, port) in graph.nodes[node].reads.iter().enumerate() {
                let early = branch.written_before(node, &port.key).is_none();
                if port.mode == ReadMode::Take && early && fork.store.has(&port.key) {
                    branch.takes.push((node, read));
                    if plan.resolved.graph.take(NodeId(node), read) == Take::Move {
                        branch.moves.push((port.key.clone(), node, read));
                    }
                }
            }
        }
        branch
    }

    /// Whether a node earlier in the chain writes the key; if so, whether it may leave it
    /// unwritten. The body of a loop is not in the chain itself, and sees what its loop sees.
    pub(super) fn written_before(&self, node: usize, key: &str) -> Option<bool> {
        let position = self.chain.iter().position(|&other| other == node)?;
        let earlier = self.writes[..position]
            .iter()
            .flatten()
            .filter(|(written, _)| written == key);
        earlier
            .map(|(_, optional)| *optional)
            .reduce(|first, second| first && second)
    }

    /// Whether the read is of a value that was taken before the branch started.
    pub(super) fn takes(&self, node: usize, read: usize) -> bool {
        self.takes.contains(&(node, read))
    }

    /// The field in which a key is that has been moved out of the store for a node further on in
    /// the branch.
    pub(super) fn moved(&self, key: &str, site: Span) -> Option<Ident> {
        let (_, node, read) = self.moves.iter().find(|(moved, ..)| moved == key)?;
        Some(BranchStore::taken(*node, *read, site))
    }

    /// The field for it.
    pub(super) fn taken(node: usize, read: usize, site: Span) -> Ident {
        format_ident!("taken_{node}_{read}", span = site)
    }

    /// The keys it writes, each once.
    pub(super) fn keys(&self) -> Vec<&str> {
        let mut keys: Vec<&str> = Vec::new();
        for (key, _) in self.writes.iter().flatten() {
            if !keys.contains(&key.as_str()) {
                keys.push(key);
            }
        }
        keys
    }
}

/// The structs of all branches' stores, which cannot be defined inside an `impl`.
pub(in crate::flow) fn structs(
    plan: &Plan<'_>,
    store: &Store,
    visit: &Visit<'_>,
    branches: &[Vec<usize>],
) -> TokenStream {
    let site = visit.site;
    let structs = branches.iter().enumerate().map(|(number, chain)| {
        let branch = BranchStore::new(plan, visit, number, chain);
        let name = &branch.name;
        let keys = branch.keys().into_iter().map(|key| {
            let (field, ty) = (ident(key, visit.instance.span), store.ty(key));
            quote_spanned!(site=> #field: ::core::option::Option<#ty>)
        });
        let taken = branch.takes.iter().map(|&(node, read)| {
            let field = BranchStore::taken(node, read, site);
            let ty = store.ty(&plan.resolved.graph.graph().nodes[node].reads[read].key);
            quote_spanned!(site=> #field: ::core::option::Option<#ty>)
        });
        quote_spanned! {site=>
            struct #name { #(#keys,)* #(#taken,)* }
        }
    });
    structs.collect()
}
