use flow_runtime::prelude::*;

fn attempts(error: &NodeError) -> u32 { error.attempts() }

#[node]
fn load() -> std::io::Result<String> { std::fs::read_to_string("page") }

flow! {
    Page() -> (load: String) { start >> load >> end; }
}

flow! {
    Pages() -> (load: String) {
        node page: Page with retry(attempts = 3, if = attempts); //~
        start >> page >> end;
    }
}

fn main() {}
