use flow_runtime::prelude::*;

#[node]
fn amount(row: &str) -> usize { row.len() }

flow! {
    Sheet(rows: Vec<String>) -> (amounts: Vec<usize>) {
        node amounts: for row in rows.iter() { amount }; //~
        start >> amounts >> end;
    }
}

fn main() {}
