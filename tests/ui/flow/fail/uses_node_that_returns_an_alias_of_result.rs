use flow_runtime::prelude::*;

type Fallible<T> = Result<T, std::io::Error>;

#[node(writes = text)]
fn load(file: &str) -> Fallible<String> { std::fs::read_to_string(file) } //~

flow! {
    Load(file: String) -> (text: String) {
        start >> load >> end;
    }
}

fn main() {}
