use flow_runtime::prelude::*;

#[node]
fn answer(question: &str) -> String { question.to_owned() }

flow! {
    Qa(question: String) => (answer: String) { //~
        start >> answer >> end;
    }
}

async fn run() -> Option<String> {
    Some(Qa::new().run(QaInput { question: "why?".into() }).await.ok()?.answer)
}

fn main() {}
