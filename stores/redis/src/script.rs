//! The scripts and their arguments. Each script is one atomic write or read on the server.

use std::borrow::Cow;
use std::sync::LazyLock;

use flow_store::{PauseRow, PauseState, Record};
use uuid::Uuid;

/// The version of the layout of the keys.
pub(super) const VERSION: u64 = 1;

/// The largest number up to which Lua represents every integer.
const LARGEST: u64 = (1 << 53) - 1;

/// A script and its hash, which identifies it to the server after the first call.
#[derive(Debug)]
pub(super) struct Script {
    pub(super) code: &'static str,
    pub(super) hash: String,
}

macro_rules! scripts {
    ($($name:ident = $file:literal),+ $(,)?) => {
        $(
            pub(super) static $name: LazyLock<Script> = LazyLock::new(|| {
                let code = concat!(
                    include_str!("lua/common.lua"),
                    include_str!("lua/executions.lua"),
                    include_str!("lua/journal.lua"),
                    include_str!("lua/signals.lua"),
                    include_str!(concat!("lua/", $file, ".lua")),
                );
                let hash = redis::Script::new(code).get_hash().to_owned();
                Script { code, hash }
            });
        )+
    };
}

scripts! {
    APPEND = "append",
    BREAK_CLAIM = "break_claim",
    CLAIM = "claim",
    CLOCK = "clock",
    CREATE = "create",
    DELETE = "delete",
    DUE = "due",
    END = "end",
    LIST = "list",
    LOG = "log",
    LOG_OF = "log_of",
    MARK = "mark",
    OPEN = "open",
    QUESTIONS = "questions",
    RENEW = "renew",
    REOPEN = "reopen",
    SETTLE = "settle",
    SIGNAL = "signal",
    TAKE_QUEUED = "take_queued",
}

/// The arguments of a script, in its order.
#[derive(Debug, Default)]
pub(super) struct Arguments<'a>(Vec<Cow<'a, [u8]>>);

impl<'a> Arguments<'a> {
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(|argument| &**argument)
    }

    pub(super) fn text(mut self, text: &'a str) -> Self {
        self.0.push(Cow::Borrowed(text.as_bytes()));
        self
    }

    pub(super) fn owned(mut self, text: String) -> Self {
        self.0.push(Cow::Owned(text.into_bytes()));
        self
    }

    pub(super) fn id(self, id: Uuid) -> Self {
        self.owned(id.to_string())
    }

    pub(super) fn optional(self, text: Option<&str>) -> Self {
        match text {
            Some(text) => self.owned(format!("={text}")),
            None => self.text(""),
        }
    }

    pub(super) fn number(self, number: u64) -> Self {
        self.owned(integer(number))
    }

    /// Adds the length of a claim.
    pub(super) fn lease(self, lease_ms: u64) -> Self {
        self.number(lease(lease_ms))
    }

    pub(super) fn count(self, number: usize) -> Self {
        self.number(u64::try_from(number).unwrap_or(u64::MAX))
    }

    pub(super) fn optional_number(self, number: Option<u64>) -> Self {
        match number {
            Some(number) => self.number(number),
            None => self.text(""),
        }
    }

    /// Inserts this number before the arguments.
    pub(super) fn counted(mut self, number: u64) -> Self {
        self.0.insert(0, Cow::Owned(integer(number).into_bytes()));
        self
    }

    /// Appends other arguments.
    pub(super) fn and(mut self, others: Arguments<'a>) -> Self {
        self.0.extend(others.0);
        self
    }

    pub(super) fn flag(self, flag: bool) -> Self {
        self.text(if flag { "1" } else { "0" })
    }

    pub(super) fn records(self, records: &'a [Record]) -> Self {
        let counted = self.count(records.len());
        records.iter().fold(counted, Arguments::record)
    }

    pub(super) fn record(self, record: &'a Record) -> Self {
        self.number(record.seq)
            .number(record.at_ms)
            .text(record.kind.as_str())
            .text(&record.path)
            .text(&record.step)
            .number(record.visit.into())
            .optional_number(record.item.map(u64::from))
            .number(record.attempt.into())
            .text(&record.payload)
    }

    pub(super) fn questions(self, questions: &'a [PauseRow]) -> Self {
        let counted = self.count(questions.len());
        questions.iter().fold(counted, Arguments::question)
    }

    fn question(self, question: &'a PauseRow) -> Self {
        let (state, answer) = state(&question.state);
        self.id(question.token.as_uuid())
            .text(&question.path)
            .text(&question.step)
            .text(&question.prompt)
            .text(&question.expected)
            .optional(question.schema.as_deref())
            .number(question.created_ms)
            .optional_number(question.expires_ms)
            .text(state)
            .optional(answer)
    }
}

/// Returns the length of a claim as stored: at most 34 years. Sums with times then stay exact in
/// Lua, and a broken claim, which counts as made in 1970, has expired.
pub(super) fn lease(lease_ms: u64) -> u64 {
    lease_ms.min(1 << 40)
}

/// Formats a number as stored.
pub(super) fn integer(number: u64) -> String {
    number.min(LARGEST).to_string()
}

/// Returns the name of a state, and the answer.
pub(super) fn state(state: &PauseState) -> (&'static str, Option<&str>) {
    match state {
        PauseState::Open => ("open", None),
        PauseState::Answered(answer) => ("answered", Some(answer)),
        PauseState::TimedOut => ("timed_out", None),
        PauseState::Used => ("used", None),
        PauseState::Expired => ("expired", None),
        PauseState::Withdrawn => ("withdrawn", None),
    }
}
