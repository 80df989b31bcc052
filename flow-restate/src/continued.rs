//! The input and output of an invocation that continues a run.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::size::{is_within_limit, within_limit};
use crate::stopped::Refused;

/// The handler that continues a run. Only handlers can call it.
pub(crate) const HANDLER: &str = "continue";

/// The constants of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunFacts {
    /// The id of its first invocation, and its number.
    pub(crate) id: String,
    /// The random number of the run.
    pub(crate) number: u64,
    /// The number of journal entries after which it continues in a new invocation.
    pub(crate) entries: u64,
    /// The maximum number of steps.
    pub(crate) steps: u64,
    pub(crate) input: Map<String, Value>,
}

impl RunFacts {
    /// Returns true if the server accepts the size of the input that continues from here.
    pub(crate) fn can_go_on_from(&self, between: &Between) -> bool {
        // The output is a part of that.
        is_within_limit(&Continued {
            structure: u64::MAX,
            run: self,
            relays: false,
            between,
        })
    }
}

/// A flow between two of its nodes, with nothing else under way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Between {
    /// The node that comes next.
    pub(crate) node: String,
    /// The values by key.
    pub(crate) state: Map<String, Value>,
    /// The number of visits to each node of the outermost flow.
    pub(crate) visits: BTreeMap<String, u32>,
    /// The number of steps so far.
    pub(crate) steps: u64,
}

/// The input of the handler.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Continued<R = RunFacts, B = Between> {
    /// The hash of the structure of the flow.
    pub(crate) structure: u64,
    pub(crate) run: R,
    /// True if it calls the handler repeatedly instead of running the flow. Otherwise the journal
    /// of `run` would have an entry for each part of the run, and would be replayed after each
    /// part.
    pub(crate) relays: bool,
    pub(crate) between: B,
}

/// The output of the handler.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Said {
    /// The run has ended.
    Output(Value),
    /// The run is here, and continues in a new invocation.
    Between(Between),
    /// The worker has another version of the flow: the caller has to continue itself. The reason is
    /// for people.
    OtherVersion(String),
}

impl Continued {
    /// The message as JSON.
    ///
    /// # Errors
    ///
    /// The value is too large for the server.
    pub(crate) fn written(&self) -> Result<Bytes, Refused> {
        written(&self.what(), self)
    }

    fn what(&self) -> String {
        of_state(&self.between.node)
    }
}

impl Said {
    /// The message as JSON.
    ///
    /// # Errors
    ///
    /// The value is too large for the server.
    pub(crate) fn written(&self) -> Result<Bytes, Refused> {
        let what = match self {
            Said::Between(between) => of_state(&between.node),
            Said::Output(_) | Said::OtherVersion(_) => "the output".to_owned(),
        };
        written(&what, self)
    }
}

fn of_state(node: &str) -> String {
    format!("the state of the flow before `{node}`, with which it goes on in a new invocation,")
}

/// A value as JSON.
///
/// # Errors
///
/// The value cannot be written as JSON, or is too large for the server.
pub(crate) fn written(what: &str, value: &impl Serialize) -> Result<Bytes, Refused> {
    serde_json::to_vec(value)
        .map_err(|error| format!("{what} is not JSON: {error}"))
        .and_then(|text| within_limit(what, text))
        .map_err(|message| Refused { code: 500, message })
}

/// A hash that distinguishes versions of a flow: FNV-1a of its structure, equal in all programs.
pub(crate) fn hash_of(structure: &str) -> u64 {
    structure.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_other_programs() {
        assert_eq!(hash_of(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash_of("foobar"), 0x8594_4171_f739_67e8);
    }
}
