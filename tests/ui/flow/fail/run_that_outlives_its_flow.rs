use flow_runtime::prelude::*;

#[node]
async fn greet(name: &str) -> String { format!("Hello, {name}") }

flow! {
    Greet(name: String) -> (greet: String) { start >> greet >> end; }
}

fn spawn(_: impl Future + Send + 'static) {}

fn main() {
    let flow = Greet::new();
    spawn(flow.run(GreetInput { name: "Ann".into() })); //~
}
