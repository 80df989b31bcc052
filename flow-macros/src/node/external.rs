//! `#[node(human = "…")]` and `#[node(signal)]`, on a type whose values come from outside.
//!
//! An enum is a node and an enum of actions at once: `#[derive(Action)]` makes it the latter, and
//! one macro of its name passes on both. Without the feature `stored` of the runtime, nothing can
//! come from outside. Both variants of the items are therefore emitted next to each other, and the
//! runtime chooses.

use flow_spec::{Code, TIMEOUT_ACTION};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::parse::{ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Attribute, Data, DataEnum, DeriveInput, Field, Fields, LitStr, Path, Token};

use crate::action::TOLD_BY_NODE;
use crate::configured::Part;
use crate::contract::{About, ActionPort, Contract, External, Failure, Kind, ReadPort, WritePort};
use crate::documentation::{documentation, refuse_unknown};
use crate::editor::out_of_sight;
use crate::names::{here, ident, plain, snake_case};
use crate::protocol::{Named, named_macro};
use crate::report::Report;
use crate::runtime::Runtime;
use crate::settings::GivenBy;
use crate::text::type_text;
use crate::twice::Extent;

use super::attribute::NodeAttribute;
use super::prompt::Prompt;

/// The way in which the values of a type come from outside.
#[derive(Clone, Copy)]
enum Source<'a> {
    /// A person is asked with this prompt.
    Question(&'a LitStr),
    /// They are sent. The setting `signal` is here.
    Signal(Span),
}

impl<'a> Source<'a> {
    fn of(attribute: &'a NodeAttribute) -> Option<Self> {
        let question = attribute.human.as_ref().map(Source::Question);
        question.or_else(|| attribute.signal.map(Source::Signal))
    }

    fn kind(self) -> Kind {
        match self {
            Source::Question(_) => Kind::Human,
            Source::Signal(_) => Kind::Signal,
        }
    }

    fn span(self) -> Span {
        match self {
            Source::Question(prompt) => prompt.span(),
            Source::Signal(span) => span,
        }
    }
}

/// The kind of a type with these settings. That of a type with none is reported.
fn kind(attribute: &NodeAttribute) -> Kind {
    Source::of(attribute).map_or(Kind::Human, Source::kind)
}

/// The items next to the type. They stay despite a mistake in the settings or in the prompt, which
/// is reported separately.
pub(super) fn expand(
    attribute: &NodeAttribute,
    item: TokenStream,
    of_settings: &mut Report,
    report: &mut Report,
) -> syn::Result<TokenStream> {
    let item: DeriveInput = syn::parse2(item)?;
    let name = &item.ident;
    let Some(source) = Source::of(attribute) else {
        let message = format!(
            "`{name}` is a type, and `#[node]` on a type is a question to a person or a signal"
        );
        let help = format!(
            "for a step with settings, put `#[node]` on `impl {name} {{ … }}`, which has the method `exec`; for a \
             question, say it: `#[node(human = \"Deploy?\")]`; for a signal, `#[node(signal)]`"
        );
        report.error(Code::Malformed, name.span(), message, help);
        return Ok(TokenStream::new());
    };
    refuse_settings(&item, attribute, source, of_settings);
    refuse_unknown(&item.attrs, report);
    if let Data::Enum(data) = &item.data {
        refuse_conditions(data, report);
    }
    if let Some(parameter) = item.generics.params.first() {
        let why = match source {
            Source::Question(_) => "what a person is asked for has one type",
            Source::Signal(_) => "what is sent has one type",
        };
        let message = format!("`{name}` cannot be generic: {why}");
        let help = match source {
            Source::Question(_) => "name the types that it is submitted with",
            Source::Signal(_) => "name the types that it is sent with",
        };
        report.error(Code::Malformed, parameter.span(), message, help);
    }
    let prompt = match source {
        Source::Question(literal) => Some(Prompt::parse(literal, of_settings)),
        Source::Signal(_) => None,
    };
    let (actions, broken) = match &item.data {
        Data::Enum(data) => variants(data, attribute, of_settings),
        _ => (Vec::new(), false),
    };
    let times_out = attribute.settings.timeout.is_some();
    let writes = writes(&item, attribute, source, report);
    let keys = prompt.iter().flat_map(|prompt| &prompt.keys);
    let contract = Contract {
        kind: source.kind(),
        failure: if times_out {
            Failure::Timeout
        } else {
            Failure::Never
        },
        broken: broken || !of_settings.is_empty() || !report.is_empty(),
        reads: keys.map(ReadPort::borrowed).collect(),
        writes,
        actions,
        about: About {
            external: Some(External {
                expects: plain(name),
                prompt: attribute.human.as_ref().map(LitStr::value),
            }),
            ..attribute.about(documentation(&item.attrs))
        },
        ..Contract::empty()
    };
    let sound = sound(&item, attribute, &contract, source, prompt.as_ref());
    let alone = Contract {
        kind: source.kind(),
        ..Contract::broken()
    };
    let alone = told(&item, &alone, &TokenStream::new(), &attribute.runtime);
    let site = here(source.span());
    let rt = attribute.runtime.hidden_at(site);
    let expansion = match source {
        Source::Question(_) => quote_spanned!(site=> human),
        Source::Signal(_) => quote_spanned!(site=> signal),
    };
    Ok(quote_spanned!(site=> #rt::#expansion! { {#sound} {#alone} }))
}

/// The items next to a type with mistakes.
pub(super) fn stub(attribute: &NodeAttribute, item: TokenStream) -> syn::Result<TokenStream> {
    let item: DeriveInput = syn::parse2(item)?;
    let contract = Contract {
        kind: kind(attribute),
        ..Contract::broken()
    };
    let runtime = &attribute.runtime;
    Ok(told(&item, &contract, &TokenStream::new(), runtime))
}

/// The type itself, with `#[derive(Action)]` added to an enum that lacks it. The derive leaves the
/// macro to the node.
pub(super) fn item(attribute: &NodeAttribute, item: TokenStream) -> TokenStream {
    let parsed: syn::Result<DeriveInput> = syn::parse2(item.clone());
    let (Ok(parsed), Some(_)) = (parsed, Source::of(attribute)) else {
        return item;
    };
    let derived = parsed.attrs.iter().any(derives_action);
    let is_enum = matches!(parsed.data, Data::Enum(_));
    if !derived && !is_enum {
        return item;
    }
    let runtime = attribute.runtime.root();
    let derive = (!derived).then(|| quote!(#[derive(#runtime::Action)]));
    let marker = format_ident!("{TOLD_BY_NODE}");
    let named = attribute.runtime.named();
    let named = named.map(|path| quote!(#[action(crate = #path)]));
    let with_attributes = |input: ParseStream<'_>| {
        let attributes = input.call(Attribute::parse_outer)?;
        let rest: TokenStream = input.parse()?;
        Ok(quote!(#(#attributes)* #derive #[action(#marker)] #named #rest))
    };
    with_attributes.parse2(item.clone()).unwrap_or(item)
}

/// Returns true if an attribute derives `Action`.
fn derives_action(attribute: &Attribute) -> bool {
    let is_action = |path: &Path| {
        path.segments
            .last()
            .is_some_and(|last| last.ident == "Action")
    };
    let list = |attribute: &Attribute| {
        attribute.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated)
    };
    attribute.path().is_ident("derive")
        && list(attribute).is_ok_and(|paths| paths.iter().any(is_action))
}

/// Refuses conditions of variants and of their fields: the derive sees which of them hold, but the
/// node does not.
fn refuse_conditions(data: &DataEnum, report: &mut Report) {
    const WHOLE: &str = "the whole enum";
    for variant in &data.variants {
        let part = Part {
            attributes: &variant.attrs,
            what: format!("the variant `{}`", variant.ident),
            whole: WHOLE,
            read: &["action"],
        };
        part.refuse_conditions(report);
        for field in &variant.fields {
            let name = field.ident.as_ref();
            let name = name.map_or_else(String::new, |name| format!(" `{name}`"));
            let part = Part {
                attributes: &field.attrs,
                what: format!("the field{name} of `{}`", variant.ident),
                whole: WHOLE,
                read: &[],
            };
            part.refuse_conditions(report);
        }
    }
}

/// Refuses settings that only steps have.
fn refuse_settings(
    item: &DeriveInput,
    attribute: &NodeAttribute,
    source: Source<'_>,
    report: &mut Report,
) {
    let name = &item.ident;
    let is_enum = matches!(item.data, Data::Enum(_));
    let is_question = matches!(source, Source::Question(_));
    let of_source = |question: &str, signal: &str| {
        let text = if is_question { question } else { signal };
        text.replace("{name}", &name.to_string())
    };
    let mut refuse = |span, message: String, help: &str| {
        report.error(Code::NamesNothing, span, message, help);
    };
    let how_long = of_source(
        "`timeout = \"24h\"` says how long there is to answer",
        "`timeout = \"24h\"` says how long a step waits for it",
    );
    if let Some((span, _)) = &attribute.settings.retry {
        let message = of_source(
            "`{name}` is asked for once, so there is nothing to retry",
            "a step waits until `{name}` is sent, so there is nothing to retry",
        );
        refuse(*span, message, &format!("remove `retry`; {how_long}"));
    }
    if let Some(poll) = &attribute.poll {
        let message = of_source(
            "the flow waits until `{name}` is submitted, so there is nothing to poll",
            "a step waits until `{name}` is sent, so there is nothing to poll",
        );
        refuse(poll.span, message, &format!("remove `poll`; {how_long}"));
    }
    if let Some(span) = attribute.blocking {
        let message = of_source(
            "a person is asked for `{name}`, so there is nothing that could block",
            "`{name}` is sent from outside, so there is nothing that could block",
        );
        refuse(span, message, "remove `blocking`");
    }
    if let Some(span) = attribute.transaction {
        let message = of_source(
            "a person is asked for `{name}`, and nothing is written meanwhile",
            "a step waits until `{name}` is sent, and nothing is written meanwhile",
        );
        refuse(span, message, "write in a transaction in the next node");
    }
    if let Some(actions) = &attribute.actions {
        let (message, help) = if is_enum {
            (
                format!("the actions of `{name}` are its own variants"),
                "remove `actions`",
            )
        } else {
            (
                format!("`{name}` is a struct, and takes no actions"),
                "make it an enum, whose variants are its actions, and remove `actions`",
            )
        };
        refuse(actions.span(), message, help);
    }
    match attribute.writes.as_deref() {
        Some([key, ..]) if is_enum => {
            let verb = if is_question { "submitted" } else { "sent" };
            let message = format!("`{name}` writes the fields of the variant that is {verb}");
            let help = if key.adds {
                "remove `writes`, and put `#[action(add)]` on a field with the name of the key"
            } else {
                "remove `writes`, and name a field by the key that it is to write"
            };
            refuse(key.name.span(), message, help);
        }
        Some([_, second, ..]) => {
            let message = format!("`{name}` is one value, and is written under one key");
            let help = if is_question {
                "name one key"
            } else {
                "name one key; without `writes`, each field is written under its own name"
            };
            refuse(second.name.span(), message, help);
        }
        _ => {}
    }
}

/// The actions. The second value is true if they have mistakes, which the derive reports.
fn variants(
    data: &DataEnum,
    attribute: &NodeAttribute,
    report: &mut Report,
) -> (Vec<ActionPort>, bool) {
    let mut reported_by_derive = Report::default();
    let actions = crate::action::actions(data.variants.iter(), &mut reported_by_derive);
    let timeout = actions
        .iter()
        .find(|action| action.name.value() == TIMEOUT_ACTION);
    if let (Some(action), Some(_)) = (timeout, &attribute.settings.timeout) {
        let when = match kind(attribute) {
            Kind::Signal => "no signal comes in time",
            _ => "nobody answers in time",
        };
        let message = format!(
            "the action \"{TIMEOUT_ACTION}\" is what a flow routes if {when}, and `{}` is it too",
            action.variant
        );
        let help = "name the variant otherwise, or remove `timeout`";
        report.error(Code::Name, action.name.span(), message, help);
    }
    let broken = !reported_by_derive.is_empty() || data.variants.is_empty();
    (actions, broken)
}

/// An answer that is a struct is written as a whole, and so is a signal if `writes` names the key;
/// otherwise, the fields of a signal are written. The writes of an enum are those of its actions.
fn writes(
    item: &DeriveInput,
    attribute: &NodeAttribute,
    source: Source<'_>,
    report: &mut Report,
) -> Vec<WritePort> {
    if matches!(item.data, Data::Enum(_)) || !report.is_empty() {
        return Vec::new();
    }
    let name = &item.ident;
    let by_name = || ident(&snake_case(&name.to_string()), name.span());
    let given = attribute.writes.as_ref().and_then(|keys| keys.first());
    if let (Source::Signal(_), None) = (source, given) {
        return fields_written(item, report);
    }
    vec![WritePort {
        name: given.map_or_else(by_name, |key| key.name.clone()),
        index: 0,
        optional: false,
        adds: given.is_some_and(|key| key.adds),
        rust_type: plain(name),
    }]
}

/// The fields of a struct, each under its name.
fn fields_written(item: &DeriveInput, report: &mut Report) -> Vec<WritePort> {
    let Data::Struct(data) = &item.data else {
        return Vec::new();
    };
    if let Fields::Unnamed(fields) = &data.fields {
        let name = &item.ident;
        let message = format!("`{name}` does not say under which key its value is written");
        let help = format!(
            "give each field the name of its key, such as `struct {name} {{ key: … }}`, or write the whole: \
             `#[node(signal, writes = {})]`",
            snake_case(&name.to_string())
        );
        report.error(Code::Malformed, fields.span(), message, help);
        return Vec::new();
    }
    for field in &data.fields {
        let part = Part {
            attributes: &field.attrs,
            what: match &field.ident {
                Some(key) => format!("the field `{key}` of `{}`", item.ident),
                None => format!("a field of `{}`", item.ident),
            },
            whole: "the whole struct",
            read: &[],
        };
        part.refuse_conditions(report);
    }
    let fields = data.fields.iter().enumerate();
    let port = |(index, field): (usize, &Field)| {
        Some(WritePort {
            name: field.ident.clone()?,
            index,
            optional: false,
            adds: false,
            rust_type: type_text(&field.ty),
        })
    };
    fields.filter_map(port).collect()
}

/// The macro that passes on the contract and, for an enum, also its actions to other nodes.
fn told(
    item: &DeriveInput,
    contract: &Contract,
    items: &TokenStream,
    runtime: &Runtime,
) -> TokenStream {
    let rt = runtime.hidden();
    let arms = match &item.data {
        Data::Enum(data) => {
            let actions = crate::action::actions(data.variants.iter(), &mut Report::default());
            crate::action::told_arm(&actions, contract.broken)
        }
        _ => TokenStream::new(),
    };
    let name = &item.ident;
    let (generics, arguments, bounds) = item.generics.split_for_impl();
    let items = out_of_sight(quote! {
        #items
        #[doc(hidden)]
        const _: () = {
            #[diagnostic::do_not_recommend]
            impl #generics #rt::Node for #name #arguments #bounds { type Held = #rt::NoValue<Self>; type Inside = #rt::NothingInside; }
        };
    });
    let named = Named {
        name,
        vis: &item.vis,
        item: Some(Extent::of(&item.to_token_stream())),
        items,
        runtime,
    };
    named_macro(&named, Some(contract), &arms)
}

/// All items of a type without mistakes.
fn sound(
    item: &DeriveInput,
    attribute: &NodeAttribute,
    contract: &Contract,
    source: Source<'_>,
    prompt: Option<&Prompt>,
) -> TokenStream {
    let rt = attribute.runtime.hidden();
    let name = &item.ident;
    let text = plain(name);
    let policy = attribute.settings.policy(
        &quote!(#rt::Policy::DEFAULT),
        GivenBy::Node,
        &attribute.runtime,
    );
    let actions = match &item.data {
        Data::Enum(_) => quote!(#name),
        _ => quote!(()),
    };
    // Missing traits of the type are reported at the type.
    let site = here(name.span());
    let at_type = attribute.runtime.hidden_at(site);
    let form = quote_spanned! {site=>
        use #at_type::NoForm as _;
        #at_type::FormOf::<#name>::__FORM
    };
    let external = match (source, prompt) {
        (Source::Question(literal), Some(prompt)) => {
            let prompt = shown(name, literal, prompt);
            quote!(#rt::external_type! { human #name #text { { #form } } } #prompt)
        }
        _ => {
            let (parts, taken_apart) = parts(item, contract, attribute);
            let writes = field_types(item, contract, &attribute.runtime);
            quote! {
                #rt::external_type! { signal #name #text { { #form } } { #parts } |__signal| #taken_apart }
                #writes
            }
        }
    };
    let items = quote! {
        #[doc(hidden)]
        const _: () = {
            impl #rt::Step for #name {
                type Outcome = #name;
                type Actions = #actions;
                const POLICY: &'static #rt::Policy = &#policy;
            }
            #external
        };
    };
    let check = form_check(name, source, &attribute.runtime);
    let items = quote!(#items #rt::external_type! { check { #check } });
    told(item, contract, &items, &attribute.runtime)
}

/// The type of what is written of a signal, and an expression that takes `__signal` apart.
fn parts(
    item: &DeriveInput,
    contract: &Contract,
    attribute: &NodeAttribute,
) -> (TokenStream, TokenStream) {
    let is_whole = matches!(item.data, Data::Enum(_)) || attribute.writes.is_some();
    if is_whole || contract.broken {
        return (quote!(Self), quote!(__signal));
    }
    let types = fields(item).map(|field| &field.ty);
    let types: Vec<_> = types.collect();
    let names = contract.writes.iter().map(|port| &port.name);
    let values: Vec<TokenStream> = names.map(|name| quote!(__signal.#name)).collect();
    match (&types[..], &values[..]) {
        ([], _) => (
            quote!(()),
            quote!({
                let _: Self = __signal;
            }),
        ),
        ([ty], [value]) => (quote!(#ty), quote!(#value)),
        _ => (quote!((#(#types),*)), quote!((#(#values),*))),
    }
}

/// The types of several fields, by their numbers.
fn field_types(item: &DeriveInput, contract: &Contract, runtime: &Runtime) -> TokenStream {
    if contract.writes.len() < 2 {
        return TokenStream::new();
    }
    let (rt, name) = (runtime.hidden(), &item.ident);
    let types = fields(item).map(|field| &field.ty).enumerate();
    let writes =
        types.map(|(index, ty)| quote!(impl #rt::Writes<#index> for #name { type Type = #ty; }));
    quote!(#(#writes)*)
}

fn fields(item: &DeriveInput) -> impl Iterator<Item = &Field> {
    let fields = match &item.data {
        Data::Struct(data) => Some(data.fields.iter()),
        _ => None,
    };
    fields.into_iter().flatten()
}

/// Reports at a type that its values cannot come from outside, because they have no JSON form.
fn form_check(name: &Ident, source: Source<'_>, runtime: &Runtime) -> TokenStream {
    let (site, user) = (here(name.span()), name.span());
    let (rt, at_user) = (runtime.hidden_at(site), runtime.hidden_at(user));
    let what = match source {
        Source::Question(_) => "submitted by a person",
        Source::Signal(_) => "sent to a run",
    };
    let message = format!(
        "`{name}` cannot be {what}: it has no form as JSON\n\
         help: derive `serde::Serialize` and `serde::Deserialize` for `{name}`"
    );
    let check =
        quote_spanned!(user=> #at_user::must(#at_user::FormOf::<#name>::__HAS_FORM, #message));
    quote_spanned!(site=> const _: () = { use #rt::NoForm as _; #check };)
}

/// The number of arguments that clippy allows.
const MANY_ARGUMENTS: usize = 7;

/// The function that fills in the prompt.
fn shown(name: &Ident, literal: &LitStr, prompt: &Prompt) -> TokenStream {
    let site = here(literal.span());
    let values = (0..prompt.keys.len()).map(|index| format_ident!("__value_{index}", span = site));
    let values: Vec<Ident> = values.collect();
    let format = LitStr::new(&prompt.format, site);
    let many = (values.len() > MANY_ARGUMENTS).then(
        || quote!(#[allow(clippy::too_many_arguments, reason = "one for each key of the prompt")]),
    );
    quote_spanned! {site=>
        impl #name {
            #[doc(hidden)]
            #many
            pub fn __prompt(#(#values: &dyn ::core::fmt::Display),*) -> ::std::string::String {
                ::std::format!(#format #(, #values)*)
            }
        }
    }
}
