//! What of a flow does not depend on its nodes' contracts: its types, how it is run, and its own contract.

use std::collections::HashSet;

use flow_spec::{Code, DEFAULT_ACTION};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Attribute, LitStr, Path, Token};

use crate::contract::{ActionPort, Contract, Kind, Mode, ReadPort, WritePort};
use crate::names::{camel_case, here, hidden, ident, is_name, located, plain, snake_case};
use crate::node::type_text;
use crate::protocol::{contract_macro, macro_path, runtime, runtime_at};
use crate::report::Report;

use super::instances::{Instance, Instances};
use super::syntax::{FlowSyntax, NodeSource, Parameter, StepSyntax};

/// The names of the types that a flow defines beside itself.
pub(crate) struct TypeNames {
    pub(crate) input: Ident,
    pub(crate) output: Ident,
    pub(crate) node: Ident,
    pub(crate) end: Ident,
}

impl TypeNames {
    pub(crate) fn of(flow: &FlowSyntax) -> Self {
        let name = |suffix: &str| format_ident!("{}{suffix}", flow.name, span = flow.name.span());
        TypeNames {
            input: name("Input"),
            output: name("Output"),
            node: name("Node"),
            end: name("End"),
        }
    }
}

/// An end of a flow.
pub(crate) struct End {
    pub(crate) label: String,
    pub(crate) variant: Ident,
}

/// The ends, each once, in the order written.
pub(crate) fn ends(flow: &FlowSyntax) -> Vec<End> {
    let mut ends: Vec<End> = Vec::new();
    let of_edge = |edge: &super::syntax::EdgeSyntax| match &edge.to {
        StepSyntax::End(span, label) => Some((*span, label.clone())),
        _ => None,
    };
    let written = flow.edges.iter().filter_map(of_edge);
    for (span, label) in written.chain(flow.unread_ends.iter().cloned()) {
        let label = label
            .as_ref()
            .map_or_else(|| DEFAULT_ACTION.to_owned(), LitStr::value);
        let variant = ident(&camel_case(&label), span);
        if ends
            .iter()
            .all(|end| end.label != label && end.variant != variant)
        {
            ends.push(End { label, variant });
        }
    }
    if ends.is_empty() {
        ends.push(End {
            label: DEFAULT_ACTION.to_owned(),
            variant: ident("Default", flow.name.span()),
        });
    }
    ends
}

/// The variant of the node enum.
pub(crate) fn node_variant(instance: &Instance) -> Ident {
    ident(&camel_case(&plain(&instance.name)), instance.span)
}

/// All of them.
pub(crate) fn expand(flow: &FlowSyntax, instances: &Instances, report: &mut Report) -> TokenStream {
    check_parameters(flow, report);
    check_ends(flow, report);
    check_nodes(instances, report);
    let names = TypeNames::of(flow);
    let value = value(flow, instances);
    let input = input(flow, &names);
    let output = output(flow, &names);
    let enums = enums(flow, instances, &names);
    let implementation = implementation(flow, instances, &names);
    let contract = contract(flow, !report.is_empty());
    quote!(#value #input #output #enums #implementation #contract)
}

/// Two fields of one name would not compile, so they are reported here and not by the analysis.
fn check_parameters(flow: &FlowSyntax, report: &mut Report) {
    for (what, parameters) in [("input", &flow.inputs), ("output", &flow.outputs)] {
        for (index, parameter) in parameters.iter().enumerate() {
            let name = &parameter.name;
            if parameters[..index]
                .iter()
                .any(|earlier| plain(&earlier.name) == plain(name))
            {
                let message = format!("a second {what} is named `{name}`");
                report.error(
                    Code::Name,
                    name.span(),
                    message,
                    "name one of them otherwise",
                );
            }
        }
    }
    if let Some(output) = flow
        .outputs
        .iter()
        .find(|output| plain(&output.name) == "end")
    {
        let message = "`end` is the output that says at which end a run arrived";
        report.error(Code::Name, output.name.span(), message, "name it otherwise");
    }
    for name in flow
        .inputs
        .iter()
        .map(|input| &input.name)
        .chain(flow.nodes.iter().map(|node| &node.name))
    {
        if name == "build" {
            let message = "`build` is the method that ends a builder";
            report.error(Code::Name, name.span(), message, "name it otherwise");
        }
    }
}

/// Labels become the variants of an enum.
fn check_ends(flow: &FlowSyntax, report: &mut Report) {
    let ends = ends(flow);
    for edge in &flow.edges {
        let StepSyntax::End(_, Some(label)) = &edge.to else {
            continue;
        };
        let (text, variant) = (label.value(), camel_case(&label.value()));
        if text.trim().is_empty() {
            continue;
        }
        if !is_name(&variant) {
            let help = "write a word, such as `end(\"rejected\")`";
            report.error(
                Code::Malformed,
                label.span(),
                format!("\"{text}\" cannot name an end"),
                help,
            );
        } else if let Some(same) = ends
            .iter()
            .find(|end| end.variant == variant && end.label != text)
        {
            let message = format!(
                "the labels \"{}\" and \"{text}\" are both `{variant}`",
                same.label
            );
            report.error(
                Code::Name,
                label.span(),
                message,
                "write both alike, or name one of them otherwise",
            );
        }
    }
}

/// So do the names of nodes.
fn check_nodes(instances: &Instances, report: &mut Report) {
    let nodes: Vec<(Ident, &Instance)> = instances
        .named_ones()
        .map(|instance| (node_variant(instance), instance))
        .collect();
    for (index, (variant, instance)) in nodes.iter().enumerate() {
        let same = nodes[..index]
            .iter()
            .find(|(earlier, _)| earlier == variant);
        if let Some((_, same)) = same {
            let message = format!(
                "the nodes `{}` and `{}` are both `{variant}`",
                same.name, instance.name
            );
            let help = format!(
                "declare one of them under another name: `node other_name: {};`",
                instance.shown
            );
            report.error(Code::Name, instance.span, message, help);
        }
    }
}

fn docs(attributes: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("doc"))
}

/// The derives that the user asked for, but for those that are there anyway.
fn derives(flow: &FlowSyntax, present: &[&str]) -> TokenStream {
    let lists = flow
        .attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("derive"));
    let paths = lists.filter_map(|list| {
        list.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated)
            .ok()
    });
    let is_new = |path: &Path| {
        path.segments
            .last()
            .is_none_or(|last| !present.iter().any(|name| last.ident == name))
    };
    let paths: Vec<Path> = paths.flatten().filter(is_new).collect();
    match paths.is_empty() {
        true => TokenStream::new(),
        false => quote!(#[derive(#(#paths),*)]),
    }
}

/// The documentation that the user wrote, or else this.
fn docs_or(attributes: &[Attribute], otherwise: &str) -> TokenStream {
    if docs(attributes).next().is_none() {
        return quote!(#[doc = #otherwise]);
    }
    docs(attributes)
        .map(|attribute| attribute.to_token_stream())
        .collect()
}

/// The flow's own struct: the values of its nodes.
fn value(flow: &FlowSyntax, instances: &Instances) -> TokenStream {
    let rt = runtime();
    let FlowSyntax { name, vis, .. } = flow;
    let documentation = docs_or(&flow.attributes, &format!("The flow `{name}`."));
    let other = flow.attributes.iter().filter(|attribute| {
        !["doc", "derive"]
            .iter()
            .any(|path| attribute.path().is_ident(path))
    });
    let hints = instances
        .list
        .iter()
        .filter(|instance| instance.is_type())
        .map(hint);
    let hints: TokenStream = hints.collect();
    let valued: Vec<&Instance> = instances
        .list
        .iter()
        .filter(|instance| instance.is_type())
        .collect();
    let fields = valued.iter().map(|instance| {
        let (name, ty) = (&instance.name, node_type(instance));
        quote!(#name: #ty)
    });
    if valued.is_empty() {
        return quote! {
            #documentation
            #(#other)*
            #[derive(Debug, Clone, Copy, Default)]
            #vis struct #name { __nothing: () }
            #[allow(dead_code)]
            impl #name {
                /// The flow. It has no settings.
                pub const fn new() -> Self {
                    #name { __nothing: () }
                }
            }
        };
    }
    let functions: Vec<_> = valued
        .iter()
        .filter_map(|instance| declared_function(flow, instance))
        .collect();
    let functions = (!functions.is_empty()).then(|| quote!(impl #name { #(#functions)* }));
    let setters = valued.iter().map(|instance| setter(flow, instance));
    let fields: Vec<_> = fields.collect();
    let required = valued.iter().any(|instance| is_required(flow, instance));
    let default = (!required).then(|| {
        let values = valued.iter().map(|instance| {
            let (name, value) = (&instance.name, default_value(flow, instance));
            quote!(#name: #value)
        });
        quote! {
            #[allow(dead_code)]
            impl #name {
                /// The flow with the settings that it declares.
                pub fn new() -> Self {
                    ::core::default::Default::default()
                }
            }
            impl ::core::default::Default for #name {
                fn default() -> Self {
                    #name { #(#values),* }
                }
            }
        }
    });
    let (builder_doc, build_doc) = (
        format!("Sets what `{name}` needs."),
        format!("The flow `{name}`."),
    );
    quote! {
        #documentation
        #(#other)*
        #[derive(#rt::typed_builder::TypedBuilder)]
        #[builder(
            crate_module_path = #rt::typed_builder,
            builder_method(doc = #builder_doc),
            builder_type(doc = #builder_doc),
            build_method(doc = #build_doc)
        )]
        #vis struct #name { #(#setters #fields,)* }
        impl ::core::fmt::Debug for #name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.debug_struct(::core::stringify!(#name)).finish_non_exhaustive()
            }
        }
        #functions
        #default
        #hints
    }
}

/// Of a type that lacks `#[node]`, rustc says only that there is no macro of its name: this says what to do.
fn hint(instance: &Instance) -> TokenStream {
    let site = here(instance.span);
    let (rt, path) = (runtime_at(site), instance.path().map(located));
    quote_spanned!(site=> const _: () = <#path as #rt::Node>::IS_NODE;)
}

/// The type of a node, through its macro: for a name that is no node, this is the error that asking for its contract
/// gives as well, and rustc says it once.
fn node_type(instance: &Instance) -> TokenStream {
    let Some(path) = instance.path() else {
        return quote!(());
    };
    let macro_path = macro_path(path);
    let last = path.segments.last().map(|last| last.ident.span());
    quote_spanned!(here(last.unwrap_or_else(Span::call_site))=> #macro_path!(@type #path))
}

/// What the declaration says after `=`.
fn declared_value<'a>(flow: &'a FlowSyntax, instance: &Instance) -> Option<&'a syn::Expr> {
    match &instance.declared(flow)?.source {
        NodeSource::Path { value, .. } => value.as_ref(),
        _ => None,
    }
}

/// A declared type without a value is what the builder asks for.
fn is_required(flow: &FlowSyntax, instance: &Instance) -> bool {
    !instance.hidden
        && instance.declared(flow).is_some()
        && declared_value(flow, instance).is_none()
}

fn default_value(flow: &FlowSyntax, instance: &Instance) -> TokenStream {
    let rt = runtime();
    match declared_value(flow, instance) {
        Some(_) => {
            let (name, value) = (&flow.name, value_function(instance));
            quote!(#name::#value())
        }
        None => {
            let ty = node_type(instance);
            quote_spanned!(here(instance.span)=> <#ty as #rt::DefaultNode>::default_node())
        }
    }
}

/// A function that gives the declared value. What is wrong with it is then said once, though it is asked for twice.
fn declared_function(flow: &FlowSyntax, instance: &Instance) -> Option<TokenStream> {
    let value = declared_value(flow, instance)?;
    let (name, ty) = (value_function(instance), node_type(instance));
    Some(quote_spanned! {here(instance.span)=>
        #[doc(hidden)]
        #[allow(dead_code)]
        fn #name() -> #ty { #value }
    })
}

fn value_function(instance: &Instance) -> Ident {
    hidden("value", &plain(&instance.name), instance.span)
}

fn setter(flow: &FlowSyntax, instance: &Instance) -> TokenStream {
    let doc = format!("The node `{}`.", instance.name);
    if is_required(flow, instance) {
        return quote!(#[builder(setter(doc = #doc))]);
    }
    let value = default_value(flow, instance);
    match instance.declared(flow).filter(|_| !instance.hidden) {
        Some(_) => quote!(#[builder(default = #value, setter(doc = #doc))]),
        None => quote!(#[builder(default = #value, setter(skip))]),
    }
}

fn input(flow: &FlowSyntax, names: &TypeNames) -> TokenStream {
    let rt = runtime();
    let (vis, input) = (&flow.vis, &names.input);
    let derives = derives(flow, &["Debug"]);
    let fields = unique(&flow.inputs).map(|parameter| {
        let Parameter {
            attributes,
            name,
            ty,
            optional,
        } = parameter;
        let documentation = docs_or(attributes, &format!("The input `{name}`."));
        let (setter, ty) = match optional {
            true => (
                quote!(#[builder(default, setter(strip_option))]),
                quote!(::core::option::Option<#ty>),
            ),
            false => (quote!(), quote!(#ty)),
        };
        quote!(#documentation #setter pub #name: #ty)
    });
    let documentation = format!("What `{}` is given.", flow.name);
    let (builder_doc, build_doc) = (
        format!("Sets the inputs of `{}`.", flow.name),
        "The inputs.",
    );
    let debug = debug(input, unique(&flow.inputs).map(|parameter| &parameter.name));
    quote! {
        #[doc = #documentation]
        #derives
        #[derive(#rt::typed_builder::TypedBuilder)]
        #[builder(
            crate_module_path = #rt::typed_builder,
            builder_method(doc = #builder_doc),
            builder_type(doc = #builder_doc),
            build_method(doc = #build_doc)
        )]
        #vis struct #input { #(#fields),* }
        #debug
    }
}

fn output(flow: &FlowSyntax, names: &TypeNames) -> TokenStream {
    let TypeNames { output, end, .. } = names;
    let vis = &flow.vis;
    let derives = derives(flow, &["Debug"]);
    let fields = outputs(flow).map(
        |Parameter {
             attributes,
             name,
             ty,
             optional,
         }| {
            let documentation = docs_or(attributes, &format!("The output `{name}`."));
            let ty = if *optional {
                quote!(::core::option::Option<#ty>)
            } else {
                quote!(#ty)
            };
            quote!(#documentation pub #name: #ty)
        },
    );
    let documentation = format!("What `{}` returns.", flow.name);
    let end_field = ident("end", flow.name.span());
    let fields: Vec<_> = fields.collect();
    let shown: Vec<&Ident> = outputs(flow)
        .map(|parameter| &parameter.name)
        .chain([&end_field])
        .collect();
    let debug = debug(output, shown.into_iter());
    quote! {
        #[doc = #documentation]
        #derives
        #[allow(dead_code)]
        #vis struct #output {
            #(#fields,)*
            /// The end at which the run arrived.
            pub end: #end,
        }
        #debug
    }
}

/// The outputs, without those whose name has been reported.
fn outputs(flow: &FlowSyntax) -> impl Iterator<Item = &Parameter> {
    unique(&flow.outputs).filter(|output| plain(&output.name) != "end")
}

/// Without those whose name has been reported.
fn unique(parameters: &[Parameter]) -> impl Iterator<Item = &Parameter> {
    let first = move |index: usize| {
        parameters[..index]
            .iter()
            .all(|earlier| plain(&earlier.name) != plain(&parameters[index].name))
    };
    parameters
        .iter()
        .enumerate()
        .filter(move |(index, parameter)| first(*index) && parameter.name != "build")
        .map(|(_, parameter)| parameter)
}

/// `Debug` that asks nothing of the fields' types.
fn debug<'a>(name: &Ident, fields: impl Iterator<Item = &'a Ident>) -> TokenStream {
    let rt = runtime();
    let fields = fields.map(|field| {
        let text = plain(field);
        quote!(.field(#text, (&&#rt::Printed(&self.#field)).field()))
    });
    quote! {
        impl ::core::fmt::Debug for #name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #[allow(unused_imports)]
                use #rt::{PrintedDebug as _, PrintedOpaque as _};
                f.debug_struct(::core::stringify!(#name))#(#fields)*.finish()
            }
        }
    }
}

/// The enums of nodes and ends.
fn enums(flow: &FlowSyntax, instances: &Instances, names: &TypeNames) -> TokenStream {
    let mut seen = HashSet::new();
    let nodes: Vec<(Ident, String, String)> = instances
        .named_ones()
        .map(|instance| {
            let name = plain(&instance.name);
            (node_variant(instance), format!("`{name}`"), name)
        })
        .filter(|(variant, ..)| seen.insert(variant.clone()))
        .collect();
    let ends: Vec<(Ident, String, String)> = ends(flow)
        .into_iter()
        .map(|End { label, variant }| (variant, format!("`end(\"{label}\")`"), label))
        .collect();
    let node = name_enum(
        flow,
        &TokenStream::new(),
        &names.node,
        &format!("The nodes of `{}`.", flow.name),
        &nodes,
    );
    const PRESENT: [&str; 8] = [
        "Debug",
        "Clone",
        "Copy",
        "PartialEq",
        "Eq",
        "Hash",
        "PartialOrd",
        "Ord",
    ];
    let end = name_enum(
        flow,
        &derives(flow, &PRESENT),
        &names.end,
        &format!("The ends of `{}`.", flow.name),
        &ends,
    );
    quote!(#node #end)
}

/// An enum of names: variant, documentation, text.
fn name_enum(
    flow: &FlowSyntax,
    derives: &TokenStream,
    name: &Ident,
    documentation: &str,
    variants: &[(Ident, String, String)],
) -> TokenStream {
    let vis = &flow.vis;
    let (idents, docs, texts): (Vec<_>, Vec<_>, Vec<_>) = columns(variants);
    let any = (!variants.is_empty()).then(|| quote!(#[repr(u16)]));
    quote! {
        #[doc = #documentation]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #derives
        #[allow(dead_code, clippy::enum_variant_names)]
        #any
        #vis enum #name { #(#[doc = #docs] #idents),* }
        #[allow(dead_code)]
        impl #name {
            /// All of them, in the order written.
            pub const ALL: &'static [Self] = &[#(Self::#idents),*];
            const NAMES: &'static [&'static str] = &[#(#texts),*];
            /// The name, as the flow spells it.
            pub const fn as_str(self) -> &'static str {
                Self::NAMES[self as usize]
            }
        }
        impl ::core::fmt::Display for #name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.pad(self.as_str())
            }
        }
    }
}

fn columns(variants: &[(Ident, String, String)]) -> (Vec<&Ident>, Vec<&String>, Vec<&String>) {
    let idents = variants.iter().map(|(ident, _, _)| ident).collect();
    let docs = variants.iter().map(|(_, doc, _)| doc).collect();
    let texts = variants.iter().map(|(_, _, text)| text).collect();
    (idents, docs, texts)
}

/// `impl Flow`, and what a flow needs to be a node.
fn implementation(flow: &FlowSyntax, instances: &Instances, names: &TypeNames) -> TokenStream {
    let rt = runtime();
    let name = &flow.name;
    let TypeNames {
        input,
        output,
        node,
        end,
    } = names;
    let text = name.to_string();
    let namespace = match &flow.namespace {
        Some(namespace) => namespace.value(),
        None => snake_case(&text),
    };
    let routes = routes(flow, instances, names);
    let run = |engine: TokenStream| {
        quote! {
            #[allow(unused_imports)]
            use #rt::Unresolved as _;
            let engine = #engine;
            let scope = #rt::Scope::root(#rt::Hooks::run(&engine), <Self as #rt::Described>::INFO);
            let work = ::core::pin::pin!(::core::option::Option::Some(self.__drive(&engine, &scope, input)));
            #rt::supervise(&engine, &scope, work).await
        }
    };
    let (direct, observed) = (
        run(quote!(#rt::Direct::new())),
        run(quote!(#rt::Observed::new(options))),
    );
    let result = quote!(::core::result::Result<#output, #rt::FlowError>);
    let writes = outputs(flow)
        .enumerate()
        .map(|(index, Parameter { ty, .. })| {
            let site = here(ty.span());
            let writes = quote_spanned!(site=> type Type = #ty;);
            quote!(impl #rt::Writes<#index> for #name { #writes })
        });
    let collected = collected(flow, names);
    let keys: Vec<&Ident> = unique(&flow.inputs)
        .map(|parameter| &parameter.name)
        .collect();
    let parameters = unique(&flow.inputs).map(
        |Parameter {
             name, ty, optional, ..
         }| match optional {
            true => quote!(#name: ::core::option::Option<#ty>),
            false => quote!(#name: #ty),
        },
    );
    quote! {
        #[allow(non_local_definitions, clippy::manual_async_fn)]
        const _: () = {
            impl #rt::Flow for #name {
                type Input = #input;
                type Output = #output;
                type Node = #node;
                type End = #end;
                const NAME: &'static str = #text;
                const NAMESPACE: &'static str = #namespace;
                const ROUTES: &'static [#rt::Route<#node, #end>] = &[#(#routes),*];
                async fn run(&self, input: #input) -> #result { #direct }
                async fn run_with(&self, input: #input, options: #rt::RunOptions) -> #result { #observed }
            }
            impl #rt::Described for #name {
                const INFO: &'static #rt::FlowInfo = &#rt::FlowInfo { namespace: #namespace, nodes: #node::NAMES };
            }
            #[diagnostic::do_not_recommend]
            impl #rt::Node for #name {}
            #collected
            #(#writes)*
            impl #name {
                #[doc(hidden)]
                #[allow(dead_code, clippy::too_many_arguments)]
                pub fn __input(#(#parameters),*) -> #input {
                    #input { #(#keys),* }
                }
            }
        };
    }
}

/// The lines of the routing table.
fn routes(flow: &FlowSyntax, instances: &Instances, names: &TypeNames) -> Vec<TokenStream> {
    let rt = runtime();
    let TypeNames { node, end, .. } = names;
    let ends = ends(flow);
    let node_of = |step: &StepSyntax| {
        let variant = node_variant(&instances.list[instances.of(step)?]);
        Some(quote!(#node::#variant))
    };
    let route = |edge: &super::syntax::EdgeSyntax| {
        let from = match &edge.from {
            StepSyntax::Start(_) => quote!(::core::option::Option::None),
            step => {
                let from = node_of(step)?;
                quote!(::core::option::Option::Some(#from))
            }
        };
        let action = action_of(edge);
        let to = match &edge.to {
            StepSyntax::End(_, label) => {
                let label = label_of(label.as_ref());
                let variant = &ends.iter().find(|end| end.label == label)?.variant;
                quote!(#rt::Target::End(#end::#variant))
            }
            step => {
                let to = node_of(step)?;
                quote!(#rt::Target::Node(#to))
            }
        };
        Some(quote!(#rt::Route { from: #from, action: #action, to: #to }))
    };
    flow.edges.iter().filter_map(route).collect()
}

/// The action that an edge is for.
pub(crate) fn action_of(edge: &super::syntax::EdgeSyntax) -> String {
    label_of(edge.action.as_ref())
}

/// An action or a label, `"default"` if none is written.
pub(crate) fn label_of(written: Option<&LitStr>) -> String {
    written.map_or_else(|| DEFAULT_ACTION.to_owned(), LitStr::value)
}

/// What a loop over items keeps of each run of this flow: its one output, or all of it.
fn collected(flow: &FlowSyntax, names: &TypeNames) -> TokenStream {
    let rt = runtime();
    let (name, output) = (&flow.name, &names.output);
    let outputs: Vec<&Parameter> = outputs(flow).collect();
    let (item, value) = match (&outputs[..], ends(flow).len()) {
        ([], 1) => (quote!(()), quote!(())),
        (
            [
                Parameter {
                    name, ty, optional, ..
                },
            ],
            1,
        ) => {
            let ty = if *optional {
                quote!(::core::option::Option<#ty>)
            } else {
                quote!(#ty)
            };
            (ty, quote!(output.#name))
        }
        _ => (quote!(#output), quote!(output)),
    };
    quote! {
        impl #rt::Collected for #name {
            type Item = #item;
            #[allow(clippy::unused_unit)]
            fn collected(output: #output) -> #item { #value }
        }
    }
}

/// The flow as a node of another one.
fn contract(flow: &FlowSyntax, broken: bool) -> TokenStream {
    let reads = unique(&flow.inputs).map(|parameter| ReadPort {
        name: parameter.name.clone(),
        mode: if parameter.optional {
            Mode::MaybeTake
        } else {
            Mode::Take
        },
        rust_type: type_text(&parameter.ty),
    });
    let writes = outputs(flow)
        .enumerate()
        .map(|(index, parameter)| WritePort {
            name: parameter.name.clone(),
            index,
            optional: parameter.optional,
            rust_type: type_text(&parameter.ty),
        });
    let actions = ends(flow)
        .into_iter()
        .map(|End { label, variant }| ActionPort {
            name: LitStr::new(&label, variant.span()),
            variant,
            writes: Vec::new(),
        });
    let contract = Contract {
        kind: Kind::Flow,
        fallible: true,
        attempts: true,
        reads: reads.collect(),
        writes: writes.collect(),
        actions: actions.collect(),
        broken,
        ..Contract::empty()
    };
    contract_macro(&flow.name, &flow.vis, &contract.to_token_stream())
}
