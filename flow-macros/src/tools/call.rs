//! The call of a node with JSON arguments.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use crate::contract::{ActionPort, Contract, Kind, Mode, ReadPort};
use crate::names::{ident, plain};

/// A future that reads the `arguments`, calls the node with them, and converts its return value to
/// its result.
pub(super) fn call(
    node: &TokenStream,
    contract: &Contract,
    keys: &[Ident],
    private: &TokenStream,
    site: Span,
) -> TokenStream {
    let given = (0..keys.len()).map(|read| format_ident!("__given_{read}", span = site));
    let given: Vec<Ident> = given.collect();
    let reads = contract.reads.iter().zip(keys);
    let reads = reads.map(|(port, key)| read(port, key, private));
    let arguments = contract.reads.iter().zip(keys).zip(&given);
    let arguments = arguments.map(|given| argument(given, private));
    let receiver = (contract.kind == Kind::Type).then(|| quote!(__receiver,));
    let visit = contract.attempts.has_visit().then(|| quote!(__visit,));
    let result = result(node, contract, private, site);
    quote_spanned! {site=> async move {
        #(let #given = #reads;)*
        let (true, #(::core::option::Option::Some(#given),)*) = (#private::Arguments::are_right(&mut __arguments), #(#given,)*) else {
            return ::core::result::Result::Err(#private::Arguments::refused(__arguments));
        };
        let __returned = <#node>::__step(#receiver #visit #(#arguments),*).await?;
        #result
    }}
}

/// Reads an argument. `None` if it is wrong.
fn read(port: &ReadPort, key: &Ident, private: &TokenStream) -> TokenStream {
    let name = plain(&port.name);
    let function = if port.mode.optional() {
        "optional_argument"
    } else {
        "required_argument"
    };
    let function = Ident::new(function, key.span());
    quote_spanned!(key.span()=> #private::#function(&mut __arguments, #name, #key))
}

/// An argument in the form that the node reads.
fn argument(
    ((port, key), given): ((&ReadPort, &Ident), &Ident),
    private: &TokenStream,
) -> TokenStream {
    let method = match port.mode {
        Mode::Borrow => "lend",
        Mode::Take => "give",
        Mode::MaybeBorrow | Mode::MaybeDeref => "maybe_lend",
        Mode::MaybeTake => "maybe_give",
    };
    let method = Ident::new(method, key.span());
    let lent = (!port.mode.takes()).then(|| quote!(&));
    quote_spanned!(key.span()=> #private::Key::#method(#key, #lent #given))
}

/// The result: the value that the node writes, or an object of its action and the values.
fn result(
    node: &TokenStream,
    contract: &Contract,
    private: &TokenStream,
    site: Span,
) -> TokenStream {
    if contract.writes_its_outcome() {
        return quote_spanned!(site=> #private::result_of(&__returned));
    }
    let places = (0..contract.writes.len()).map(|index| format_ident!("__written_{index}"));
    let places: Vec<Ident> = places.collect();
    let names = contract.writes.iter().map(|port| plain(&port.name));
    let writes = quote_spanned!(site=> #(#private::write(&mut __result, #names, &#places)?;)*);
    if contract.actions.is_empty() {
        return match &places[..] {
            [] => quote!({ let _ = __returned; #private::nothing_returned() }),
            places => quote!({
                let (#(#places),*) = __returned;
                let mut __result = #private::Written::new();
                #writes
                #private::Written::finish(__result)
            }),
        };
    }
    let apart = match &places[..] {
        [] => quote!(let __action = __returned;),
        places => quote!(let (#(#places,)* __action) = __returned;),
    };
    let actions = contract.actions.iter();
    let arms = actions.map(|action| arm(action, private, site));
    quote!({
        #apart
        let mut __result = #private::Written::new();
        type __Action = <#node as #private::Step>::Actions;
        match __action { #(#arms)* }
        #writes
        #private::Written::finish(__result)
    })
}

/// Writes the action and the fields of its variant.
fn arm(action: &ActionPort, private: &TokenStream, site: Span) -> TokenStream {
    let ActionPort {
        name,
        variant,
        writes,
    } = action;
    let variant = ident(&plain(variant), variant.span());
    let names: Vec<String> = writes.iter().map(|port| plain(&port.name)).collect();
    let fields = writes
        .iter()
        .map(|port| ident(&plain(&port.name), port.name.span()));
    let places: Vec<Ident> = (0..writes.len())
        .map(|field| format_ident!("__field_{field}"))
        .collect();
    quote_spanned! {site=>
        __Action::#variant { #(#fields: #places),* } => {
            #private::Written::action(&mut __result, #name);
            #(#private::write(&mut __result, #names, &#places)?;)*
        }
    }
}
