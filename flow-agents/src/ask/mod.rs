//! Answers of a type.
//!
//! The model gets the schema of the type twice: as the format that the provider enforces, and in
//! words for models whose provider does not. The answer is checked in both cases.

pub(crate) mod error;
mod fit;
mod found_json;
mod json_so_far;
mod schema;

use std::fmt;

use flow_runtime::Context;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use self::error::AskError;
use self::fit::fit;
use self::json_so_far::JsonSoFar;
use self::schema::{ANSWER, AnswerSchema};
use crate::asked::asked;
use crate::log::warning;
use crate::message::Message;
use crate::messages::{Messages, Placement};
use crate::model::{Model, Request};
use crate::usage::Usage;

/// A value that a model can be asked for. Its JSON Schema tells the model how to write it, and it
/// is read from JSON. Implemented by all types with both.
#[diagnostic::on_unimplemented(
    message = "a model cannot be asked for a `{Self}`",
    label = "asks for a `{Self}`",
    note = "for a type of your own, write `#[derive(serde::Deserialize, schemars::JsonSchema)]`"
)]
pub trait ModelAnswer: DeserializeOwned + JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> ModelAnswer for T {}

/// Asks a model for an answer of a type: an enum for a decision, a struct, or any other type with
/// serde and a JSON Schema.
///
/// The model gets the schema, with the doc comments of the type and its fields. If an answer does
/// not fit, the model gets the mistake and is asked again, up to 3 times in all. [`Ask`] has
/// settings for that, and reports the usage.
///
/// The type derives `serde::Deserialize` and `schemars::JsonSchema`. An enum that also derives
/// `Action` is a node's decision; its names for serde are independent of those of its actions. The
/// model gets the fields in alphabetical order. With the feature `preserve_order` of `serde_json`,
/// which the feature `genai` enables, it gets them in the order of the type: a model that gives its
/// reasons first may decide better.
///
/// A provider that can enforce the format of an answer is asked to do so ([`Request::output`]).
/// Exceptions are types with maps, values of any JSON, tuples or flattened fields, which few
/// providers support. In this format, no field may be left out: a missing `Option` is `null`.
///
/// # Errors
/// See [`AskError`].
///
/// # Cancel safety
/// As cancel safe as [`Model::complete`].
///
/// # Examples
/// ```
/// use std::sync::Arc;
///
/// use flow_agents::{AskError, Messages, Message, Model, ScriptedModel, ask};
/// use flow_runtime::prelude::*;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// /// What to do with a claim.
/// #[derive(Action, Deserialize, JsonSchema)]
/// #[serde(tag = "verdict", rename_all = "snake_case")]
/// enum Verdict {
///     /// The claim is right.
///     Approved {
///         /// In euros.
///         amount: u64,
///     },
///     /// The claim is wrong.
///     Rejected { reason: String },
/// }
///
/// struct Review {
///     model: Arc<dyn Model>,
/// }
///
/// #[node(actions = Verdict)]
/// impl Review {
///     async fn exec(&self, claim: &str) -> Result<Verdict, AskError> {
///         let messages = Messages::from_iter([Message::user(format!("Judge this claim: {claim}"))]);
///         ask::<Verdict>(&self.model, &messages).await
///     }
/// }
///
/// #[node(writes = letter)]
/// fn pay(amount: &u64) -> String {
///     format!("You get {amount} euros.")
/// }
///
/// #[node(writes = letter)]
/// fn decline(reason: &str) -> String {
///     format!("You get nothing: {reason}")
/// }
///
/// flow! {
///     Claims(claim: String) -> (letter: String) {
///         node review: Review;
///         start >> review;
///         review - "approved" >> pay >> end;
///         review - "rejected" >> decline >> end;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), FlowError> {
/// let script = ScriptedModel::new()
///     .text(r#"{ "verdict": "approved", "amount": "a lot" }"#) // does not fit: it is asked again
///     .text(r#"{ "verdict": "approved", "amount": 40 }"#);
/// let model = Arc::new(script);
/// let flow = Claims::builder().review(Review { model: model.clone() }).build();
/// let input = ClaimsInput::builder().claim("a broken cup".into()).build();
/// assert_eq!(flow.run(input).await?.letter, "You get 40 euros.");
/// model.assert_used();
/// # Ok(()) }
/// ```
pub async fn ask<T: ModelAnswer>(
    model: &(impl Model + ?Sized),
    messages: &Messages,
) -> Result<T, AskError> {
    let answered = Ask::new(model, messages).answer::<T>().await?;
    Ok(answered.value)
}

/// A request for an answer of a type: [`ask`] with settings.
///
/// # Examples
/// ```
/// use flow_agents::{Ask, Messages, Message, ScriptedModel};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), flow_agents::AskError> {
/// let model = ScriptedModel::new().text(r#"["Ann", "Bob"]"#).usage(20, 8);
/// let messages = Messages::from_iter([Message::user("Who writes to whom? Ann to Bob.")]);
/// let answered = Ask::new(&model, &messages).attempts(2).answer::<Vec<String>>().await?;
/// assert_eq!(answered.value, ["Ann", "Bob"]);
/// assert_eq!(answered.usage.total(), 28);
/// # Ok(()) }
/// ```
pub struct Ask<'a, M: ?Sized> {
    model: &'a M,
    messages: &'a Messages,
    attempts: u32,
    temperature: Option<f64>,
    max_tokens: Option<u32>,
    on_part: Option<OnPart<'a>>,
}

type OnPart<'a> = Box<dyn FnMut(&Value) + Send + 'a>;

impl<M: ?Sized> fmt::Debug for Ask<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ask")
            .field("messages", &self.messages)
            .field("attempts", &self.attempts)
            .field("temperature", &self.temperature)
            .field("max_tokens", &self.max_tokens)
            .finish_non_exhaustive()
    }
}

impl<'a, M: Model + ?Sized> Ask<'a, M> {
    /// Asks this model with the messages of a conversation, up to 3 times.
    pub fn new(model: &'a M, messages: &'a Messages) -> Ask<'a, M> {
        Ask {
            model,
            messages,
            attempts: 3,
            temperature: None,
            max_tokens: None,
            on_part: None,
        }
    }

    /// Sets the maximum number of attempts, including the first. 0 counts as 1.
    pub fn attempts(mut self, attempts: u32) -> Ask<'a, M> {
        self.attempts = attempts;
        self
    }

    /// Sets the sampling temperature. By default, the provider decides.
    pub fn temperature(mut self, temperature: f64) -> Ask<'a, M> {
        self.temperature = Some(temperature);
        self
    }

    /// Sets the maximum number of tokens of an answer. By default, the provider decides.
    pub fn max_tokens(mut self, max_tokens: u32) -> Ask<'a, M> {
        self.max_tokens = Some(max_tokens);
        self
    }

    /// Calls a function with the answer as it arrives: each time there is more, with the whole
    /// answer so far, as JSON. Lists and strings grow; fields, numbers and words such as `true`
    /// appear when they are complete. The last value is the one that was read as the answer.
    ///
    /// A value may lack required parts, so it is not of the type. If the model is asked again, the
    /// values start over.
    pub fn on_part(mut self, on_part: impl FnMut(&Value) + Send + 'a) -> Ask<'a, M> {
        self.on_part = Some(Box::new(on_part));
        self
    }

    /// [Emits](Context::emit_json) the answer as it arrives, as [`on_part`](Ask::on_part) does, to
    /// the observers of the run.
    pub fn emit(self, cx: &'a Context) -> Ask<'a, M> {
        self.on_part(|value| {
            if let Err(error) = cx.emit_json(value) {
                let error: &(dyn std::error::Error + 'static) = &error;
                warning!("a part of an answer could not be emitted", error = error);
            }
        })
    }

    /// Asks the model.
    ///
    /// # Errors
    /// See [`AskError`].
    ///
    /// # Cancel safety
    /// As cancel safe as [`Model::complete`].
    pub async fn answer<T: ModelAnswer>(self) -> Result<Answered<T>, AskError> {
        let schema = AnswerSchema::of::<T>();
        let mut messages = self.messages.clone();
        let told = format!(
            "Answer only with JSON that fits this JSON Schema, without any text around it:\n{}",
            schema.schema
        );
        messages.add_system(&told, Placement::Append);
        let mut parts = Parts {
            on_part: self.on_part,
            is_wrapped: schema.is_wrapped,
            last: None,
        };
        let mut usage = Usage::default();
        let mut requests = 0;
        loop {
            requests += 1;
            let request = Request {
                temperature: self.temperature,
                max_tokens: self.max_tokens,
                output: schema.output.clone(),
                ..Request::new(&messages)
            };
            let mut so_far = JsonSoFar::new();
            let reply = asked(self.model, &request, |text| parts.add(&mut so_far, text)).await;
            let reply = reply.map_err(|source| AskError::Model { source, usage })?;
            usage += reply.usage;
            let reply = reply.into_complete();
            let reply = reply.map_err(|source| AskError::Model { source, usage })?;
            let mistake = match fit(&reply.content, schema.is_wrapped) {
                Ok((value, json)) => {
                    parts.pass_on(json);
                    return Ok(Answered {
                        value,
                        usage,
                        requests,
                    });
                }
                Err(mistake) => mistake,
            };
            if requests >= self.attempts {
                return Err(AskError::Unfit {
                    mistake,
                    answer: reply.content,
                    requests,
                    usage,
                });
            }
            if !reply.content.trim().is_empty() {
                messages.push(Message::assistant(reply.content));
            }
            messages.add_user(format!(
                "This answer does not fit: {mistake}\nAnswer again, only with JSON that fits."
            ));
        }
    }
}

/// The answer as it arrives.
struct Parts<'a> {
    on_part: Option<OnPart<'a>>,
    is_wrapped: bool,
    last: Option<Value>,
}

impl Parts<'_> {
    fn add(&mut self, so_far: &mut JsonSoFar, text: &str) {
        if self.on_part.is_none() {
            return;
        }
        so_far.push(text);
        let value = so_far.value();
        let value = match value {
            Some(Value::Object(mut object)) if self.is_wrapped => object.remove(ANSWER),
            value => value,
        };
        if let Some(value) = value {
            self.pass_on(value);
        }
    }

    fn pass_on(&mut self, value: Value) {
        let Some(on_part) = &mut self.on_part else {
            return;
        };
        if self.last.as_ref() != Some(&value) {
            on_part(&value);
            self.last = Some(value);
        }
    }
}

/// An answer of a type, with its usage.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Answered<T> {
    /// The answer.
    pub value: T,
    /// The tokens of all requests.
    pub usage: Usage,
    /// The number of requests.
    pub requests: u32,
}
