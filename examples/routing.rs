//! Routing: a message is classified first, and each class has its own node. The findings of the
//! classifier travel with the action, and only the nodes behind that action can read them.
//!
//! ```text
//! cargo run -p flow-examples --example routing -- "Order 4711 came broken, I want my money back"
//! ```

use std::process::ExitCode;

use typed_flows::prelude::*;

const MESSAGES: [&str; 4] = [
    "Order 4711 came broken, I want my money back",
    "The app crashes with error E42 whenever I open it",
    "Do you ship to Iceland?",
    "Please refund me",
];

/// The class of a message.
#[derive(Action)]
enum Class {
    Refund { order: Option<u32> },
    Technical { code: String },
    General,
}

/// Stands in for a model that classifies by keywords.
#[node(actions = Class)]
fn classify(message: &str) -> Class {
    let lowercase = message.to_lowercase();
    let mut words = message.split(|letter: char| !letter.is_alphanumeric());
    let mentions = |keywords: &[&str]| keywords.iter().any(|keyword| lowercase.contains(keyword));

    if mentions(&["refund", "money back"]) {
        return Class::Refund {
            order: words.find_map(|word| word.parse().ok()),
        };
    }
    if mentions(&["crash", "error"]) {
        let code = words.find(|word| is_error_code(word)).unwrap_or("unknown");
        return Class::Technical {
            code: code.to_owned(),
        };
    }
    Class::General
}

fn is_error_code(word: &str) -> bool {
    word.strip_prefix('E')
        .is_some_and(|number| number.parse::<u32>().is_ok())
}

#[node(writes = reply)]
fn refund(order: &Option<u32>) -> String {
    match order {
        Some(order) => format!("We refund order {order} today."),
        None => "Which order is it about?".to_owned(),
    }
}

#[node(writes = reply)]
fn support(code: &str) -> String {
    format!("A technician looks into it (error code: {code}).")
}

#[node(writes = reply)]
fn answer(message: &str) -> String {
    format!("Our FAQ answers this: \"{message}\"")
}

flow! {
    /// Replies to a customer.
    Routing(message: String) -> (reply: String) {
        start >> classify;
        classify - "refund"    >> refund >> end("refund");
        classify - "technical" >> support >> end("technical");
        classify - "general"   >> answer >> end("general");
    }
}

async fn reply_to(message: &str) -> Result<RoutingEnd, FlowError> {
    let input = RoutingInput::builder().message(message.to_owned()).build();
    let output = Routing::new().run(input).await?;
    println!("{message}\n  {:<9}  {}", output.end, output.reply);
    Ok(output.end)
}

async fn reply_to_all() -> Result<(), FlowError> {
    if let Some(message) = std::env::args_os().nth(1) {
        reply_to(&message.to_string_lossy()).await?;
        return Ok(());
    }
    let mut ends = Vec::new();
    for message in MESSAGES {
        ends.push(reply_to(message).await?);
    }
    use RoutingEnd::{General, Refund, Technical};
    assert_eq!(ends, [Refund, Technical, General, Refund]);
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    match reply_to_all().await {
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
    async fn a_refund_is_answered_with_the_order_that_was_found() {
        let scripted = Scripted::new().node::<classify>(|_| Class::Refund { order: Some(7) });
        let input = RoutingInput::builder().message("???".into()).build();
        let run = scripted.run(&Routing::new(), input).await;
        assert_eq!(run.nodes(), ["classify", "refund"]);
        assert_eq!(run.result().unwrap().reply, "We refund order 7 today.");
    }
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/routing.rs"]
mod law;
