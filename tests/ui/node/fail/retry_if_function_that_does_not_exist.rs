use flow_runtime::prelude::*;

fn is_transient(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::TimedOut
}

#[node(retry(attempts = 3, if = is_transent))] //~
fn load() -> std::io::Result<String> {
    std::fs::read_to_string("page")
}

fn main() {
    is_transient(&std::io::ErrorKind::TimedOut.into());
}
