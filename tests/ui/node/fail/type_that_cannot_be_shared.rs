use std::cell::RefCell;
use flow_runtime::prelude::*;

#[derive(Default)]
struct Lookup { cache: RefCell<Vec<String>> }

#[node(writes = page)]
impl Lookup { //~
    async fn exec(&self, url: String) -> Result<String, String> { self.cache.borrow_mut().push(url.clone()); Ok(url) }
}

flow! { Pages(url: String) -> (page: String) { start >> Lookup >> end; } }
flow! { All(urls: Vec<String>) { node all: for url in urls { Pages }; start >> all >> end; } }

async fn run(input: AllInput) -> Result<(), FlowError> {
    Pages::new().run(PagesInput { url: "a".into() }).await?;
    tokio::spawn(async { All::new().run(input).await }).await.expect("no panic").map(|_| ())
}
fn main() { let _ = run; }
