#![doc = include_str!("../README.md")]

mod dialogue;
mod legible;
mod shape;
mod terminal;

pub use terminal::Terminal;
