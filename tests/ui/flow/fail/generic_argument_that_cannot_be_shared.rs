use flow_runtime::prelude::*;
use std::rc::Rc;

struct Ask<M> { model: M }

#[node(writes = answer)]
impl<M: AsRef<str>> Ask<M> {
    async fn exec(&self, question: &str) -> String { format!("{question} {}", self.model.as_ref()) }
}

flow! {
    Qa(question: String) -> (answer: String) {
        node ask: Ask<Rc<str>>; //~
        start >> ask >> end;
    }
}

async fn run(flow: Qa, input: QaInput) -> Result<QaOutput, FlowError> { flow.run(input).await }
fn main() { let _ = run; }
