//! Mappings of edges: keys that are written when a run takes an edge.

use flow_runtime::prelude::*;

use crate::support::traced;

#[derive(Action)]
enum Verdict {
    Again { feedback: String },
    Good { score: u8 },
    Bad { reason: String },
}

/// Writes the length of the text, and says what it has to change as long as that is short.
#[node(actions = Verdict)]
fn judge(draft: &str) -> Verdict {
    match draft.len() {
        0..4 => Verdict::Again {
            feedback: format!("{draft}!"),
        },
        4 => Verdict::Good { score: 9 },
        _ => Verdict::Bad {
            reason: format!("`{draft}` is too long"),
        },
    }
}

flow! {
    /// The first draft is the input, each further one is the feedback.
    Judged(text: String) -> (message: Option<String>, score: Option<u8>, text: String) {
        start >> judge { draft <- text };
        judge - "again" >> judge { draft <- feedback };
        judge - "good"  >> end;
        judge - "bad"   >> end("bad") { message <- reason };
    }
}

#[tokio::test]
async fn each_edge_gives_the_key_another_value() {
    let run = async |text: &str| {
        let input = JudgedInput::builder().text(text.into()).build();
        Judged::new().run(input).await.unwrap()
    };
    let output = run("ab").await;
    assert_eq!((output.score, output.message), (Some(9), None));
    assert_eq!(output.text, "ab");
    let output = run("abcdef").await;
    assert_eq!(output.end, JudgedEnd::Bad);
    assert_eq!(output.message.unwrap(), "`abcdef` is too long");
}

#[tokio::test]
async fn an_end_writes_its_outputs_for_the_flow_around_it() {
    let JudgedOutcome::Bad { message, .. } = Judged::new()
        .run(JudgedInput::builder().text("abcdef".into()).build())
        .await
        .unwrap()
        .into_outcome()
    else {
        panic!("it is too long")
    };
    let _: String = message;
}
