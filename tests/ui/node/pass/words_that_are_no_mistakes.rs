use flow_runtime::prelude::*;

// A type and a method of the program, beside the parameter `&Context` of a node.
mod page {
    use flow_runtime::node;

    pub struct Context(u64);

    pub struct Render;

    #[node(writes = page)]
    impl Render {
        fn exec(&self, text: &str) -> String {
            self.fill(&Context(3), text)
        }

        fn fill(&self, cx: &Context, text: &str) -> String {
            text.repeat(cx.0 as usize)
        }
    }
}
use page::Render;

#[derive(Default)]
struct Score;

// `result` is a key, and not what `exec` returns.
#[node(writes = score)]
impl Score {
    fn prep(&self, page: &str) -> usize {
        page.len()
    }

    fn exec(&self, length: usize) -> usize {
        length * 2
    }

    fn post(&self, _exec_res: usize, result: &u64) -> u64 {
        *result
    }
}

fn title() -> String {
    "none".to_owned()
}

flow! {
    // Names of inputs in a macro and as a function are not the inputs.
    Scored(
        text: String,
        title: String = None.unwrap_or_else(title),
        greeting: String = format!("Hello {text}", text = "you"),
        result: u64 = 7,
    ) -> (score: u64, shown: String) {
        node render: Render = Render;

        start >> render >> Score >> show >> end;
    }
}

#[node(writes = shown)]
fn show(title: &str, greeting: &str) -> String {
    format!("{title}: {greeting}")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), FlowError> {
    let output = Scored::new().run(ScoredInput::builder().text("a".into()).build()).await?;
    assert_eq!((output.score, &*output.shown), (7, "none: Hello you"));
    Ok(())
}
