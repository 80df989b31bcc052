//! Pictures of a flow: a [`tree`], [`mermaid`] and [`dot`] as text, [`svg`] as an image, and
//! [`html`] as a page to click through.
//!
//! Each is made from a [`FlowDocument`](flow_spec::FlowDocument) alone, and the same document
//! always gives the same text. A picture shows a sound flow. Of one that is not sound, it shows
//! what can be shown: an edge that names nothing is left out.

mod dot;
mod html;
mod mermaid;
mod ports;
mod scene;
mod svg;
mod tree;
mod words;
mod xml;

pub use dot::dot;
pub use html::html;
pub use mermaid::mermaid;
pub use svg::svg;
pub use tree::tree;
