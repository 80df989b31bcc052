use flow_runtime::prelude::*;

#[derive(Default)]
pub struct Load;

#[node]
impl Load {
    pub fn exec(&self, url: &str) -> Result<String, String> { Err(url.to_owned()) }

    pub fn exec_fall_back(&self, error: &NodeError) -> String { error.to_string() } //~
}

flow! { Loading(url: String) -> (load: String) { start >> Load >> end; } }

fn main() {}
