use flow_runtime::prelude::*;

#[node]
async fn pay(order: &str) -> Result<usize, String> { Ok(order.len()) }

#[node]
async fn ship(order: &str) -> String { order.to_owned() }

#[node(writes = note)]
fn apologise(error: &NodeError) -> String { error.to_string() }

flow! {
    Order(order: String) -> (note: Option<String>) {
        start >> [pay, ship] >> end;
        pay - "error" >> apologise >> end("failed"); //~
    }
}

fn main() {}
