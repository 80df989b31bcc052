//! Pictures of a flow: a [`tree`], [`mermaid`] and [`dot`] as text, [`svg`] as an image, and
//! [`html`] as a page to click through.
//!
//! Each is made from a [`FlowDocument`](flow_spec::FlowDocument) alone, and the same document
//! always gives the same text. The pictures are meant for sound flows. If a flow is not sound, a
//! picture shows what it can: an edge to a node that does not exist is left out.

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
