//! A flow's JSON with the values of its settings, which only a running program knows.

mod apply;
mod params;
mod values;

use flow_spec::FlowDocument;
use flow_spec::document::DEFAULT_DEPTH;

use crate::flow::Flow;

pub use params::{Params, ParamsWriter};
pub(crate) use values::Values;

#[doc(hidden)]
pub mod private {
    pub use super::params::ParamOf;
    pub use super::values::{DefaultOf, SettingsOf, Values};
    #[cfg(feature = "schemars")]
    pub use super::values::{SchemaOf, UserSchema};

    /// The traits, without their names, since types of the user are named next to them.
    pub mod traits {
        pub use crate::export::params::{
            ExposedParam as _, OpaqueParam as _, SecretParam as _, SerializeParam as _,
        };
        #[cfg(feature = "schemars")]
        pub use crate::export::values::{NoSchema as _, UserSchema as _};
        pub use crate::export::values::{
            OpaqueDefault as _, OpaqueSettings as _, ParamsSettings as _, SerializeDefault as _,
            SerializeSettings as _,
        };
    }
}

/// The options of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportOptions {
    /// The maximum number of levels of nested flows: `0` is the flow itself only. Flows that are
    /// left out are marked with `internalFlowOmitted`. 10 by default.
    pub depth: usize,
    /// Includes values that are or may be secret: secrets as they are instead of `***`, and the
    /// settings of types that are `Serialize` but do not say which of their settings are secret.
    /// False by default.
    pub include_sensitive: bool,
}

impl Default for ExportOptions {
    fn default() -> Self {
        ExportOptions {
            depth: DEFAULT_DEPTH,
            include_sensitive: false,
        }
    }
}

/// The JSON of a flow with the values of its settings. Implemented by [`flow!`](crate::flow), with
/// the feature `json`.
///
/// The settings of a node become its `params`, if its struct has
/// [`#[derive(Params)]`](derive@crate::Params). Secret fields are written as `***`, the others as
/// they are. A struct that is only `Serialize` does not say which fields are secret: its settings
/// are left out, and `paramsOmitted` contains `*`.
/// [`include_sensitive`](ExportOptions::include_sensitive) writes the secrets, and the settings of
/// such a struct as serde writes them. `paramsOmitted` also names values that cannot be written at
/// all. [`Flow::SPEC`] is the same document without values.
///
/// # Examples
///
/// ```
/// use flow_runtime::prelude::*;
/// use flow_runtime::{Export as _, ExportOptions, Params};
///
/// #[derive(Params)]
/// struct Ask {
///     model: String,
///     #[param(secret)]
///     api_key: String,
/// }
///
/// #[node]
/// impl Ask {
///     fn exec(&self, question: &str) -> String {
///         format!("{} says yes to {question}", self.model)
///     }
/// }
///
/// flow! {
///     Qa(question: String) -> (ask: String) {
///         node ask: Ask;
///         start >> ask >> end;
///     }
/// }
///
/// let ask = Ask { model: "small".to_owned(), api_key: "sk-1".to_owned() };
/// let document = Qa::builder().ask(ask).build().export(ExportOptions::default());
/// assert_eq!(document.nodes[0].params["model"], "small");
/// assert_eq!(document.nodes[0].params["api_key"], "***");
/// ```
///
/// Without the derive, values leave the program only on request:
///
/// ```
/// # use flow_runtime::prelude::*;
/// # use flow_runtime::{Export as _, ExportOptions};
/// use serde::Serialize;
///
/// #[derive(Serialize)]
/// struct Ask {
///     model: String,
/// }
/// #
/// # #[node]
/// # impl Ask {
/// #     fn exec(&self, question: &str) -> String {
/// #         format!("{} says yes to {question}", self.model)
/// #     }
/// # }
/// #
/// # flow! {
/// #     Qa(question: String) -> (ask: String) {
/// #         node ask: Ask;
/// #         start >> ask >> end;
/// #     }
/// # }
///
/// let qa = Qa::builder().ask(Ask { model: "small".to_owned() }).build();
/// let document = qa.export(ExportOptions::default());
/// assert!(document.nodes[0].params.is_empty());
/// assert_eq!(document.nodes[0].params_omitted, ["*"]);
///
/// let all = ExportOptions { include_sensitive: true, ..ExportOptions::default() };
/// assert_eq!(qa.export(all).nodes[0].params["model"], "small");
/// ```
pub trait Export: Flow {
    /// The document of this flow.
    ///
    /// # Panics
    ///
    /// If `Serialize` or `JsonSchema` of a setting panics.
    fn export(&self, options: ExportOptions) -> FlowDocument {
        let mut values = Values::new(options.include_sensitive);
        self.__collect(&mut values);
        let mut document = structure::<Self>();
        document.cut(options.depth);
        values.apply(&mut document);
        document
    }

    /// Collects the values of the settings.
    #[doc(hidden)]
    fn __collect(&self, values: &mut Values);
}

/// The structure of a flow.
fn structure<F: Flow + ?Sized>() -> FlowDocument {
    match FlowDocument::parse_spec(F::SPEC) {
        Ok(document) => document,
        Err(problems) => {
            let first = problems.first().map(ToString::to_string);
            unreachable!("the macro wrote a document that cannot be read: {first:?}")
        }
    }
}

/// The structure of a flow with the settings that are not secret. Defaults of inputs are not
/// evaluated.
#[cfg(feature = "stored")]
pub(crate) fn with_settings<F: Export + ?Sized>(flow: &F) -> FlowDocument {
    let mut values = Values::settings();
    flow.__collect(&mut values);
    let mut document = structure::<F>();
    values.apply(&mut document);
    document
}
