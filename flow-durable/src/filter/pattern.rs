//! Patterns of paths, such as `research.agent.*`.

use std::fmt;
use std::str::FromStr;

use flow_runtime::engine::NodePath;

/// A pattern of the paths of nodes, such as `research.agent.*`.
///
/// A path consists of segments separated by dots. In a pattern, `*` stands for one segment and `**`
/// for one or more, at any position; the pattern `*` alone matches every path. Anything else stands
/// for itself.
///
/// The index of an item belongs to its segment: `report.summaries` and `report.*` match
/// `report.summaries[3]`, and `report.summaries[3]` matches no other item.
///
/// # Examples
///
/// ```
/// use flow_durable::Pattern;
///
/// # fn main() -> Result<(), flow_durable::InvalidPattern> {
/// let pattern: Pattern = "research.agent.*".parse()?;
/// assert!(pattern.matches("research.agent.search"));
/// assert!(!pattern.matches("research.agent"));
/// assert!(!pattern.matches("research.agent.search.fetch"));
///
/// let below: Pattern = "research.**".parse()?;
/// assert!(below.matches("research.agent.search.fetch"));
///
/// let error = "research..search".parse::<Pattern>().unwrap_err();
/// assert_eq!(error.to_string(), "`research..search` is not a pattern of paths: segment 2 is empty");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// A segment with this name. Without an item it stands for all items.
    Named { name: String, item: Option<u32> },
    /// One segment.
    Any,
    /// Any number of segments, including none.
    Rest,
}

/// A text that is not a valid [`Pattern`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidPattern {
    pattern: String,
    segment: usize,
    problem: Problem,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Problem {
    NoSegments,
    Empty,
    PartialStar,
    Index,
    Character(char),
}

impl InvalidPattern {
    /// The text.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// The number of the segment that is wrong, from 1.
    pub fn segment(&self) -> usize {
        self.segment
    }
}

impl fmt::Display for InvalidPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let segment = self.segment;
        write!(f, "`{}` is not a pattern of paths: ", self.pattern)?;
        match self.problem {
            Problem::NoSegments => f.write_str("it is empty; `*` matches every path"),
            Problem::Empty => write!(f, "segment {segment} is empty"),
            Problem::PartialStar => write!(
                f,
                "in segment {segment}, `*` is only a part; it stands for a whole segment, and `**` for one or more"
            ),
            Problem::Index => write!(
                f,
                "in segment {segment}, the index of an item is to be a number in brackets after a name, as in \
                 `summaries[3]`"
            ),
            Problem::Character(' ') => write!(f, "segment {segment} has a space in it"),
            Problem::Character(character) => {
                write!(f, "segment {segment} has {character:?} in it")
            }
        }
    }
}

impl std::error::Error for InvalidPattern {}

impl FromStr for Pattern {
    type Err = InvalidPattern;

    fn from_str(text: &str) -> Result<Self, InvalidPattern> {
        let invalid = |segment: usize, problem: Problem| InvalidPattern {
            pattern: text.to_owned(),
            segment: segment + 1,
            problem,
        };
        if text.is_empty() {
            return Err(invalid(0, Problem::NoSegments));
        }
        let mut parts = Vec::new();
        for (index, segment) in text.split('.').enumerate() {
            match segment {
                "**" => parts.extend([Part::Any, Part::Rest]),
                "*" => parts.push(Part::Any),
                segment => parts.push(named(segment).map_err(|problem| invalid(index, problem))?),
            }
        }
        if text == "*" {
            parts.push(Part::Rest);
        }
        Ok(Pattern {
            text: text.to_owned(),
            parts,
        })
    }
}

fn named(segment: &str) -> Result<Part, Problem> {
    let foreign = |letter: &char| letter.is_whitespace() || letter.is_control() || *letter == '`';
    if segment.is_empty() {
        return Err(Problem::Empty);
    }
    if segment.contains('*') {
        return Err(Problem::PartialStar);
    }
    if let Some(letter) = segment.chars().find(foreign) {
        return Err(Problem::Character(letter));
    }
    let Some((name, index)) = segment.split_once('[') else {
        return if segment.contains(']') {
            Err(Problem::Index)
        } else {
            Ok(Part::Named {
                name: segment.to_owned(),
                item: None,
            })
        };
    };
    let index = index.strip_suffix(']').ok_or(Problem::Index)?;
    let digits = index.bytes().all(|byte| byte.is_ascii_digit());
    match index.parse() {
        Ok(item) if digits && !name.is_empty() => Ok(Part::Named {
            name: name.to_owned(),
            item: Some(item),
        }),
        _ => Err(Problem::Index),
    }
}

impl Part {
    fn matches(&self, segment: NodePath<'_>) -> bool {
        match self {
            Part::Any => true,
            Part::Rest => false,
            Part::Named { name, item } => {
                segment.node() == name && (item.is_none() || *item == segment.item())
            }
        }
    }
}

impl Pattern {
    /// Returns true if the pattern matches this path.
    pub fn matches(&self, path: &str) -> bool {
        let segments: Vec<NodePath<'_>> = NodePath::new(path).segments().collect();
        if segments.contains(&NodePath::new("")) {
            return false;
        }
        let (mut part, mut segment) = (0, 0);
        // The part after the last `Rest`, and the first segment that is not part of it: the place
        // to retry from.
        let mut again = None;
        while segment < segments.len() {
            match self.parts.get(part) {
                Some(Part::Rest) => {
                    part += 1;
                    again = Some((part, segment));
                }
                Some(one) if one.matches(segments[segment]) => {
                    part += 1;
                    segment += 1;
                }
                _ => {
                    let Some((after, from)) = again else {
                        return false;
                    };
                    (part, segment) = (after, from + 1);
                    again = Some((part, segment));
                }
            }
        }
        self.parts[part..].iter().all(|part| *part == Part::Rest)
    }
}

/// The pattern as it was written.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Pattern {
        text.parse().unwrap()
    }

    /// The definition, written as directly as possible.
    fn defined(pattern: &[&str], path: &[&str]) -> bool {
        match (pattern, path) {
            ([], []) => true,
            (["**", rest @ ..], [_, segments @ ..]) => {
                defined(rest, segments) || defined(pattern, segments)
            }
            (["*", rest @ ..], [_, segments @ ..]) => defined(rest, segments),
            ([name, rest @ ..], [segment, segments @ ..]) => {
                let item_of = segment
                    .strip_prefix(name)
                    .is_some_and(|it| it.starts_with('['));
                (name == segment || item_of) && defined(rest, segments)
            }
            _ => false,
        }
    }

    /// All texts of at most this many of these segments.
    fn texts(segments: &'static [&'static str], longest: usize) -> Vec<Vec<&'static str>> {
        let mut all: Vec<Vec<&str>> = vec![Vec::new()];
        let mut from = 0;
        for _ in 0..longest {
            let until = all.len();
            for index in from..until {
                for segment in segments {
                    let longer = [all[index].as_slice(), &[*segment]].concat();
                    all.push(longer);
                }
            }
            from = until;
        }
        all.remove(0);
        all
    }

    #[test]
    fn every_short_pattern_matches_as_defined() {
        let paths = texts(&["a", "b[0]", "b[1]"], 5);
        let mut matched = 0;
        for parts in texts(&["a", "b", "b[0]", "*", "**"], 4) {
            let pattern = pattern(&parts.join("."));
            for path in &paths {
                let expected = parts == ["*"] || defined(&parts, path);
                assert_eq!(
                    pattern.matches(&path.join(".")),
                    expected,
                    "{pattern} and {path:?}"
                );
                matched += usize::from(expected);
            }
        }
        assert!(matched > 1000);
        assert!(pattern("b").matches("b"));
        assert!(!pattern("b[0]").matches("b"));
        assert_eq!(pattern("a.**.b[0]").to_string(), "a.**.b[0]");
    }

    /// BK-07, with D-22: hyphens are letters like any other, and `*` is one segment at any
    /// position.
    #[test]
    fn a_star_is_one_segment_anywhere() {
        let paths = ["app.v1.chat", "app.v1.search", "app.v2.chat", "legacy.chat"];
        let matched = |text: &str| -> Vec<&str> {
            let pattern = pattern(text);
            paths
                .into_iter()
                .filter(|path| pattern.matches(path))
                .collect()
        };
        assert!(matched("app.*").is_empty());
        assert_eq!(matched("*.chat"), ["legacy.chat"]);
        assert_eq!(matched("*.v1.*"), ["app.v1.chat", "app.v1.search"]);
        assert_eq!(matched("app.v2.chat"), ["app.v2.chat"]);
        assert_eq!(
            matched("**.chat"),
            ["app.v1.chat", "app.v2.chat", "legacy.chat"]
        );
        assert_eq!(matched("*"), paths);
        assert!(pattern("sales-2024.*").matches("sales-2024.chat"));
        assert!(!pattern("a.*").matches("a."));
    }

    #[test]
    fn what_is_no_pattern_is_refused_with_what_and_where() {
        let refused = |text: &str| {
            let error = text.parse::<Pattern>().unwrap_err();
            (error.segment(), error.problem)
        };
        assert_eq!(refused(""), (1, Problem::NoSegments));
        assert_eq!(refused("a."), (2, Problem::Empty));
        assert_eq!(refused("a.pay*"), (2, Problem::PartialStar));
        assert_eq!(refused("a.***.b"), (2, Problem::PartialStar));
        assert_eq!(refused("*[1]"), (1, Problem::PartialStar));
        for text in [
            "a[",
            "a[]",
            "a[x]",
            "a[+1]",
            "a[1",
            "a1]",
            "a[1]x",
            "[1]",
            "a[1][2]",
            "a[99999999999]",
        ] {
            assert_eq!(refused(text), (1, Problem::Index), "{text}");
        }
        for letter in [' ', '\u{7}', '`'] {
            let text = format!("a.b{letter}c");
            assert_eq!(refused(&text), (2, Problem::Character(letter)), "{text}");
        }
        let error = "a.b`c".parse::<Pattern>().unwrap_err();
        assert_eq!(error.pattern(), "a.b`c");
        assert_eq!(
            error.to_string(),
            "`a.b`c` is not a pattern of paths: segment 2 has '`' in it"
        );
    }
}
