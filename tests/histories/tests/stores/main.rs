//! Whether what several processes saw of a store is what one after the other could have seen, and
//! whether the rules of claims keep what they promise.

mod linear;
mod model;
mod spec;
