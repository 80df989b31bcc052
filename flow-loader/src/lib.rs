#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod adapter;
mod adder;
mod answer;
mod args;
pub mod bounds;
mod catalog;
mod cell;
mod condition;
mod folder;
mod level;
mod list;
mod load;
mod loaded;
mod outcome;
mod params;
mod place;
mod ports;
mod probes;
mod prompt;
mod provided;
mod registry;
mod run;
mod schema;
mod stack;
mod value;

pub use adapter::NodeKind;
pub use catalog::{Catalog, CatalogDependency, CatalogNode};
pub use flow_macros::registry;
// rustc names it in its messages. A path through `__private` would tell the reader nothing.
#[doc(hidden)]
pub use flow_macros::every_node_needs_the_attribute_node;
pub use flow_text::Format;
#[cfg(feature = "watch")]
pub use folder::Watch;
pub use folder::{FileProblem, Folder, Reload, load_file};
pub use load::{LoadError, load, load_document};
pub use loaded::LoadedFlow;
pub use outcome::Outcome;
#[cfg(feature = "credential-file")]
pub use provided::{CredentialFile, CredentialFileError, CredentialKey};
pub use provided::{Credentials, Dependency, DependencyError, Environment};
pub use registry::Registry;
pub use run::{LoadedEngine, LoadedNode, LoadedState};
pub use secrecy::{ExposeSecret, SecretString};
pub use semver::Version;

/// Items that generated code refers to. Not part of the public interface.
#[doc(hidden)]
pub mod __private {
    pub use flow_runtime::__private::{Action, Node, Writes};
    pub use flow_runtime::engine::{ExternalType, Failed, Step};
    pub use flow_runtime::{External, Signal};

    pub use crate::adapter::{
        About, ActionType, Adapter, Borrowed, Call, ExternalFunction, Make, NodeKind, ReadType,
        Runs, StepFunction, TakeApart, Work, WriteType, makes, nothing, receiver,
    };
    pub use crate::args::{Args, Key, Lent, Writer};
    pub use crate::cell::{AnyValue, opened_ref, taken_out};
    pub use crate::list::ListType;
    pub use crate::params::{Param, ParamError};
    pub use crate::ports::Mode;
    pub use crate::value::{Probe, SchemaFunction, Shown, ValueType, schema_of, value_type};
    pub mod probes {
        pub use crate::probes::*;
    }
    pub use crate::{__schema_of as schema_of, __value_type as value_type};
}
