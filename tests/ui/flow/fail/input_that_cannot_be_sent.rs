use std::sync::Arc;
use flow_runtime::prelude::*;

trait Model { fn complete(&self, prompt: &str) -> String; }

#[node(writes = draft)]
async fn ask(model: &Arc<dyn Model>, question: &str) -> String { model.complete(question) }
#[node(writes = answer)]
async fn check(model: Arc<dyn Model>, draft: &str) -> Result<String, String> { Ok(model.complete(draft)) }

flow! {
    Qa(model: Arc<dyn Model>, question: String) -> (answer: String) { //~
        start >> ask >> check >> end;
    }
}
async fn run(input: QaInput) -> Result<QaOutput, FlowError> { Qa::new().run(input).await }
fn main() { let _ = run; }
