use flow_runtime::prelude::*;

#[node]
async fn send(letter: String) -> usize {
    letter.len()
}

flow! {
    Mail(letter: String) -> (send: usize) {
        node send: send with retry(attempts = 3), timeout = "5s"; //~
        start >> send >> end;
    }
}

fn main() {}
