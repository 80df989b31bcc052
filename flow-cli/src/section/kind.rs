//! The kind of a file, by its first bytes.

use object::read::FileKind;

use super::fault::Fault;

/// The kinds of files that contain flows, or that may be next to files that do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// ELF, Mach-O, PE or COFF: an executable, a shared library or an object.
    Object,
    /// A WebAssembly module or component.
    Wasm,
    /// A static library: objects in an archive.
    Archive,
    /// Mach-O for several processors.
    Universal,
    /// The input of link-time optimisation, in place of objects.
    Bitcode,
    /// A member of a Windows import library, which only names a function of another file.
    ImportStub,
}

/// Returns the kind of a file with these bytes.
///
/// # Errors
///
/// The file is not one of these, or is too short to tell.
pub(super) fn of(bytes: &[u8]) -> Result<Kind, Fault> {
    if bytes.starts_with(b"\0asm") {
        return Ok(Kind::Wasm);
    }
    if bytes.starts_with(b"BC\xc0\xde") || bytes.starts_with(&[0xde, 0xc0, 0x17, 0x0b]) {
        return Ok(Kind::Bitcode);
    }
    if bytes.starts_with(b"!<arch>\n") || bytes.starts_with(b"!<thin>\n") {
        return Ok(Kind::Archive);
    }
    match FileKind::parse(bytes) {
        Ok(FileKind::MachOFat32 | FileKind::MachOFat64) => Ok(Kind::Universal),
        Ok(FileKind::CoffImport) => Ok(Kind::ImportStub),
        Ok(FileKind::DyldCache) => Err(Fault::NotBinary("a cache of the system's libraries")),
        Ok(_) => Ok(Kind::Object),
        Err(error) if BINARY.iter().any(|start| bytes.starts_with(start)) => {
            Err(Fault::Damaged(error.to_string()))
        }
        Err(_) => Err(Fault::NotBinary(instead(bytes))),
    }
}

/// The magic bytes of ELF and Mach-O.
const BINARY: [&[u8]; 7] = [
    b"\x7fELF",
    b"\xfe\xed\xfa\xce",
    b"\xce\xfa\xed\xfe",
    b"\xfe\xed\xfa\xcf",
    b"\xcf\xfa\xed\xfe",
    b"\xca\xfe\xba\xbe",
    b"\xca\xfe\xba\xbf",
];

/// Describes a file that is not a binary, to help see which file was meant.
fn instead(bytes: &[u8]) -> &'static str {
    const KNOWN: [(&[u8], &str); 10] = [
        (b"#!", "a script"),
        (
            b"MZ",
            "a program for DOS, or the beginning of one for Windows",
        ),
        (b"PK\x03\x04", "a zip archive"),
        (b"\x1f\x8b", "a gzip archive"),
        (b"\xfd7zXZ", "an xz archive"),
        (b"(\xb5/\xfd", "a zstd archive"),
        (b"\x89PNG", "a picture"),
        (b"%PDF", "a PDF"),
        (b"<", "HTML, XML or SVG"),
        (b"Microsoft C/C++ ", "debug information"),
    ];
    if bytes.is_empty() {
        return "empty";
    }
    if bytes.iter().all(|byte| *byte == 0) {
        return "nothing but zero bytes";
    }
    let known = KNOWN.iter().find(|(start, _)| bytes.starts_with(start));
    if let Some((_, what)) = known {
        return what;
    }
    let start = &bytes[..bytes.len().min(4096)];
    let text = match std::str::from_utf8(start) {
        Ok(_) => true,
        // A character that is cut off at the end is not an error.
        Err(error) => error.error_len().is_none(),
    };
    if text && !start.contains(&0) {
        "text"
    } else {
        "of a kind that is not known"
    }
}
