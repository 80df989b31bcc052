//! The adapter of one node.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Expr, Path};

use crate::contract::{
    About, ActionPort, Contract, Failure, Kind, Mode, ReadPort, WritePort, settings_text,
};
use crate::entries::named_once;
use crate::names::{here, ident, plain};

/// A value of the type `Adapter` of `flow-loader`.
pub(super) fn adapter(
    path: &Path,
    name: &str,
    value: Option<&Expr>,
    contract: &Contract,
    krate: &TokenStream,
) -> TokenStream {
    let site = here(path.span());
    let (alias, path) = named_once(path);
    let loader = quote_spanned!(site=> #krate::__private);
    let keys: Vec<Ident> = (0..contract.reads.len())
        .map(|read| format_ident!("__key_{read}", span = site))
        .collect();
    let outcome = contract.outcome_type(&path, &loader, Span::call_site());
    let opened = quote!(#loader::taken_out::<#outcome>(__outcome));
    let take_apart = taken_apart(&path, contract, &opened, &loader);
    let inferred = call(&path, contract, &keys, &loader, &quote!(__returned));
    let handed_on = taken_apart(&path, contract, &quote!(__outcome), &loader);
    let handed_on = quote!(#loader::Args::returned(&mut __call.args, __returned, |__outcome, __writer| { #handed_on }));
    let call = call(&path, contract, &keys, &loader, &handed_on);
    let reads = contract.reads.iter().zip(&keys);
    let reads = reads.map(|(port, key)| read(port, key, contract.kind, &loader));
    let writes = writes(&path, contract, &loader);
    let actions = actions(contract, &loader);
    let runs = runs(&path, contract, &call, &loader);
    let make = make(&path, value, contract, krate, &loader);
    let schema = schema(&path, contract.kind, &loader);
    let about = about(contract, &loader);
    let (fallible, times_out) = (contract.fallible(), contract.times_out());
    let only_times_out = contract.failure == Failure::Timeout;
    let action = action(&path, contract, &loader);
    let returns_nothing = contract.returns_nothing();
    let takes_policy = contract.attempts.takes_policy();
    let never_awaits = contract.never_awaits;
    let retry_if = retry_if(contract);
    let used = used(contract.kind, &inferred, &loader);
    let types = keys.iter().filter(|_| !contract.kind.is_external());
    let types = types.map(|key| quote_spanned!(site=> let #key = #loader::Key::new();));
    quote_spanned! {site=> {
        #alias
        #(#types)*
        // Not run: rustc infers from it the types that the node reads.
        if false { #used }
        #loader::Adapter {
            name: #name,
            path: ::core::any::type_name::<#path>(),
            reads: ::std::vec![#(#reads),*],
            writes: ::std::vec![#(#writes),*],
            actions: ::std::vec![#(#actions),*],
            fallible: #fallible,
            times_out: #times_out,
            only_times_out: #only_times_out,
            takes_policy: #takes_policy,
            never_awaits: #never_awaits,
            retry_if: #retry_if,
            policy: <#path as #loader::Step>::POLICY,
            outcome: #loader::value_type!(#loader::Probe::<#outcome>::new()),
            action: #action,
            returns_nothing: #returns_nothing,
            make: #make,
            schema: #schema,
            runs: #runs,
            take_apart: |__outcome, __writer| { #take_apart },
            about: #about,
        }
    }}
}

/// The schema of a type with settings.
fn schema(path: &TokenStream, kind: Kind, loader: &TokenStream) -> TokenStream {
    match kind {
        Kind::Type => quote!(#loader::schema_of!(#path)),
        _ => quote!(::core::option::Option::None),
    }
}

/// The name of the function that decides if another attempt follows.
fn retry_if(contract: &Contract) -> TokenStream {
    let retry = contract.about.settings.retry.as_ref();
    maybe(retry.and_then(|retry| retry.only_if.as_deref()))
}

/// A text, if there is one, as an `Option`.
fn maybe(text: Option<&str>) -> TokenStream {
    match text {
        Some(text) => quote!(::core::option::Option::Some(#text)),
        None => quote!(::core::option::Option::None),
    }
}

/// The documentation of the node by its author.
fn about(contract: &Contract, loader: &TokenStream) -> TokenStream {
    let kind = format_ident!(
        "{}",
        match contract.kind {
            Kind::Function => "Function",
            Kind::Type => "Type",
            Kind::Human => "Human",
            Kind::Signal => "Signal",
            Kind::Flow => unreachable!("a flow is registered as a document"),
        }
    );
    let About {
        description,
        shown,
        settings,
        external,
    } = &contract.about;
    let prompt = external
        .as_ref()
        .and_then(|external| external.prompt.as_ref());
    let texts = [
        ("description", description.as_ref()),
        ("title", shown.title.as_ref()),
        ("icon", shown.icon.as_ref()),
        ("group", shown.group.as_ref()),
        ("prompt", prompt),
    ];
    // All of them, because a lint for omitted fields would be shown to the user.
    let texts = texts.into_iter().map(|(field, text)| {
        let (field, text) = (format_ident!("{field}"), maybe(text.map(String::as_str)));
        quote!(#field: #text,)
    });
    let tags = &shown.tags;
    let settings = settings_text(settings);
    quote! {
        #loader::About {
            kind: #loader::NodeKind::#kind,
            #(#texts)*
            tags: &[#(#tags),*],
            settings: #settings,
        }
    }
}

/// The call once more, in code that never runs: rustc infers from it the types that the node reads.
fn used(kind: Kind, call: &TokenStream, loader: &TokenStream) -> TokenStream {
    match kind {
        Kind::Human => quote! {
            let __lent: #loader::Lent<'_> = #loader::nothing();
            let _ = #call;
        },
        Kind::Signal => TokenStream::new(),
        _ => quote! {
            let __call: &mut #loader::Call<'_> = #loader::nothing();
            let _ = #call;
        },
    }
}

/// A value that the node reads.
fn read(port: &ReadPort, key: &Ident, kind: Kind, loader: &TokenStream) -> TokenStream {
    let site = key.span();
    if kind == Kind::Human {
        return shown(&plain(&port.name), loader);
    }
    let (name, text) = (plain(&port.name), &port.rust_type);
    let description = maybe(port.description.as_deref());
    let mode = Ident::new(
        match port.mode {
            Mode::Borrow => "Borrow",
            Mode::Take => "Take",
            Mode::MaybeBorrow | Mode::MaybeDeref => "MaybeBorrow",
            Mode::MaybeTake => "MaybeTake",
        },
        site,
    );
    quote_spanned! {site=>
        #loader::ReadType {
            name: #name,
            mode: #loader::Mode::#mode,
            rust_type: #text,
            description: #description,
            ty: ::core::option::Option::Some(#loader::value_type!(#loader::Key::probe(#key))),
            accepts: #loader::Key::accepts(#key),
        }
    }
}

/// A value that a prompt shows.
fn shown(name: &str, loader: &TokenStream) -> TokenStream {
    quote! {
        #loader::ReadType {
            name: #name,
            mode: #loader::Mode::Show,
            rust_type: "",
            description: ::core::option::Option::None,
            ty: ::core::option::Option::None,
            accepts: |_| true,
        }
    }
}

/// The call of the node, with `call`: a future, which has taken its values. `outcome` is its
/// outcome, given the value that the node `returned`. For a question, the prompt, with `lent`.
fn call(
    path: &TokenStream,
    contract: &Contract,
    keys: &[Ident],
    loader: &TokenStream,
    outcome: &TokenStream,
) -> TokenStream {
    if contract.kind == Kind::Human {
        let arguments =
            (0..contract.reads.len()).map(|read| quote!(#loader::Lent::shown(__lent, #read)));
        return quote!(<#path>::__prompt(#(#arguments),*));
    }
    let reads = || contract.reads.iter().zip(keys).enumerate();
    let taken = reads().filter(|(_, (port, _))| port.mode.takes());
    let taken: Vec<TokenStream> = taken
        .map(|(read, (port, key))| {
            let (place, value) = (taken_read(read), argument(read, port, key, loader));
            quote!(let #place = #value;)
        })
        .collect();
    let arguments = reads().map(|(read, (port, key))| {
        if port.mode.takes() {
            return taken_read(read).to_token_stream();
        }
        argument(read, port, key, loader)
    });
    let receiver =
        (contract.kind == Kind::Type).then(|| quote!(#loader::receiver::<#path>(__call.receiver),));
    let visit = contract.attempts.has_visit().then(|| quote!(__call.visit,));
    let borrows = contract.reads.iter().any(|port| !port.mode.takes());
    let lent = borrows.then(|| quote!(let __lent = #loader::Args::lent(&__call.args);));
    quote!({
        #(#taken)*
        async move {
            let __returned = {
                #lent
                <#path>::__step(#receiver #visit #(#arguments),*).await?
            };
            ::core::result::Result::<_, #loader::Failed>::Ok(#outcome)
        }
    })
}

/// The place of a value that the node takes.
fn taken_read(read: usize) -> Ident {
    format_ident!("__read_{read}")
}

fn argument(read: usize, port: &ReadPort, key: &Ident, loader: &TokenStream) -> TokenStream {
    let method = match port.mode {
        Mode::Borrow => "borrow",
        Mode::Take => "take",
        Mode::MaybeBorrow | Mode::MaybeDeref => "maybe_borrow",
        Mode::MaybeTake => "maybe_take",
    };
    let method = Ident::new(method, key.span());
    if port.mode.takes() {
        quote!(#loader::Args::#method(&mut __call.args, #read, #key))
    } else {
        quote!(#loader::Lent::#method(__lent, #read, #key))
    }
}

/// Everything that it writes: with every action, and then with each action.
fn writes(path: &TokenStream, contract: &Contract, loader: &TokenStream) -> Vec<TokenStream> {
    let own = contract.writes.iter().map(|port| {
        let index = port.index;
        let ty = if contract.writes_its_outcome() {
            contract.outcome_type(path, loader, Span::call_site())
        } else {
            quote!(<#path as #loader::Writes<#index>>::Type)
        };
        write(port, &ty, loader)
    });
    let of_actions = contract.actions.iter().flat_map(|action| &action.writes);
    let of_actions = of_actions.map(|port| {
        let index = port.index;
        let ty = quote!(<<#path as #loader::Step>::Actions as #loader::Writes<#index>>::Type);
        write(port, &ty, loader)
    });
    own.chain(of_actions).collect()
}

fn write(port: &WritePort, ty: &TokenStream, loader: &TokenStream) -> TokenStream {
    let (name, text, adds) = (plain(&port.name), &port.rust_type, port.adds);
    quote! {
        #loader::WriteType {
            name: #name,
            adds: #adds,
            rust_type: #text,
            ty: #loader::value_type!(#loader::Probe::<#ty>::new()),
        }
    }
}

/// The names of its actions, each with the numbers of its writes.
fn actions(contract: &Contract, loader: &TokenStream) -> Vec<TokenStream> {
    let always = contract.writes.len();
    let mut next = always;
    let mut action = |name: String, writes: usize| {
        let numbers: Vec<usize> = (0..always).chain(next..next + writes).collect();
        next += writes;
        quote!(#loader::ActionType { name: #name, writes: ::std::vec![#(#numbers),*] })
    };
    if contract.actions.is_empty() {
        return vec![action("default".to_owned(), 0)];
    }
    let actions = contract.actions.iter();
    actions
        .map(|one| action(one.name.value(), one.writes.len()))
        .collect()
}

/// The way in which it runs.
fn runs(
    path: &TokenStream,
    contract: &Contract,
    call: &TokenStream,
    loader: &TokenStream,
) -> TokenStream {
    let keys = (0..contract.reads.len()).map(|read| format_ident!("__key_{read}"));
    let keys = quote!(#(let #keys = #loader::Key::new();)*);
    if contract.kind == Kind::Signal {
        return quote! {
            #loader::Runs::Signal {
                signal: #loader::ExternalType::of::<#path>(),
                read: |__value| ::core::result::Result::Ok(#loader::AnyValue::new(
                    #loader::Signal::parts(<#path as #loader::External>::from_json(__value)?),
                )),
            }
        };
    }
    if contract.kind == Kind::Human {
        return quote! {
            #loader::Runs::Human {
                prompt: |__lent| { let _ = __lent; #call },
                question: #loader::ExternalType::of::<#path>(),
                read: |__value| ::core::result::Result::Ok(#loader::AnyValue::new(<#path as #loader::External>::from_json(__value)?)),
            }
        };
    }
    quote! {
        #loader::Runs::Step(|__call| {
            #keys
            ::std::boxed::Box::pin(#call)
        })
    }
}

/// Statements that write the parts of the outcome, with `writer`, and the number of the action.
fn taken_apart(
    path: &TokenStream,
    contract: &Contract,
    outcome: &TokenStream,
    loader: &TokenStream,
) -> TokenStream {
    if contract.writes_its_outcome() {
        return quote!(#loader::Writer::write(__writer, 0, #outcome); 0);
    }
    let places: Vec<Ident> = (0..contract.writes.len())
        .map(|index| format_ident!("__written_{index}"))
        .collect();
    let writes = places.iter().enumerate();
    let writes =
        writes.map(|(number, place)| quote!(#loader::Writer::write(__writer, #number, #place);));
    if contract.actions.is_empty() {
        let apart = match &places[..] {
            [] => quote!(let _ = #outcome;),
            places => quote!(let (#(#places),*) = #outcome;),
        };
        return quote!(let _ = &__writer; #apart #(#writes)* 0);
    }
    let apart = match &places[..] {
        [] => quote!(let __action = #outcome;),
        places => quote!(let (#(#places,)* __action) = #outcome;),
    };
    let mut number = contract.writes.len();
    let mut arms = Vec::new();
    for (index, action) in contract.actions.iter().enumerate() {
        arms.push(action_taken_apart(action, index, number, loader));
        number += action.writes.len();
    }
    quote! {
        let _ = &__writer;
        #apart
        #(#writes)*
        type __Action = <#path as #loader::Step>::Actions;
        match __action { #(#arms)* }
    }
}

/// The arm of an action, which writes the fields of its variant, numbered from `first`.
fn action_taken_apart(
    action: &ActionPort,
    index: usize,
    first: usize,
    loader: &TokenStream,
) -> TokenStream {
    let ActionPort {
        variant, writes, ..
    } = action;
    let variant = ident(&plain(variant), variant.span());
    let fields = writes.iter();
    let fields = fields.map(|port| ident(&plain(&port.name), port.name.span()));
    let fields: Vec<Ident> = fields.collect();
    let places = (0..fields.len()).map(|field| format_ident!("__field_{field}"));
    let places: Vec<Ident> = places.collect();
    let writes = (first..)
        .zip(&places)
        .map(|(number, place)| quote!(#loader::Writer::write(__writer, #number, #place);));
    quote!(__Action::#variant { #(#fields: #places),* } => { #(#writes)* #index })
}

/// The action in an outcome, as a function of it.
fn action(path: &TokenStream, contract: &Contract, loader: &TokenStream) -> TokenStream {
    let outcome = contract.outcome_type(path, loader, Span::call_site());
    let opened = quote!(#loader::opened_ref::<#outcome>(__outcome));
    match (&contract.actions[..], contract.writes.len()) {
        ([], _) => quote!(|_| "default"),
        (_, 0) => quote!(|__outcome| #loader::Action::action(#opened)),
        (_, writes) => {
            let last = syn::Index::from(writes);
            quote!(|__outcome| #loader::Action::action(&#opened.#last))
        }
    }
}

/// The source of the value of a type with settings.
fn make(
    path: &TokenStream,
    value: Option<&Expr>,
    contract: &Contract,
    krate: &TokenStream,
    loader: &TokenStream,
) -> TokenStream {
    match (contract.kind, value) {
        (Kind::Type, Some(value)) => {
            quote!({
                let __given: #path = #value;
                // Mistakes in the type are reported at its definition.
                #loader::Make::Given(::std::sync::Arc::<<#path as #loader::Node>::Held>::new(__given))
            })
        }
        (Kind::Type, None) => quote_spanned! {here(path.span())=> {
            use #loader::makes::*;
            let __made = (&&&#loader::Probe::<#path>::new()).__make();
            <_ as #krate::bounds::SaysValueOf<#path>>::made(__made)
        }},
        _ => quote!(#loader::Make::Nothing),
    }
}
