//! The parts of a flow that do not depend on its nodes' contracts: its types, its methods and, if
//! it has no optional outputs, its own contract.
//!
//! All of them exist even if the flow has mistakes, so that its users see no second error.

mod as_node;
mod attributes;
mod builder;
mod checks;
mod enums;
mod implementation;
mod nesting;
mod outcome;
mod signature;
mod unread;
mod value;

use flow_spec::Action;
use proc_macro2::TokenStream;
use quote::quote;

use crate::editor::{out_of_sight, out_of_sight_but};
use crate::report::Report;

use super::instances::Instances;
use super::syntax::FlowSyntax;
use super::types::TypeNames;

pub(crate) use enums::node_variant;
pub(crate) use implementation::{action_of, label_of};
pub(crate) use outcome::outcome;
pub(crate) use unread::unread;

/// The parts that depend on the flow's writes at its ends: its outcome and, if it has optional
/// outputs, its contract.
pub(crate) fn at_ends(flow: &FlowSyntax, written: &[Action]) -> TokenStream {
    let outcome = outcome(flow, written);
    let contract = as_node::contract_at_ends(flow, written);
    quote!(#outcome #contract)
}

/// All other parts.
pub(crate) fn expand(flow: &FlowSyntax, instances: &Instances, report: &mut Report) -> TokenStream {
    checks::check_parameters(flow, report);
    checks::check_ends(flow, report);
    checks::check_nodes(instances, report);
    let names = TypeNames::of(flow);
    let keys = |parameters| signature::unique(parameters).map(|parameter| &parameter.name);
    let value = out_of_sight_but(
        value::value(flow, instances),
        flow.nodes.iter().map(|node| &node.name).chain([&flow.name]),
    );
    let input = out_of_sight_but(
        signature::input(flow, &names),
        keys(&flow.inputs).chain([&names.input]),
    );
    let output = out_of_sight_but(
        signature::output(flow, &names),
        keys(&flow.outputs).chain([&names.output]),
    );
    let enums = enums::enums(flow, instances, &names);
    let implementation = implementation::implementation(flow, instances, &names);
    let nesting = nesting::check(flow, instances);
    let contract = as_node::contract(flow, !report.is_empty());
    let rest = out_of_sight(quote!(#implementation #nesting));
    quote!(#value #input #output #enums #rest #contract)
}
