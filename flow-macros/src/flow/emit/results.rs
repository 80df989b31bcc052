//! The types of the results of loops over items.

use flow_spec::NodeId;
use proc_macro2::TokenStream;
use quote::quote_spanned;

use crate::contract::Kind;
use crate::flow::plan::Plan;
use crate::flow::types::node_type;
use crate::names::here;
use crate::runtime::Runtime;

/// The type of one result. Empty if there is none.
pub(super) fn item_type(plan: &Plan<'_>, runtime: &Runtime, body: NodeId) -> TokenStream {
    let (instance, contract) = (&plan.instances[body], &plan.resolved.contracts[body]);
    let site = here(instance.span);
    let (rt, path) = (runtime.hidden_at(site), node_type(plan.flow, instance));
    match (contract.returns_nothing(), contract.kind) {
        (true, _) => quote_spanned!(site=> ()),
        (false, Kind::Flow) => quote_spanned!(site=> <#path as #rt::Collected>::Item),
        (false, _) => contract.outcome_type(&path, &rt, site),
    }
}

/// The type of the key under which the results are written.
pub(super) fn results_type(plan: &Plan<'_>, runtime: &Runtime, each: NodeId) -> TokenStream {
    let instance = &plan.instances[each];
    let site = here(instance.span);
    let item = item_type(plan, runtime, plan.instances.body(each));
    let rt = runtime.hidden_at(site);
    if instance.collects_errors(plan.flow) {
        quote_spanned!(site=> ::std::vec::Vec<::core::result::Result<#item, #rt::NodeError>>)
    } else {
        quote_spanned!(site=> ::std::vec::Vec<#item>)
    }
}
