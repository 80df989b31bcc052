use flow_runtime::prelude::*;

#[derive(Default)]
struct Ask(String);

#[node]
impl Ask {
    async fn exec<'a>(&'a self, text: &'a str, cx: &Context) -> usize {
        if cx.attempt() > 0 { self.0.len() } else { longer(&self.0, text).await.len() }
    }
}

#[derive(Default)]
struct Tell(String);

#[node]
impl Tell {
    async fn exec<'a>(&'a self, text: &'a str, ask: &'a usize) -> usize {
        longer(&self.0, text).await.len() + ask
    }
}

async fn longer<'a>(one: &'a str, other: &'a str) -> &'a str {
    if one.len() > other.len() { one } else { other }
}

#[node(writes = both)]
async fn pair<'a>(text: &'a str, tell: &'a usize) -> Result<usize, String> {
    Ok(text.len() + tell)
}

flow! {
    Lifetimes(text: String) -> (tell: usize, both: usize) {
        start >> Ask >> Tell >> pair >> end;
    }
}

fn main() {
    let _ = Lifetimes::new();
}
