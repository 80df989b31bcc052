//! Reads whole files: only regular ones, and up to a limit.
//!
//! A path on the command line can name anything. A pipe may never end, a device has no end, and a
//! file can grow while it is read.

use std::fs::{self, File, FileType};
use std::io::{self, Read};
use std::path::Path;

use crate::error::LARGEST_TEXT;
use crate::{Error, document};

/// The maximum size of any other file, in bytes. Programs with all their debug information are
/// smaller.
const LARGEST_BINARY: u64 = 4 << 30;

/// Reads a file as bytes.
///
/// # Errors
///
/// The file cannot be read, is not a regular file, or is too large.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, Error> {
    let failed = |source| Error::Read {
        path: path.to_owned(),
        source,
    };
    // Before the file is opened, because opening a pipe waits for a writer.
    let about = fs::metadata(path).map_err(failed)?;
    if let Some(what) = unreadable(about.file_type()) {
        let path = path.to_owned();
        return Err(Error::NotAFile { path, what });
    }
    let too_large = |limit| Error::TooLarge {
        place: path.display().to_string(),
        limit,
    };
    if about.len() > LARGEST_BINARY {
        return Err(too_large(LARGEST_BINARY));
    }
    let file = File::open(path).map_err(failed)?;
    let is_text = |bytes: &[u8]| document::format(path, bytes).is_some();
    let limited = limited(file, (LARGEST_TEXT, LARGEST_BINARY), is_text).map_err(failed)?;
    limited.map_err(too_large)
}

/// Reads a file as text.
///
/// # Errors
///
/// Errors of [`bytes`], or the file is not UTF-8.
pub(crate) fn text(path: &Path) -> Result<String, Error> {
    utf8(path, bytes(path)?)
}

/// Turns the bytes of a file into text.
///
/// # Errors
///
/// They are not UTF-8.
pub(crate) fn utf8(path: &Path, bytes: Vec<u8>) -> Result<String, Error> {
    String::from_utf8(bytes).map_err(|error| Error::Read {
        path: path.to_owned(),
        source: io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()),
    })
}

/// Describes something that is not a regular file. `None` for a regular one.
fn unreadable(kind: FileType) -> Option<&'static str> {
    if kind.is_file() {
        return None;
    }
    if kind.is_dir() {
        return Some("a folder");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if kind.is_fifo() {
            return Some("a pipe");
        }
        if kind.is_socket() {
            return Some("a socket");
        }
        if kind.is_char_device() || kind.is_block_device() {
            return Some("a device");
        }
    }
    Some("not a regular file")
}

/// Reads to the end, unless the file exceeds its limit: the first one for flow documents, the
/// second one for other files. Then returns the limit, after reading at most one byte more.
fn limited(
    mut file: impl Read,
    (text, other): (u64, u64),
    is_text: impl Fn(&[u8]) -> bool,
) -> io::Result<Result<Vec<u8>, u64>> {
    let mut bytes = Vec::new();
    let mut limit = text;
    loop {
        let room = limit + 1 - bytes.len() as u64;
        (&mut file).take(room).read_to_end(&mut bytes)?;
        if bytes.len() as u64 <= limit {
            return Ok(Ok(bytes));
        }
        if limit == other || is_text(&bytes) {
            return Ok(Err(limit));
        }
        limit = other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that has as many bytes as requested, and counts them.
    struct Endless(u64);

    impl Read for &mut Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            buffer.fill(b'x');
            self.0 += buffer.len() as u64;
            Ok(buffer.len())
        }
    }

    #[test]
    fn what_has_no_end_is_read_up_to_the_limit() {
        let mut endless = Endless(0);
        let read = limited(&mut endless, (1000, 5000), |_| false).expect("bytes");
        assert_eq!((read, endless.0), (Err(5000), 5001));
        let mut endless = Endless(0);
        let read = limited(&mut endless, (1000, 5000), |_| true).expect("bytes");
        assert_eq!((read, endless.0), (Err(1000), 1001));
    }

    #[test]
    fn the_limit_itself_is_not_too_much() {
        let read = |bytes: &[u8], is_text| limited(bytes, (4, 6), |_| is_text).expect("bytes");
        assert_eq!(read(b"1234", true), Ok(b"1234".to_vec()));
        assert_eq!(read(b"12345", true), Err(4));
        assert_eq!(read(b"123456", false), Ok(b"123456".to_vec()));
        assert_eq!(read(b"1234567", false), Err(6));
        assert_eq!(read(b"", true), Ok(Vec::new()));
    }
}
