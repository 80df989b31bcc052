use flow_runtime::prelude::*;

struct Ask<M> { model: M }
struct Echo;

#[node(writes = answer)]
impl<M: Send + Sync> Ask<M> {
    async fn exec(&self, question: &str) -> String { let _ = &self.model; question.into() }
}

flow! {
    Qa(question: String) -> (answer: String) {
        node first: Ask = Ask { model: Echo }; //~
        node second: Ask<Ecko> = Ask { model: Echo }; //~
        start >> first >> second >> end;
    }
}

fn main() { let _ = Qa::new().run(QaInput { question: "why?".into() }); }
