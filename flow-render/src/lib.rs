#![doc = include_str!("../README.md")]
//!
//! # Pictures
//!
//! [`text()`] is for a terminal, [`tree()`] lists the nodes, [`mermaid()`] and [`dot()`] are for
//! programs that draw, [`svg()`] is an image, and [`html()`] is a page to click through. The last
//! four go from top to bottom; [`svg_in`] and its like take a [`Direction`].
//!
//! An arrow shows the action that takes it, unless it is `default`; below it the condition, if a
//! `branch` decides; and in braces the keys that travel along it. These are the keys that its node
//! writes and that a later one reads, or the flow returns. A legend explains its marks.
//!
//! Each is made from a [`FlowDocument`](flow_spec::FlowDocument) alone, and the same document
//! always gives the same text. The pictures are meant for sound flows. For other flows, a picture
//! omits what it cannot show, such as an edge to a node that does not exist.
//!
//! # `flow!`
//!
//! [`source()`] writes a document as the `flow!` that compiles to it. [`layout`] lays out `flow!` in
//! sources.

mod direction;
mod dot;
mod html;
mod keys;
pub mod layout;
mod legend;
mod mermaid;
mod ports;
mod scene;
mod source;
mod svg;
mod text;
mod tree;
mod words;
mod xml;

pub use direction::Direction;
pub use dot::{dot, dot_in};
pub use html::{html, html_in};
pub use mermaid::{mermaid, mermaid_in};
pub use source::{Unsaid, source, sources};
pub use svg::{svg, svg_in};
pub use text::text;
pub use tree::tree;
