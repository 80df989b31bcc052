use flow_runtime::prelude::*;

#[node]
fn draft() -> Result<u64, String> { Ok(3) }
#[node]
fn print_it(draft: &u64) { let _ = draft; }
flow! {
    Book() {
        start >> draft //~
        draft >> ; //~
        draft - error >> end; //~
        print_it "done" >> end; //~
        node second; //~
    }
}

fn main() {}
