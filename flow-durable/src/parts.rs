//! Parts of loops: executions that run some of the items of a loop of another execution.
//!
//! The items of a loop `with spread(16)` are divided into parts of sixteen. Each part is an
//! execution of its own, which any process can take from the queue. Its id follows from the loop
//! and its number, so a part is created once, however often the execution with the loop is resumed.
//! That execution waits without running until the parts are over, and copies their results into its
//! journal.

use std::num::NonZeroU32;
use std::ops::Range;

use flow_runtime::engine::{NodePath, StepKey};
use flow_store::ExecutionId;
use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest as _, Sha256};

/// The division of the items of a loop: the payload of a `Spread` record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Division {
    /// The number of items.
    pub(crate) items: u32,
    /// The number of items of each part except the last. Not 0.
    #[serde(deserialize_with = "not_zero")]
    pub(crate) each: u32,
}

/// The part of a loop that an execution runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Part {
    /// The execution with the loop.
    pub(crate) of: ExecutionId,
    /// The step of the loop, there and here.
    pub(crate) step: String,
    /// Its number, from 0.
    pub(crate) number: u32,
    #[serde(flatten)]
    pub(crate) division: Division,
}

impl Division {
    /// The number of parts.
    pub(crate) fn parts(self) -> u32 {
        self.items.div_ceil(self.each)
    }

    /// The indices of a part's items.
    pub(crate) fn range(self, part: u32) -> Range<u32> {
        let first = part.saturating_mul(self.each);
        first..first.saturating_add(self.each).min(self.items)
    }

    /// The step of a part in the execution with the loop.
    pub(crate) fn step(self, step: &str, part: u32) -> String {
        StepKey::new(step).part_of(self.range(part))
    }
}

fn not_zero<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    NonZeroU32::deserialize(deserializer).map(NonZeroU32::get)
}

impl Part {
    /// The id of the execution. It is as old as the id of the execution with the loop, so parts
    /// come before executions that were started later, in the order of their items. It has version
    /// 8, since it does not say when the part was created.
    pub(crate) fn id(&self) -> ExecutionId {
        let Part {
            of, step, number, ..
        } = self;
        let hash = Sha256::digest(format!("{of}/{step}/{number}"));
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hash[..16]);
        bytes[..6].copy_from_slice(&of.as_uuid().as_bytes()[..6]);
        // The four bits of the version and the two of the variant are between those of the number.
        let number = u16::try_from(*number).unwrap_or(u16::MAX);
        let [high, low] = (number >> 4).to_be_bytes();
        bytes[6] = high;
        bytes[7] = low;
        bytes[8] = (bytes[8] & 0b1100_0011) | (((number & 0xF) as u8) << 2);
        let id = uuid::Builder::from_bytes(bytes).with_version(uuid::Version::Custom);
        id.with_variant(uuid::Variant::RFC4122).into_uuid().into()
    }

    /// The part of the same loop with this number.
    pub(crate) fn sibling(&self, number: u32) -> Part {
        Part {
            number,
            ..self.clone()
        }
    }

    /// The index of its first item.
    pub(crate) fn first(&self) -> u32 {
        self.division.range(self.number).start
    }
}

/// Returns true if an id can be that of a part of this execution.
pub(crate) fn is_named_as_part_of(id: ExecutionId, of: ExecutionId) -> bool {
    let (id, of) = (id.as_uuid(), of.as_uuid());
    id.get_version_num() == 8 && id.as_bytes()[..6] == of.as_bytes()[..6]
}

/// The name of the flow of parts: that of the flow with the loop, and the loop's name.
pub(crate) fn flow_of_parts(flow: &str, each: &str) -> String {
    format!("{flow}.{each}")
}

/// The name of the flow with the loop, given the name of the flow of its parts. Names of flows and
/// nodes have no dots.
pub(crate) fn flow_with_loop(flow: &str) -> Option<&str> {
    NodePath::new(flow).parent().map(NodePath::as_str)
}

/// The name of the loop, given the name of the flow of its parts.
pub(crate) fn loop_of_parts(flow: &str) -> Option<&str> {
    let path = NodePath::new(flow);
    path.parent().map(|_| path.last())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::checked;

    fn part(number: u32) -> Part {
        Part {
            of: "0199a000-1234-7abc-8def-0123456789ab".parse().unwrap(),
            step: "report.lines#2".to_owned(),
            number,
            division: Division {
                items: 37,
                each: 16,
            },
        }
    }

    #[test]
    fn the_items_are_divided_without_gaps() {
        for items in 0..40 {
            for each in 1..12 {
                let division = Division { items, each };
                let ranges = (0..division.parts()).map(|part| division.range(part));
                let all: Vec<u32> = ranges.clone().flatten().collect();
                assert_eq!(all, (0..items).collect::<Vec<u32>>());
                assert!(ranges.into_iter().all(|range| !range.is_empty()));
            }
        }
        let division = part(0).division;
        assert_eq!(division.step("report.lines#2", 2), "report.lines#2[32..37]");
        let most = Division {
            items: u32::MAX,
            each: u32::MAX - 1,
        };
        assert_eq!(most.range(1), u32::MAX - 1..u32::MAX);
    }

    #[test]
    fn ids_are_as_old_as_the_execution_and_in_the_order_of_the_items() {
        let of = part(0).of;
        let ids: Vec<ExecutionId> = (0..3000).map(|number| part(number).id()).collect();
        assert!(ids.is_sorted());
        for id in &ids {
            assert_eq!(id.as_uuid().get_version_num(), 8);
            assert_eq!(id.as_uuid().as_bytes()[..6], of.as_uuid().as_bytes()[..6]);
        }
        let other_step = Part {
            step: "report.lines#3".to_owned(),
            ..part(0)
        };
        assert_ne!(other_step.id(), part(0).id());
    }

    #[test]
    fn a_damaged_division_is_none() {
        let parse = checked::<Division>;
        assert_eq!(parse(r#"{"items":3,"each":0}"#), None);
        assert_eq!(parse(r#"{"items":3}"#), None);
        let division = Division { items: 3, each: 2 };
        assert_eq!(parse(r#"{"items":3,"each":2}"#), Some(division));
        let of_part = serde_json::to_string(&part(1)).unwrap();
        assert_eq!(parse(&of_part), Some(part(1).division));
        assert_eq!(checked(&of_part), Some(part(1)));
    }
}
