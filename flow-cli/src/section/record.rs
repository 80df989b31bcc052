//! The records in a section.
//!
//! A record consists of [`MAGIC`], the version of its layout and its length as little-endian
//! `u32`s, and that many bytes of JSON. Linkers may put zero bytes between records. Later layouts
//! keep the first three fields.

use super::fault::{Fault, LAYOUT};
use super::part::Part;

/// The first bytes of each record.
pub const MAGIC: [u8; 8] = *b"FLOWSPEC";

/// A flow in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    /// The JSON of the flow.
    pub json: &'a str,
    /// The offset of the record from the beginning of the file, in bytes.
    pub offset: u64,
}

/// Reads the records of a section.
pub(super) fn read<'a>(section: Part<'a>, records: &mut Vec<Record<'a>>) -> Result<(), Fault> {
    let mut rest = section.bytes;
    loop {
        let padding = rest.iter().take_while(|byte| **byte == 0).count();
        rest = &rest[padding..];
        if rest.is_empty() {
            return Ok(());
        }
        let offset = section.at + (section.bytes.len() - rest.len()) as u64;
        let broken = |what: &str| Fault::Record {
            offset,
            what: what.to_owned(),
        };
        let Some(header) = rest.strip_prefix(&MAGIC) else {
            let begins = rest.len() < MAGIC.len() && MAGIC.starts_with(rest);
            return Err(broken(if begins {
                "the section ends inside of it"
            } else {
                "it does not begin with `FLOWSPEC`"
            }));
        };
        let numbers = header.split_first_chunk().and_then(|(version, rest)| {
            let (length, rest) = rest.split_first_chunk()?;
            Some((
                u32::from_le_bytes(*version),
                u32::from_le_bytes(*length),
                rest,
            ))
        });
        let Some((version, length, body)) = numbers else {
            return Err(broken("the section ends inside of it"));
        };
        if version > LAYOUT {
            return Err(Fault::Newer { version });
        }
        if version == 0 {
            return Err(broken("there is no layout of version 0"));
        }
        let body = usize::try_from(length)
            .ok()
            .and_then(|length| body.split_at_checked(length));
        let Some((json, after)) = body else {
            return Err(broken(&format!(
                "it says that it is {length} bytes long, and the section ends before"
            )));
        };
        let json = std::str::from_utf8(json).map_err(|_| broken("it is not UTF-8"))?;
        records.push(Record { json, offset });
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(version: u32, json: &str) -> Vec<u8> {
        let length = u32::try_from(json.len()).expect("short");
        let header = [
            &MAGIC[..],
            &version.to_le_bytes(),
            &length.to_le_bytes(),
            json.as_bytes(),
        ];
        header.concat()
    }

    fn read_all(bytes: &[u8]) -> Result<Vec<(u64, &str)>, Fault> {
        let mut records = Vec::new();
        read(Part { bytes, at: 100 }, &mut records)?;
        Ok(records
            .iter()
            .map(|record| (record.offset, record.json))
            .collect())
    }

    #[test]
    fn records_stand_apart_or_side_by_side() {
        let bytes = [
            &[0; 3][..],
            &record(1, "{}"),
            &record(1, "{\"a\":1}"),
            &[0; 5],
        ]
        .concat();
        assert_eq!(read_all(&bytes), Ok(vec![(103, "{}"), (121, "{\"a\":1}")]));
        assert_eq!(read_all(&[]), Ok(vec![]));
    }

    #[test]
    fn every_truncation_is_noticed() {
        let bytes = [record(1, "{}"), record(1, "[]")].concat();
        for length in 1..bytes.len() {
            let read = read_all(&bytes[..length]);
            assert_eq!(read.is_ok(), length == 18, "{length}: {read:?}");
        }
    }

    #[test]
    fn a_length_that_lies_is_no_reason_to_allocate() {
        let mut bytes = record(1, "{}");
        bytes[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
        let what =
            "it says that it is 4294967295 bytes long, and the section ends before".to_owned();
        assert_eq!(read_all(&bytes), Err(Fault::Record { offset: 100, what }));
    }

    #[test]
    fn a_newer_layout_is_named() {
        let bytes = [record(1, "{}"), record(3, "new")].concat();
        assert_eq!(read_all(&bytes), Err(Fault::Newer { version: 3 }));
    }
}
