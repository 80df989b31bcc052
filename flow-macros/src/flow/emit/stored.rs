//! The stored form of the inputs, the state and the outputs of a flow, and the types of values
//! from outside by path.

use std::collections::HashMap;

use flow_spec::NodeId;
use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;

use crate::contract::Kind;
use crate::names::{camel_case, here, ident, plain};

use super::context::Emit;
use crate::flow::defaults;
use crate::flow::instances::{Instance, InstanceKind};
use crate::flow::plan::Plan;
use crate::flow::syntax::Parameter;
use crate::flow::types::{TypeNames, node_type};

/// The call of the runtime's macro that implements it.
pub(super) fn stored(emit: &Emit<'_>) -> TokenStream {
    let (plan, state) = (emit.plan, &emit.state);
    let name = &plan.flow.name;
    let TypeNames {
        input, output, end, ..
    } = &emit.names;
    let inputs = plan.flow.inputs.iter();
    let inputs = inputs.map(|input| parameter(input, &emit.names));
    let outputs = plan.flow.outputs.iter();
    let outputs = outputs.map(|output| parameter(output, &emit.names));
    let keys = state.fields().map(|(key, ty)| {
        let text = plain(key);
        quote_spanned!(here(key.span())=> optional #text #key #ty)
    });
    let certain = certain(plan);
    let externals = plan
        .nodes()
        .filter_map(|(id, instance, _)| external(plan, id, instance));
    let site = here(name.span());
    let runtime = emit.runtime.root_at(site);
    quote_spanned! {site=>
        #runtime::stored! {
            #name #input #output #end
            {#(#inputs,)*} {#(#keys,)*} {#(#outputs,)*} {#(#certain,)*} {#(#externals,)*}
        }
    }
}

fn parameter(parameter: &Parameter, names: &TypeNames) -> TokenStream {
    let (key, ty) = (&parameter.name, &parameter.ty);
    let text = plain(key);
    let site = here(key.span());
    if let Some(default) = defaults::call(parameter, names) {
        quote_spanned!(site=> (default #default) #text #key #ty)
    } else if parameter.optional {
        quote_spanned!(site=> optional #text #key #ty)
    } else {
        quote_spanned!(site=> required #text #key #ty)
    }
}

/// The optional outputs that every path to an end writes, with that end.
fn certain(plan: &Plan<'_>) -> Vec<TokenStream> {
    let mut certain = Vec::new();
    let optional = plan.flow.outputs.iter().filter(|output| output.optional);
    let optional = optional.map(|output| (plain(&output.name), &output.name));
    let optional: HashMap<String, &Ident> = optional.collect();
    for end in plan.resolved.graph.ends() {
        let variant = ident(&camel_case(&end.name), plan.flow.name.span());
        for write in end.writes.iter().filter(|write| !write.optional) {
            if let Some((text, key)) = optional.get_key_value(&write.key) {
                certain.push(quote_spanned!(here(key.span())=> #variant #text #key));
            }
        }
    }
    certain
}

fn external(plan: &Plan<'_>, node: NodeId, instance: &Instance) -> Option<TokenStream> {
    let body = match &instance.kind {
        InstanceKind::Each { .. } => plan.instances.body(node),
        _ => node,
    };
    let id = plain(&instance.name);
    let ty = node_type(plan.flow, &plan.instances[body]);
    let site = here(instance.span);
    match plan.resolved.contracts[body].kind {
        Kind::Flow => Some(quote_spanned!(site=> flow #id #ty)),
        Kind::Human | Kind::Signal => Some(quote_spanned!(site=> value #id #ty)),
        Kind::Function | Kind::Type => None,
    }
}
