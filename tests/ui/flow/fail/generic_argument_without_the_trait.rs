use flow_runtime::prelude::*;

trait Model: Send + Sync { fn complete(&self, prompt: &str) -> String; }

struct Ask<M> { model: M }

#[node(writes = answer)]
impl<M: Model> Ask<M> {
    async fn exec(&self, question: &str) -> String { self.model.complete(question) }
}

flow! {
    Qa(question: String) -> (answer: String) {
        node ask: Ask<u32> = Ask { model: 3 }; //~
        start >> ask >> end;
    }
}

fn main() { let _ = Qa::new().run(QaInput { question: "why?".into() }); }
