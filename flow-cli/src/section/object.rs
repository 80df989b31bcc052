//! ELF, Mach-O, PE and COFF, which the crate `object` reads uniformly.

use object::read::macho::{FatArch, MachOFatFile32, MachOFatFile64};
use object::read::{File, FileKind};
use object::{BinaryFormat, Object, ObjectSection};

use super::{Fault, MACHO_SECTION, Part, Reader, SECTION, SectionError};

impl<'a> Reader<'a> {
    pub(super) fn object(&mut self, part: Part<'a>) -> Result<(), Fault> {
        let file = File::parse(part.bytes).map_err(damaged)?;
        let wanted = match file.format() {
            BinaryFormat::MachO => MACHO_SECTION,
            _ => SECTION,
        };
        let mut has_sections = false;
        for section in file.sections() {
            has_sections = true;
            let range = section.file_range();
            let content = range.map(|(offset, length)| part.slice(offset, length));
            if content.is_some_and(|content| content.is_none()) {
                let name = String::from_utf8_lossy(section.name_bytes().unwrap_or_default());
                let (offset, length) = range.unwrap_or_default();
                return Err(Fault::Damaged(format!(
                    "its section `{}` ends at byte {}, and the file at byte {}",
                    name.escape_debug(),
                    offset.saturating_add(length),
                    part.bytes.len()
                )));
            }
            let name = section.name_bytes().map_err(damaged)?;
            self.spend(name.len() as u64)?;
            if name == wanted.as_bytes()
                && let Some(Some(content)) = content
            {
                self.section(content)?;
            }
        }
        self.count(has_sections);
        Ok(())
    }

    /// Reads the file of each processor. They usually contain the same flows.
    pub(super) fn universal(&mut self, part: Part<'a>, depth: usize) -> Result<(), SectionError> {
        let wide = matches!(FileKind::parse(part.bytes), Ok(FileKind::MachOFat64));
        if wide {
            let file = MachOFatFile64::parse(part.bytes).map_err(damaged)?;
            self.slices(part, file.arches(), depth)
        } else {
            let file = MachOFatFile32::parse(part.bytes).map_err(damaged)?;
            self.slices(part, file.arches(), depth)
        }
    }

    fn slices(
        &mut self,
        part: Part<'a>,
        slices: &[impl FatArch],
        depth: usize,
    ) -> Result<(), SectionError> {
        for slice in slices {
            let (offset, length) = slice.file_range();
            let inner = part.slice(offset, length).ok_or_else(|| {
                let end = offset.saturating_add(length);
                let has = part.bytes.len();
                Fault::Damaged(format!(
                    "its part for one processor ends at byte {end}, and the file at byte {has}"
                ))
            })?;
            self.part(inner, depth - 1)?;
        }
        Ok(())
    }
}

pub(super) fn damaged(error: object::read::Error) -> Fault {
    Fault::Damaged(error.to_string())
}
