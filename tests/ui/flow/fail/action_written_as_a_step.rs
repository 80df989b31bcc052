use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict { Valid, Expired }

#[node(actions = Verdict)]
fn inspect(ticket: &str) -> Verdict { if ticket.is_empty() { Verdict::Expired } else { Verdict::Valid } }
#[node]
fn fine() -> u32 { 40 }

flow! {
    Inspection(ticket: String) {
        start >> inspect >> "expired" >> fine >> end; //~
        inspect >> "valid"; //~
    }
}

fn main() {}
