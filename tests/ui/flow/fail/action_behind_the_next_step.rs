use flow_runtime::prelude::*;

#[node]
fn classify(mail: &str) -> Result<usize, String> { Ok(mail.len()) }
#[node]
fn calm_down() {}

flow! {
    Support(mail: String) {
        start >> classify >> end;
        classify >> calm_down - "error"; //~
        calm_down >> end("calm");
    }
}

fn main() {}
