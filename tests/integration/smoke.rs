use flow_runtime::prelude::*;
use std::fmt::Debug;

mod a {
    use flow_runtime::prelude::*;
    #[node]
    pub(crate) fn go(q: &u64) -> u64 {
        q + 1
    }
    #[node]
    pub(crate) async fn format(go: &u64) -> String {
        format!("got {go}")
    }
}
mod b {
    use flow_runtime::prelude::*;
    #[node(writes(x, y))]
    pub(crate) fn go(q: u64) -> (u64, String) {
        (q * 2, format!("{q}"))
    }
}

pub trait Model: Send + Sync {
    fn ask(&self, q: &str) -> Result<String, String>;
}
pub struct Mock(u32);
impl Model for Mock {
    fn ask(&self, q: &str) -> Result<String, String> {
        if q.len() > 3 {
            Ok(format!("{q}{}", self.0))
        } else {
            Err("short".into())
        }
    }
}
pub struct Ask<M> {
    model: M,
}
#[node(retry(attempts = 3))]
impl<M: Model> Ask<M> {
    fn prep(&self, question: &str) -> String {
        question.to_owned()
    }
    async fn exec(&self, cx: &Context, text: &str) -> Result<String, String> {
        if cx.attempt() < 1 {
            return Err("first".into());
        }
        self.model.ask(text)
    }
    fn exec_fallback(&self, prep_res: &String, error: &NodeError) -> String {
        format!("fallback {prep_res} {error:#}")
    }
    fn post(&self, prep_res: &str, exec_res: String, x: &u64) -> String {
        format!("{prep_res}:{exec_res}:{x}")
    }
}

#[derive(Default)]
pub struct Count;
#[node(writes = count)]
impl Count {
    fn exec(&self, ask: &str, note: Option<&str>) -> usize {
        ask.len() + note.map_or(0, str::len)
    }
}

flow! {
    /// Inner.
    Inner(question: String, note: Option<String>, x: u64) -> (count: usize) {
        node ask: Ask<Mock> = Ask { model: Mock(7) };
        start >> ask >> Count >> end;
    }
}

#[node(writes = question)]
fn join(format: String, y: &str) -> String {
    format!("{format}{y}")
}

#[derive(Action)]
enum Size<T> {
    Big {
        big: T,
    },
    #[action("little")]
    Small,
}
#[node(actions = Size<usize>, writes = seen)]
async fn size(count: &usize) -> (String, Size<usize>) {
    let seen = format!("{count:?}");
    if *count > 10 {
        (seen, Size::Big { big: *count })
    } else {
        (seen, Size::Small)
    }
}

fn show<T: Debug>(x: T) -> String {
    format!("{x:?}")
}

flow! {
    #[derive(Clone)]
    Outer(q: u64) -> (seen: String, big: Option<usize>) {
        namespace "outer.one";
        node second: b::go { q <- go };
        node inner: Inner { count -> count } = Inner::new();
        start >> a::go >> a::format >> second >> join >> inner >> size;
        size - "big" >> end("big");
        size - "little" >> end;
    }
}

#[tokio::test]
async fn smoke() {
    let out = Outer::builder()
        .build()
        .run(OuterInput::builder().q(4).build())
        .await
        .unwrap();
    assert_eq!(
        show(&out),
        "OuterOutput { seen: \"15\", big: Some(15), end: Big }"
    );

    #[node]
    fn local(q: &u64) -> u64 {
        q + 1
    }
    flow! {
        Local(q: u64) -> (local: u64) {
            start >> local >> end;
        }
    }
    let out = Local::new()
        .run(LocalInput::builder().q(1).build())
        .await
        .unwrap();
    assert_eq!(out.local, 2);
    assert_eq!(local(&3), 4);
    println!("{:?}", Outer::ROUTES);
}
