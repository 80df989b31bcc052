//! Flows of PocketFlow's cookbook, with deterministic stand-ins for people and models.

use std::collections::VecDeque;

use crate::support::traced;

/// What a person types, line by line.
type Typed = VecDeque<String>;

fn typed<const N: usize>(lines: [&str; N]) -> Typed {
    lines.map(str::to_owned).into()
}

/// `pocketflow-flow`
mod text_converter {
    use super::Typed;
    use flow_runtime::prelude::*;

    #[derive(Action)]
    pub(super) enum Entered {
        Transform { choice: String },
        Exit,
    }

    /// Keeps the text until it is cleared.
    #[node(writes(typed, text), actions = Entered)]
    fn input(mut typed: Typed, text: Option<String>) -> (Typed, String, Entered) {
        let text = text.filter(|text| !text.is_empty());
        let text = text.or_else(|| typed.pop_front()).unwrap_or_default();
        let entered = match typed.pop_front() {
            Some(choice) if choice != "5" => Entered::Transform { choice },
            _ => Entered::Exit,
        };
        (typed, text, entered)
    }

    #[derive(Action)]
    pub(super) enum Converted {
        Input,
        Exit,
    }

    #[node(writes(typed, text, shown), actions = Converted)]
    fn convert(
        text: String,
        choice: &str,
        mut typed: Typed,
        mut shown: Vec<String>,
    ) -> (Typed, String, Vec<String>, Converted) {
        shown.push(match choice {
            "1" => text.to_uppercase(),
            "2" => text.to_lowercase(),
            "3" => text.chars().rev().collect(),
            "4" => text.split_whitespace().collect::<Vec<_>>().join(" "),
            _ => "Invalid option!".into(),
        });
        match typed.pop_front().as_deref() {
            Some("y") => (typed, String::new(), shown, Converted::Input),
            _ => (typed, text, shown, Converted::Exit),
        }
    }

    flow! {
        pub(super) TextConverter(typed: Typed, shown: Vec<String>) -> (text: String, shown: Vec<String>) {
            start >> input;
            input - "transform" >> convert;
            input - "exit" >> end;
            convert - "input" >> input;
            convert - "exit" >> end;
        }
    }
}

/// CB-01
#[tokio::test]
async fn a_text_is_converted_as_chosen() {
    use text_converter::{TextConverter, TextConverterInput};

    for (choice, converted) in [
        ("1", "HELLO  WORLD"),
        ("2", "hello  world"),
        ("3", "dlroW  olleH"),
        ("4", "Hello World"),
        ("9", "Invalid option!"),
    ] {
        let typed = typed(["Hello  World", choice, "n"]);
        let input = TextConverterInput::builder()
            .typed(typed)
            .shown(Vec::new())
            .build();
        let (out, trace) = traced(&TextConverter::new(), input).await;
        assert_eq!(
            (out.shown, trace.as_str()),
            (vec![converted.to_owned()], "input convert")
        );
        assert_eq!(out.text, "Hello  World");
    }
}

/// CB-01: after "y" the text is cleared and asked again; "5" leaves at once.
#[tokio::test]
async fn another_text_is_asked_for() {
    use text_converter::{TextConverter, TextConverterInput};

    let typed = typed(["Hello", "1", "y", "World", "2", "y", "Bye", "5"]);
    let input = TextConverterInput::builder()
        .typed(typed)
        .shown(Vec::new())
        .build();
    let (out, trace) = traced(&TextConverter::new(), input).await;
    assert_eq!(out.shown, ["HELLO", "world"]);
    assert_eq!(out.text, "Bye");
    assert_eq!(trace, "input convert input convert input");
}

/// `pocketflow-communication`
mod statistics {
    use super::Typed;
    use flow_runtime::prelude::*;

    #[derive(Debug, Clone, Default, PartialEq)]
    pub(super) struct Statistics {
        pub(super) texts: u32,
        pub(super) words: u32,
    }

    #[derive(Action)]
    pub(super) enum Entered {
        Count { text: String },
        Exit,
    }

    #[node(writes = typed, actions = Entered)]
    fn input(mut typed: Typed) -> (Typed, Entered) {
        let entered = match typed.pop_front() {
            Some(text) if text != "q" => Entered::Count { text },
            _ => Entered::Exit,
        };
        (typed, entered)
    }

    #[derive(Action)]
    pub(super) enum Counted {
        Show,
    }

    #[node(writes = statistics, actions = Counted)]
    fn counter(text: &str, mut statistics: Statistics) -> (Statistics, Counted) {
        statistics.texts += 1;
        statistics.words += u32::try_from(text.split_whitespace().count()).unwrap();
        (statistics, Counted::Show)
    }

    #[derive(Action)]
    pub(super) enum Shown {
        Continue,
    }

    #[node(writes = average, actions = Shown)]
    fn stats(statistics: &Statistics) -> (f64, Shown) {
        (
            f64::from(statistics.words) / f64::from(statistics.texts),
            Shown::Continue,
        )
    }

    flow! {
        pub(super) RunningStatistics(typed: Typed, statistics: Statistics)
            -> (statistics: Statistics, average: Option<f64>)
        {
            start >> input;
            input - "count" >> counter - "show" >> stats - "continue" >> input;
            input - "exit" >> end;
        }
    }
}

/// CB-02
#[tokio::test]
async fn statistics_run_along() {
    use statistics::{RunningStatistics, RunningStatisticsInput, Statistics};

    let input = RunningStatisticsInput::builder()
        .typed(typed(["a b", "c d e f", "q"]))
        .statistics(Statistics::default())
        .build();
    let (out, trace) = traced(&RunningStatistics::new(), input).await;
    assert_eq!(out.statistics, Statistics { texts: 2, words: 6 });
    assert_eq!(out.average, Some(3.0));
    assert_eq!(trace, "input counter stats input counter stats input");
}

/// `pocketflow-async-basic`
mod approval {
    use super::Typed;
    use flow_runtime::prelude::*;
    use tokio::task::yield_now;

    #[derive(Action)]
    pub(super) enum Fetched {
        Suggest { recipes: Vec<String> },
    }

    #[node(actions = Fetched)]
    async fn fetch(ingredient: &str) -> Fetched {
        yield_now().await;
        let recipes = ["stew", "pie"].map(|dish| format!("{ingredient} {dish}"));
        Fetched::Suggest {
            recipes: recipes.into(),
        }
    }

    #[derive(Action)]
    pub(super) enum Suggested {
        Approve { suggestion: String },
    }

    #[node(writes = sources, actions = Suggested)]
    async fn suggest(recipes: &[String], mut sources: Vec<String>) -> (Vec<String>, Suggested) {
        yield_now().await;
        sources.push(recipes.join(", "));
        let suggestion = recipes.last().cloned().unwrap_or_default();
        (sources, Suggested::Approve { suggestion })
    }

    #[derive(Action)]
    pub(super) enum Answered {
        Accept,
        Retry,
    }

    #[node(writes = typed, actions = Answered)]
    async fn approval(mut typed: Typed, suggestion: &str) -> (Typed, Answered) {
        yield_now().await;
        assert_eq!(suggestion, "apple pie");
        match typed.pop_front().as_deref() {
            Some("y") => (typed, Answered::Accept),
            _ => (typed, Answered::Retry),
        }
    }

    flow! {
        pub(super) Recipes(ingredient: String, typed: Typed, sources: Vec<String>)
            -> (suggestion: String, sources: Vec<String>)
        {
            start >> fetch - "suggest" >> suggest - "approve" >> approval;
            approval - "retry" >> suggest;
            approval - "accept" >> end;
        }
    }
}

/// CB-03
#[tokio::test]
async fn a_suggestion_is_made_until_it_is_approved() {
    use approval::{Recipes, RecipesInput};

    let input = RecipesInput::builder()
        .ingredient("apple".into())
        .typed(typed(["n", "n", "y"]))
        .sources(Vec::new())
        .build();
    let (out, trace) = traced(&Recipes::new(), input).await;
    assert_eq!(out.suggestion, "apple pie");
    assert_eq!(out.sources, ["apple stew, apple pie"; 3]);
    assert_eq!(trace, format!("fetch{}", " suggest approval".repeat(3)));
}

/// `pocketflow-judge`
mod judge {
    use crate::support::Broken;
    use flow_runtime::prelude::*;

    /// Gives the drafts these scores.
    pub(super) struct Judge {
        pub(super) scores: Vec<u32>,
    }

    #[derive(Debug, Action)]
    pub(super) enum Verdict {
        Pass { score: u32 },
        Fail { score: u32, feedback: String },
    }

    const ATTEMPTS: usize = 3;

    #[node(actions = Verdict, retry(attempts = 3, wait = "10s"))]
    impl Judge {
        fn prep(&self, drafts: &[String]) -> usize {
            drafts.len()
        }

        async fn exec(&self, drafts: &usize) -> Result<u32, Broken> {
            self.scores
                .get(drafts - 1)
                .copied()
                .ok_or(Broken("no score"))
        }

        fn post(&self, prep_res: usize, exec_res: u32) -> Verdict {
            match exec_res {
                score @ 7.. => Verdict::Pass { score },
                score if prep_res == ATTEMPTS => Verdict::Pass { score },
                score => Verdict::Fail {
                    score,
                    feedback: format!("only {score}"),
                },
            }
        }
    }

    #[node(writes = drafts, retry(attempts = 3, wait = "10s"))]
    async fn generate(
        task: &str,
        mut drafts: Vec<String>,
        feedback: Option<&str>,
    ) -> Result<Vec<String>, Broken> {
        let number = drafts.len() + 1;
        drafts.push(match feedback {
            None => format!("{task} {number}"),
            Some(feedback) => format!("{task} {number} ({feedback})"),
        });
        Ok(drafts)
    }

    flow! {
        pub(super) Judged(task: String, drafts: Vec<String>) -> (drafts: Vec<String>, score: u32) {
            node judge: Judge;
            start >> generate >> judge;
            judge - "fail" >> generate;
            judge - "pass" >> end;
        }
    }
}

/// CB-06
#[tokio::test]
async fn drafts_are_judged_until_one_passes_or_three_failed() {
    use judge::{Judge, Judged, JudgedInput};

    for (scores, drafts, score) in [
        (
            vec![5, 6, 4],
            &["ad 1", "ad 2 (only 5)", "ad 3 (only 6)"][..],
            4,
        ),
        (vec![5, 8], &["ad 1", "ad 2 (only 5)"], 8),
    ] {
        let flow = Judged::builder().judge(Judge { scores }).build();
        let input = JudgedInput::builder()
            .task("ad".into())
            .drafts(Vec::new())
            .build();
        let (out, trace) = traced(&flow, input).await;
        assert_eq!(
            (out.drafts, out.score),
            (drafts.iter().map(ToString::to_string).collect(), score)
        );
        assert_eq!(trace, vec!["generate judge"; drafts.len()].join(" "));
    }
}

/// `pocketflow-deep-research`, whose batch of three is one node here
mod research {
    use flow_runtime::prelude::*;

    #[node(writes(plans, topics))]
    fn plan(question: &str, plans: Option<u32>) -> (u32, Vec<String>) {
        let plans = plans.unwrap_or_default() + 1;
        let topics = ["who", "what", "why"].map(|topic| format!("{topic} is {question} {plans}"));
        (plans, topics.into())
    }

    #[node(writes = notes)]
    fn research(topics: Vec<String>, notes: Option<Vec<String>>) -> Vec<String> {
        let mut notes = notes.unwrap_or_default();
        notes.extend(topics);
        notes
    }

    #[derive(Action)]
    pub(super) enum Synthesis {
        Research,
        Finalize { report: String },
    }

    /// Always wants more, and is stopped after two loops.
    #[node(actions = Synthesis)]
    fn synthesize(notes: &[String], plans: &u32) -> Synthesis {
        match plans {
            3 => Synthesis::Finalize {
                report: format!("of {} notes", notes.len()),
            },
            _ => Synthesis::Research,
        }
    }

    flow! {
        pub(super) DeepResearch(question: String) -> (plans: u32, notes: Vec<String>, report: String) {
            start >> plan >> research >> synthesize;
            synthesize - "research" >> plan;
            synthesize - "finalize" >> end;
        }
    }
}

/// CB-19
#[tokio::test]
async fn research_loops_no_more_than_its_bound() {
    use research::{DeepResearch, DeepResearchInput};

    let input = DeepResearchInput::builder().question("rust".into()).build();
    let (out, trace) = traced(&DeepResearch::new(), input).await;
    assert_eq!(
        (out.plans, out.notes.len(), out.report.as_str()),
        (3, 9, "of 9 notes")
    );
    assert_eq!(trace, ["plan research synthesize"; 3].join(" "));
}
