use flow_runtime::prelude::*;

#[node]
fn load(file: &str) -> std::io::Result<String> { std::fs::read_to_string(file) }

flow! {
    Load(file: String) -> (load: String) {
        node page: load with { retry: 3 }; //~
        start >> page >> end;
    }
}

fn main() {}
