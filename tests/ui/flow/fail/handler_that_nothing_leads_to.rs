use flow_runtime::prelude::*;

#[node]
fn back_up() -> Result<(), String> { Ok(()) }
#[node]
fn alert(error: &NodeError) { println!("{error}"); }

flow! {
    Backup() {
        start >> back_up >> end;
        alert >> end("failed"); //~
    }
}

fn main() {}
