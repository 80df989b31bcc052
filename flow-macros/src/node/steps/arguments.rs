//! The arguments of each phase: `exec` gets the result of `prep`, or else its reads;
//! `exec_fallback` gets the arguments of `exec` and the error; `post` gets all of these.

use flow_spec::Code;
use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{PatType, Type};

use crate::names::here;
use crate::node::parameter::{Parameter, is_context, is_mutable, local, used_name};
use crate::node::step::{argument, context};
use crate::report::Report;

use super::node::Node;
use super::phase::{Phase, is_reference, pattern_name, result_name};

impl Node<'_> {
    pub(super) fn exec_arguments(&self, report: &mut Report) -> Vec<TokenStream> {
        let rt = self.attribute.runtime.hidden();
        if self.prep.is_none() {
            let cloned = self.exec_clones();
            return self
                .exec
                .parameters
                .iter()
                .map(|parameter| argument(parameter, cloned, &self.attribute.runtime))
                .collect();
        }
        let mut taken = false;
        let mut arguments = Vec::new();
        for typed in self.exec.typed() {
            if is_context(&typed.ty) {
                arguments.push(context(
                    &typed.ty,
                    &quote!(&__context),
                    &self.attribute.runtime,
                ));
                continue;
            }
            if self.attribute.transaction.is_some() && is_mutable(&typed.ty) {
                arguments.push(quote!(#rt::Begun::get(&mut __transaction)));
                continue;
            }
            if taken {
                let message = "`exec` sees nothing but what `prep` returned";
                let returned = self.prep.as_ref().map(|prep| prep.returned.text());
                let help = match returned.filter(|returned| returned.starts_with('(')) {
                    Some(tuple) => format!(
                        "take all of it, `prep_res: {tuple}`, and take it apart in the body"
                    ),
                    None => {
                        "read it in `prep`, and return a tuple or a struct from there".to_owned()
                    }
                };
                report.error(Code::Malformed, typed.pat.span(), message, help);
            }
            taken = true;
            arguments.push(self.prep_argument(&typed.ty, self.exec_clones()));
        }
        arguments
    }

    fn prep_argument(&self, ty: &Type, cloned: bool) -> TokenStream {
        let site = here(ty.span());
        let rt = self.attribute.runtime.hidden_at(site);
        match (is_reference(ty), cloned) {
            (true, _) => quote_spanned!(site=> &__prep),
            (false, true) => quote_spanned!(site=> #rt::Cloneable::for_attempt(&__prep)),
            (false, false) => quote_spanned!(site=> __prep),
        }
    }

    pub(super) fn post_arguments(&self, post: &Phase) -> Vec<TokenStream> {
        let argument_of = |typed: &PatType| {
            let site = here(typed.ty.span());
            match result_name(&typed.pat) {
                Some("prep_res") if is_reference(&typed.ty) => quote_spanned!(site=> &__prep),
                Some("prep_res") => quote_spanned!(site=> __prep),
                Some(_) if is_reference(&typed.ty) => quote_spanned!(site=> &__exec),
                Some(_) => quote_spanned!(site=> __exec),
                None if is_context(&typed.ty) => {
                    context(&typed.ty, &quote!(&__context), &self.attribute.runtime)
                }
                None => {
                    let name = pattern_name(&typed.pat).unwrap_or_else(|| format_ident!("_"));
                    let name = local(&name);
                    quote!(#name)
                }
            }
        };
        post.typed().map(argument_of).collect()
    }

    pub(super) fn fallback_arguments(
        &self,
        fallback: &Phase,
        report: &mut Report,
    ) -> Vec<TokenStream> {
        let mut arguments = Vec::new();
        for typed in fallback.typed() {
            match self.fallback_argument(typed) {
                Some(argument) => arguments.push(argument),
                None => {
                    let mut names = vec!["`error: &NodeError`".to_owned(), "`&Context`".to_owned()];
                    match &self.prep {
                        Some(_) => names.push("`prep_res`".to_owned()),
                        None => names.extend(
                            self.exec
                                .parameters
                                .iter()
                                .map(|read| format!("`{}`", read.name)),
                        ),
                    }
                    let message = "`exec_fallback` sees only what `exec` has seen, and the error";
                    let help = format!("it can take {}", names.join(", "));
                    report.error(Code::Malformed, typed.pat.span(), message, help);
                }
            }
        }
        arguments
    }

    fn fallback_argument(&self, typed: &PatType) -> Option<TokenStream> {
        if is_context(&typed.ty) {
            return Some(context(
                &typed.ty,
                &quote!(&__context),
                &self.attribute.runtime,
            ));
        }
        let name = pattern_name(&typed.pat)?;
        if used_name(&name) == "error" && is_reference(&typed.ty) {
            return Some(quote_spanned!(here(typed.ty.span())=> &__error));
        }
        if self.is_prep_res(typed) {
            return Some(self.prep_argument(&typed.ty, true));
        }
        if self.prep.is_some() {
            return None;
        }
        let read = self
            .exec
            .parameters
            .iter()
            .find(|read| used_name(&read.name) == used_name(&name))?;
        let wanted = Parameter {
            ty: (*typed.ty).clone(),
            ..read.clone()
        };
        Some(match (is_reference(&typed.ty), read.takes()) {
            (true, true) => {
                let name = local(&read.name);
                quote!(&#name)
            }
            _ => argument(&wanted, read.takes(), &self.attribute.runtime),
        })
    }
}
