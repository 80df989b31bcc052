use flow_runtime::prelude::*;

struct Customer(String);

#[node]
fn load_customer(id: &u64) -> Customer { Customer(id.to_string()) }
#[node]
fn discount(customer: &Customer) -> usize { customer.0.len() }
#[node]
fn offer(customer: &Customer, discount: &usize) -> String { format!("{} {discount}", customer.0) }

flow! {
    Offers(id: u64) -> (offer: String) {
        start >> load_customer >> discount //~
            >> offer >> end;
    }
}

fn main() {}
