//! WebAssembly: custom sections of a module, or of the modules in a component.

use wasmparser::{Parser, Payload};

use super::{Fault, Part, Reader, SECTION};

impl<'a> Reader<'a> {
    pub(super) fn wasm(&mut self, part: Part<'a>) -> Result<(), Fault> {
        let mut has_custom_sections = false;
        for payload in Parser::new(0).parse_all(part.bytes) {
            let payload = payload.map_err(|error| {
                Fault::Damaged(format!("{} at byte {}", error.message(), error.offset()))
            })?;
            let Payload::CustomSection(section) = payload else {
                continue;
            };
            has_custom_sections = true;
            if section.name() == SECTION {
                self.section(Part {
                    bytes: section.data(),
                    at: part.at.saturating_add(section.data_offset()),
                })?;
            }
        }
        self.count(has_custom_sections);
        Ok(())
    }
}
