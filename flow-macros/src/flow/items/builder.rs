//! Builders of inputs and flows, which report in their own words what is not set, or set twice.

use std::collections::HashSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use syn::Visibility;

use crate::names::{here, plain};
use crate::runtime::runtime;

/// A type that a builder makes.
pub(super) struct Built<'a> {
    pub(super) vis: &'a Visibility,
    pub(super) name: &'a Ident,
    /// The documentation of the builder.
    pub(super) doc: String,
    pub(super) fields: Vec<Field<'a>>,
    /// The fields that cannot be set, each with its value.
    pub(super) others: Vec<TokenStream>,
}

/// A field that the builder sets.
pub(super) struct Field<'a> {
    pub(super) name: &'a Ident,
    pub(super) ty: TokenStream,
    /// The documentation of its method.
    pub(super) doc: TokenStream,
    /// The type of what its method takes, by the name of the field.
    pub(super) taken: TokenStream,
    /// The value of the field, made from what is taken.
    pub(super) made: TokenStream,
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

    /// The trait of what its parameter is if the field is set, or if it has a default.
    fn is_set(&self, built: &Ident) -> Ident {
        self.trait_name(built, "is_set")
    }

    /// The trait of what its parameter is if the field is not set.
    fn is_not_set(&self, built: &Ident) -> Ident {
        self.trait_name(built, "is_not_set")
    }

    /// A readable name, because rustc shows the trait next to the message.
    fn trait_name(&self, built: &Ident, state: &str) -> Ident {
        let (field, built) = (plain(self.name), plain(built));
        format_ident!("{field}_of_{built}_{state}", span = here(self.name.span()))
    }
}

/// The builder: a struct with a parameter for each field, which is `()` until the field is set, and
/// then a tuple of its type.
pub(super) fn builder(built: &Built<'_>) -> TokenStream {
    let Built {
        vis, name, fields, ..
    } = built;
    let doc = &built.doc;
    let builder = format_ident!("{name}Builder");
    let parameters = parameters(fields);
    let nothing = fields.iter().map(|_| quote!(()));
    let definitions = fields.iter().map(|field| definition(name, field));
    let setters = (0..fields.len()).map(|index| setter(built, &builder, &parameters, index));
    let build = build(built, &builder, &parameters);
    let allow = quote!(#[allow(non_camel_case_types, reason = "named as the fields are")]);
    let generics = (!fields.is_empty()).then(|| quote!(<#(#parameters),*>));
    let defaults = (!fields.is_empty()).then(|| quote!(<#(#parameters = ()),*>));
    quote_spanned! {here(name.span())=>
        #[doc = #doc]
        #[must_use = "it builds nothing without `.build()`"]
        #allow
        #[allow(missing_debug_implementations, reason = "its values need not be `Debug`")]
        #vis struct #builder #defaults { fields: (#(#parameters,)*) }
        impl #name {
            #[doc = #doc]
            pub fn builder() -> #builder {
                #builder { fields: (#(#nothing,)*) }
            }
        }
        const _: () = {
            #(#definitions)*
            #allow
            impl #generics #builder #generics {
                #(#setters)*
            }
            #build
        };
    }
}

/// The parameters of the builder. rustc shows them, so each is named as its field is, unless a type
/// has that name.
fn parameters(fields: &[Field<'_>]) -> Vec<Ident> {
    let mut mentioned = HashSet::new();
    for field in fields {
        mention(&field.ty, &mut mentioned);
        mention(&field.taken, &mut mentioned);
    }
    let parameter = |field: &Field<'_>| {
        if mentioned.contains(&plain(field.name)) {
            format_ident!("{}_value", plain(field.name), span = field.name.span())
        } else {
            field.name.clone()
        }
    };
    fields.iter().map(parameter).collect()
}

fn mention(tokens: &TokenStream, names: &mut HashSet<String>) {
    for token in tokens.clone() {
        match token {
            TokenTree::Ident(ident) => {
                names.insert(plain(&ident));
            }
            TokenTree::Group(group) => mention(&group.stream(), names),
            _ => {}
        }
    }
}

/// The method that sets a field.
fn setter(built: &Built<'_>, builder: &Ident, parameters: &[Ident], index: usize) -> TokenStream {
    let field = &built.fields[index];
    let Field {
        name,
        doc,
        ty,
        taken,
        made,
        ..
    } = field;
    let (parameter, unset) = (&parameters[index], field.is_not_set(built.name));
    let site = here(name.span());
    let after = parameters.iter().enumerate().map(|(at, other)| {
        if at == index {
            quote_spanned!(site=> (#ty,))
        } else {
            quote!(#other)
        }
    });
    let values = (0..parameters.len()).map(|at| {
        if at == index {
            quote_spanned!(site=> (#made,))
        } else {
            let at = syn::Index::from(at);
            quote_spanned!(site=> self.fields.#at)
        }
    });
    quote_spanned! {site=>
        #doc
        pub fn #name(self, #name: #taken) -> #builder<#(#after),*>
        where
            #parameter: #unset,
        {
            #builder { fields: (#(#values,)*) }
        }
    }
}

/// `build`, with a trait for each field that checks what is set for it.
fn build(built: &Built<'_>, builder: &Ident, parameters: &[Ident]) -> TokenStream {
    let Built {
        name,
        fields,
        others,
        ..
    } = built;
    let doc = format!("Makes `{name}` of what is set.");
    let traits = fields.iter().map(|field| field.is_set(name));
    let traits: Vec<Ident> = traits.collect();
    let lifetimes: Vec<Option<TokenStream>> = fields.iter().map(Field::lifetime).collect();
    let lifetime = lifetimes.iter().flatten().next();
    let lifetime = lifetime.map(|_| quote!('__a,));
    let own = (!fields.is_empty()).then(|| quote!(<#(#parameters),*>));
    let generics = (!fields.is_empty()).then(|| quote!(<#lifetime #(#parameters),*>));
    let site = here(name.span());
    let set = fields.iter().zip(&traits).enumerate();
    let set = set.map(|(index, (field, its_trait))| {
        let (name, index) = (field.name, syn::Index::from(index));
        quote_spanned!(site=> #name: #its_trait::completed(self.fields.#index))
    });
    quote_spanned! {site=>
        #[allow(non_camel_case_types, reason = "named as the fields are")]
        impl #generics #builder #own {
            #[doc = #doc]
            pub fn build(self) -> #name
            where
                #(#parameters: #traits #lifetimes,)*
            {
                #name { #(#set,)* #(#others,)* }
            }
        }
    }
}

/// The traits of a field.
fn definition(built: &Ident, field: &Field<'_>) -> TokenStream {
    let rt = runtime();
    let Field {
        name, ty, unset, ..
    } = field;
    let (is_set, is_not_set) = (field.is_set(built), field.is_not_set(built));
    let lifetime = field.lifetime();
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
            impl #lifetime #is_set #lifetime for () #bound {
                fn completed(self) -> #ty { #value }
            }
        }
    });
    let twice = format!("`{}` of `{}` is set twice", plain(name), plain(built));
    let remove = format!("remove one `.{name}(…)`");
    quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types, reason = "rustc shows it")]
        #[diagnostic::on_unimplemented(message = #message, label = #label, note = #note)]
        pub trait #is_set #lifetime {
            fn completed(self) -> #ty;
        }
        #[diagnostic::do_not_recommend]
        impl #lifetime #is_set #lifetime for (#ty,) {
            fn completed(self) -> #ty { self.0 }
        }
        #default
        #[doc(hidden)]
        #[allow(non_camel_case_types, reason = "rustc shows it")]
        #[diagnostic::on_unimplemented(message = #twice, label = "is set already", note = #remove)]
        pub trait #is_not_set {}
        #[diagnostic::do_not_recommend]
        impl #is_not_set for () {}
    }
}
