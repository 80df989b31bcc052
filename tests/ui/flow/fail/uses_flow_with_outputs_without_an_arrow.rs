use flow_runtime::prelude::*;

#[node]
fn greet(name: &str) -> String { name.to_owned() }

flow! {
    Greeting(name: String) (greet: String) { //~
        start >> greet >> end;
    }
}

async fn run() -> Result<String, FlowError> {
    let input = GreetingInput::builder().name(String::new()).build();
    Ok(Greeting::new().run(input).await?.greet)
}

fn main() {}
