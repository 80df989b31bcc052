//! The paths of our crates in the user's crate, as its `Cargo.toml` names them.
//!
//! Generated code refers to the crate that the user depends on: to the facade `typed-flows` or to
//! one of the crates that it re-exports, also if the dependency has another name there.

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, TokenStreamExt as _};
use syn::Token;

/// A package that generated code refers to.
pub(crate) struct Package {
    /// Its name in a registry.
    name: &'static str,
    /// The name of its library.
    library: &'static str,
    /// The module of the facade that re-exports the library. `None` if the root does.
    module: Option<&'static str>,
}

/// The package that re-exports the others.
const FACADE: Package = Package {
    name: "typed-flows",
    library: "typed_flows",
    module: None,
};

pub(crate) const RUNTIME: Package = Package {
    name: "typed-flows-runtime",
    library: "flow_runtime",
    module: None,
};

#[cfg(feature = "registry")]
pub(crate) const LOADER: Package = Package {
    name: "typed-flows-loader",
    library: "flow_loader",
    module: Some("documents"),
};

#[cfg(feature = "tools")]
pub(crate) const AGENTS: Package = Package {
    name: "typed-flows-agents",
    library: "flow_agents",
    module: Some("agents"),
};

/// The path of a package in the user's crate: `::flow_runtime`, `::typed_flows::agents`.
#[derive(Debug, Clone)]
pub(crate) struct CratePath(Vec<String>);

impl CratePath {
    /// Appends the path, at this place. Tokens are appended one by one: appending a `TokenStream`
    /// to another takes several calls of rustc.
    pub(crate) fn append(&self, site: Span, tokens: &mut TokenStream) {
        for name in &self.0 {
            Token![::](site).to_tokens(tokens);
            tokens.append(ident(name, site));
        }
    }

    /// The path, at this place.
    #[cfg(any(feature = "registry", feature = "tools"))]
    pub(crate) fn at(&self, site: Span) -> TokenStream {
        let mut tokens = TokenStream::new();
        self.append(site, &mut tokens);
        tokens
    }
}

/// An identifier. A dependency may have a keyword as its name.
fn ident(name: &str, site: Span) -> Ident {
    match syn::parse_str::<Ident>(name) {
        Ok(_) => Ident::new(name, site),
        Err(_) => Ident::new_raw(name, site),
    }
}

impl Package {
    /// Its path in the user's crate. If `Cargo.toml` names neither the package nor the facade, it is
    /// that of its library, so that rustc says what is missing.
    ///
    /// The facade always has what its root re-exports. Whether it has a module is not known here.
    pub(crate) fn path(&self) -> CratePath {
        let facade = FACADE.dependency();
        let path = match (self.module, facade) {
            (None, Some(facade)) => vec![facade],
            (module, facade) => match (self.dependency(), facade, module) {
                (None, Some(facade), Some(module)) => vec![facade, module.to_owned()],
                (name, ..) => vec![name.unwrap_or_else(|| self.library.to_owned())],
            },
        };
        CratePath(path)
    }

    /// The name under which the user's crate depends on it. `None` if its `Cargo.toml` does not name
    /// it, or if it is built without Cargo.
    fn dependency(&self) -> Option<String> {
        Some(match crate_name(self.name).ok()? {
            FoundCrate::Name(name) if name != self.name.replace('-', "_") => name,
            // In one of our libraries, `extern crate self as …` makes its name right.
            FoundCrate::Name(_) | FoundCrate::Itself => self.library.to_owned(),
        })
    }
}
