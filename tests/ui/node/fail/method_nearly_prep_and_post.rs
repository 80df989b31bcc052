use flow_runtime::prelude::*;

#[derive(Default)]
struct Load;

#[node]
impl Load {
    fn perp(&self, url: &str) -> String { url.to_owned() } //~

    fn exec(&self, url: &str) -> String { url.to_owned() }

    async fn post_async(&self, exec_res: String) -> String { exec_res } //~
}

fn main() {}
