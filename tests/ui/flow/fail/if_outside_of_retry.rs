use flow_runtime::prelude::*;

#[node]
fn load() -> std::io::Result<String> {
    std::fs::read_to_string("page")
}

flow! {
    Page() -> (load: String) {
        node load: load with retry(attempts = 3), if = is_transient; //~
        start >> load >> end;
    }
}

fn main() {}
