//! The fields of a résumé as a typed value. If an answer does not fit the type, the model is told
//! the field and the reason, and is asked again. An answer that fits is compared with the text.
//! What the text does not say goes back to the model, in at most three rounds.
//!
//! ```text
//! cargo run -p flow-examples --example structured_output
//! cargo run -p flow-examples --features genai --example structured_output -- --model ollama:qwen3
//! ```

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use typed_flows::agents::{AskError, Message, Messages, Model, ScriptedModel, ask};
use typed_flows::prelude::*;

const MOST_ROUNDS: u32 = 3;

/// The facts in a résumé.
#[derive(Debug, Deserialize, JsonSchema)]
struct Resume {
    /// As it is written in the résumé.
    name: String,
    /// Null if there is none.
    email: Option<Email>,
    /// The latest first.
    jobs: Vec<Job>,
    /// Only skills for which the résumé has words that show them.
    skills: Vec<Evidence>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Job {
    /// Without abbreviations.
    title: String,
    /// As it is written in the résumé.
    company: String,
    /// The year of the first day.
    from: u16,
    /// The year of the last day. Null if the job has not ended.
    until: Option<u16>,
}

/// A skill, and the reason to believe in it.
#[derive(Debug, Deserialize, JsonSchema)]
struct Evidence {
    /// The words of the résumé, copied exactly.
    quote: String,
    skill: Skill,
}

/// The skills that somebody looks for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Skill {
    Leadership,
    OfficeSoftware,
    Programming,
    PublicSpeaking,
}

/// An email address.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
struct Email(String);

impl TryFrom<String> for Email {
    type Error = String;

    fn try_from(text: String) -> Result<Email, String> {
        let (name, host) = text.split_once('@').unwrap_or_default();
        if name.is_empty() || !host.contains('.') || text.contains(' ') {
            return Err(format!(
                "expected an address such as ann@example.org, found {text:?}"
            ));
        }
        Ok(Email(text))
    }
}

struct Extract {
    model: Arc<dyn Model>,
}

/// Asks the model for the fields, with the doubts about its last answer. Counts the rounds.
#[node(writes(resume, +rounds))]
impl Extract {
    async fn exec(&self, text: &str, doubts: Option<&[String]>) -> Result<(Resume, u32), AskError> {
        let mut messages = Messages::from_iter([
            Message::system("Read the fields of this résumé. Add nothing that it does not say."),
            Message::user(text),
        ]);
        if let Some(doubts) = doubts {
            let doubts = doubts.join("\n- ");
            messages.add_user(format!(
                "Your last answer was wrong. Correct this:\n- {doubts}"
            ));
        }
        Ok((ask(&self.model, &messages).await?, 1))
    }
}

#[derive(Action)]
enum Checked {
    Sound,
    Doubtful { doubts: Vec<String> },
    GaveUp { doubts: Vec<String> },
}

/// Compares the fields with the text. A model may have made them up.
#[node(actions = Checked)]
fn check(text: &str, resume: &Resume, rounds: &u32) -> Checked {
    let text = plain(text);
    let mut copied = vec![("name", &resume.name)];
    copied.extend(resume.email.iter().map(|email| ("email", &email.0)));
    copied.extend(resume.jobs.iter().map(|job| ("company", &job.company)));
    copied.extend(resume.skills.iter().map(|skill| ("quote", &skill.quote)));
    copied.retain(|(_, value)| value.trim().is_empty() || !text.contains(&plain(value)));
    let doubts = copied.iter();
    let doubts = doubts.map(|(field, value)| format!("{field}: {value:?} is not in the text"));
    let doubts: Vec<String> = doubts.collect();
    doubts.iter().for_each(|doubt| println!("doubt: {doubt}"));
    if doubts.is_empty() {
        Checked::Sound
    } else if *rounds < MOST_ROUNDS {
        Checked::Doubtful { doubts }
    } else {
        Checked::GaveUp { doubts }
    }
}

/// A text without differences in case and spaces.
fn plain(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").to_lowercase()
}

flow! {
    /// Reads the fields of a résumé.
    ReadResume(text: String) -> (
        resume: Option<Resume>,
        doubts: Option<Vec<String>>,
        failure: Option<NodeError>,
    ) {
        node extract: Extract;

        start >> extract >> check;
        check   - "sound"    >> end;
        check   - "doubtful" >> extract;
        check   - "gave_up"  >> end("doubtful");
        extract - "error"    >> end("unreadable") { failure <- error };
    }
}

/// Sample replies of a model: an address that is none, then two facts that it made up, and then the
/// right fields.
fn script() -> ScriptedModel {
    let right = r#"{
        "name": "Elin Varde",
        "email": "elin.varde@example.org",
        "jobs": [
            { "title": "Branch manager", "company": "Nordlys Books", "from": 2019, "until": null },
            { "title": "Assistant buyer", "company": "Fjord Outdoor", "from": 2014, "until": 2019 },
            { "title": "Cashier", "company": "Kiosk 24", "from": 2012, "until": 2014 }
        ],
        "skills": [
            { "quote": "lead nine people", "skill": "leadership" },
            { "quote": "Excell and Word every day", "skill": "office_software" },
            { "quote": "held the yearly talk", "skill": "public_speaking" }
        ]
    }"#;
    let made_up = right.replace("Kiosk 24", "Kiosk Ltd");
    ScriptedModel::new()
        .text(right.replace('@', " at "))
        .text(made_up.replace("held the yearly talk", "speaks at fairs"))
        .text(right)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let chosen = flow_examples::model(script())?;
    let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/resume.txt");
    let text = std::fs::read_to_string(text)?;

    let extract = Extract {
        model: chosen.model,
    };
    let flow = ReadResume::builder().extract(extract).build();
    let resume = match flow.run(ReadResumeInput { text }).await?.into_outcome() {
        ReadResumeOutcome::Default { resume, .. } => resume,
        ReadResumeOutcome::Doubtful { resume, doubts, .. } => {
            println!("A person has to look at {} fields.", doubts.len());
            resume
        }
        ReadResumeOutcome::Unreadable { failure, .. } => {
            return Err(format!("the résumé is not read: {failure:#}").into());
        }
    };
    let email = resume.email.as_ref().map_or("no email", |email| &email.0);
    println!("{}, {email}", resume.name);
    for job in &resume.jobs {
        let until = job
            .until
            .map_or("today".to_owned(), |year| year.to_string());
        println!("  {}-{until}: {}, {}", job.from, job.title, job.company);
    }
    for Evidence { skill, quote } in &resume.skills {
        println!("  {skill:?}: {quote:?}");
    }

    if let Some(script) = chosen.script {
        script.assert_used();
        let requests = script.requests();
        let told = |request: usize| requests[request].messages.last().map(Message::text);
        assert!(told(1).is_some_and(|told| told.contains("`email`: expected an address")));
        let doubts = "Your last answer was wrong. Correct this:\n\
                      - company: \"Kiosk Ltd\" is not in the text\n\
                      - quote: \"speaks at fairs\" is not in the text";
        assert_eq!(told(2).as_deref(), Some(doubts));
        assert_eq!(resume.jobs[2].company, "Kiosk 24");
    }
    Ok(())
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/structured_output.rs"]
mod law;
