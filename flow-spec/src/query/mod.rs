//! Questions that tools ask of a document. What is asked of a flow is answered of the flows inside it as well, except
//! for its neighbours and paths, which are a matter of one flow.

mod flat;
mod inner;
mod neighbours;
mod paths;

pub use flat::{EdgeAt, NodeAt};
pub use neighbours::Step;
pub use paths::Paths;

/// The path of a node in the flow that is the node of the path `around`; empty for the outermost.
pub(crate) fn path(around: &str, id: &str) -> String {
    match around {
        "" => id.to_owned(),
        around => format!("{around}.{id}"),
    }
}
