use flow_agents::tools;
use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict { Good, Bad { reason: String } }

#[node(writes = action, actions = Verdict)]
fn judge(text: &str) -> (String, Verdict) {
    match text {
        "" => (String::new(), Verdict::Bad { reason: String::new() }),
        _ => (String::new(), Verdict::Good),
    }
}

fn main() {
    let _ = tools![judge]; //~
}
