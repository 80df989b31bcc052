//! Invoices: a model reads the fields of an invoice from its picture, and Rust checks the sums. If
//! they are wrong, the model gets the errors and looks again. If they are still wrong, a person has
//! to look at the invoice.
//!
//! ```text
//! cargo run -p flow-examples --example invoice
//! cargo run -p flow-examples --features genai --example invoice -- --model openai:gpt-5-mini
//! ```
//!
//! The total of the second invoice is printed wrong. A real model has to accept images. Nothing
//! here reads a PDF: `pdftoppm -png` makes pictures of its pages.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use typed_flows::agents::{Image, ImageSource, Message, Messages, Model, Part, ScriptedModel, ask};
use typed_flows::prelude::*;

const MOST_READINGS: u32 = 2;

/// The largest difference that counts as rounding: half a cent, and some more because the amounts
/// are binary fractions.
const ROUNDING: f64 = 0.006;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Line {
    description: String,
    quantity: f64,
    price: f64,
    amount: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Invoice {
    number: String,
    vendor: String,
    customer: String,
    /// As YYYY-MM-DD.
    date: String,
    /// As YYYY-MM-DD.
    due: String,
    lines: Vec<Line>,
    /// The sum of the amounts, without VAT.
    net: f64,
    vat_percent: f64,
    vat: f64,
    total: f64,
}

impl Invoice {
    /// Lists the amounts that do not follow from the others.
    fn mistakes(&self) -> Vec<String> {
        let mut mistakes = Vec::new();
        let mut check = |what: String, computed: f64, printed: f64| {
            if (computed - printed).abs() > ROUNDING {
                mistakes.push(format!("{what} is {computed:.2}, not {printed:.2}"));
            }
        };
        for line in &self.lines {
            let what = format!("{} x {:.2}", line.quantity, line.price);
            check(what, line.quantity * line.price, line.amount);
        }
        let amounts = self.lines.iter().map(|line| line.amount).sum();
        check("the sum of the amounts".to_owned(), amounts, self.net);
        let vat = self.net * self.vat_percent / 100.0;
        let what = format!("{} % of {:.2}", self.vat_percent, self.net);
        check(what, vat, self.vat);
        let what = format!("{:.2} + {:.2}", self.net, self.vat);
        check(what, self.net + self.vat, self.total);
        mistakes
    }
}

/// Reads the picture of an invoice.
#[node(blocking)]
fn picture(file: &Path) -> Result<Image, std::io::Error> {
    let data = STANDARD.encode(std::fs::read(file)?);
    Ok(Image::new("image/png", ImageSource::Base64(data)))
}

struct ReadFields {
    model: Arc<dyn Model>,
}

/// Asks the model for the fields. If it has answered before, tells it the mistakes in that answer.
#[node(writes(invoice, +readings))]
impl ReadFields {
    async fn exec(
        &self,
        picture: &Image,
        invoice: Option<&Invoice>,
        mistakes: Option<&[String]>,
    ) -> Result<(Invoice, u32), Box<dyn Error + Send + Sync>> {
        let question = Part::Text("Read this invoice.".to_owned());
        let content = vec![question, Part::Image(picture.clone())];
        let mut messages = Messages::from_iter([
            Message::system("Copy the amounts as they are printed, also if they are wrong."),
            Message::User { content },
        ]);
        if let (Some(invoice), Some(mistakes)) = (invoice, mistakes) {
            messages.push(Message::assistant(serde_json::to_string(invoice)?));
            messages.add_user(format!(
                "That does not add up: {}. Read the picture again.",
                mistakes.join("; ")
            ));
        }
        Ok((ask(&self.model, &messages).await?, 1))
    }
}

#[derive(Action)]
enum Checked {
    Right,
    Wrong { mistakes: Vec<String> },
    StillWrong { mistakes: Vec<String> },
}

/// Checks the sums.
#[node(actions = Checked)]
fn check(invoice: &Invoice, readings: &u32) -> Checked {
    match invoice.mistakes() {
        mistakes if mistakes.is_empty() => Checked::Right,
        mistakes if *readings < MOST_READINGS => Checked::Wrong { mistakes },
        mistakes => Checked::StillWrong { mistakes },
    }
}

/// Says why an invoice cannot be read.
#[node(writes = reason)]
fn explain(error: &NodeError) -> String {
    format!("{error:#}")
}

flow! {
    /// Reads an invoice, and checks its sums.
    ReadInvoice(file: PathBuf) -> (
        invoice: Option<Invoice>,
        readings: Option<u32>,
        mistakes: Option<Vec<String>>,
        reason: Option<String>,
    ) {
        node read_fields: ReadFields;

        start >> picture >> read_fields >> check;
        picture     - "error"       >> explain >> end("unreadable");
        read_fields - "error"       >> explain;
        check       - "right"       >> end;
        check       - "wrong"       >> read_fields;
        check       - "still_wrong" >> end("needs_review");
    }
}

/// Sample replies of a model. It misreads an amount of the first invoice, and then reads it right.
fn script() -> ScriptedModel {
    let line = |description: &str, quantity: f64, price: f64, amount: f64| Line {
        description: description.to_owned(),
        quantity,
        price,
        amount,
    };
    let first = |amount: f64| {
        json!({
            "number": "2026-0042", "vendor": "Harbour Lights Ltd", "customer": "Northern Ferries",
            "date": "2026-03-02", "due": "2026-04-01",
            "lines": [
                line("Lamp for a buoy", 12.0, 149.5, amount),
                line("Battery", 24.0, 38.25, 918.0),
                line("Repair, per hour", 7.0, 85.0, 595.0),
            ],
            "net": 3307, "vat_percent": 25, "vat": 826.75, "total": 4133.75,
        })
    };
    let second = json!({
        "number": "2026-0057", "vendor": "Harbour Lights Ltd", "customer": "Northern Ferries",
        "date": "2026-03-19", "due": "2026-04-18",
        "lines": [
            line("Bell for a buoy", 2.0, 410.0, 820.0),
            line("Repair, per hour", 5.0, 85.0, 425.0),
        ],
        "net": 1245, "vat_percent": 25, "vat": 311.25, "total": 1656.25,
    });
    ScriptedModel::new()
        .text(first(1749.0).to_string())
        .text(first(1794.0).to_string())
        .text(second.to_string())
        .text(second.to_string())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let chosen = flow_examples::model(script())?;
    let model = chosen.model;
    let flow = ReadInvoice::builder()
        .read_fields(ReadFields { model })
        .build();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let mut ends = Vec::new();
    for name in ["invoice.png", "invoice_wrong.png"] {
        println!("{name}");
        let file = folder.join(name);
        let output = flow.run(ReadInvoiceInput { file }).await?;
        ends.push(output.end);
        match output.into_outcome() {
            ReadInvoiceOutcome::Default {
                invoice, readings, ..
            } => {
                println!("  pay {:.2} until {}", invoice.total, invoice.due);
                println!("  after {readings} readings");
            }
            ReadInvoiceOutcome::NeedsReview { mistakes, .. } => {
                println!("  needs a review: {}", mistakes.join("; "));
            }
            ReadInvoiceOutcome::Unreadable { reason, .. } => println!("  cannot be read: {reason}"),
        }
    }

    if let Some(script) = chosen.script {
        script.assert_used();
        assert_eq!(ends, [ReadInvoiceEnd::Default, ReadInvoiceEnd::NeedsReview]);
        let requests = script.requests();
        let told = |request: usize| requests[request].messages.last().map(Message::text);
        let misread = "That does not add up: 12 x 149.50 is 1794.00, not 1749.00; the sum of the \
                       amounts is 3262.00, not 3307.00. Read the picture again.";
        assert_eq!(told(1).as_deref(), Some(misread));
        let misprinted = "That does not add up: 1245.00 + 311.25 is 1556.25, not 1656.25. Read the \
                          picture again.";
        assert_eq!(told(3).as_deref(), Some(misprinted));
        let shows = |message: &Message| match message {
            Message::User { content } => content.iter().any(|it| matches!(it, Part::Image(_))),
            _ => false,
        };
        assert!(requests.iter().all(|it| it.messages.iter().any(shows)));
    }
    Ok(())
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/invoice.rs"]
mod law;
