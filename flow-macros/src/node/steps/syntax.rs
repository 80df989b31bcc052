//! An `impl` block as far as we parse it: the signatures of its methods, without their bodies.

use std::mem;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::format_ident;
use syn::parse::discouraged::Speculative as _;
use syn::parse::{Parse, ParseStream};
use syn::{
    Attribute, GenericArgument, GenericParam, Generics, LifetimeParam, PathArguments, Signature,
    Token, Type, Visibility, WhereClause, braced,
};

use crate::names::is_name;
use crate::text::last_segment;

/// An `impl` block as far as we parse it.
pub(super) struct Steps {
    pub(super) attributes: Vec<Attribute>,
    pub(super) generics: Generics,
    /// The trait of `impl Trait for Type`, which is refused.
    pub(super) of_trait: Option<Type>,
    pub(super) self_ty: Type,
    pub(super) methods: Vec<Method>,
    /// The rest after the signatures: bodies, and items other than methods.
    bodies: TokenStream,
}

/// A method, without its body.
pub(super) struct Method {
    pub(super) attributes: Vec<Attribute>,
    pub(super) vis: Visibility,
    pub(super) sig: Signature,
}

impl Parse for Steps {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        input.parse::<Option<Token![unsafe]>>()?;
        input.parse::<Token![impl]>()?;
        let mut generics: Generics = if input.peek(Token![<]) {
            input.parse()?
        } else {
            Generics::default()
        };
        let mut self_ty: Type = input.parse()?;
        let mut of_trait = None;
        if input.parse::<Option<Token![for]>>()?.is_some() {
            of_trait = Some(mem::replace(&mut self_ty, input.parse()?));
        }
        name_lifetimes(&mut self_ty, &mut generics);
        generics.where_clause = input.parse::<Option<WhereClause>>()?;
        let content;
        braced!(content in input);
        let mut methods = Vec::new();
        let mut bodies = TokenStream::new();
        while !content.is_empty() {
            let attributes = content.call(Attribute::parse_outer)?;
            let vis = content.parse()?;
            let ahead = content.fork();
            if let Ok(sig) = ahead.parse::<Signature>() {
                content.advance_to(&ahead);
                methods.push(Method {
                    attributes,
                    vis,
                    sig,
                });
            }
            skip_item(&content, &mut bodies)?;
        }
        Ok(Steps {
            attributes,
            generics,
            of_trait,
            self_ty,
            methods,
            bodies,
        })
    }
}

impl Steps {
    /// The name of the type. `None` for a keyword such as `Self`.
    pub(super) fn name(&self) -> Option<&Ident> {
        last_segment(&self.self_ty).filter(|name| is_name(&name.to_string()))
    }

    /// The method with this name.
    pub(super) fn method(&self, wanted: &str) -> Option<&Signature> {
        let mut signatures = self.methods.iter().map(|method| &method.sig);
        signatures.find(|sig| sig.ident == wanted)
    }

    /// Returns true if a body contains this word.
    pub(super) fn mentions(&self, name: &Ident) -> bool {
        fn has(tokens: TokenStream, name: &Ident) -> bool {
            tokens.into_iter().any(|token| match token {
                TokenTree::Ident(word) => word == *name,
                TokenTree::Group(group) => has(group.stream(), name),
                _ => false,
            })
        }
        has(self.bodies.clone(), name)
    }
}

/// Names the lifetimes of `impl Ask<'_>`: the code next to the block requires named ones.
fn name_lifetimes(ty: &mut Type, generics: &mut Generics) {
    let Type::Path(path) = ty else { return };
    let Some(PathArguments::AngleBracketed(arguments)) =
        (path.path.segments.last_mut()).map(|segment| &mut segment.arguments)
    else {
        return;
    };
    for (index, argument) in arguments.args.iter_mut().enumerate() {
        match argument {
            GenericArgument::Lifetime(lifetime) if lifetime.ident == "_" => {
                lifetime.ident = format_ident!("held_{index}", span = lifetime.ident.span());
                let named = LifetimeParam::new(lifetime.clone());
                generics.params.insert(0, GenericParam::Lifetime(named));
            }
            _ => {}
        }
    }
}

/// Skips the rest of an item: everything up to a `;` or a block.
fn skip_item(input: ParseStream<'_>, skipped: &mut TokenStream) -> syn::Result<()> {
    while !input.is_empty() {
        if input.peek(Token![;]) {
            input.parse::<Token![;]>()?;
            return Ok(());
        }
        let block = input.peek(syn::token::Brace);
        skipped.extend([input.parse::<TokenTree>()?]);
        if block {
            return Ok(());
        }
    }
    Ok(())
}
