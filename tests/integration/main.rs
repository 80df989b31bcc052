//! How flows behave, a module for each topic.

mod design;
mod smoke;
