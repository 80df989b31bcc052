use flow_runtime::{prelude::*, testing::Scripted};

#[derive(Action)]
enum Verdict { Good, Bad }

#[node(actions = Verdict)]
async fn judge(text: &str) -> Result<Verdict, String> {
    if text.is_empty() { Ok(Verdict::Bad) } else { Ok(Verdict::Good) }
}

fn main() {
    let _ = Scripted::new()
        .node::<judge>(|_| "good") //~
        .try_node::<judge, _>(|_| Err::<Verdict, _>(7)) //~
        .first("article.outcome", |_| 2); //~
}
