//! The flow of the example, under the law of loaded flows.

use serde_json::json;

use super::*;

flow_law::law! {
    nodes: [read, Summarize = Summarize { busy_attempts: 2 }],
    flows: [SummarizeFile(SummarizeFile::builder().summarize(Summarize { busy_attempts: 2 }).build()) { inputs: [json!({ "file": concat!(env!("CARGO_MANIFEST_DIR"), "/data/article.txt") })] }],
    types: [PathBuf],
}
