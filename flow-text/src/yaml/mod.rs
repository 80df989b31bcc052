//! YAML: its values by the rules of YAML 1.2, and documents written as YAML.

mod read;
mod scalar;
mod write;

pub(crate) use read::read;
pub use write::to_yaml;
