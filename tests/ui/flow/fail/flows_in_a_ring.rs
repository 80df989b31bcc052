use flow_runtime::prelude::*;

#[node]
fn draft(topic: &str) -> String {
    topic.to_owned()
}

flow! { Letter(topic: String) -> (draft: String) { start >> draft >> Essay >> end; } } //~
flow! { Essay(topic: String) -> (draft: String) { start >> draft >> Report >> end; } }
flow! { Report(topic: String) -> (draft: String) { start >> draft >> Letter >> end; } }

async fn run() -> Result<(), FlowError> {
    Letter::new().run(LetterInput { topic: String::new() }).await?;
    Report::builder().build().run(ReportInput { topic: String::new() }).await?;
    Ok(())
}

fn main() {}
