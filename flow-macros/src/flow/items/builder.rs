//! The `build` of a builder, which reports in its own words what is not set. That of
//! `typed-builder` names types that nobody has written.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use crate::names::{here, plain};
use crate::runtime::runtime;

/// A field that the builder sets.
pub(super) struct Field<'a> {
    pub(super) name: &'a Ident,
    pub(super) ty: TokenStream,
    pub(super) unset: Unset,
}

/// What a field is if it is not set.
pub(super) enum Unset {
    /// A mistake.
    Refused,
    /// This value.
    Value(TokenStream),
    /// The default of its type, or a mistake if the type has none.
    DefaultOfType,
}

impl Field<'_> {
    /// The lifetime that its trait has if rustc has to see at each use whether its type has a
    /// default. It has no meaning: a bound without one would have to hold at the definition.
    fn lifetime(&self) -> Option<TokenStream> {
        let site = here(self.name.span());
        matches!(self.unset, Unset::DefaultOfType).then(|| quote_spanned!(site=> <'__a>))
    }
}

/// The attribute for the derive of `typed-builder`. Its own `build` is hidden.
pub(super) fn attribute(doc: &str) -> TokenStream {
    let rt = runtime();
    quote! {
        #[derive(#rt::typed_builder::TypedBuilder)]
        #[builder(
            crate_module_path = #rt::typed_builder,
            builder_method(doc = #doc),
            builder_type(doc = #doc),
            build_method(vis = "", name = __build)
        )]
    }
}

/// `build`, with a trait for each field that checks what is set for it.
pub(super) fn build(built: &Ident, doc: &str, fields: &[Field<'_>]) -> TokenStream {
    let builder = format_ident!("{built}Builder");
    // rustc shows the names of the parameters.
    let parameters: Vec<Ident> = fields.iter().map(|field| field.name.clone()).collect();
    let traits: Vec<Ident> = fields.iter().map(trait_name).collect();
    let definitions = fields.iter().map(|field| definition(built, field));
    let names: Vec<Ident> = (0..fields.len())
        .map(|index| format_ident!("__field_{index}"))
        .collect();
    let lifetimes: Vec<Option<TokenStream>> = fields.iter().map(Field::lifetime).collect();
    // Shown as what users write, so that rustc says nothing about the macro.
    let bounds = fields.iter().zip(&traits).map(|(field, name)| {
        let user = field.name.span();
        let name = Ident::new(&name.to_string(), user);
        let is_default = matches!(field.unset, Unset::DefaultOfType);
        let lifetime = is_default.then(|| quote_spanned!(user=> <'__a>));
        quote_spanned!(user=> #name #lifetime)
    });
    let bounds: Vec<TokenStream> = bounds.collect();
    let lifetime = lifetimes.iter().flatten().next();
    let site = here(built.span());
    let lifetime = lifetime.map(|_| quote!('__a,));
    let generics = (!fields.is_empty()).then(|| quote!(<#lifetime #(#parameters),*>));
    quote_spanned! {site=>
        const _: () = {
            #(#definitions)*
            #[allow(non_camel_case_types, reason = "named as the fields are")]
            impl #generics #builder<(#(#parameters,)*)> {
                #[doc = #doc]
                pub fn build(self) -> #built
                where
                    #(#parameters: #bounds,)*
                {
                    let (#(#names,)*) = self.fields;
                    #builder {
                        fields: (#(#traits::completed(#names),)*),
                        phantom: self.phantom,
                    }
                    .__build()
                }
            }
        };
    }
}

/// A readable name, because rustc shows the trait next to the message.
fn trait_name(field: &Field<'_>) -> Ident {
    format_ident!(
        "{}_is_set",
        plain(field.name),
        span = here(field.name.span())
    )
}

fn definition(built: &Ident, field: &Field<'_>) -> TokenStream {
    let rt = runtime();
    let Field { name, ty, unset } = field;
    let (its_trait, lifetime) = (trait_name(field), field.lifetime());
    let message = format!("`{}` of `{}` is not set", plain(name), plain(built));
    let label = format!("needs `{}`", plain(name));
    let mut note = format!("add `.{name}(…)` before `.build()`");
    let default = match unset {
        Unset::Refused => None,
        Unset::Value(value) => Some((TokenStream::new(), value.clone())),
        Unset::DefaultOfType => {
            note.push_str(", or implement `Default` for its type");
            let bound = quote!(where #ty: #rt::HasDefault<'__a>);
            Some((bound, quote!(<#ty as #rt::HasDefault<'__a>>::value())))
        }
    };
    let default = default.map(|(bound, value)| {
        quote! {
            #[diagnostic::do_not_recommend]
            impl #lifetime #its_trait #lifetime for () #bound {
                fn completed(self) -> (#ty,) { (#value,) }
            }
        }
    });
    quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types, reason = "rustc shows it")]
        #[diagnostic::on_unimplemented(message = #message, label = #label, note = #note)]
        pub trait #its_trait #lifetime {
            fn completed(self) -> (#ty,);
        }
        #[diagnostic::do_not_recommend]
        impl #lifetime #its_trait #lifetime for (#ty,) {
            fn completed(self) -> (#ty,) { self }
        }
        #default
    }
}
