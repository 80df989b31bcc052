use flow_runtime::prelude::*;

#[node]
async fn count(left: &u32) -> Result<u32, FlowError> { //~
    if *left == 0 {
        return Ok(0);
    }
    Ok(Counting::new().run(CountingInput { left: left - 1 }).await?.count + 1)
}

flow! {
    Counting(left: u32) -> (count: u32) {
        start >> count >> end;
    }
}

fn main() {}
