use flow_runtime::prelude::*;

#[node]
async fn count(left: &u32) -> Result<u32, FlowError> {
    if *left == 0 {
        return Ok(0);
    }
    let input = CountingInput { left: left - 1 };
    Ok(Box::pin(Counting::new().run(input)).await?.count + 1)
}

flow! {
    Counting(left: u32) -> (count: u32) {
        start >> count >> end;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let output = Counting::new().run(CountingInput { left: 3 }).await;
    assert_eq!(output.expect("it ends").count, 3);
}
