//! Queries of a document, for tools. They cover the inner flows as well, except for neighbours and
//! paths, which are those of a single flow.

mod flat;
mod inner;
mod neighbours;
mod paths;
mod signals;

pub use flat::{EdgeAt, NodeAt};
pub use neighbours::Step;
pub use paths::Paths;
pub use signals::SignalAt;

/// Returns the path of the node `id` in the flow at the path `around`, which is empty for the
/// outermost flow.
///
/// ```
/// assert_eq!(flow_spec::node_path("", "review"), "review");
/// assert_eq!(flow_spec::node_path("review", "ask"), "review.ask");
/// ```
pub fn node_path(around: &str, id: &str) -> String {
    match around {
        "" => id.to_owned(),
        around => format!("{around}.{id}"),
    }
}
