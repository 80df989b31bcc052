use flow_runtime::prelude::*;

type Sent<T> = Result<T, std::io::Error>;

#[node]
fn send(text: &str) -> Sent<()> { //~
    println!("{text}");
    Ok(())
}

fn main() {}
