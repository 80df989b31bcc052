use flow_runtime::prelude::*;

#[node]
fn draft(topic: &str) -> String {
    topic.to_owned()
}

mod essay {
    use super::*;
    flow! { pub Essay(topic: String) -> (draft: String) { start >> draft >> letter::Letter >> end; } } //~
}
mod letter {
    use super::*;
    flow! { pub Letter(topic: String) -> (draft: String) { start >> draft >> essay::Essay >> end; } }
}

fn main() {}
