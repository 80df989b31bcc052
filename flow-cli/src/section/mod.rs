//! Reads the flows in a built file, without running it.
//!
//! `flow!` puts a record of each flow into a separate section, which linkers keep and `strip` does
//! not remove. A file may be of any kind and in any state. Whatever its bytes claim, nothing
//! outside it is read, no length in it decides how much is allocated, and its size bounds the work.

mod archive;
mod fault;
mod kind;
mod object;
mod part;
mod record;
mod wasm;

pub use fault::{Fault, LAYOUT, SectionError};
pub use record::{MAGIC, Record};

use kind::Kind;
use part::Part;

/// The name of the section in ELF, in PE, in object files and in WebAssembly.
pub const SECTION: &str = "flowspec";

/// The name of the section in Mach-O, in the segment `__DATA`.
pub const MACHO_SECTION: &str = "__flowspec";

/// The maximum nesting: a library for several processors contains archives, which contain objects.
const DEEPEST: usize = 3;

/// The contents of a file.
#[derive(Debug, Default)]
pub struct Contents<'a> {
    /// Its records, in the order in which they occur.
    pub records: Vec<Record<'a>>,
    /// The reason if it has none.
    pub absence: Absence,
}

/// The reason why a file may have no records.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Absence {
    /// It has sections, but none for flows.
    #[default]
    NoSection,
    /// It has no sections at all.
    Stripped,
    /// It has code that is not fully compiled: LLVM bitcode.
    Bitcode,
    /// It is an archive that contains the names of files instead of files.
    ThinArchive,
}

/// Reads the records of a file, given its bytes: an executable, a library, an object or a
/// WebAssembly module.
///
/// # Errors
///
/// The file is of none of these kinds, is truncated or damaged, or has a record that is invalid or
/// newer than [`LAYOUT`].
///
/// # Examples
///
/// ```
/// use flow_cli::section::{Fault, read};
///
/// let error = read(b"#!/bin/sh\n").unwrap_err();
/// assert!(matches!(error.fault, Fault::NotBinary(_)));
/// ```
pub fn read(file: &[u8]) -> Result<Contents<'_>, SectionError> {
    let mut reader = Reader {
        contents: Contents::default(),
        objects: 0,
        stripped: 0,
        budget: (file.len() as u64).saturating_mul(DEEPEST as u64 + 2),
    };
    reader.part(Part { bytes: file, at: 0 }, DEEPEST)?;
    if reader.objects > 0 && reader.objects == reader.stripped {
        reader.contents.absence = Absence::Stripped;
    }
    Ok(reader.contents)
}

struct Reader<'a> {
    contents: Contents<'a>,
    objects: usize,
    stripped: usize,
    /// The bytes that may still be read: each byte of the file once per level. Without this limit,
    /// overlapping parts would make a small file a lot of work.
    budget: u64,
}

impl<'a> Reader<'a> {
    fn part(&mut self, part: Part<'a>, depth: usize) -> Result<(), SectionError> {
        let kind = kind::of(part.bytes)?;
        self.spend(part.bytes.len() as u64)?;
        match kind {
            Kind::Object => self.object(part)?,
            Kind::Wasm => self.wasm(part)?,
            Kind::Bitcode => self.contents.absence = Absence::Bitcode,
            Kind::ImportStub => {}
            Kind::Archive | Kind::Universal if depth == 0 => {
                return Err(Fault::Damaged("it contains itself".to_owned()).into());
            }
            Kind::Archive => self.archive(part, depth)?,
            Kind::Universal => self.universal(part, depth)?,
        }
        Ok(())
    }

    /// Counts a file whose sections are known.
    fn count(&mut self, has_sections: bool) {
        self.objects += 1;
        self.stripped += usize::from(!has_sections);
    }

    /// Counts this many bytes as read.
    fn spend(&mut self, bytes: u64) -> Result<(), Fault> {
        self.budget = self
            .budget
            .checked_sub(bytes)
            .ok_or_else(|| Fault::Damaged("parts of it overlap".to_owned()))?;
        Ok(())
    }

    /// Reads the content of a section.
    fn section(&mut self, part: Part<'a>) -> Result<(), Fault> {
        self.spend(part.bytes.len() as u64)?;
        record::read(part, &mut self.contents.records)
    }
}
