//! The state of a branch of a fork or a race, as a struct.

use flow_spec::NodeId;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};

use crate::flow::plan::{BranchPlan, ReadIndex, TakenBy};
use crate::names::{here, ident, plain};

use super::Visit;

impl Visit<'_> {
    /// The name of the struct.
    pub(super) fn branch_struct(&self, branch: &BranchPlan<'_>) -> Ident {
        let owner = &self.plan.instances[branch.owner];
        let (name, number, site) = (plain(&owner.name), branch.number, here(owner.span));
        format_ident!("__Branch_{name}_{number}", span = site)
    }
}

/// The field for a value that was taken for a read.
pub(super) fn taken_field(TakenBy { node, read }: TakenBy, site: Span) -> Ident {
    let (NodeId(node), ReadIndex(read)) = (node, read);
    format_ident!("__taken_{node}_{read}", span = site)
}

/// The structs of all branches' states, which cannot be defined inside an `impl`.
pub(in crate::flow::emit) fn structs(visit: &Visit<'_>) -> TokenStream {
    let (plan, state, site) = (visit.plan, visit.state, visit.site);
    let structs = plan.branches(visit.node).iter().map(|branch| {
        let name = visit.branch_struct(branch);
        let keys = branch.keys().into_iter().map(|key| {
            let (field, ty) = (ident(key, visit.instance.span), state.ty(key));
            quote_spanned!(site=> #field: ::core::option::Option<#ty>)
        });
        let taken = branch.takes.iter().map(|&by| {
            let field = taken_field(by, site);
            let ty = state.ty(&plan.resolved.graph.graph().node(by.node).reads[by.read.0].key);
            quote_spanned!(site=> #field: ::core::option::Option<#ty>)
        });
        let added = visit.added_fields(branch).into_iter();
        let added =
            added.map(|(field, ty)| quote_spanned!(site=> #field: ::core::option::Option<#ty>));
        quote_spanned! {site=>
            struct #name { #(#keys,)* #(#taken,)* #(#added,)* }
        }
    });
    structs.collect()
}
