//! Checks of types that say what is wrong in our words and with no others.
//!
//! A trait with a message of its own would check the same, but rustc also prints the name of the
//! trait. So each is a constant: what is found out about a type decides whether it panics. The
//! constants are not among the items of the flow, because rustc prints what they are in.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;

use crate::flow::plan::Plan;
use crate::flow::state::State;
use crate::names::here;
use crate::runtime::runtime_at;

/// The type of a value, if its name is known.
pub(super) fn said(ty: Option<&str>) -> String {
    ty.map_or("its type".to_owned(), |ty| format!("`{ty}`"))
}

/// Returns true if the path of a node names arguments: then its own types may be parameters.
pub(super) fn has_arguments(path: &syn::Path) -> bool {
    let last = path.segments.last();
    last.is_some_and(|last| !last.arguments.is_none())
}

/// Returns true if values of the type can be cloned, as its name shows: then rustc has nothing to
/// find out.
fn is_surely_clone(mut ty: &str) -> bool {
    while let Some(inner) = ["Vec<", "Option<"]
        .iter()
        .find_map(|outer| ty.strip_prefix(outer)?.strip_suffix('>'))
    {
        ty = inner;
    }
    is_surely_printed(ty) || ty == "PathBuf"
}

/// Returns true if values of the type can be printed, as its name shows.
pub(super) fn is_surely_printed(ty: &str) -> bool {
    const PRINTED: [&str; 17] = [
        "String", "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8",
        "u16", "u32", "u64", "u128", "usize",
    ];
    PRINTED.contains(&ty)
}

impl Plan<'_> {
    /// The function that clones the values of a key. If they cannot be cloned, rustc says so at the
    /// user's code.
    pub(super) fn cloned(
        &self,
        state: &State,
        key: &str,
        message: &str,
        user: Span,
    ) -> TokenStream {
        let (site, ty) = (here(user), state.ty(key));
        if state.text(key).is_some_and(is_surely_clone) {
            return quote_spanned!(site=> ::core::clone::Clone::clone);
        }
        let (rt, at_user) = (runtime_at(site), runtime_at(user));
        let is_clone = quote_spanned!(user=> #at_user::CloneOf::<#ty>::IS_CLONE);
        self.check(&is_clone, message, user);
        quote_spanned!(site=> #rt::CloneOf::<#ty>::of)
    }

    /// The function that makes a value of one type one of another. If they are not the same, rustc
    /// says so at the user's code.
    pub(super) fn agreed(
        &self,
        one: &TokenStream,
        other: &TokenStream,
        message: &str,
        user: Span,
    ) -> TokenStream {
        let (rt, at_user) = (runtime_at(here(user)), runtime_at(user));
        let is_same = quote_spanned!(user=> #at_user::SameType::<#one, #other>::IS_SAME);
        self.check(&is_same, message, user);
        quote_spanned!(here(user)=> #rt::SameType::<#one, #other>::of)
    }

    /// The function that shows values of a type. If they cannot be printed, rustc says so at the
    /// user's code.
    pub(super) fn printed(&self, ty: &TokenStream, message: &str, user: Span) -> TokenStream {
        let (rt, at_user) = (runtime_at(here(user)), runtime_at(user));
        let is_display = quote_spanned!(user=> #at_user::Prints::<#ty>::IS_DISPLAY);
        self.check(&is_display, message, user);
        quote_spanned!(here(user)=> #rt::Prints::<#ty>::shown)
    }

    fn check(&self, holds: &TokenStream, message: &str, user: Span) {
        let rt = runtime_at(user);
        let check = quote_spanned!(user=> #rt::must(#holds, #message));
        self.checks.borrow_mut().push(check);
    }
}
