//! The flow's own struct, which holds the values of its nodes, with its builder and its `Default`.
//!
//! A mistake in a value or in the type of a node should be reported once, although each is used
//! twice.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Attribute;

use crate::flow::instances::{Instance, InstanceKind, Instances};
use crate::flow::syntax::{FlowSyntax, NodeSource};
use crate::flow::types::{aliases, named_type, node_type};
use crate::names::{here, hidden, is_type_name, located, plain};

use super::attributes::docs_or;
use super::builder::{self, Built, Field, Unset};

/// The flow's own struct: the values of its nodes.
pub(super) fn value(flow: &FlowSyntax, instances: &Instances) -> TokenStream {
    let FlowSyntax { name, vis, .. } = flow;
    let documentation = docs_or(&flow.attributes, &format!("The flow `{name}`."));
    let is_other = |attribute: &&Attribute| {
        !["doc", "derive", "flow"]
            .iter()
            .any(|path| attribute.path().is_ident(path))
    };
    let other: Vec<&Attribute> = flow.attributes.iter().filter(is_other).collect();
    let all = || instances.iter().map(|(_, instance)| instance);
    let valued: Vec<&Instance> = all().filter(|instance| instance.is_type()).collect();
    let hints = all().filter_map(|instance| hint(flow, instance));
    if valued.is_empty() {
        let value = without_values(flow, &documentation, &other);
        return quote!(#value #(#hints)*);
    }
    let (rt, text) = (flow.runtime.hidden(), plain(name));
    let functions = declared_functions(flow, &valued);
    let fields = valued.iter().map(|instance| {
        let (name, ty) = (&instance.name, held_type(flow, instance));
        quote!(#name: #ty)
    });
    let aliases = valued.iter().map(|instance| aliases(flow, instance));
    let default = default(flow, &valued);
    let without_value = valued.iter();
    let without_value = without_value.filter_map(|one| refuse_without_value(flow, one));
    let last = last_field(&valued);
    let (set, others): (Vec<&Instance>, Vec<&Instance>) = valued
        .iter()
        .copied()
        .partition(|instance| is_set(flow, instance));
    let others = others.into_iter().map(|instance| {
        let (name, value) = (&instance.name, default_value(flow, instance));
        quote!(#name: #value)
    });
    let builder = builder::builder(&Built {
        vis,
        name,
        doc: format!("Sets what `{name}` needs."),
        fields: set.into_iter().map(|one| set_in(flow, one)).collect(),
        others: others.chain([quote!(#last: ())]).collect(),
        runtime: &flow.runtime,
    });
    // To know that a type is `Sized`, rustc looks at its last field, and thus at each ring. It
    // shows the field to those who build the flow without its builder. Shown at the name: rustc
    // would show the whole call of the macro.
    let structure = quote_spanned! {here(name.span())=>
        #vis struct #name { #(#fields,)* #last: () }
    };
    quote! {
        #documentation
        #(#other)*
        #structure
        #rt::debug! { opaque #name #text }
        #builder
        #functions
        #default
        #(#aliases)*
        #(#without_value)*
        #(#hints)*
    }
}

/// The field after those of the nodes, with a name that none of them has.
fn last_field(valued: &[&Instance]) -> Ident {
    let mut name = "made_by_its_builder".to_owned();
    while valued.iter().any(|node| plain(&node.name) == name) {
        name.push('_');
    }
    Ident::new(&name, Span::call_site())
}

/// The functions that return the values which the flow declares.
fn declared_functions(flow: &FlowSyntax, valued: &[&Instance]) -> Option<TokenStream> {
    let name = &flow.name;
    let functions = valued.iter();
    let functions = functions.filter_map(|instance| declared_function(flow, instance));
    let functions: Vec<_> = functions.collect();
    (!functions.is_empty()).then(|| quote!(impl #name { #(#functions)* }))
}

/// The struct of a flow whose nodes are all functions.
fn without_values(
    flow: &FlowSyntax,
    documentation: &TokenStream,
    attributes: &[&Attribute],
) -> TokenStream {
    let FlowSyntax { name, vis, .. } = flow;
    // `Greeting` is then a value as well. With another name, it would be in the way of variables.
    let fields = if is_type_name(name) {
        quote!(;)
    } else {
        quote!({})
    };
    // The structure is not shown at its name, as all others are: rustc would propose the value
    // `Age` for an unknown `age` within the flow.
    let new = quote_spanned!(here(name.span())=> pub const fn new() -> Self);
    quote! {
        #documentation
        #(#attributes)*
        #[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::marker::Copy, ::core::default::Default)]
        #vis struct #name #fields
        impl #name {
            /// The flow. It has no settings.
            #new {
                #name {}
            }
        }
    }
}

/// `new` and `Default`, which exist if the type of each node without a value has a default.
fn default(flow: &FlowSyntax, valued: &[&Instance]) -> TokenStream {
    let (name, last) = (&flow.name, last_field(valued));
    let values = valued.iter().map(|instance| {
        let (name, value) = (&instance.name, default_value(flow, instance));
        quote!(#name: #value)
    });
    let without_value: Vec<&Instance> = valued
        .iter()
        .copied()
        .filter(|instance| is_set(flow, instance) && declared_value(flow, instance).is_none())
        .collect();
    let traits = without_value
        .iter()
        .map(|instance| default_trait(flow, instance));
    let names: Vec<Ident> = without_value.iter().map(|one| trait_name(one)).collect();
    // Shown as the user's code, so that rustc points at the node and does not mention the macro.
    let bounds = without_value.iter().zip(&names).map(|(one, name)| {
        let user = one.name.span();
        let name = Ident::new(&name.to_string(), user);
        quote_spanned!(user=> #name<'__a>)
    });
    let bounds: Vec<TokenStream> = bounds.collect();
    let types = without_value.iter().map(|one| held_type(flow, one));
    let types: Vec<TokenStream> = types.collect();
    let generics = (!names.is_empty()).then(|| quote!(<'__a>));
    let new = quote_spanned!(here(name.span())=> pub fn new #generics () -> Self);
    quote! {
        const _: () = {
            #(#traits)*
            impl #name {
                /// The flow with the settings that it declares.
                #new
                where
                    #(#types: #bounds,)*
                {
                    #name { #(#values,)* #last: () }
                }
            }
            impl ::core::default::Default for #name
            where
                #(for<'__a> #types: #names<'__a>,)*
            {
                fn default() -> Self {
                    Self::new()
                }
            }
        };
    }
}

/// The trait of a type that has a default, for the message if it has none. The lifetime has no
/// meaning: a bound without one would have to hold at the definition of the flow.
fn default_trait(flow: &FlowSyntax, instance: &Instance) -> TokenStream {
    let (rt, its_trait) = (flow.runtime.hidden(), trait_name(instance));
    let (flow, name) = (&flow.name, &instance.name);
    let message = format!("`{flow}` needs a value for `{}`", plain(name));
    let note = format!(
        "write `{flow}::builder().{name}(…).build()`, or implement `Default` for `{{Self}}`"
    );
    quote! {
        #[doc(hidden)]
        #[diagnostic::on_unimplemented(message = #message, label = "has no default", note = #note)]
        pub trait #its_trait<'a>: ::core::marker::Sized {
            fn value() -> Self;
        }
        #[diagnostic::do_not_recommend]
        impl<'a, T: #rt::HasDefault<'a>> #its_trait<'a> for T {
            fn value() -> Self { #rt::HasDefault::value() }
        }
    }
}

/// A readable name, because rustc shows the trait next to the message.
fn trait_name(instance: &Instance) -> Ident {
    let site = here(instance.name.span());
    format_ident!("{}_has_a_default", plain(&instance.name), span = site)
}

/// For a type that is declared with `human` or `signal` and lacks `#[node]`, rustc reports only a missing macro
/// of its name. This adds how to fix it.
fn hint(flow: &FlowSyntax, instance: &Instance) -> Option<TokenStream> {
    let path = instance.path().filter(|_| instance.is_external)?;
    let last = path.segments.last()?;
    let site = here(instance.span);
    let (rt, path) = (flow.runtime.hidden_at(site), located(path));
    is_type_name(&last.ident)
        .then(|| quote_spanned!(site=> const _: () = <#path as #rt::Node>::IS_NODE;))
}

/// The type of the value that a flow holds for a node.
fn held_type(flow: &FlowSyntax, instance: &Instance) -> TokenStream {
    let ty = node_type(flow, instance);
    if crate::editor::expands() {
        // It is shown as written.
        return ty;
    }
    let rt = flow.runtime.hidden_at(instance.span);
    quote_spanned!(instance.span=> <#ty as #rt::Node>::Held)
}

/// An expression of the value that a flow holds for a node with this value.
fn held(flow: &FlowSyntax, instance: &Instance, value: &TokenStream) -> TokenStream {
    let ty = node_type(flow, instance);
    let rt = flow.runtime.hidden();
    quote!(#rt::hold::<#ty>(#value))
}

/// The expression after `=` in the declaration.
fn declared_value<'a>(flow: &'a FlowSyntax, instance: &Instance) -> Option<&'a syn::Expr> {
    match &instance.declared(flow)?.source {
        NodeSource::Path { value, .. } => value.as_ref(),
        _ => None,
    }
}

fn default_value(flow: &FlowSyntax, instance: &Instance) -> TokenStream {
    let rt = flow.runtime.hidden();
    match declared_value(flow, instance) {
        Some(_) => {
            let (name, value) = (&flow.name, value_function(instance));
            quote!(#name::#value())
        }
        None if is_set(flow, instance) => {
            let (ty, its_trait) = (held_type(flow, instance), trait_name(instance));
            quote!(<#ty as #its_trait<'__a>>::value())
        }
        None => {
            let (site, ty) = (here(instance.span), held_type(flow, instance));
            quote_spanned!(site=> {
                use #rt::NoDefault as _;
                #rt::DefaultOf::<#ty>::__value()
            })
        }
    }
}

/// Reports at the edge that a node used without a declaration has no value.
fn refuse_without_value(flow: &FlowSyntax, instance: &Instance) -> Option<TokenStream> {
    if is_set(flow, instance) || declared_value(flow, instance).is_some() {
        return None;
    }
    let (ty, shown, name) = (held_type(flow, instance), &instance.shown, &instance.name);
    let (rt, site) = (flow.runtime.hidden_at(instance.span), here(instance.span));
    let import = {
        let rt = flow.runtime.hidden_at(site);
        quote_spanned!(site=> use #rt::NoDefault as _;)
    };
    let message = match &instance.kind {
        InstanceKind::Node(path) if instance.hidden => {
            let ty = path.segments.last().map(|last| plain(&last.ident));
            let ty = ty.unwrap_or_else(|| shown.clone());
            let name = flow_spec::snake_case(&ty);
            format!(
                "the node `{ty}` needs a value\n\
                 help: declare it, as in `node {name}: {ty} = value;`, and write `{name}` between the braces; leave out \
                 `= value` to make it a setting of the flow, or implement `Default` for `{ty}`"
            )
        }
        _ => format!(
            "the node `{shown}` needs a value\n\
             help: declare it, as in `node {name}: {shown} = value;`, leave out `= value` to make it a setting of the flow, or \
             implement `Default` for `{shown}`"
        ),
    };
    Some(quote_spanned! {instance.span=>
        const _: () = {
            #import
            #rt::must(#rt::DefaultOf::<#ty>::__HAS_DEFAULT, #message)
        };
    })
}

/// A function that returns the declared value. A mistake in it is then reported once, although the
/// value is used twice.
fn declared_function(flow: &FlowSyntax, instance: &Instance) -> Option<TokenStream> {
    let value = declared_value(flow, instance)?;
    // At the beginning of a statement, `{ … } + 1` would end after the block.
    let value = match syn::parse2::<syn::Block>(quote!({ #value })) {
        Ok(_) => quote!(#value),
        Err(_) => quote!((#value)),
    };
    let (name, named) = (value_function(instance), named_type(flow, instance));
    let (ty, held) = (
        held_type(flow, instance),
        held(flow, instance, &quote!(__value)),
    );
    Some(quote_spanned! {here(instance.span)=>
        #[doc(hidden)]
        fn #name() -> #ty {
            let __value: #named = #value;
            #held
        }
    })
}

fn value_function(instance: &Instance) -> Ident {
    hidden("value", &plain(&instance.name), instance.span)
}

/// A node as a field of the builder.
fn set_in<'a>(flow: &FlowSyntax, instance: &'a Instance) -> Field<'a> {
    let (name, named) = (&instance.name, named_type(flow, instance));
    let doc = format!("The node `{name}`.");
    let value = Ident::new(builder::VALUE, here(name.span()));
    Field {
        name,
        ty: held_type(flow, instance),
        doc: quote!(#[doc = #doc]),
        // The type as named, for documentation.
        taken: quote!(#named),
        made: held(flow, instance, &quote!(#value)),
        unset: match declared_value(flow, instance) {
            Some(_) => Unset::Value(default_value(flow, instance)),
            None => Unset::DefaultOfType,
        },
    }
}

/// Returns true if the builder has a method for it.
fn is_set(flow: &FlowSyntax, instance: &Instance) -> bool {
    !instance.hidden && instance.declared(flow).is_some()
}
