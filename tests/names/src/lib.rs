//! Programs that use each identifier of generated code as a name of their own: as a key, a node, an
//! action, a type, a static, and as an item of a trait for all types.
//!
//! `build.rs` finds the identifiers in the source of the macros and writes the programs. They only
//! have to compile. Names that begin with two underscores belong to the macros, and are left out.

#![allow(warnings, reason = "the names are none that anybody would choose")]

/// Keys of a flow.
pub mod keys {
    include!(concat!(env!("OUT_DIR"), "/keys.rs"));
}

/// Functions that are nodes, next to the flow.
pub mod nodes {
    include!(concat!(env!("OUT_DIR"), "/nodes.rs"));
}

/// Types that are nodes.
pub mod type_nodes {
    include!(concat!(env!("OUT_DIR"), "/type_nodes.rs"));
}

/// Actions, and the ends of a flow.
pub mod actions {
    include!(concat!(env!("OUT_DIR"), "/actions.rs"));
}

/// Statics where nodes and flows of every kind are defined.
pub mod statics {
    include!(concat!(env!("OUT_DIR"), "/statics.rs"));
}

/// Types where nodes and flows of every kind are defined.
pub mod types {
    include!(concat!(env!("OUT_DIR"), "/types.rs"));
}

/// Methods of a trait for all types, which take the value.
pub mod methods_by_value {
    include!(concat!(env!("OUT_DIR"), "/methods_by_value.rs"));
}

/// Methods of a trait for all types, which borrow the value.
pub mod methods_by_reference {
    include!(concat!(env!("OUT_DIR"), "/methods_by_reference.rs"));
}

/// Functions and constants of a trait for all types.
pub mod functions_and_constants {
    include!(concat!(env!("OUT_DIR"), "/functions_and_constants.rs"));
}
