use flow_runtime::prelude::*;

struct Ticket;

#[node]
async fn send(ticket: Ticket) { let _ = ticket; }

#[node]
async fn look(ticket: &Ticket) { let _ = ticket; }

flow! {
    Order(ticket: Ticket) {
        node outcome: first { send, look }; //~
        start >> outcome >> end;
    }
}

fn main() {}
