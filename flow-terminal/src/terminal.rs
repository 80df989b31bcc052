//! Asks people at the terminal.

use std::io::{IsTerminal as _, stdin};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use dialoguer::console::Term;
use dialoguer::{Confirm, Input, Select};
use flow_runtime::shape::shape_of;
use flow_runtime::{Answer, BoxError, Question};
use serde_json::Value;

use crate::dialogue::{Check, Prompts, ask};
use crate::legible::Size;

/// Asks the person at the terminal, part by part: the variant of an enum, a line for each field. A
/// value without a simple shape is entered as JSON.
///
/// Concurrent questions of a flow are asked one after the other. Each occupies one of tokio's
/// blocking threads until it is answered, even if the run has ended meanwhile.
///
/// A question shows values, which may come from anywhere. Characters that would control the
/// terminal, change the order of letters or be invisible are shown as escapes, such as `\u{1b}`.
/// Each row of a question with several rows begins with a bar, and a long question is followed by
/// its number of rows and its beginning. No value can look like the end of a question, or hide its
/// beginning.
///
/// # Examples
///
/// ```no_run
/// use flow_runtime::prelude::*;
/// use flow_terminal::Terminal;
/// use serde::{Deserialize, Serialize};
///
/// #[node(human = "Deploy {version}?")]
/// #[derive(Serialize, Deserialize)]
/// enum Approval {
///     Approved { by: String },
///     Refused,
/// }
///
/// flow! {
///     Release(version: u32) -> (by: Option<String>) {
///         start >> Approval;
///         Approval - "approved" >> end;
///         Approval - "refused" >> end("refused");
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), FlowError> {
/// let input = ReleaseInput { version: 7 };
/// let output = Release::new().run_with(input, RunOptions::answer(Terminal)).await?;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Terminal;

/// The lock of the terminal, which shows one question at a time.
static AT_THE_TERMINAL: Mutex<()> = Mutex::new(());

#[async_trait]
impl Answer for Terminal {
    async fn answer(&self, question: &Question) -> Result<Value, BoxError> {
        ask_at_the_terminal(question, || ()).await
    }
}

/// Asks the person at the terminal. The value of `prepare` is dropped when the question ends, which
/// may be after the run.
pub(crate) async fn ask_at_the_terminal<T>(
    question: &Question,
    prepare: impl FnOnce() -> T + Send + 'static,
) -> Result<Value, BoxError> {
    if !stdin().is_terminal() {
        return Err("nobody can be asked: the standard input is not a terminal".into());
    }
    let question = question.clone();
    let answer = tokio::task::spawn_blocking(move || {
        let _one_at_a_time = AT_THE_TERMINAL
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let _prepared = prepare();
        let (prompt, expected) = (question.prompt(), question.expected());
        let check = |value: &Value| question.check(value);
        let shape = shape_of(|probe| question.read(probe));
        ask(&mut Dialogue, prompt, expected, &shape, check)
    });
    answer.await?
}

/// Prompts at the terminal.
struct Dialogue;

impl Prompts for Dialogue {
    fn size(&self) -> Size {
        let (rows, columns) = Term::stderr().size();
        Size {
            rows: rows.into(),
            columns: columns.into(),
        }
    }

    fn show(&mut self, line: &str) {
        // Uses the stream of `dialoguer`, so that the program's own output stays separate.
        eprintln!("{line}");
    }

    fn select(&mut self, prompt: &str, items: &[&str]) -> Result<usize, BoxError> {
        let select = Select::new().with_prompt(prompt).items(items).default(0);
        Ok(select.interact()?)
    }

    fn confirm(&mut self, prompt: &str) -> Result<bool, BoxError> {
        Ok(Confirm::new().with_prompt(prompt).interact()?)
    }

    fn input(&mut self, prompt: &str, check: &Check<'_>) -> Result<String, BoxError> {
        let input = Input::<String>::new()
            .with_prompt(prompt)
            .allow_empty(true)
            .validate_with(|line: &String| check(line));
        Ok(input.interact_text()?)
    }
}
