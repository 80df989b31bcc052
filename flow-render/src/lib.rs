//! Pictures of a flow: [`text`] for a terminal, a [`tree`] of its nodes, [`mermaid`] and [`dot`]
//! for programs that draw, [`svg`] as an image, and [`html`] as a page to click through.
//!
//! At an arrow is the action that takes it, unless it is `default`; below it the condition, if a
//! `branch` decides; and in braces the keys that travel along it. These are the keys that its node
//! writes and that a later one reads, or the flow returns. A legend explains what a picture has.
//!
//! Each is made from a [`FlowDocument`](flow_spec::FlowDocument) alone, and the same document
//! always gives the same text. The pictures are meant for sound flows. If a flow is not sound, a
//! picture shows what it can: an edge to a node that does not exist is left out.

mod dot;
mod html;
mod keys;
mod legend;
mod mermaid;
mod ports;
mod scene;
mod svg;
mod text;
mod tree;
mod words;
mod xml;

pub use dot::dot;
pub use html::html;
pub use mermaid::mermaid;
pub use svg::svg;
pub use text::text;
pub use tree::tree;
