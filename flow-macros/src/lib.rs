// The program of the README needs `flow-runtime`, which needs this crate: `tests/lib.rs` runs it.
#![cfg_attr(not(doctest), doc = include_str!("../README.md"))]
//!
//! # How `flow!` works
//!
//! `flow!` works in four steps: parse → resolve → plan → emit. Between the first two, rustc itself
//! provides the contracts of the nodes: see `protocol`.

mod action;
mod configured;
mod contract;
mod crates;
mod documentation;
mod editor;
#[cfg(any(feature = "registry", feature = "tools"))]
mod entries;
mod flow;
mod fragments;
mod inline;
mod names;
mod node;
mod params;
mod protocol;
#[cfg(feature = "registry")]
mod registry;
mod report;
mod runtime;
mod settings;
#[cfg(test)]
mod tests;
mod text;
#[cfg(feature = "tools")]
mod tools;
mod twice;

use proc_macro::TokenStream;

/// Wires nodes into a flow. See `flow_runtime::flow`.
#[proc_macro]
pub fn flow(input: TokenStream) -> TokenStream {
    flow::expand(input.into()).into()
}

/// Makes a function or a type a node. See `flow_runtime::node`.
#[proc_macro_attribute]
pub fn node(settings: TokenStream, item: TokenStream) -> TokenStream {
    node::define(settings.into(), item.into()).into()
}

/// Makes an enum's variants actions. See `flow_runtime::Action`.
#[proc_macro_derive(Action, attributes(action))]
pub fn derive_action(item: TokenStream) -> TokenStream {
    action::derive(item.into()).into()
}

/// Defines how each setting of a node is exported. See `flow_runtime::Params`.
#[proc_macro_derive(Params, attributes(param))]
pub fn derive_params(item: TokenStream) -> TokenStream {
    params::derive(item.into()).into()
}

/// The nodes and flows that documents may use. See `flow_loader::registry`.
#[cfg(feature = "registry")]
#[proc_macro]
pub fn registry(input: TokenStream) -> TokenStream {
    registry::REGISTRY.expand(input.into()).into()
}

/// The tools of a language model. See `flow_agents::tools`.
#[cfg(feature = "tools")]
#[proc_macro]
pub fn tools(input: TokenStream) -> TokenStream {
    tools::TOOLS.expand(input.into()).into()
}

/// The second half of `#[node(actions = …)]`: called by the contract macro of the enum.
#[doc(hidden)]
#[proc_macro]
pub fn __node_contract(input: TokenStream) -> TokenStream {
    node::with_actions(input.into()).into()
}

/// The calls with which `flow!` asks its nodes for their contracts. rustc shows the name of this
/// macro beside a name that is not a node.
#[doc(hidden)]
#[proc_macro]
pub fn every_node_needs_the_attribute_node(input: TokenStream) -> TokenStream {
    protocol::asked(input.into()).into()
}
