//! Changes to the folder. A file is written whole, beside the old one, and then takes its name.

use std::io::{self, Write as _};
use std::path::Path;

use cap_std::fs::{Dir, Metadata};
use cap_tempfile::TempFile;

use super::super::text::counted;
use super::error::{FileError, beginning};
use super::path::FolderPath;
use super::root::{Limits, Root, wrong_kind};

/// Writes a file atomically: afterwards it is complete, or as it was before.
pub(super) fn write(
    root: &Root,
    limits: Limits,
    path: &str,
    content: &str,
) -> Result<String, FileError> {
    let path = FolderPath::read_below(path)?;
    let is_new = replace(root, limits, &path, content)?;
    let size = counted(content.len() as u64, "byte", "bytes");
    let what = if is_new {
        "which is new"
    } else {
        "in place of what it was"
    };
    Ok(format!("wrote {size} to {}, {what}", path.as_text()))
}

/// Replaces a text that is in a file exactly once.
pub(super) fn edit(
    root: &Root,
    limits: Limits,
    path: &str,
    old: &str,
    new: &str,
) -> Result<String, FileError> {
    let path = FolderPath::read_below(path)?;
    let name = path.as_text();
    let refuse = |reason: &str| FileError::Edit {
        path: beginning(&name),
        reason: reason.to_owned(),
    };
    if old.is_empty() {
        return Err(refuse("`old_string` is empty"));
    }
    if old == new {
        return Err(refuse("`new_string` is the same as `old_string`"));
    }
    let file = root.read(&path, limits.file_bytes)?;
    if file.left() > 0 {
        let (bytes, most) = (file.size, limits.file_bytes);
        let path = beginning(&name);
        return Err(FileError::TooLarge { path, bytes, most });
    }
    let bytes = file.size;
    let binary = || FileError::Binary {
        path: beginning(&name),
        bytes,
    };
    let text = file.text().ok_or_else(binary)?;
    let changed = changed(text, old, new).map_err(refuse)?;
    replace(root, limits, &path, &changed)?;
    Ok(format!("replaced the text in {name}"))
}

/// The text with one part replaced, or the reason why it is not. The time is linear in the text,
/// since other changes wait for it.
fn changed(text: &str, old: &str, new: &str) -> Result<String, &'static str> {
    let Some((before, after)) = text.split_once(old) else {
        if text.contains("\r\n") && old.contains('\n') && !old.contains('\r') {
            return Err("`old_string` does not occur; the lines of the file end with \\r\\n");
        }
        return Err("`old_string` does not occur");
    };
    // Occurrences may overlap.
    let mut behind_first = text[before.len()..].chars();
    behind_first.next();
    if behind_first.as_str().contains(old) {
        return Err("`old_string` occurs more than once; give more of the text around it");
    }
    Ok([before, new, after].concat())
}

/// Makes a folder, and its missing parents.
pub(super) fn make_folder(root: &Root, path: &str) -> Result<String, FileError> {
    let path = FolderPath::read_below(path)?;
    let name = path.as_text();
    let failed = |source| FileError::of(&name, "made", source);
    match root.dir.metadata(path.to_path()) {
        Ok(found) if found.is_dir() => return Ok(format!("the folder {name} is there already")),
        Ok(found) => return Err(wrong_kind(&name, found.file_type(), "a folder")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    root.dir.create_dir_all(path.to_path()).map_err(failed)?;
    Ok(format!("made the folder {name}"))
}

/// Removes a file, a link or a folder. The target of a link stays.
pub(super) fn remove(root: &Root, path: &str, is_recursive: bool) -> Result<String, FileError> {
    let path = FolderPath::read_below(path)?;
    let name = path.as_text();
    let failed = |source: io::Error| {
        if source.kind() == io::ErrorKind::DirectoryNotEmpty {
            return FileError::NotEmpty {
                path: beginning(&name),
            };
        }
        FileError::of(&name, "removed", source)
    };
    let at = path.to_path();
    let found = root.dir.symlink_metadata(&at).map_err(failed)?;
    if !found.is_dir() {
        root.dir.remove_file(&at).map_err(failed)?;
        return Ok(format!("removed {name}"));
    }
    if is_recursive {
        root.dir.remove_dir_all(&at).map_err(failed)?;
        return Ok(format!("removed the folder {name} and all that was in it"));
    }
    root.dir.remove_dir(&at).map_err(failed)?;
    Ok(format!("removed the empty folder {name}"))
}

/// Writes a file with this content. Returns true if it is new.
fn replace(
    root: &Root,
    limits: Limits,
    path: &FolderPath,
    content: &str,
) -> Result<bool, FileError> {
    let name = path.as_text();
    let (bytes, most) = (content.len() as u64, limits.file_bytes);
    if bytes > most {
        let path = beginning(&name);
        return Err(FileError::TooLarge { path, bytes, most });
    }
    let failed = |source| FileError::of(&name, "written", source);
    let mut at = path.to_path();
    // A link stays as it is, and its target is written.
    let is_link = root
        .dir
        .symlink_metadata(&at)
        .is_ok_and(|found| found.is_symlink());
    if is_link {
        at = root.dir.canonicalize(&at).map_err(failed)?;
    }
    let (Some(parent), Some(file_name)) = (at.parent(), at.file_name()) else {
        let (path, found, wanted) = (beginning(&name), "a link to the folder", "a file");
        return Err(FileError::Kind {
            path,
            found,
            wanted,
        });
    };
    let folder = open_or_make(root, parent).map_err(failed)?;
    let old = match folder.symlink_metadata(file_name) {
        Ok(found) if !found.is_file() => {
            return Err(wrong_kind(&name, found.file_type(), "a file"));
        }
        Ok(found) if found.permissions().readonly() => {
            let path = beginning(&name);
            return Err(FileError::ReadOnly { path });
        }
        Ok(found) => Some(found),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error)),
    };
    put(&folder, file_name, content, old.as_ref()).map_err(failed)?;
    Ok(old.is_none())
}

/// Opens a folder, which is made if it does not exist.
fn open_or_make(root: &Root, path: &Path) -> io::Result<Dir> {
    if path.as_os_str().is_empty() {
        return root.dir.try_clone();
    }
    match root.dir.open_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            root.dir.create_dir_all(path)?;
            root.dir.open_dir(path)
        }
        opened => opened,
    }
}

fn put(
    folder: &Dir,
    name: &std::ffi::OsStr,
    content: &str,
    old: Option<&Metadata>,
) -> io::Result<()> {
    let mut file = TempFile::new(folder)?;
    file.write_all(content.as_bytes())?;
    if let Some(old) = old {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.as_file().sync_all()?;
    file.replace(name)
}
