//! A research agent of three levels: a flow whose only node is an agent. The agent searches,
//! analyses and sums up, and its search is itself a flow. The program answers a question, and
//! prints the flow as a tree and as JSON, with the values of its settings, but without its secret.
//!
//! ```text
//! cargo run -p flow-examples --example research_agent
//! cargo run -p flow-examples --example research_agent -- --json
//! ```

use std::process::ExitCode;

use typed_flows::prelude::*;
use typed_flows::{Export as _, ExportOptions, Params};

const CATALOG: [(&str, u64); 6] = [
    ("Rust in 100 seconds", 900_000),
    ("Async Rust explained", 40_000),
    ("Rust macros by example", 35_000),
    ("Cooking with cast iron", 800_000),
    ("Typed workflows in Rust", 30_000),
    ("Why Rust has no garbage collector", 45_000),
];

#[derive(Debug, Clone)]
struct Video {
    title: &'static str,
    views: u64,
}

/// Turns a question into the words to look for.
#[node(writes = words)]
fn plan(question: &str) -> Vec<String> {
    let words = question.split(|letter: char| !letter.is_alphanumeric());
    let telling = words.filter(|word| word.len() > 3);
    telling.map(str::to_lowercase).collect()
}

/// Searches the catalog, like the search of a video site.
#[derive(Params)]
struct Catalog {
    limit: usize,
    #[param(secret)]
    api_key: String,
}

/// Looks for the words in the catalog.
#[node(writes = videos, retry(attempts = 3, wait = "200ms", backoff = 2.0), timeout = "10s")]
impl Catalog {
    async fn exec(&self, words: &[String]) -> Result<Vec<Video>, std::io::Error> {
        if self.api_key.is_empty() {
            return Err(std::io::Error::other("the catalog wants a key"));
        }
        let matches = |title: &str| {
            let title = title.to_lowercase();
            words.iter().any(|word| title.contains(word.as_str()))
        };
        let found = CATALOG.into_iter().filter(|(title, _)| matches(title));
        let videos = found.map(|(title, views)| Video { title, views });
        Ok(videos.take(self.limit).collect())
    }
}

flow! {
    /// Finds videos for a question.
    SearchVideos(question: String) -> (videos: Vec<Video>) {
        node catalog: Catalog;
        branch found(videos) {
            videos.len() > 1 => "enough",
            else => "too_few",
        }

        start >> plan >> catalog >> found;
        found - "enough"  >> end;
        found - "too_few" >> end("too_few");
    }
}

/// Finds the videos that far more people watched than usual.
#[derive(Params)]
struct Analysis {
    times_the_median: u64,
}

/// Compares each video with the median.
#[node(writes = outliers)]
impl Analysis {
    fn exec(&self, videos: &[Video]) -> Vec<Video> {
        let mut views: Vec<u64> = videos.iter().map(|video| video.views).collect();
        views.sort_unstable();
        let median = views[views.len() / 2];
        let is_outlier = |video: &&Video| video.views > self.times_the_median * median;
        videos.iter().filter(is_outlier).cloned().collect()
    }
}

/// Writes the answer in place of a language model.
#[derive(Params)]
struct Summary {
    model: &'static str,
    temperature: f32,
}

/// Sums up what stands out.
#[node(writes = answer)]
impl Summary {
    fn exec(&self, question: &str, outliers: &[Video]) -> String {
        let titles: Vec<&str> = outliers.iter().map(|video| video.title).collect();
        format!("{question} Watch: {}", titles.join(", "))
    }
}

flow! {
    /// Searches, analyses and sums up.
    ResearchAgent(question: String) -> (answer: Option<String>) {
        node search: SearchVideos;
        node analysis: Analysis = Analysis { times_the_median: 3 };
        node summary: Summary = Summary { model: "small-1", temperature: 0.5 };

        start >> search >> analysis >> summary >> end;
        search - "too_few" >> end("nothing");
        search - "error"   >> end("unavailable");
    }
}

flow! {
    /// Answers questions with videos.
    YoutubeResearch(question: String) -> (answer: Option<String>) {
        namespace "youtube.research";
        node agent: ResearchAgent;

        start >> agent >> end;
        agent - "nothing"     >> end("nothing");
        agent - "unavailable" >> end("unavailable");
    }
}

#[tokio::main]
async fn main() -> Result<ExitCode, FlowError> {
    let catalog = Catalog {
        limit: 5,
        api_key: "key-123".to_owned(),
    };
    let search = SearchVideos::builder().catalog(catalog).build();
    let agent = ResearchAgent::builder().search(search).build();
    let research = YoutubeResearch::builder().agent(agent).build();

    let document = research.export(ExportOptions::default());
    if std::env::args().any(|argument| argument == "--json") {
        print!("{}", document.to_json());
        return Ok(ExitCode::SUCCESS);
    }
    print!("{}", flow_render::tree(&document));

    let input = YoutubeResearchInput::builder()
        .question("What about Rust?".to_owned())
        .build();
    let answer = match research.run(input).await?.into_outcome() {
        YoutubeResearchOutcome::Default { answer } => answer,
        other => panic!("there is no answer: {other:?}"),
    };
    println!("\n{answer}");
    assert_eq!(answer, "What about Rust? Watch: Rust in 100 seconds");

    // One node, which contains an agent of three nodes, which contains a search.
    let agent = document.nodes[0].internal_flow.as_ref().expect("an agent");
    assert_eq!((document.nodes.len(), document.edges.len()), (1, 0));
    assert_eq!((agent.nodes.len(), agent.edges.len()), (3, 2));
    assert_eq!(agent.namespace, "youtube.research.agent");
    let search = agent.nodes[0].internal_flow.as_ref().expect("a search");
    assert_eq!(search.namespace, "youtube.research.agent.search");
    assert_eq!(search.nodes[0].params["api_key"], "***");
    assert_eq!(agent.nodes[2].params["model"], "small-1");
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use typed_flows::testing::Scripted;

    use super::*;

    #[tokio::test]
    async fn nothing_is_summed_up_if_the_catalog_is_unavailable() {
        let catalog = Catalog {
            limit: 5,
            api_key: "key".to_owned(),
        };
        let search = SearchVideos::builder().catalog(catalog).build();
        let agent = ResearchAgent::builder().search(search).build();
        let scripted = Scripted::new().try_node::<Catalog, _>(|_| Err("it is being mended"));
        let input = ResearchAgentInput::builder()
            .question("Rust?".into())
            .build();
        let run = scripted.run(&agent, input).await;
        assert_eq!(run.nodes(), ["search", "plan", "catalog"]);
        assert_eq!(run.result().unwrap().end, ResearchAgentEnd::Unavailable);
    }
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/research_agent.rs"]
mod law;
