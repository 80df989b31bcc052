use flow_runtime::prelude::*;

#[node(writes = words)]
fn split(text: &str, by: Option<&str>) -> Vec<String> {
    text.split(by.unwrap_or(" ")).map(str::to_owned).collect()
}

flow! {
    Words(
        text: &str, //~
        by: Option<&str>, //~
    ) -> (words: Vec<&str>) { //~
        start >> split >> end;
    }
}

fn main() {}
