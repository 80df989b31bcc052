use flow_runtime::prelude::*;

trait Model { fn complete(&self, prompt: &str) -> String; }

struct Ask { model: Box<dyn Model> }

#[node(writes = answer, retry(attempts = 2))]
impl Ask { //~
    fn prep(&self, question: &str) -> String { question.to_owned() }
    async fn exec(&self, prompt: &str) -> Result<String, String> { Ok(self.model.complete(prompt)) }
    fn post(&self, exec_res: String) -> String { exec_res }
}

flow! { Qa(question: String) -> (answer: String) { node ask: Ask; start >> ask >> end; } }

async fn run(flow: Qa, input: QaInput) -> Result<QaOutput, FlowError> {
    flow.run_with(input, RunOptions::new()).await
}
fn main() { let _ = run; }
