//! A part of a file.

/// A part of the file, and its place in the file.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: u64,
}

impl<'a> Part<'a> {
    /// Returns the part at `offset` in this one, or `None` if it is not completely inside.
    pub(super) fn slice(self, offset: u64, length: u64) -> Option<Part<'a>> {
        let start = usize::try_from(offset).ok()?;
        let end = start.checked_add(usize::try_from(length).ok()?)?;
        let bytes = self.bytes.get(start..end)?;
        let at = self.at.checked_add(offset)?;
        Some(Part { bytes, at })
    }
}
