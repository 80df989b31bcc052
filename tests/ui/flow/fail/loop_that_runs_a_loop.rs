use flow_runtime::prelude::*;

#[node]
fn double(cell: &u64) -> u64 { 2 * cell }

flow! {
    Table(rows: Vec<Vec<u64>>) -> (doubled: Vec<Vec<u64>>) {
        node row: for cell in row { double };
        node doubled: for row in rows { row }; //~
        start >> doubled >> end;
    }
}

fn main() {}
