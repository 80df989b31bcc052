//! A run that goes on in another invocation: what that is given, and what it says.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::size::{is_within_limit, within_limit};
use crate::stopped::Refused;

/// The handler that goes on with a run. Only handlers can call it.
pub(crate) const HANDLER: &str = "continue";

/// What does not change while a run is under way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunFacts {
    /// The id of its first invocation, and its number.
    pub(crate) id: String,
    /// The random number with which it began.
    pub(crate) number: u64,
    /// After so many entries of a journal, it goes on in a new invocation.
    pub(crate) entries: u64,
    /// How many steps it may take.
    pub(crate) steps: u64,
    pub(crate) input: Map<String, Value>,
}

impl RunFacts {
    /// Whether the server takes what a new invocation is given to go on from here.
    pub(crate) fn can_go_on_from(&self, between: &Between) -> bool {
        // What is returned is a part of that.
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
    /// How often each node of the outermost flow has been visited.
    pub(crate) visits: BTreeMap<String, u32>,
    /// How many steps have been counted.
    pub(crate) steps: u64,
}

/// What the handler is called with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Continued<R = RunFacts, B = Between> {
    /// The hash of the structure of the flow.
    pub(crate) structure: u64,
    pub(crate) run: R,
    /// Whether it calls the handler in turn, again and again, instead of running the flow. Otherwise
    /// the journal of `run` would have an entry for each part of the run, and `run` would be replayed
    /// after each part.
    pub(crate) relays: bool,
    pub(crate) between: B,
}

/// What the handler returns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Said {
    /// The run is at its end.
    Output(Value),
    /// It is here, and is to go on in a new invocation.
    Between(Between),
    /// The worker has another version of the flow: whoever calls has to go on itself. The reason is
    /// for people.
    OtherVersion(String),
}

impl Continued {
    /// What is sent.
    ///
    /// # Errors
    ///
    /// The server does not take so large a value.
    pub(crate) fn written(&self) -> Result<Bytes, Refused> {
        written(&self.what(), self)
    }

    fn what(&self) -> String {
        of_state(&self.between.node)
    }
}

impl Said {
    /// What is sent.
    ///
    /// # Errors
    ///
    /// The server does not take so large a value.
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
/// It is not JSON, or the server does not take so much.
pub(crate) fn written(what: &str, value: &impl Serialize) -> Result<Bytes, Refused> {
    serde_json::to_vec(value)
        .map_err(|error| format!("{what} is not JSON: {error}"))
        .and_then(|text| within_limit(what, text))
        .map_err(|message| Refused { code: 500, message })
}

/// What tells versions of a flow apart: the hash of its structure (FNV-1a), which is the same in all
/// programs.
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
