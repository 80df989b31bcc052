use flow_runtime::prelude::*;

#[node]
fn ticket(subject: &str, phone: Option<&str>) -> String { format!("{subject} {phone:?}") }

flow! {
    Helpdesk(subject: String, phone?: String) -> (ticket: String) { start >> ticket >> end; } //~
}

fn main() {}
