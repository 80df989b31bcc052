//! Each mistake on a small graph, with the words that a user reads.

mod actions;
mod additions;
mod advice;
mod dominators;
mod edge_mappings;
mod forks;
mod former_names;
mod names;
mod notation;
mod outputs;
mod races;
mod reach;
mod reads;
mod signals;
mod start;
mod takes;
mod types;
mod undo;
mod undo_rules;
