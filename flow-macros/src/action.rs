//! `#[derive(Action)]`: an enum whose variants are actions and whose fields are their writes.

use std::collections::HashMap;

use flow_spec::Code;
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens as _, quote};
use syn::spanned::Spanned as _;
use syn::{
    Attribute, Data, DeriveInput, Expr, ExprLit, Field, Fields, Ident, LitStr, MetaNameValue,
    Variant,
};

use crate::contract::{ActionPort, WritePort, actions_tokens, without};
use crate::fragments::ungrouped;
use crate::names::{composed, snake_case};
use crate::protocol::{Named, macro_name, named_macro};
use crate::report::Report;
use crate::runtime::{self, Runtime};
use crate::twice::{self, Extent, unique_name};

/// The attribute `#[action(…)]` that marks an enum whose macro is emitted by its node.
pub(crate) const TOLD_BY_NODE: &str = "__told_by_node";

/// The expansion of the derive.
pub(crate) fn derive(item: TokenStream) -> TokenStream {
    let item: DeriveInput = match syn::parse2(ungrouped(item)) {
        Ok(item) => item,
        Err(error) => return error.into_compile_error(),
    };
    let mut report = Report::default();
    let runtime = runtime::of_item(&item.attrs, "action", &mut report);
    derived(&item, &runtime, report)
}

fn derived(item: &DeriveInput, runtime: &Runtime, mut report: Report) -> TokenStream {
    if let Some((setting, what)) = item.attrs.iter().find_map(external) {
        let message = format!("`#[derive(Action)]` stands above `#[node({setting})]`");
        let help = format!("remove it: a {what} has its actions already");
        // At the derive itself.
        report.error(Code::Malformed, Span::call_site(), message, help);
        return report.into_tokens();
    }
    let Data::Enum(data) = &item.data else {
        let help = "make it an enum with a variant for each action";
        report.error(
            Code::Malformed,
            item.ident.span(),
            "actions are the variants of an enum",
            help,
        );
        let errors = report.into_tokens();
        let stub = stub(item, runtime);
        return quote!(#errors #stub);
    };
    if data.variants.is_empty() {
        let help = "give it a variant for each action";
        report.error(
            Code::Malformed,
            item.ident.span(),
            format!("`{}` has no actions", item.ident),
            help,
        );
    }
    let mut actions = actions(data.variants.iter(), &mut report);
    let parameters: Vec<&Ident> = item.generics.type_params().map(|one| &one.ident).collect();
    for port in actions.iter_mut().flat_map(|action| &mut action.writes) {
        port.rust_type = without(&port.rust_type, &parameters);
    }
    let broken = !report.is_empty();
    let (expansion, errors) = (
        expand(item, data, &actions, broken, runtime),
        report.into_tokens(),
    );
    quote!(#errors #expansion)
}

/// The setting of `#[node(human = …)]` or `#[node(signal)]`, and what the type is by it.
fn external(attribute: &Attribute) -> Option<(&'static str, &'static str)> {
    const SETTINGS: [(&str, &str, &str); 2] = [
        ("human", "human = …", "human node"),
        ("signal", "signal", "signal"),
    ];
    let segments = &attribute.path().segments;
    let is_node = segments.last().is_some_and(|last| last.ident == "node");
    let settings = attribute.meta.require_list().ok().filter(|_| is_node)?;
    settings.tokens.clone().into_iter().find_map(|token| {
        let TokenTree::Ident(word) = token else {
            return None;
        };
        let mut known = SETTINGS.into_iter();
        let (_, setting, what) = known.find(|(name, ..)| word == name)?;
        Some((setting, what))
    })
}

/// The items of a type that cannot have actions, so that a node that names it has no second error.
fn stub(item: &DeriveInput, runtime: &Runtime) -> TokenStream {
    let name = &item.ident;
    let (generics, arguments, bounds) = item.generics.split_for_impl();
    let root = runtime.root();
    let items = quote! {
        impl #generics #root::Action for #name #arguments #bounds {
            const ACTIONS: &'static [&'static ::core::primitive::str] = &[];
            fn action(&self) -> &'static ::core::primitive::str { "" }
        }
    };
    told(item, items, &[], true, runtime)
}

/// The items of an enum, and the macro that passes its actions to a node's contract, unless a node
/// defines this macro.
fn told(
    item: &DeriveInput,
    items: TokenStream,
    actions: &[ActionPort],
    broken: bool,
    runtime: &Runtime,
) -> TokenStream {
    let told_by_node = |attribute: &Attribute| {
        let marker = attribute.parse_args::<Ident>();
        attribute.path().is_ident("action") && marker.is_ok_and(|marker| marker == TOLD_BY_NODE)
    };
    if item.attrs.iter().any(told_by_node) {
        let name = macro_name(&item.ident);
        return twice::if_own(&name, &unique_name(&item.ident), &items);
    }
    let named = Named {
        name: &item.ident,
        vis: &item.vis,
        item: Some(Extent::of(&item.to_token_stream())),
        items,
        runtime,
    };
    named_macro(&named, None, &told_arm(actions, broken))
}

/// The arm of a macro that passes the actions to a node's contract.
pub(crate) fn told_arm(actions: &[ActionPort], broken: bool) -> TokenStream {
    let told = actions_tokens(actions);
    let broken = broken.then(|| quote!(broken));
    // The node names the macro: its crate may know the runtime by another path.
    quote! {
        (@actions [$next:path] $node:tt) => { $next! { $node #told #broken } };
    }
}

/// The action of each variant.
pub(crate) fn actions<'a>(
    variants: impl Iterator<Item = &'a Variant>,
    report: &mut Report,
) -> Vec<ActionPort> {
    let mut actions: Vec<ActionPort> = Vec::new();
    let mut by_text: HashMap<String, &Ident> = HashMap::new();
    let mut index = 0;
    for variant in variants {
        let name = name(variant, report);
        let text = name.value();
        if let Some(same) = by_text.get(&text) {
            let message = format!(
                "`{same}` and `{}` are both the action \"{text}\"",
                variant.ident
            );
            report.error(
                Code::Name,
                name.span(),
                message,
                "name one of them otherwise: `#[action(\"…\")]`",
            );
            continue;
        }
        let writes = writes(variant, &mut index, report);
        if text == flow_spec::ERROR_ACTION && !writes.is_empty() {
            let message = "the action \"error\" carries the failed node's error and nothing else";
            let help = "name the action otherwise: `#[action(\"…\")]`, or remove the fields";
            report.error(Code::Name, name.span(), message, help);
        }
        by_text.insert(text, &variant.ident);
        actions.push(ActionPort {
            name,
            variant: variant.ident.clone(),
            writes,
        });
    }
    actions
}

fn name(variant: &Variant, report: &mut Report) -> LitStr {
    let by_default = LitStr::new(
        &snake_case(&variant.ident.to_string()),
        variant.ident.span(),
    );
    let mut attributes = variant
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("action"));
    let Some(attribute) = attributes.next() else {
        return by_default;
    };
    if let Some(second) = attributes.next() {
        let message = format!("`{}` has two names", variant.ident);
        report.error(
            Code::Name,
            second.path().span(),
            message,
            "remove one of them",
        );
    }
    if let Ok(pair) = attribute.parse_args::<MetaNameValue>()
        && let Expr::Lit(ExprLit { lit, .. }) = &pair.value
    {
        let text = format!(
            "the name stands alone: `#[action({})]`",
            lit.to_token_stream()
        );
        report.text(pair.path.span(), text);
        return by_default;
    }
    if attribute
        .parse_args::<Ident>()
        .is_ok_and(|word| word == "add")
    {
        let text = "`add` stands on a field, whose value is added to that of its key";
        report.text(attribute.path().span(), text);
        return by_default;
    }
    let Ok(given) = attribute.parse_args::<LitStr>() else {
        let example = format!("`#[action(\"{}\")]`", by_default.value());
        let text = format!("expected the action's name in quotes and parentheses: {example}");
        report.text(attribute.path().span(), text);
        return by_default;
    };
    if given.value().is_empty() || given.value().contains(char::is_whitespace) {
        let help = "write a name such as \"needs_revision\"";
        report.error(
            Code::Malformed,
            given.span(),
            "an action is named by a word",
            help,
        );
        return by_default;
    }
    composed(given)
}

/// Returns true for a field with `#[action(add)]`.
fn adds(field: &Field, report: &mut Report) -> bool {
    let mut attributes = field.attrs.iter();
    let Some(attribute) = attributes.find(|attribute| attribute.path().is_ident("action")) else {
        return false;
    };
    let adds = attribute.parse_args::<Ident>();
    let adds = adds.is_ok_and(|word| word == "add");
    if !adds {
        let text = "a field has one setting, which adds its value to the key's: `#[action(add)]`";
        report.text(attribute.path().span(), text);
    }
    adds
}

fn writes(variant: &Variant, index: &mut usize, report: &mut Report) -> Vec<WritePort> {
    match &variant.fields {
        Fields::Unit => Vec::new(),
        Fields::Named(fields) => fields
            .named
            .iter()
            .filter_map(|field| {
                let name: Ident = field.ident.clone()?;
                let rust_type = crate::text::type_text(&field.ty);
                let port = WritePort {
                    name,
                    index: *index,
                    optional: false,
                    adds: adds(field, report),
                    rust_type,
                };
                *index += 1;
                Some(port)
            })
            .collect(),
        Fields::Unnamed(fields) => {
            let message = format!(
                "`{}` does not say under which key its value is written",
                variant.ident
            );
            let types = fields
                .unnamed
                .iter()
                .map(|field| crate::text::type_text(&field.ty));
            let help = match types.len() {
                1 => format!(
                    "name its field after the key that it writes, such as `{} {{ key: {} }}`",
                    variant.ident,
                    types.collect::<String>()
                ),
                _ => {
                    let named = types
                        .enumerate()
                        .map(|(index, ty)| format!("key_{}: {ty}", index + 1));
                    let named = named.collect::<Vec<_>>().join(", ");
                    format!(
                        "name its fields after the keys that it writes, such as `{} {{ {named} }}`",
                        variant.ident
                    )
                }
            };
            report.error(Code::Malformed, variant.ident.span(), message, help);
            Vec::new()
        }
    }
}

fn expand(
    item: &DeriveInput,
    data: &syn::DataEnum,
    actions: &[ActionPort],
    broken: bool,
    runtime: &Runtime,
) -> TokenStream {
    let rt = runtime.hidden();
    let name = &item.ident;
    let (generics, arguments, bounds) = item.generics.split_for_impl();
    let names: Vec<_> = actions.iter().map(|action| &action.name).collect();
    let arms = actions
        .iter()
        .map(|ActionPort { name, variant, .. }| quote!(Self::#variant { .. } => #name,));
    let fallback =
        (actions.len() < data.variants.len() || actions.is_empty()).then(|| quote!(_ => "",));
    let types = data
        .variants
        .iter()
        .filter(|variant| matches!(variant.fields, Fields::Named(_)));
    let types = types.flat_map(|variant| variant.fields.iter().map(|field| &field.ty));
    let indexes = 0usize..;
    let writes = types.zip(indexes).map(|(ty, index)| {
        quote!(impl #generics #rt::Writes<#index> for #name #arguments #bounds { type Type = #ty; })
    });
    let root = runtime.root();
    let items = quote! {
        #[automatically_derived]
        #[diagnostic::do_not_recommend]
        impl #generics #root::Action for #name #arguments #bounds {
            const ACTIONS: &'static [&'static ::core::primitive::str] = &[#(#names),*];
            fn action(&self) -> &'static ::core::primitive::str {
                match self { #(#arms)* #fallback }
            }
        }
        const _: () = { #(#writes)* };
    };
    told(item, items, actions, broken, runtime)
}
