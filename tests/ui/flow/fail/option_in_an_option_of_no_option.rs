use flow_runtime::prelude::*;

#[node]
fn shown(given: Option<Option<u8>>) -> String {
    format!("{given:?}")
}

flow! {
    Show(given: u8) -> (shown: String) {
        start >> shown >> end; //~
    }
}

fn main() {}
