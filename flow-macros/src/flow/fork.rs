//! A fork: its branches run at the same time in the run's own task. Each sees the store as it stood at the fork, has
//! a small store of its own for what it writes, and is written back when all are done.

use flow_spec::{DEFAULT_ACTION, NodeId, NodeKind, ReadMode, Take};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};

use crate::names::{here, ident, plain};

use super::drive::Drive;
use super::items::node_variant;
use super::store::Store;
use super::visit::{Place, Visit};

/// What a branch writes, and what it has taken before it started.
pub(super) struct BranchStore {
    /// The name of its struct.
    pub(super) name: Ident,
    chain: Vec<usize>,
    /// By position in the chain: the keys that a node writes, and whether it may leave them unwritten.
    writes: Vec<Vec<(String, bool)>>,
    /// By node and read: what is taken out of the store as it stood at the fork.
    takes: Vec<(usize, usize)>,
    /// Those of them that leave the key empty.
    moves: Vec<(String, usize, usize)>,
}

impl BranchStore {
    pub(super) fn new(drive: &Drive<'_>, fork: &Visit<'_>, number: usize, chain: &[usize]) -> Self {
        let graph = drive.resolved.graph.graph();
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
                    if drive.resolved.graph.take(NodeId(node), read) == Take::Move {
                        branch.moves.push((port.key.clone(), node, read));
                    }
                }
            }
        }
        branch
    }

    /// Whether a node earlier in the chain writes the key; if so, whether it may leave it unwritten. The body of a loop
    /// is not in the chain itself, and sees what its loop sees.
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

    /// The field in which a key is that has been moved out of the store for a node further on in the branch.
    pub(super) fn moved(&self, key: &str, site: Span) -> Option<Ident> {
        let (_, node, read) = self.moves.iter().find(|(moved, ..)| moved == key)?;
        Some(BranchStore::taken(*node, *read, site))
    }

    /// The field for it.
    pub(super) fn taken(node: usize, read: usize, site: Span) -> Ident {
        format_ident!("taken_{node}_{read}", span = site)
    }

    /// The keys it writes, each once.
    fn keys(&self) -> Vec<&str> {
        let mut keys: Vec<&str> = Vec::new();
        for (key, _) in self.writes.iter().flatten() {
            if !keys.contains(&key.as_str()) {
                keys.push(key);
            }
        }
        keys
    }
}

impl Visit<'_> {
    /// The body of a fork's `async fn`, and the functions of its branches.
    pub(super) fn fork(&self, branches: &[Vec<usize>]) -> (TokenStream, TokenStream) {
        let (rt, site) = (&self.rt, self.site);
        let stores: Vec<BranchStore> = branches
            .iter()
            .enumerate()
            .map(|(number, chain)| BranchStore::new(self.drive, self, number, chain))
            .collect();
        let owns: Vec<Ident> = (0..stores.len())
            .map(|number| format_ident!("own_{number}", span = site))
            .collect();
        let functions: Vec<Ident> = stores
            .iter()
            .map(|store| format_ident!("__run_{}", store.name, span = site))
            .collect();
        let made = stores.iter().zip(&owns).map(|(store, own)| {
            let value = self.branch_store(store);
            quote_spanned!(site=> let mut #own = #value;)
        });
        let limit = self
            .settings
            .concurrency
            .map(|(_, limit)| quote_spanned!(site=> let limit = #rt::Limit::new(#limit);));
        let runs = functions.iter().zip(&owns).map(|(function, own)| {
            let run = quote_spanned!(site=> self.#function(engine, scope, base, &mut #own));
            match limit {
                Some(_) => quote_spanned!(site=> async {
                    let _room = limit.room().await;
                    #run.await
                }),
                None => run,
            }
        });
        let joined = joined(rt, site, &runs.collect::<Vec<_>>());
        let outcome = self.outcome(quote_spanned!(site=> joined));
        let writes = stores.iter().zip(&owns).flat_map(|(store, own)| {
            store
                .keys()
                .into_iter()
                .map(|key| {
                    let field = ident(key, self.instance.span);
                    quote_spanned! {site=>
                        if let ::core::option::Option::Some(value) = #own.#field {
                            state.#field = ::core::option::Option::Some(value);
                        }
                    }
                })
                .collect::<Vec<_>>()
        });
        let writes: Vec<TokenStream> = writes.collect();
        let route = self.route(DEFAULT_ACTION);
        let more = stores
            .iter()
            .zip(&functions)
            .map(|(store, function)| self.branch_functions(store, function));
        let more = more.collect();
        let body = quote_spanned! {site=>
            #(#made)*
            #limit
            let joined = {
                let base: &__State = state;
                #joined.await
            };
            #outcome
            #(#writes)*
            ::core::result::Result::Ok(#route)
        };
        (body, more)
    }

    /// The value of a branch's store at the fork.
    fn branch_store(&self, branch: &BranchStore) -> TokenStream {
        let site = self.site;
        let name = &branch.name;
        let keys = branch.keys().into_iter().map(|key| {
            let field = ident(key, self.instance.span);
            quote_spanned!(site=> #field: ::core::option::Option::None)
        });
        let taken = branch.takes.iter().map(|&(node, read)| {
            let visit = Visit::new(self.drive, self.store, node, Place::Loop);
            let port = &visit.contract.reads[read];
            let (value, its_trait) = visit.value(read, port);
            let field = BranchStore::taken(node, read, site);
            let value = match port.mode.optional() {
                true => value,
                false => quote_spanned!(site=> ::core::option::Option::Some(#value)),
            };
            quote_spanned!(site=> #field: { #its_trait #value })
        });
        quote_spanned!(site=> #name { #(#keys,)* #(#taken,)* })
    }

    /// The struct of a branch's store, the `async fn` of the branch, and those of its nodes.
    fn branch_functions(&self, branch: &BranchStore, function: &Ident) -> TokenStream {
        let (rt, site, own) = (&self.rt, self.site, &branch.name);
        let visits: Vec<Visit<'_>> = branch
            .chain
            .iter()
            .map(|&node| Visit::new(self.drive, self.store, node, Place::Branch(branch)))
            .collect();
        let steps = visits.iter().map(|visit| {
            let (visit_function, variant) = (visit.function(), node_variant(visit.instance));
            let node = &self.drive.names.node;
            quote_spanned! {site=>
                #rt::Hooks::entered(engine, scope, #node::#variant as u16)?;
                self.#visit_function(engine, scope, base, own).await?;
                #rt::Hooks::finished(engine, scope, "default");
            }
        });
        let bounds = visits.iter().flat_map(Visit::bounds);
        let functions = visits.iter().map(Visit::expand);
        quote_spanned! {site=>
            #(#functions)*
            #[inline]
            async fn #function<__E>(
                &self, engine: &__E, scope: &#rt::Scope<'_>, base: &__State, own: &mut #own,
            ) -> ::core::result::Result<(), #rt::Failed>
            where
                __E: #rt::Hooks,
                #(#bounds,)*
            {
                let lane = scope.lane();
                let scope = &lane;
                #(#steps)*
                scope.leave();
                ::core::result::Result::Ok(())
            }
        }
    }
}

/// The structs of all branches' stores, which cannot be defined inside an `impl`.
pub(super) fn structs(
    drive: &Drive<'_>,
    store: &Store,
    visit: &Visit<'_>,
    branches: &[Vec<usize>],
) -> TokenStream {
    let site = visit.site;
    let structs = branches.iter().enumerate().map(|(number, chain)| {
        let branch = BranchStore::new(drive, visit, number, chain);
        let name = &branch.name;
        let keys = branch.keys().into_iter().map(|key| {
            let (field, ty) = (ident(key, visit.instance.span), store.ty(key));
            quote_spanned!(site=> #field: ::core::option::Option<#ty>)
        });
        let taken = branch.takes.iter().map(|&(node, read)| {
            let field = BranchStore::taken(node, read, site);
            let ty = store.ty(&drive.resolved.graph.graph().nodes[node].reads[read].key);
            quote_spanned!(site=> #field: ::core::option::Option<#ty>)
        });
        quote_spanned! {site=>
            #[allow(non_camel_case_types, dead_code)]
            struct #name { #(#keys,)* #(#taken,)* }
        }
    });
    structs.collect()
}

/// All of them at once, without allocating.
fn joined(rt: &TokenStream, site: Span, runs: &[TokenStream]) -> TokenStream {
    match runs {
        [] => quote_spanned!(site=> ::core::future::ready(::core::result::Result::Ok(()))),
        [run] => run.clone(),
        runs => {
            let (first, second) = runs.split_at(runs.len() / 2);
            let (first, second) = (joined(rt, site, first), joined(rt, site, second));
            quote_spanned!(site=> #rt::join(#first, #second))
        }
    }
}
