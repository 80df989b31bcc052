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
    /// The value if it is not set. `None` if it has to be set.
    pub(super) default: Option<TokenStream>,
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
    let site = here(built.span());
    let generics = (!fields.is_empty()).then(|| quote!(<#(#parameters),*>));
    quote_spanned! {site=>
        const _: () = {
            #(#definitions)*
            #[allow(non_camel_case_types, reason = "named as the fields are")]
            impl #generics #builder<(#(#parameters,)*)> {
                #[doc = #doc]
                pub fn build(self) -> #built
                where
                    #(#parameters: #traits,)*
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
    let Field { name, ty, default } = field;
    let its_trait = trait_name(field);
    let message = format!("`{}` of `{}` is not set", plain(name), plain(built));
    let label = format!("needs `{}`", plain(name));
    let note = format!("add `.{name}(…)` before `.build()`");
    let default = default.as_ref().map(|default| {
        quote! {
            #[diagnostic::do_not_recommend]
            impl #its_trait for () {
                fn completed(self) -> (#ty,) { (#default,) }
            }
        }
    });
    quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types, reason = "rustc shows it")]
        #[diagnostic::on_unimplemented(message = #message, label = #label, note = #note)]
        pub trait #its_trait {
            fn completed(self) -> (#ty,);
        }
        #[diagnostic::do_not_recommend]
        impl #its_trait for (#ty,) {
            fn completed(self) -> (#ty,) { self }
        }
        #default
    }
}
