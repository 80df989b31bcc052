//! Searches for lines that match a regular expression. The time is linear in the text, but it also
//! grows with the pattern, which thus has its own limit.

use std::time::{Duration, Instant};

use regex::{Regex, RegexBuilder};

use super::super::text::{counted, shortened};
use super::error::{FileError, beginning};
use super::lines::{Lines, MOST_LINES};
use super::look::{Pattern, is_short, visible};
use super::path::FolderPath;
use super::root::{Beginning, Limits, Root, beginning_of};
use super::walk::walk;

/// The maximum number of bytes that are searched.
const MOST_BYTES: u64 = 1 << 30;
/// The number of characters of a line that are shown.
const LONGEST_LINE: usize = 500;
/// The number of bytes of a line that are searched.
const LONGEST_SEARCHED: usize = 32 << 10;
/// The maximum size in bytes of a compiled pattern: `\w` alone has 45 kB, and the time of a search
/// grows with it.
const LARGEST_PATTERN: usize = 512 << 10;
/// The number of bytes after which the clock is read.
const BYTES_PER_LOOK: usize = 4 << 10;
/// The maximum number of lines shown around a match.
const MOST_AROUND: usize = 20;

/// A pattern, and the place to search.
pub(super) struct Query {
    pub(super) pattern: String,
    pub(super) path: Option<String>,
    pub(super) glob: Option<String>,
    pub(super) context: Option<u8>,
}

/// The lines that match, with their files and numbers.
pub(super) fn grep(root: &Root, limits: Limits, query: &Query) -> Result<String, FileError> {
    let path = FolderPath::read(query.path.as_deref())?;
    let text = path.as_text();
    let only = query.glob.as_deref().map(Pattern::read).transpose()?;
    let mut search = Search {
        regex: regex(&query.pattern)?,
        around: query
            .context
            .map_or(0, |lines| usize::from(lines).min(MOST_AROUND)),
        lines: Lines::new(limits.result_characters),
        clock: Clock::start(limits.search_time),
        bytes: 0,
        binary: 0,
        cut: 0,
        long: 0,
    };
    let found = root.dir.metadata(path.to_path());
    let found = found.map_err(|source| FileError::of(&text, "read", source))?;
    if !found.is_dir() {
        let file = root.read(&path, limits.file_bytes)?;
        search.file(&text, &file);
        return Ok(search.finish(Vec::new()));
    }
    let mut is_cut = false;
    let left = walk(root, &path, &mut |file, left| {
        if only.as_ref().is_some_and(|only| !only.matches(file.below)) {
            return true;
        }
        if search.clock.is_late() {
            return false;
        }
        if search.bytes >= MOST_BYTES {
            is_cut = true;
            return false;
        }
        match file.open().and_then(|open| {
            open.map(|file| beginning_of(file, limits.file_bytes))
                .transpose()
        }) {
            Ok(Some(content)) => search.file(file.path, &content),
            Ok(None) | Err(_) => left.unreadable(),
        }
        search.lines.beyond() == 0
    })?;
    let mut notes = left.notes();
    if is_cut {
        notes.push("only the first 1 GiB was searched; name a folder in `path`".to_owned());
    }
    Ok(search.finish(notes))
}

fn regex(pattern: &str) -> Result<Regex, FileError> {
    is_short(pattern)?;
    let regex = RegexBuilder::new(pattern)
        .size_limit(LARGEST_PATTERN)
        .dfa_size_limit(1 << 20)
        .build();
    regex.map_err(|error| FileError::Pattern {
        pattern: beginning(pattern),
        reason: match error {
            regex::Error::CompiledTooBig(_) => {
                "it is too large; repeat less in it, such as `.*` in place of `.{1000}`".to_owned()
            }
            error => shortened(&error.to_string(), 1_000),
        },
    })
}

struct Search {
    regex: Regex,
    around: usize,
    lines: Lines,
    clock: Clock,
    bytes: u64,
    binary: u64,
    cut: u64,
    /// The number of lines that were searched only at the beginning, without a match.
    long: u64,
}

impl Search {
    fn file(&mut self, path: &str, file: &Beginning) {
        self.bytes += file.bytes.len() as u64;
        let Some(text) = file.text() else {
            self.binary += 1;
            return;
        };
        self.cut += u64::from(file.left() > 0);
        let matching = self.matching(text);
        if matching.is_empty() {
            return;
        }
        let lines: Vec<&str> = text.lines().collect();
        let mut shown = 0; // how many lines of the file are shown already
        for index in &matching {
            let from = index.saturating_sub(self.around).max(shown);
            let to = (index + self.around + 1).min(lines.len());
            for (number, line) in (from + 1..).zip(&lines[from..to]) {
                let is_match = matching.binary_search(&(number - 1)).is_ok();
                let mark = if is_match { ':' } else { '-' };
                let line = shortened(line, LONGEST_LINE);
                self.lines
                    .push(&format!("{}{mark}{number}{mark}{line}", visible(path)));
            }
            shown = shown.max(to);
            if self.lines.beyond() > 0 {
                return;
            }
        }
    }

    /// The lines that match: as many as can be shown, and one more.
    fn matching(&mut self, text: &str) -> Vec<usize> {
        let mut matching = Vec::new();
        for (index, line) in text.lines().enumerate() {
            if matching.len() > MOST_LINES || self.clock.is_late() {
                break;
            }
            let beginning = &line[..line.floor_char_boundary(LONGEST_SEARCHED)];
            self.clock.searched(beginning.len());
            let is_whole = beginning.len() == line.len();
            // At a cut, `$` may match before the end of the line.
            let end = self.regex.shortest_match(beginning);
            if end.is_some_and(|end| is_whole || end < beginning.len()) {
                matching.push(index);
            } else {
                self.long += u64::from(!is_whole);
            }
        }
        matching
    }

    fn finish(self, mut notes: Vec<String>) -> String {
        if self.lines.beyond() > 0 {
            notes.clear(); // it ended before there was anything else to say
            notes.push("there is more; narrow the pattern, the path or the glob".to_owned());
        }
        if self.clock.is_late {
            notes.push(format!(
                "not all was searched within {:?}; use a simpler pattern, or name a folder in `path`",
                self.clock.most
            ));
        }
        if self.long > 0 {
            let what = counted(self.long, "line was", "lines were");
            notes.push(format!("{what} searched only at the beginning: too long"));
        }
        if self.binary > 0 {
            let what = counted(self.binary, "file was", "files were");
            notes.push(format!("{what} not searched: binary"));
        }
        if self.cut > 0 {
            let what = counted(self.cut, "file was", "files were");
            notes.push(format!("{what} searched only at the beginning: too large"));
        }
        self.lines.finish("no line matches", &notes)
    }
}

/// The time that a search takes, read only now and then.
struct Clock {
    start: Instant,
    most: Duration,
    /// The number of bytes searched since the clock was read.
    bytes: usize,
    is_late: bool,
}

impl Clock {
    fn start(most: Duration) -> Clock {
        Clock {
            start: Instant::now(),
            most,
            bytes: BYTES_PER_LOOK,
            is_late: false,
        }
    }

    fn searched(&mut self, bytes: usize) {
        self.bytes += bytes;
    }

    fn is_late(&mut self) -> bool {
        if self.bytes >= BYTES_PER_LOOK {
            self.bytes = 0;
            self.is_late = self.start.elapsed() >= self.most;
        }
        self.is_late
    }
}
