//! The flows in a built file, read without running it.
//!
//! `flow!` leaves a record of each flow in a section of its own, which linkers keep and `strip`
//! does not remove. The hard thing is that a file may be of any kind and in any state: whatever its
//! bytes claim, nothing is read outside of it, nothing is allocated by a length that it states, and
//! the work is bounded by its size.

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

/// A library for several processors holds archives, which hold objects.
const DEEPEST: usize = 3;

/// What a file has.
#[derive(Debug, Default)]
pub struct Contents<'a> {
    /// Its records, in the order in which they stand there.
    pub records: Vec<Record<'a>>,
    /// What explains that there are none.
    pub absence: Absence,
}

/// Why a file may have no records.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Absence {
    /// It has sections, and none for flows.
    #[default]
    NoSection,
    /// It has no sections at all.
    Stripped,
    /// It has code that is not compiled to the end: LLVM bitcode.
    Bitcode,
    /// It is an archive that holds the names of files instead of files.
    ThinArchive,
}

/// Reads the records of a file, given its bytes: an executable, a library, an object or a
/// WebAssembly module.
///
/// # Errors
///
/// The file is of none of these kinds, is truncated or damaged, or has a record that is broken or
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
    /// How many bytes may still be looked at: each of the file once at every level. Parts that
    /// overlap would otherwise make a small file a long work.
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

    /// Counts a file of which the sections are known.
    fn count(&mut self, has_sections: bool) {
        self.objects += 1;
        self.stripped += usize::from(!has_sections);
    }

    /// Notes that this many bytes are looked at.
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
