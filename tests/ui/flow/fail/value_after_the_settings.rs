use flow_runtime::prelude::*;

struct Ask(&'static str);

#[node(timeout = "5s")]
impl Ask {
    async fn exec(&self, question: &str) -> String { format!("{question} {}", self.0) }
}

flow! {
    Questions(question: String) -> (ask: String) {
        node ask: Ask with timeout = "1s" = Ask("Yes."); //~

        start >> ask >> end;
    }
}

fn main() {}
