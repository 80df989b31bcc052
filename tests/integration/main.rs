//! How flows behave, a module for each topic. A test that stands for a case of the upstream suites
//! names its number.

#[macro_use]
mod sources;

mod arithmetic;
mod basics;
mod batches;
mod blocking;
mod branches;
mod composition;
mod cookbook;
mod design;
mod documents;
mod edge_mappings;
mod edges;
mod ends;
mod error_routing;
mod flow_attributes;
mod forks;
mod generated;
mod limits;
mod mappings;
mod names_in_the_way;
mod nested;
mod nodes;
mod observer;
mod options;
mod questions;
mod retry_and_fallback;
mod retry_if;
mod scripted;
mod state;
mod support;
mod sync_and_async;
mod waiting;
