use flow_runtime::prelude::*;

#[derive(Action)]
enum Found { One { state: u8 }, Many { items: Vec<u8> } }
#[node(actions = Found)]
fn find(r#type: &str) -> Result<Found, String> { Err(r#type.to_owned()) }
#[node] fn wake() {}
#[node] fn show(item: &u8) -> u8 { *item }

flow! { Shows(name: String, r#else: String) -> (first: Option<u8>, why: Option<NodeError>, all: Option<Vec<u8>>) {
    node shown: for item in list { show };
    branch small(state) { *state > 9 => "no", else => "yes" }
    start >> find { r#type <- name };
    find - "one" >> small - "no" >> end { first <- state };
    small - "yes" >> find { r#type <- r#else };
    find - "many" >> [shown, wake] { list <- items } >> end { all <- shown };
    find - "error" >> end("failed") { why <- error };
} }
fn main() {}
