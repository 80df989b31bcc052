//! An evaluator and an optimizer: a text is judged, improved according to the judgement, and judged
//! again, until it is acceptable or the rounds are used up.
//!
//! ```text
//! cargo run -p flow-examples --example evaluator_optimizer -- "It is, actually, a very good idea"
//! ```

use std::error::Error;
use std::process::ExitCode;

use typed_flows::prelude::*;

const TEXTS: [&str; 2] = [
    "To get started, you basically just need to utilize a computer with really enough memory.",
    "Actually, we basically just really need to utilize and leverage a very quite good plan.",
];

/// Words that say little, and their replacements.
const WORDY: [(&str, &str); 8] = [
    ("utilize", "use"),
    ("leverage", "apply"),
    ("actually", ""),
    ("basically", ""),
    ("just", ""),
    ("really", ""),
    ("very", ""),
    ("quite", ""),
];

const MOST_ROUNDS: usize = 5;

#[derive(Action)]
enum Judgement {
    Acceptable,
    NeedsImprovement { wordy: String, better: String },
    OutOfRounds,
}

/// Stands in for a model that judges: it finds the first wordy word.
#[node(actions = Judgement)]
fn evaluate(text: &str, earlier: Option<&[String]>) -> Judgement {
    println!("  {text}");
    let rounds = earlier.map_or(0, <[String]>::len);
    match words(text).find_map(better_word) {
        None => Judgement::Acceptable,
        Some(_) if rounds == MOST_ROUNDS => Judgement::OutOfRounds,
        Some((wordy, better)) => Judgement::NeedsImprovement { wordy, better },
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
}

fn better_word(word: &str) -> Option<(String, String)> {
    let mut wordy = WORDY.iter();
    let (_, better) = wordy.find(|(wordy, _)| wordy.eq_ignore_ascii_case(word))?;
    Some((word.to_owned(), better.to_string()))
}

/// Stands in for a model that writes: it follows the judge. Keeps the text before it.
#[node(writes(text, +earlier))]
fn improve(text: String, wordy: &str, better: &str) -> (String, String) {
    let improved = text.split_whitespace().map(|word| {
        if words(word).any(|part| part == wordy) {
            word.replace(wordy, better)
        } else {
            word.to_owned()
        }
    });
    let improved: Vec<String> = improved
        .filter(|word| words(word).next().is_some())
        .collect();

    (improved.join(" "), text)
}

flow! {
    /// Improves a text round by round.
    EvaluatorOptimizer(text: String) -> (text: String, earlier: Option<Vec<String>>) {
        start >> evaluate;
        evaluate - "acceptable"        >> end("acceptable");
        evaluate - "needs_improvement" >> improve >> evaluate;
        evaluate - "out_of_rounds"     >> end("out_of_rounds");
    }
}

async fn optimize(text: &str) -> Result<EvaluatorOptimizerEnd, Box<dyn Error>> {
    if text.trim().is_empty() {
        return Err("the text is empty".into());
    }
    let input = EvaluatorOptimizerInput::builder().text(text.to_owned());
    let output = EvaluatorOptimizer::new().run(input.build()).await?;

    let rounds = output.earlier.unwrap_or_default().len();
    println!("{}, improvements: {rounds}\n", output.end);
    assert!(rounds <= MOST_ROUNDS);
    Ok(output.end)
}

async fn optimize_all() -> Result<(), Box<dyn Error>> {
    if let Some(text) = std::env::args_os().nth(1) {
        optimize(&text.to_string_lossy()).await?;
        return Ok(());
    }
    use EvaluatorOptimizerEnd::{Acceptable, OutOfRounds};
    assert_eq!(optimize(TEXTS[0]).await?, Acceptable);
    assert_eq!(optimize(TEXTS[1]).await?, OutOfRounds);
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    match optimize_all().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use typed_flows::testing::Scripted;

    use super::*;

    #[tokio::test]
    async fn a_text_is_improved_until_it_is_acceptable() {
        let scripted = Scripted::new().node::<evaluate>(|visit| match visit.number() {
            3 => Judgement::Acceptable,
            _ => Judgement::NeedsImprovement {
                wordy: "big".into(),
                better: "large".into(),
            },
        });
        let input = EvaluatorOptimizerInput::builder()
            .text("big".into())
            .build();
        let run = scripted.run(&EvaluatorOptimizer::new(), input).await;
        assert_eq!(
            run.nodes(),
            ["evaluate", "improve", "evaluate", "improve", "evaluate"]
        );
        assert_eq!(run.result().unwrap().text, "large");
    }
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/evaluator_optimizer.rs"]
mod law;
