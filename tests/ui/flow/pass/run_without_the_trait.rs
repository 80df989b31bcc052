#![deny(warnings)]
use flow_runtime::{FlowError, RunOptions, flow, node};
#[node(writes = answer)]
async fn ask(question: &str) -> String { format!("{question} Yes.") }
flow! { Qa(question: String) -> (answer: String) { start >> ask >> end; } }
async fn twice<F: flow_runtime::Unattended>(flow: &F, one: F::Input, two: F::Input) -> Result<F::Output, FlowError> {
    flow.run(one).await?;
    flow.run_with(two, RunOptions::new()).await
}
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), FlowError> {
    let [one, two, three, four] = ["a", "b", "c", "d"].map(|text| QaInput { question: text.into() });
    Qa.run(one).await?;
    Qa::new().run_with(two, RunOptions::new()).await?;
    assert_eq!(tokio::spawn(async { twice(&Qa::new(), three, four).await }).await.expect("no panic")?.answer, "d Yes.");
    Ok(())
}
