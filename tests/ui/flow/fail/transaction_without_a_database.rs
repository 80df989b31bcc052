use flow_runtime::prelude::*;

struct Transaction;

#[node(transaction)]
async fn post(tx: &mut Transaction) -> u32 {
    let _ = tx;
    1
}
flow! { Posting() -> (post: u32) { start >> post >> end; } }
flow! { Around() -> (post: u32) { start >> Posting >> end; } }

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let flow = Around::new();
    drop(flow.run(AroundInput {})); //~
    drop(flow.run_with(AroundInput {}, RunOptions::new())); //~
    Ok(())
}
