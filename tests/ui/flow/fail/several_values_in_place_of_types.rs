use flow_runtime::prelude::*;

struct Ask(&'static str);

#[node]
impl Ask {
    fn exec(&self, question: &str) -> String { format!("{question} {}", self.0) }
}

flow! {
    Questions(question: String) -> (first: String) {
        node first: Ask("Yes."); //~
        node second: Ask::new("No."); //~
        node third: answers::ask("No."); //~
        start >> first >> second >> third >> end;
    }
}

fn main() {}
