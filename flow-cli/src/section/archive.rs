//! Static libraries and rlibs: archives whose members are objects, and some that are not.

use object::read::archive::ArchiveFile;

use super::object::damaged;
use super::{Absence, Fault, Part, Reader, SectionError, kind};

impl<'a> Reader<'a> {
    pub(super) fn archive(&mut self, part: Part<'a>, depth: usize) -> Result<(), SectionError> {
        let archive = ArchiveFile::parse(part.bytes).map_err(damaged)?;
        if archive.is_thin() {
            self.contents.absence = Absence::ThinArchive;
            return Ok(());
        }
        for member in archive.members() {
            let member = member.map_err(damaged)?;
            let name = || String::from_utf8_lossy(member.name()).into_owned();
            let (offset, length) = member.file_range();
            let Some(inner) = part.slice(offset, length) else {
                let fault = Fault::Damaged(format!(
                    "it ends at byte {}, and the archive at byte {}",
                    offset.saturating_add(length),
                    part.bytes.len()
                ));
                return Err(SectionError::from(fault).inside(name()));
            };
            // For instance, the compiler's metadata.
            if let Err(Fault::NotBinary(_)) = kind::of(inner.bytes) {
                continue;
            }
            self.part(inner, depth - 1)
                .map_err(|error| error.inside(name()))?;
        }
        Ok(())
    }
}
