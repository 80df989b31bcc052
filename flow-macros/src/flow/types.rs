//! The names of the types that a flow defines, apart from its own.

use proc_macro2::Ident;
use quote::format_ident;

use super::syntax::FlowSyntax;

/// The names of the types that a flow defines, apart from its own.
pub(crate) struct TypeNames {
    pub(crate) input: Ident,
    pub(crate) output: Ident,
    pub(crate) node: Ident,
    pub(crate) end: Ident,
    pub(crate) outcome: Ident,
}

impl TypeNames {
    pub(crate) fn of(flow: &FlowSyntax) -> Self {
        let name = |suffix: &str| format_ident!("{}{suffix}", flow.name, span = flow.name.span());
        TypeNames {
            input: name("Input"),
            output: name("Output"),
            node: name("Node"),
            end: name("End"),
            outcome: name("Outcome"),
        }
    }
}
