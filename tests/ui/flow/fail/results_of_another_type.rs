use flow_runtime::prelude::*;

#[node]
fn double(number: &u64) -> u64 { number * 2 }

flow! {
    Doubles(numbers: Vec<u64>) -> (doubles: Vec<String>) { //~
        node doubles: for number in numbers { double };
        start >> doubles >> end;
    }
}

fn main() {}
