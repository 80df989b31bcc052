use flow_runtime::prelude::*;

#[node(poll(every = "10ms", timeout = "1m"), writes = text)]
async fn transcribed(recording: &str) -> Result<String, String> { Ok(recording.to_owned()) } //~

flow! {
    Transcript(recording: String) -> (text: Option<String>) {
        start >> transcribed >> end;
        transcribed - "timeout" >> end("gave_up");
    }
}

fn shown(output: TranscriptOutput) -> String {
    match output.into_outcome() {
        TranscriptOutcome::Default { text } => text,
        TranscriptOutcome::GaveUp => "it takes too long".to_owned(),
    }
}
fn main() { let _ = shown; }
