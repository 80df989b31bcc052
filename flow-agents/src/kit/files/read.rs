//! The lines of a text file.

use super::super::text::{counted, grouped};
use super::error::{FileError, beginning};
use super::path::FolderPath;
use super::root::{Beginning, Limits, Root};

/// Up to `limit` lines of a file, from line `offset`, which is counted from 1.
pub(super) fn read(
    root: &Root,
    limits: Limits,
    path: &str,
    offset: Option<u32>,
    limit: Option<u32>,
) -> Result<String, FileError> {
    let path = FolderPath::read_below(path)?;
    for (argument, value) in [("offset", offset), ("limit", limit)] {
        if value == Some(0) {
            return Err(FileError::Zero { argument });
        }
    }
    let file = root.read(&path, limits.file_bytes)?;
    let text = file.text().ok_or_else(|| FileError::Binary {
        path: beginning(&path.as_text()),
        bytes: file.size,
    })?;
    let first = offset.map_or(0, |offset| offset as usize - 1);
    let most = limit.map_or(usize::MAX, |limit| limit as usize);
    Ok(part(&file, text, limits.result_characters, first, most))
}

fn part(file: &Beginning, text: &str, room: usize, first: usize, most: usize) -> String {
    let lines = text.split_inclusive('\n');
    let count = lines.clone().count();
    let mut shown = String::new();
    let mut left = room;
    let mut next = first;
    let mut cut = 0; // characters of a line that is too long
    for line in lines.skip(first).take(most) {
        let characters = line.chars().count();
        if characters <= left {
            shown.push_str(line);
        } else if next == first {
            shown.extend(line.chars().take(left));
            cut = characters - left;
        } else {
            break;
        }
        left = left.saturating_sub(characters);
        next += 1;
    }
    let mut notes = Vec::new();
    if cut > 0 {
        let what = counted(cut as u64, "more character", "more characters");
        notes.push(format!(
            "{what} of line {}, which cannot be read: the line is too long",
            grouped(next as u64)
        ));
    }
    if count == 0 && file.left() == 0 {
        notes.push("the file is empty".to_owned());
    } else if first >= count {
        let what = counted(count as u64, "line", "lines");
        notes.push(format!(
            "there is no line {}; the file has {what}",
            grouped(first as u64 + 1)
        ));
    } else if next < count {
        let what = counted((count - next) as u64, "more line", "more lines");
        notes.push(format!("{what}; read on with offset {}", next + 1));
    }
    if file.left() > 0 {
        let what = counted(file.left(), "more byte", "more bytes");
        notes.push(format!(
            "{what}, which cannot be read: the file is too large"
        ));
    }
    for note in notes {
        if !shown.is_empty() && !shown.ends_with('\n') {
            shown.push('\n');
        }
        shown.push_str(&format!("… {note}"));
    }
    shown
}
