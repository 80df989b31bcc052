//! Lists one folder, and finds the paths that match a pattern.

use globset::{GlobBuilder, GlobMatcher};

use super::super::text::{counted, grouped};
use super::error::{FileError, beginning};
use super::lines::Lines;
use super::path::FolderPath;
use super::root::{Limits, Root, wrong_kind};
use super::walk::{Entry, entries, walk};

/// The maximum number of entries of a folder that are listed.
const MOST_ENTRIES: u64 = 100_000;
/// The maximum number of characters of a pattern.
const LONGEST_PATTERN: usize = 1_000;

/// The entries of a folder, one a line.
pub(super) fn list(root: &Root, limits: Limits, path: Option<&str>) -> Result<String, FileError> {
    let path = FolderPath::read(path)?;
    is_folder(root, &path)?;
    let text = path.as_text();
    let failed = |source| FileError::of(&text, "listed", source);
    let dir = root.dir.open_dir(path.to_path()).map_err(failed)?;
    let (entries, is_cut) = entries(&dir, MOST_ENTRIES).map_err(failed)?;
    let mut lines = Lines::new(limits.result_characters);
    for entry in &entries {
        let name = visible(&entry.name);
        lines.push(&match () {
            () if entry.is.is_dir() => format!("{name}/"),
            () if entry.is.is_symlink() => format!("{name} (link)"),
            () if entry.is.is_file() => format!("{name} ({})", size(&dir, entry)),
            () => format!("{name} (special file)"),
        });
    }
    let mut notes = more(&lines, ("more entry", "more entries"));
    if is_cut {
        let most = grouped(MOST_ENTRIES);
        notes.push(format!(
            "only {most} entries were looked at, and there are others"
        ));
    }
    Ok(lines.finish("the folder is empty", &notes))
}

fn size(dir: &cap_std::fs::Dir, entry: &Entry) -> String {
    match dir.symlink_metadata(&entry.name) {
        Ok(metadata) => counted(metadata.len(), "byte", "bytes"),
        Err(_) => "size unknown".to_owned(), // it has been removed meanwhile, or its name is not Unicode
    }
}

/// The paths of the files that match a pattern, one a line.
pub(super) fn glob(
    root: &Root,
    limits: Limits,
    pattern: &str,
    path: Option<&str>,
) -> Result<String, FileError> {
    let path = FolderPath::read(path)?;
    is_folder(root, &path)?;
    let pattern = Pattern::read(pattern)?;
    let mut lines = Lines::new(limits.result_characters);
    let left = walk(root, &path, &mut |file, _| {
        if pattern.matches(file.below) {
            lines.push(&visible(file.path));
        }
        true
    })?;
    let mut notes = more(&lines, ("more file", "more files"));
    notes.extend(left.notes());
    Ok(lines.finish("no file matches", &notes))
}

/// A note about the lines that were left out.
fn more(lines: &Lines, (one, many): (&str, &str)) -> Vec<String> {
    let beyond = lines.beyond();
    (beyond > 0)
        .then(|| counted(beyond, one, many))
        .into_iter()
        .collect()
}

/// A pattern of files. A pattern without `/` matches names in all folders.
pub(super) struct Pattern {
    matcher: GlobMatcher,
    is_of_names: bool,
}

impl Pattern {
    pub(super) fn read(pattern: &str) -> Result<Pattern, FileError> {
        is_short(pattern)?;
        let is_of_names = !pattern.contains('/');
        let glob = GlobBuilder::new(pattern)
            .literal_separator(true)
            .backslash_escape(true)
            .build();
        let glob = glob.map_err(|error| FileError::Pattern {
            pattern: beginning(pattern),
            reason: error.kind().to_string(),
        })?;
        let matcher = glob.compile_matcher();
        Ok(Pattern {
            matcher,
            is_of_names,
        })
    }

    pub(super) fn matches(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.matcher
            .is_match(if self.is_of_names { name } else { path })
    }
}

pub(super) fn is_short(pattern: &str) -> Result<(), FileError> {
    if pattern.chars().nth(LONGEST_PATTERN).is_none() {
        return Ok(());
    }
    let reason = format!("it is longer than {LONGEST_PATTERN} characters");
    let pattern = beginning(pattern);
    Err(FileError::Pattern { pattern, reason })
}

pub(super) fn is_folder(root: &Root, path: &FolderPath) -> Result<(), FileError> {
    let text = path.as_text();
    let found = root.dir.metadata(path.to_path());
    let found = found
        .map_err(|source| FileError::of(&text, "read", source))?
        .file_type();
    if found.is_dir() {
        return Ok(());
    }
    Err(wrong_kind(&text, found, "a folder"))
}

/// A name or a path on one line, with control characters escaped.
pub(super) fn visible(name: &str) -> String {
    if !name.chars().any(char::is_control) {
        return name.to_owned();
    }
    name.chars()
        .flat_map(|character| {
            let escaped = character.is_control().then(|| character.escape_default());
            let plain = (!character.is_control()).then_some(character);
            escaped.into_iter().flatten().chain(plain)
        })
        .collect()
}
