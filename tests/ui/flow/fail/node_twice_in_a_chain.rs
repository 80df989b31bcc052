use flow_runtime::prelude::*;

#[node(writes = text)]
fn trim(text: String) -> String { text.trim().to_owned() }

#[node(writes = text)]
fn shout(text: String) -> String { text.to_uppercase() }

flow! {
    Clean(text: String) -> (text: String) {
        start >> trim >> shout >> trim >> end; //~
    }
}

fn main() {}
