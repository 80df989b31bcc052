//! A program that contains the flows of the examples, calls none of them, and prints the examples'
//! names: see `main.rs`.

mod examples;

fn main() {
    println!("{}", examples::EXAMPLES.join("\n"));
}
