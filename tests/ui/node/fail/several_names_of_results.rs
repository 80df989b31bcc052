use flow_runtime::prelude::*;

#[derive(Default)]
struct Ask;

#[node]
impl Ask {
    fn prep(&self, text: &str) -> (String, usize) { (text.to_owned(), 3) }
    fn exec(&self, prompt: String, limit: usize) -> Result<String, String> { Ok(prompt[..limit].into()) } //~
    fn post(&self, exec_result: String) -> String { exec_result } //~
}

flow! { Qa(text: String) -> (ask: String) { start >> Ask >> end; } }

fn main() {}
