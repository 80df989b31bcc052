//! Pictures of a flow. Each is made of the document alone, and the same document always gives the same text.
//!
//! A picture shows a sound flow. Of one that is not, it shows what can be shown: an edge that names nothing is left out.

mod dot;
#[cfg(feature = "svg")]
mod html;
mod mermaid;
mod ports;
mod scene;
#[cfg(feature = "svg")]
mod svg;
mod tree;
mod words;
#[cfg(feature = "svg")]
mod xml;

pub use dot::dot;
#[cfg(feature = "svg")]
pub use html::html;
pub use mermaid::mermaid;
#[cfg(feature = "svg")]
pub use svg::svg;
pub use tree::tree;
