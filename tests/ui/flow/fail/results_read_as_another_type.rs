use flow_runtime::prelude::*;

#[node]
fn double(number: &u64) -> u64 { number * 2 }

#[node]
fn join(doubles: &[String]) -> String { doubles.concat() }

flow! {
    Doubles(numbers: Vec<u64>) -> (join: String) {
        node doubles: for number in numbers { double };
        start >> doubles >> join >> end; //~
    }
}

fn main() {}
