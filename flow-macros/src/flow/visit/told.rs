//! Checks of types that report mistakes only in our words.
//!
//! A trait with its own message would check the same, but rustc also prints the trait's name. Each
//! check is therefore a constant, which panics if a type does not fit. The constants are not among
//! the items of the flow, because rustc prints their surroundings.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use crate::flow::plan::Plan;
use crate::flow::state::State;
use crate::flow::syntax::Parameter;
use crate::names::{here, plain};
use crate::text::{is_compared, is_plain, type_text};

/// The type of a value, if its name is known.
pub(super) fn said(ty: Option<&str>) -> String {
    ty.map_or("its type".to_owned(), |ty| format!("`{ty}`"))
}

/// Returns true if the path of a node has arguments, so that its own types may be parameters.
pub(super) fn has_arguments(path: &syn::Path) -> bool {
    let last = path.segments.last();
    last.is_some_and(|last| !last.arguments.is_none())
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

/// Returns true if a type consists of names of the standard library.
pub(super) fn is_of_std(ty: &str) -> bool {
    ty.parse().is_ok_and(|tokens| is_plain(&tokens))
}

/// Returns true if two types have different names, but only rustc knows if they differ. For types
/// of the standard library this is known, and a pointer may be read as its target.
pub(in crate::flow) fn may_differ(written: &str, wanted: &str) -> bool {
    let points = ["Option<", "Box<", "Arc<", "Rc<", "Cow<"];
    let is_pointer = points.iter().any(|pointer| written.starts_with(pointer));
    written != wanted
        && !is_pointer
        && [written, wanted].into_iter().all(is_compared)
        && ![written, wanted].into_iter().all(is_of_std)
}

impl Plan<'_> {
    /// The traits for types that do not fit, and the constants that report them.
    pub(in crate::flow) fn told(&self, site: Span) -> (Option<TokenStream>, TokenStream) {
        let checks = self.checks.take();
        let (import, _) = self.flow.runtime.imported(site);
        let rt = self.flow.runtime.hidden_at(site);
        let imports = (!checks.is_empty()).then(|| {
            let traits = [
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
            let traits = traits.map(|name| Ident::new(name, site));
            quote_spanned!(site=> use #rt::{#(#traits as _),*};)
        });
        let constants = checks
            .into_iter()
            .map(|check| quote_spanned!(site=> const _: () = { #import #imports #check };));
        let constants = constants.collect();
        (imports, constants)
    }

    /// The function that clones the values of a key. If they cannot be cloned, rustc reports that
    /// at the user's code, unless it reports different types there.
    pub(super) fn cloned(
        &self,
        state: &State,
        key: &str,
        types: Option<&[TokenStream; 2]>,
        message: &str,
        user: Span,
    ) -> TokenStream {
        let (site, ty) = (here(user), state.ty(key));
        if state.text(key).is_some_and(is_surely_clone) {
            return quote_spanned!(site=> ::core::clone::Clone::clone);
        }
        let (rt, at_user) = (self.runtime.hidden_at(site), self.runtime.hidden_at(user));
        let differ = types.map(
            |[one, other]| quote_spanned!(user=> || !#at_user::SameType::<#one, #other>::__IS_SAME),
        );
        let is_clone = quote_spanned!(user=> #at_user::CloneOf::<#ty>::__IS_CLONE #differ);
        self.check(&is_clone, message, user);
        quote_spanned!(site=> #rt::CloneOf::<#ty>::__of)
    }

    /// The function that returns a value of one type as another one. If they differ, rustc
    /// reports that at the user's code.
    pub(in crate::flow) fn agreed(
        &self,
        one: &TokenStream,
        other: &TokenStream,
        message: &str,
        user: Span,
    ) -> TokenStream {
        let (rt, at_user) = (
            self.runtime.hidden_at(here(user)),
            self.runtime.hidden_at(user),
        );
        let is_same = quote_spanned!(user=> #at_user::SameType::<#one, #other>::__IS_SAME);
        self.check(&is_same, message, user);
        quote_spanned!(here(user)=> #rt::SameType::<#one, #other>::__of)
    }

    /// Makes rustc report at the user's code if a value of one type cannot be read as another one.
    pub(super) fn lent(&self, one: &TokenStream, other: &TokenStream, message: &str, user: Span) {
        let rt = self.runtime.hidden_at(user);
        let fits = quote_spanned! {user=>
            #rt::SameType::<#one, #other>::__IS_SAME
                || #rt::DerefsTo::<#one, #other>::__HOLDS
                || #rt::DerefsTwiceTo::<#one, #other>::__HOLDS
        };
        self.check(&fits, message, user);
    }

    /// The function that shows values of a type. If they cannot be printed, rustc reports that at
    /// the user's code.
    pub(super) fn printed(&self, ty: &TokenStream, message: &str, user: Span) -> TokenStream {
        let (rt, at_user) = (
            self.runtime.hidden_at(here(user)),
            self.runtime.hidden_at(user),
        );
        let is_display = quote_spanned!(user=> #at_user::Prints::<#ty>::__IS_DISPLAY);
        self.check(&is_display, message, user);
        quote_spanned!(here(user)=> #rt::Prints::<#ty>::__shown)
    }

    /// The value of an output, or an error in our words if it is declared as another type.
    pub(in crate::flow) fn output_as_declared(
        &self,
        state: &State,
        output: &Parameter,
        value: TokenStream,
    ) -> TokenStream {
        let (key, declared) = (plain(&output.name), type_text(&output.ty));
        let written = state.text(&key).unwrap_or_default();
        if written.is_empty() || !may_differ(written, &declared) {
            return value;
        }
        let (ty, user) = (&output.ty, output.name.span());
        let message = state.told_of_output(&key, &declared);
        let agreed = self.agreed(&state.ty(&key), &quote!(#ty), &message, user);
        quote_spanned!(here(user)=> #agreed(#value))
    }

    pub(in crate::flow) fn check(&self, holds: &TokenStream, message: &str, user: Span) {
        let rt = self.runtime.hidden_at(user);
        let check = quote_spanned!(user=> #rt::must(#holds, #message));
        self.checks.borrow_mut().push(check);
    }
}
