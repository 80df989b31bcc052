use flow_runtime::prelude::*;

#[node]
async fn search(
    /// What to look for.
    topic: &str,
    #[doc = "How many at most."] limit: Option<u32>,
) -> Vec<String> {
    vec![topic.to_owned(); limit.unwrap_or(1) as usize]
}

struct Ask;

#[node(writes = answer)]
impl Ask {
    fn exec(&self, /** The question. */ question: String) -> String { question }
}

fn main() { Ask.exec("why?".to_owned()); }
