use flow_runtime::{prelude::*, testing::Scripted};

#[node(retyr(attempts = 2))] //~
async fn fetch(url: &str) -> Result<String, std::io::Error> { Ok(url.to_owned()) }

struct Ask;
#[node(writes = answer, timout = "5s")] //~
impl Ask {
    fn exec(&self, question: &str) -> String { question.to_owned() }
}

fn main() {
    let _ = Scripted::new()
        .node::<fetch>(|_| "text".to_owned())
        .node::<Ask>(|_| "answer".to_owned());
}
