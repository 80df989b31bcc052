use flow_agents::{Tools, tools};
use flow_runtime::prelude::*;

struct Ask<M>(M);

#[node]
impl<M: std::fmt::Display + Send + Sync> Ask<M> {
    fn exec(&self, r#type: &str) -> String { format!("{} {}", self.0, r#type) }
}

fn made<M: std::fmt::Display + Send + Sync + 'static>(of: M) -> Tools { tools![Ask<M> = Ask(of)] }

fn main() {
    assert!(tools![].is_empty());
    assert_eq!(made(7).names().collect::<Vec<_>>(), ["ask"]);
    assert!(made("x").definitions()[0].parameters["properties"]["type"].is_object());
}
