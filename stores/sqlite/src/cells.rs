//! The values of a row as stored, and the checksum over them.
//!
//! Each row ends with a CRC-32 of its table and all of its other values, including its keys. A CRC
//! detects every change of a single byte, and other damage with a probability of 1 - 2⁻³². It does
//! not protect against people who change the file; that would need a secret.

use std::borrow::Cow;

use flow_store::StoreError;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, params_from_iter};

use super::errors::store_error;
use super::rows;

/// A value as it is stored.
#[derive(Debug, Clone)]
pub(super) enum Cell<'a> {
    Null,
    Integer(i64),
    Text(Cow<'a, str>),
}

impl Cell<'_> {
    fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Cell::Null => ValueRef::Null,
            Cell::Integer(number) => ValueRef::Integer(*number),
            Cell::Text(text) => ValueRef::Text(text.as_bytes()),
        }
    }
}

impl ToSql for Cell<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(self.as_ref()))
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Cell::Text(text.into())
    }
}

impl<'a> From<&'a String> for Cell<'a> {
    fn from(text: &'a String) -> Self {
        Cell::Text(text.into())
    }
}

impl From<String> for Cell<'_> {
    fn from(text: String) -> Self {
        Cell::Text(text.into())
    }
}

impl From<u32> for Cell<'_> {
    fn from(number: u32) -> Self {
        Cell::Integer(number.into())
    }
}

impl From<i32> for Cell<'_> {
    fn from(number: i32) -> Self {
        Cell::Integer(number.into())
    }
}

impl From<u64> for Cell<'_> {
    fn from(number: u64) -> Self {
        Cell::Integer(integer(number))
    }
}

impl<'a, T: Into<Cell<'a>>> From<Option<T>> for Cell<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Cell::Null, T::into)
    }
}

/// Returns a number as SQLite stores it: larger ones become the largest possible.
pub(super) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The number of cells of an execution in the first version of the tables. Later cells are part of
/// the checksum only if they have a value, so that older rows keep theirs.
const EXECUTION_CELLS: usize = 25;

/// Returns the checksum of a row.
pub(super) fn checksum<'v>(table: &str, values: impl IntoIterator<Item = ValueRef<'v>>) -> i64 {
    // Hashing one long buffer is much faster than hashing its parts.
    let mut row = Vec::with_capacity(512);
    row.extend_from_slice(table.as_bytes());
    let first_version = match table {
        "executions" => EXECUTION_CELLS,
        _ => usize::MAX,
    };
    for (index, value) in values.into_iter().enumerate() {
        if index >= first_version {
            if matches!(value, ValueRef::Null) {
                continue;
            }
            row.extend_from_slice(&rows::limit(index).to_le_bytes());
        }
        // The kind of each value, and its length or number, tell different rows apart.
        let (kind, number, bytes): (u8, i64, &[u8]) = match value {
            ValueRef::Null => (0, 0, &[]),
            ValueRef::Integer(number) => (1, number, &[]),
            ValueRef::Real(number) => (2, number.to_bits().cast_signed(), &[]),
            ValueRef::Text(text) => (3, rows::limit(text.len()), text),
            ValueRef::Blob(blob) => (4, rows::limit(blob.len()), blob),
        };
        row.push(kind);
        row.extend_from_slice(&number.to_le_bytes());
        row.extend_from_slice(bytes);
    }
    i64::from(crc32fast::hash(&row))
}

/// Runs a statement with the values of a row and, as the last one, their checksum. Returns the
/// number of changed rows.
pub(super) fn write(
    connection: &Connection,
    sql: &str,
    table: &str,
    cells: &[Cell<'_>],
) -> Result<usize, StoreError> {
    let checksum = Cell::Integer(checksum(table, cells.iter().map(Cell::as_ref)));
    let mut statement = connection.prepare_cached(sql).map_err(store_error)?;
    let written = statement.execute(params_from_iter(cells.iter().chain([&checksum])));
    written.map_err(store_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_execution_of_an_earlier_version_keeps_its_checksum() {
        let sum = |cells: &[Cell<'_>]| checksum("executions", cells.iter().map(Cell::as_ref));
        let before = vec![Cell::Null; EXECUTION_CELLS];
        let now = vec![Cell::Null; EXECUTION_CELLS + 10];
        assert_eq!(sum(&before), sum(&now));
        let mut sums = vec![sum(&now)];
        for index in EXECUTION_CELLS..now.len() {
            let mut other = now.clone();
            other[index] = 1_u64.into();
            sums.push(sum(&other));
        }
        sums.sort_unstable();
        sums.dedup();
        assert_eq!(sums.len(), 11);
    }

    #[test]
    fn rows_that_differ_have_checksums_that_differ() {
        let rows: [&[Cell<'static>]; 9] = [
            &["ab".into(), "c".into()],
            &["a".into(), "bc".into()],
            &["abc".into(), Cell::Null],
            &[Cell::Null, "abc".into()],
            &["abc".into(), "".into()],
            &[0_u64.into(), Cell::Null],
            &[Cell::Null, 0_u64.into()],
            &[1_u64.into(), 0_u64.into()],
            &[0_u64.into(), 1_u64.into()],
        ];
        let of = |table, row: &[Cell<'_>]| checksum(table, row.iter().map(Cell::as_ref));
        let mut sums: Vec<i64> = rows.iter().map(|row| of("records", row)).collect();
        sums.push(of("pauses", rows[0]));
        let count = sums.len();
        sums.sort_unstable();
        sums.dedup();
        assert_eq!(sums.len(), count);
    }
}
