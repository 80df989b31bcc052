//! The structs of a flow's signature: its inputs and its outputs.

use std::collections::HashSet;

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, quote, quote_spanned};

use crate::flow::defaults;
use crate::flow::printed::printed;
use crate::flow::syntax::{FlowSyntax, Parameter};
use crate::names::{here, ident, plain};
use crate::runtime::Runtime;

use super::attributes::{derives, docs_or, said_of_the_flow};
use super::builder::{self, Built, Field, Unset};
use crate::flow::types::TypeNames;

impl Parameter {
    /// The type of the field.
    pub(super) fn field_type(&self) -> TokenStream {
        let ty = &self.ty;
        if self.optional {
            quote!(::core::option::Option<#ty>)
        } else {
            quote!(#ty)
        }
    }

    /// The type with which an outer flow passes it.
    pub(super) fn argument_type(&self) -> TokenStream {
        let ty = &self.ty;
        if self.may_be_left_out() {
            quote!(::core::option::Option<#ty>)
        } else {
            quote!(#ty)
        }
    }
}

pub(super) fn input(flow: &FlowSyntax, names: &TypeNames) -> TokenStream {
    let (vis, input) = (&flow.vis, &names.input);
    let derives = derives(flow, &["Debug"]);
    let fields = unique(&flow.inputs).map(|parameter| {
        let (name, ty) = (&parameter.name, parameter.field_type());
        let documentation = docs_or(&parameter.attributes, &format!("The input `{name}`."));
        let default = parameter.default.as_ref().map(|default| {
            let text = format!(
                "`{}` if it is left out.",
                printed(default.to_token_stream())
            );
            quote!(#[doc = ""] #[doc = #text])
        });
        quote!(#documentation #default pub #name: #ty)
    });
    let documentation = format!("What `{}` is given.", flow.name);
    let builder = builder::builder(&Built {
        vis,
        name: input,
        doc: format!("Sets the inputs of `{}`.", flow.name),
        fields: unique(&flow.inputs)
            .map(|parameter| set(parameter, names))
            .collect(),
        others: Vec::new(),
        runtime: &flow.runtime,
    });
    let names_of_inputs = unique(&flow.inputs).map(|parameter| &parameter.name);
    let debug = debug(input, names_of_inputs, &flow.runtime);
    let allow = said_of_the_flow(flow);
    let defaults = defaults::functions(flow, names);
    // Shown at the name: rustc would show the whole call of the macro.
    let structure = quote_spanned!(here(flow.name.span())=> #vis struct #input { #(#fields),* });
    quote! {
        #[doc = #documentation]
        #derives
        #allow
        #structure
        #debug
        #builder
        #defaults
    }
}

/// An input as a field of the builder. For an optional one, its inner value is set.
fn set<'a>(parameter: &'a Parameter, names: &TypeNames) -> Field<'a> {
    let Parameter { name, ty, .. } = parameter;
    let value = Ident::new(builder::VALUE, here(name.span()));
    let made = if parameter.optional {
        quote!(::core::option::Option::Some(#value))
    } else {
        quote!(#value)
    };
    let unset = match defaults::call(parameter, names) {
        Some(default) => Unset::Value(default),
        None if parameter.optional => Unset::Value(quote!(::core::option::Option::None)),
        None => Unset::Refused,
    };
    Field {
        name,
        ty: parameter.field_type(),
        doc: docs_or(&parameter.attributes, &format!("The input `{name}`.")),
        taken: quote!(#ty),
        made,
        unset,
    }
}

pub(super) fn output(flow: &FlowSyntax, names: &TypeNames) -> TokenStream {
    let TypeNames { output, end, .. } = names;
    let vis = &flow.vis;
    let derives = derives(flow, &["Debug"]);
    let fields = outputs(flow).map(|parameter| {
        let (name, ty) = (&parameter.name, parameter.field_type());
        let documentation = docs_or(&parameter.attributes, &format!("The output `{name}`."));
        quote!(#documentation pub #name: #ty)
    });
    let documentation = format!("What `{}` returns.", flow.name);
    let end_field = ident("end", flow.name.span());
    let shown: Vec<&Ident> = outputs(flow)
        .map(|parameter| &parameter.name)
        .chain([&end_field])
        .collect();
    let debug = debug(output, shown.into_iter(), &flow.runtime);
    let allow = said_of_the_flow(flow);
    let structure = quote_spanned! {here(flow.name.span())=>
        #vis struct #output {
            #(#fields,)*
            /// The end at which the run arrived.
            pub end: #end,
        }
    };
    quote! {
        #[doc = #documentation]
        #derives
        #allow
        #structure
        #debug
    }
}

/// The outputs, without those whose names were reported.
pub(super) fn outputs(flow: &FlowSyntax) -> impl Iterator<Item = &Parameter> {
    unique(&flow.outputs).filter(|output| plain(&output.name) != "end")
}

/// The parameters, without those whose names were reported.
pub(super) fn unique(parameters: &[Parameter]) -> impl Iterator<Item = &Parameter> {
    let mut seen = HashSet::new();
    let named = parameters.iter().filter(|one| one.name != "build");
    named.filter(move |one| seen.insert(plain(&one.name)))
}

/// A `Debug` that requires nothing of the fields' types.
fn debug<'a>(
    name: &Ident,
    fields: impl Iterator<Item = &'a Ident>,
    runtime: &Runtime,
) -> TokenStream {
    let (rt, text) = (runtime.hidden(), plain(name));
    let fields = fields.map(|field| {
        let key = plain(field);
        quote!(#field #key,)
    });
    quote!(#rt::debug! { #name #text { #(#fields)* } })
}
