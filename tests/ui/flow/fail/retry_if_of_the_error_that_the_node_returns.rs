use flow_runtime::prelude::*;

fn is_transient(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::TimedOut
}

#[node]
fn load() -> std::io::Result<String> {
    std::fs::read_to_string("page")
}

flow! {
    Page() -> (load: String) {
        node load: load with retry(attempts = 3, if = is_transient); //~
        start >> load >> end;
    }
}

fn main() {}
