//! One of the four methods, and the meaning of its parameters by their names and types.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{FnArg, Pat, PatType, Signature, Type};

use crate::node::outcome::Returned;
use crate::node::parameter::{self, Parameter, ParameterKind, used_name};
use crate::runtime::Runtime;

/// One of the four methods.
pub(super) struct Phase {
    pub(super) sig: Signature,
    /// The parameters that are reads or the context. For an `exec` after a `prep`, and for
    /// `exec_fallback`, only the context.
    pub(super) parameters: Vec<Parameter>,
    pub(super) returned: Returned,
}

impl Phase {
    pub(super) fn call(&self, arguments: &[TokenStream]) -> TokenStream {
        let name = &self.sig.ident;
        match self.sig.inputs.first() {
            Some(FnArg::Receiver(_)) => quote!(__node.#name(#(#arguments),*)),
            _ => quote!(Self::#name(#(#arguments),*)),
        }
    }

    pub(super) fn awaited(&self, arguments: &[TokenStream]) -> TokenStream {
        let call = self.call(arguments);
        if self.sig.asyncness.is_some() {
            quote!(#call.await)
        } else {
            call
        }
    }

    pub(super) fn has_context(&self) -> bool {
        self.parameters
            .iter()
            .any(|parameter| parameter.kind == ParameterKind::Context)
    }

    /// The code that binds the context, if the method asks for it.
    pub(super) fn context(&self, runtime: &Runtime) -> Option<TokenStream> {
        let rt = runtime.hidden();
        self.has_context()
            .then(|| quote!(let __context = #rt::Attempts::context(&__attempts);))
    }

    /// The parameters except `self`.
    pub(super) fn typed(&self) -> impl Iterator<Item = &PatType> {
        self.sig.inputs.iter().filter_map(|input| match input {
            FnArg::Typed(typed) => Some(typed),
            FnArg::Receiver(_) => None,
        })
    }
}

pub(super) fn pattern_name(pattern: &Pat) -> Option<Ident> {
    match pattern {
        Pat::Ident(pattern) => Some(pattern.ident.clone()),
        _ => None,
    }
}

pub(super) fn result_name(pattern: &Pat) -> Option<&'static str> {
    let name = pattern_name(pattern)?;
    let name = used_name(&name);
    ["prep_res", "exec_res"]
        .into_iter()
        .find(|result| name == *result)
}

pub(super) fn is_result_of_phase(input: &FnArg) -> bool {
    matches!(input, FnArg::Typed(typed) if result_name(&typed.pat).is_some())
}

pub(super) fn is_reference(ty: &Type) -> bool {
    matches!(ty, Type::Reference(_))
}

pub(super) fn is_transaction(input: &FnArg) -> bool {
    matches!(input, FnArg::Typed(typed) if parameter::is_mutable(&typed.ty))
}

pub(super) fn is_context(input: &FnArg) -> bool {
    matches!(input, FnArg::Typed(typed) if parameter::is_context(&typed.ty))
}
