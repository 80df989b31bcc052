//! Checks of types that report mistakes only in our words.
//!
//! A trait with its own message would check the same, but rustc also prints the trait's name. Each
//! check is therefore a constant, which panics if a type does not fit. The constants are not among
//! the items of the flow, because rustc prints their surroundings. The code of the flow calls a
//! function of the same type for each: it does what is right if the check holds, and compiles if it
//! does not.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use crate::flow::plan::RouteIndex;
use crate::flow::syntax::Parameter;
use crate::names::{here, plain};
use crate::runtime::Runtime;
use crate::text::{is_compared, is_plain_text, type_text};

use super::context::Emit;
use super::visit::Visit;

/// The checks of all types that the flow passes on.
pub(super) fn checks<'v>(
    emit: &Emit<'_>,
    visits: impl Iterator<Item = &'v Visit<'v>>,
) -> Vec<TokenStream> {
    let edges = 0..emit.plan.resolved.graph.graph().edges.len();
    let of_edges = edges.flat_map(|edge| emit.mapping_checks(RouteIndex(edge)));
    let of_visits = visits.flat_map(Visit::checks);
    let outputs = emit.flow.outputs.iter();
    let of_outputs = outputs.filter_map(|output| emit.output_check(output));
    of_edges
        .chain(of_visits)
        .chain(of_outputs)
        .chain(emit.timeout_checks())
        .chain(emit.spread_checks())
        .collect()
}

/// The traits for types that do not fit.
pub(super) fn traits(runtime: &Runtime, site: Span) -> TokenStream {
    let traits = [
        "AddsNothing",
        "BeginsNowhere",
        "LendOther",
        "LendSame",
        "LendTarget",
        "LendTargetOfTarget",
        "NoClone",
        "NoDeref",
        "NoDerefTwice",
        "NoDisplay",
        "OtherType",
    ];
    let (rt, traits) = (
        runtime.hidden_at(site),
        traits.map(|name| Ident::new(name, site)),
    );
    quote_spanned!(site=> use #rt::{#(#traits as _),*};)
}

/// The type of a value, if its name is known.
pub(super) fn said(ty: Option<&str>) -> String {
    ty.map_or("its type".to_owned(), |ty| format!("`{ty}`"))
}

/// Returns true if the name of a type shows that its values can be cloned, so that rustc need not
/// check.
fn is_surely_clone(mut ty: &str) -> bool {
    while let Some(inner) = ["Vec<", "Option<"]
        .iter()
        .find_map(|outer| ty.strip_prefix(outer)?.strip_suffix('>'))
    {
        ty = inner;
    }
    is_surely_printed(ty) || ty == "PathBuf"
}

/// Returns true if the name of a type shows that its values can be printed.
pub(super) fn is_surely_printed(ty: &str) -> bool {
    const PRINTED: [&str; 17] = [
        "String", "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8",
        "u16", "u32", "u64", "u128", "usize",
    ];
    PRINTED.contains(&ty)
}

/// Returns true if two types have different names, but only rustc knows if they differ. For types
/// of the standard library this is known, and a pointer may be read as its target.
pub(super) fn may_differ(written: &str, wanted: &str) -> bool {
    let points = ["Option<", "Box<", "Arc<", "Rc<", "Cow<"];
    let is_pointer = points.iter().any(|pointer| written.starts_with(pointer));
    written != wanted
        && !is_pointer
        && [written, wanted].into_iter().all(is_compared)
        && ![written, wanted].into_iter().all(is_plain_text)
}

impl Emit<'_> {
    /// The function that clones the values of a key.
    pub(super) fn cloned(&self, key: &str, user: Span) -> TokenStream {
        let (site, ty) = (here(user), self.state.ty(key));
        if self.state.text(key).is_some_and(is_surely_clone) {
            return quote_spanned!(site=> ::core::clone::Clone::clone);
        }
        let rt = self.runtime.hidden_at(site);
        quote_spanned!(site=> #rt::CloneOf::<#ty>::__of)
    }

    /// Makes rustc report at the user's code if the values of a key cannot be cloned, unless it
    /// reports different types there.
    pub(super) fn clone_check(
        &self,
        key: &str,
        types: Option<&[TokenStream; 2]>,
        message: &str,
        user: Span,
    ) -> Option<TokenStream> {
        if self.state.text(key).is_some_and(is_surely_clone) {
            return None;
        }
        let (rt, ty) = (self.runtime.hidden_at(user), self.state.ty(key));
        let differ = types.map(
            |[one, other]| quote_spanned!(user=> || !#rt::SameType::<#one, #other>::__IS_SAME),
        );
        let is_clone = quote_spanned!(user=> #rt::CloneOf::<#ty>::__IS_CLONE #differ);
        Some(self.check(&is_clone, message, user))
    }

    /// The function that returns a value of one type as another one.
    pub(super) fn agreed(&self, one: &TokenStream, other: &TokenStream, user: Span) -> TokenStream {
        let rt = self.runtime.hidden_at(here(user));
        quote_spanned!(here(user)=> #rt::SameType::<#one, #other>::__of)
    }

    /// Makes rustc report at the user's code if two types differ.
    pub(super) fn agreement_check(
        &self,
        one: &TokenStream,
        other: &TokenStream,
        message: &str,
        user: Span,
    ) -> TokenStream {
        let rt = self.runtime.hidden_at(user);
        let is_same = quote_spanned!(user=> #rt::SameType::<#one, #other>::__IS_SAME);
        self.check(&is_same, message, user)
    }

    /// Makes rustc report at the user's code if a value of one type cannot be read as another one.
    pub(super) fn loan_check(
        &self,
        one: &TokenStream,
        other: &TokenStream,
        message: &str,
        user: Span,
    ) -> TokenStream {
        let rt = self.runtime.hidden_at(user);
        let fits = quote_spanned! {user=>
            #rt::SameType::<#one, #other>::__IS_SAME
                || #rt::DerefsTo::<#one, #other>::__HOLDS
                || #rt::DerefsTwiceTo::<#one, #other>::__HOLDS
        };
        self.check(&fits, message, user)
    }

    /// Makes rustc report at the user's code if values of a type cannot be printed.
    pub(super) fn print_check(&self, ty: &TokenStream, message: &str, user: Span) -> TokenStream {
        let rt = self.runtime.hidden_at(user);
        let is_display = quote_spanned!(user=> #rt::Prints::<#ty>::__IS_DISPLAY);
        self.check(&is_display, message, user)
    }

    /// The value of an output, if it is declared as its type.
    pub(super) fn output_as_declared(&self, output: &Parameter, value: TokenStream) -> TokenStream {
        if !self.may_differ_from_declared(output) {
            return value;
        }
        let (ty, user) = (&output.ty, output.name.span());
        let written = self.state.ty(&plain(&output.name));
        let agreed = self.agreed(&written, &quote!(#ty), user);
        quote_spanned!(here(user)=> #agreed(#value))
    }

    /// Makes rustc report an output that is declared as another type. `None` for an optional one.
    fn output_check(&self, output: &Parameter) -> Option<TokenStream> {
        let key = plain(&output.name);
        let is_checked = !output.optional && self.state.has(&key);
        if !is_checked || !self.may_differ_from_declared(output) {
            return None;
        }
        let (ty, user) = (&output.ty, output.name.span());
        let message = self.state.told_of_output(&key, &type_text(ty));
        let written = self.state.ty(&key);
        Some(self.agreement_check(&written, &quote!(#ty), &message, user))
    }

    fn may_differ_from_declared(&self, output: &Parameter) -> bool {
        let written = self.state.text(&plain(&output.name)).unwrap_or_default();
        !written.is_empty() && may_differ(written, &type_text(&output.ty))
    }

    pub(super) fn check(&self, holds: &TokenStream, message: &str, user: Span) -> TokenStream {
        let rt = self.runtime.hidden_at(user);
        quote_spanned!(user=> #rt::must(#holds, #message))
    }
}
