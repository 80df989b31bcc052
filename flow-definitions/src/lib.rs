#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod active;
mod check;
mod configuration;
mod definition;
mod definitions;
mod error;
mod finding;
mod memory;
mod patch;
#[cfg(feature = "sqlite")]
mod sqlite;
mod store;

pub use active::ActiveDefinitions;
pub use definition::{Content, Definition, DefinitionId, Position, Status};
pub use definitions::{Definitions, Loaded};
pub use error::{DamagedDefinition, DefinitionError};
pub use finding::{Finding, Severity};
pub use memory::MemoryDefinitions;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteDefinitions;
pub use store::DefinitionStore;
