//! Splits Rust source into tokens and comments, each with its place, and pairs the brackets.
//!
//! The tokens of a macro crate are not enough here: they have no comments and no space. Only
//! differences that matter for a layout are kept, so a number such as `1.5` may be several tokens.

/// A part of the source that is not space.
#[derive(Debug, Clone, Copy)]
pub struct Token<'a> {
    /// The kind of token.
    pub kind: Kind,
    /// The text as it is written.
    pub text: &'a str,
    /// The offset of its first byte.
    pub start: usize,
    /// The number of comments before this token, in the whole source.
    comments: usize,
}

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A name, a word of Rust, a number or a lifetime.
    Word,
    /// A literal in quotes.
    Quoted,
    /// A punctuation mark: one character, or one of `>>`, `->`, `<-`, `=>` and `::`.
    Sign,
    /// A bracket that opens.
    Open,
    /// A bracket that closes.
    Close,
    /// A comment, or documentation.
    Comment,
}

/// The reason why source cannot be laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The offset of the wrong token.
    pub at: usize,
    /// The mistake.
    pub message: String,
}

impl Fault {
    pub(super) fn new(at: usize, message: impl Into<String>) -> Self {
        let message = message.into();
        Fault { at, message }
    }
}

/// A source and its tokens.
#[derive(Debug)]
pub struct Source<'a> {
    /// The source.
    pub text: &'a str,
    /// Its tokens, without the comments.
    pub tokens: Vec<Token<'a>>,
    comments: Vec<Token<'a>>,
    /// For each bracket, its partner's index. For other tokens, the token itself.
    partners: Vec<usize>,
}

impl<'a> Source<'a> {
    /// Splits a source into its tokens.
    ///
    /// # Errors
    ///
    /// A literal, a comment or a bracket is not closed.
    pub fn new(text: &'a str) -> Result<Self, Fault> {
        let (mut tokens, mut comments) = (Vec::new(), Vec::new());
        let mut at = beginning(text);
        while let Some(letter) = text[at..].chars().next() {
            if is_space(letter) {
                at += letter.len_utf8();
                continue;
            }
            let (kind, length) = token(&text[at..]).map_err(|message| Fault::new(at, message))?;
            let length = match kind {
                Kind::Quoted => length + suffix(&text[at + length..]),
                _ => length,
            };
            let token = Token {
                kind,
                text: &text[at..at + length],
                start: at,
                comments: comments.len(),
            };
            match kind {
                Kind::Comment => comments.push(token),
                _ => tokens.push(token),
            }
            at += length;
        }
        let partners = partners(&tokens)?;
        Ok(Source {
            text,
            tokens,
            comments,
            partners,
        })
    }

    /// The index of the bracket that belongs to this one, or of the token itself if it is not a
    /// bracket.
    ///
    /// # Panics
    ///
    /// The source has fewer tokens.
    pub fn partner(&self, index: usize) -> usize {
        self.partners[index]
    }

    /// The comments between this token and the one before it.
    pub(super) fn comments_before(&self, index: usize) -> &[Token<'a>] {
        let before = index
            .checked_sub(1)
            .map_or(0, |index| self.tokens[index].comments);
        &self.comments[before..self.tokens[index].comments]
    }

    /// All comments.
    pub fn comments(&self) -> &[Token<'a>] {
        &self.comments
    }

    /// The text between this token and the one before it.
    pub(super) fn text_before(&self, index: usize) -> &'a str {
        let end = |token: &Token<'_>| token.start + token.text.len();
        let before = index
            .checked_sub(1)
            .map_or(0, |index| end(&self.tokens[index]));
        &self.text[before..self.tokens[index].start]
    }

    /// Returns true if an empty line is between this token and the one before it.
    pub(super) fn has_empty_line_before(&self, index: usize) -> bool {
        let comments = self.comments_before(index).iter();
        let mut parts = comments.chain([&self.tokens[index]]);
        parts.any(|part| self.has_empty_line(part))
    }

    /// Returns true if an empty line is directly before a token or a comment.
    pub(super) fn has_empty_line(&self, part: &Token<'_>) -> bool {
        self.space_before(part).matches('\n').count() > 1
    }

    /// Returns true if a comment begins a line. Documentation always does.
    pub(super) fn has_own_line(&self, comment: &Token<'_>) -> bool {
        let is_documentation = comment.text.starts_with("///") || comment.text.starts_with("//!");
        is_documentation || self.space_before(comment).contains('\n')
    }

    /// The space before a token or a comment.
    pub(super) fn space_before(&self, token: &Token<'_>) -> &'a str {
        let before = &self.text[..token.start];
        &before[before.trim_end_matches(is_space).len()..]
    }

    /// The width of the space at the beginning of the token's line. A line that begins inside a
    /// token, such as a literal, does not count as a line.
    pub(super) fn indent_of(&self, token: &Token<'_>) -> usize {
        let mut token = token;
        let mut tokens = &self.tokens[..self
            .tokens
            .partition_point(|other| other.start < token.start)];
        let mut comments = &self.comments[..self
            .comments
            .partition_point(|other| other.start < token.start)];
        loop {
            if let Some((_, indent)) = self.space_before(token).rsplit_once('\n') {
                return width_of_space(indent);
            }
            token = match (tokens.split_last(), comments.split_last()) {
                (Some((last, rest)), comment)
                    if comment.is_none_or(|(comment, _)| comment.start < last.start) =>
                {
                    tokens = rest;
                    last
                }
                (_, Some((last, rest))) => {
                    comments = rest;
                    last
                }
                _ => return width_of_space(self.space_before(token)),
            };
        }
    }
}

/// The width of space. A tab is as wide as four blanks.
pub(super) fn width_of_space(space: &str) -> usize {
    let width = |letter| match letter {
        '\t' => 4,
        _ => 1,
    };
    space.chars().map(width).sum()
}

/// Returns true for the characters that Rust takes for space.
pub(super) fn is_space(letter: char) -> bool {
    matches!(
        letter,
        '\t'..='\r' | ' ' | '\u{85}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}'
    )
}

/// The offset after a byte order mark and a line such as `#!/usr/bin/env cargo`.
fn beginning(text: &str) -> usize {
    let rest = text.trim_start_matches('\u{feff}');
    let at = text.len() - rest.len();
    match rest.strip_prefix("#!") {
        Some(line) if !line.trim_start_matches(is_space).starts_with('[') => {
            at + rest.find('\n').unwrap_or(rest.len())
        }
        _ => at,
    }
}

/// The first token of the text, and its length.
fn token(text: &str) -> Result<(Kind, usize), &'static str> {
    if let Some(comment) = comment(text) {
        return Ok((Kind::Comment, comment?));
    }
    let word = text.find(|letter| !is_word(letter)).unwrap_or(text.len());
    let rest = &text[word..];
    match &text[..word] {
        "" => match text.as_bytes()[0] {
            b'"' => Ok((Kind::Quoted, quoted(text, '"')?)),
            b'\'' => quote(text),
            b'(' | b'[' | b'{' => Ok((Kind::Open, 1)),
            b')' | b']' | b'}' => Ok((Kind::Close, 1)),
            _ => {
                let pair = [">>", "->", "<-", "=>", "::"]
                    .iter()
                    .find(|pair| text.starts_with(**pair));
                Ok((Kind::Sign, pair.map_or(1, |pair| pair.len())))
            }
        },
        "r" | "br" | "cr" if raw(rest).is_some() => {
            let length = raw(rest).unwrap_or(Ok(0))?;
            Ok((Kind::Quoted, word + length))
        }
        "b" | "c" if rest.starts_with('"') => Ok((Kind::Quoted, word + quoted(rest, '"')?)),
        "b" if rest.starts_with('\'') => Ok((Kind::Quoted, word + quoted(rest, '\'')?)),
        "r" if rest.starts_with('#') && rest[1..].starts_with(is_word) => {
            let name = rest[1..].find(|letter| !is_word(letter));
            Ok((Kind::Word, name.map_or(text.len(), |name| word + 1 + name)))
        }
        _ => Ok((Kind::Word, word)),
    }
}

/// Returns true for a character of a name: any character except space and marks of ASCII.
fn is_word(letter: char) -> bool {
    letter == '_' || letter.is_ascii_alphanumeric() || !letter.is_ascii() && !is_space(letter)
}

/// The length of the comment that the text begins with. `None` if it begins with something else.
fn comment(text: &str) -> Option<Result<usize, &'static str>> {
    if text.starts_with("//") {
        let line = text.find('\n').map_or(text, |end| &text[..end]);
        let line = if line.len() == text.len() {
            line
        } else {
            line.strip_suffix('\r').unwrap_or(line)
        };
        return Some(Ok(line.len()));
    }
    if !text.starts_with("/*") {
        return None;
    }
    let mut depth = 0;
    let mut at = 0;
    let bytes = text.as_bytes();
    while let Some(pair) = bytes.get(at..at + 2) {
        match pair {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return Some(Ok(at));
        }
    }
    Some(Err("this comment is not closed"))
}

/// The length of a literal in these quotes, in which `\` escapes the next character.
fn quoted(text: &str, quote: char) -> Result<usize, &'static str> {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            letter if letter == quote => return Ok(at + 1),
            _ => {}
        }
    }
    Err("this literal is not closed")
}

/// The length of a raw literal after its `r`. `None` if it is something else.
fn raw(text: &str) -> Option<Result<usize, &'static str>> {
    let content = text.trim_start_matches('#');
    let marks = text.len() - content.len();
    let content = content.strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(marks));
    let found = content.find(&end).map(|at| marks + 1 + at + end.len());
    Some(found.ok_or("this literal is not closed"))
}

/// The length of a suffix directly after a literal, which is part of it: `"x"suffix`.
fn suffix(text: &str) -> usize {
    if text.starts_with(|letter: char| is_word(letter) && !letter.is_ascii_digit()) {
        text.find(|letter| !is_word(letter)).unwrap_or(text.len())
    } else {
        0
    }
}

/// A character or a lifetime.
fn quote(text: &str) -> Result<(Kind, usize), &'static str> {
    let mut letters = text[1..].chars();
    let (first, second) = (letters.next(), letters.next());
    match first {
        Some('\\') => Ok((Kind::Quoted, quoted(text, '\'')?)),
        Some(first) if second == Some('\'') => Ok((Kind::Quoted, first.len_utf8() + 2)),
        Some(first) if is_word(first) => {
            let rest = &text[1..];
            let length = rest.find(|letter| !is_word(letter)).unwrap_or(rest.len());
            Ok((Kind::Word, length + 1))
        }
        _ => Err("this quote begins neither a character nor a lifetime"),
    }
}

fn partners(tokens: &[Token<'_>]) -> Result<Vec<usize>, Fault> {
    let mut partners: Vec<usize> = (0..tokens.len()).collect();
    let mut open: Vec<usize> = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Open => open.push(index),
            Kind::Close => {
                let matching = open.pop().filter(|&open| {
                    matches!(
                        (tokens[open].text, token.text),
                        ("(", ")") | ("[", "]") | ("{", "}")
                    )
                });
                let Some(matching) = matching else {
                    return Err(Fault::new(token.start, "this bracket closes nothing"));
                };
                partners[index] = matching;
                partners[matching] = index;
            }
            _ => {}
        }
    }
    match open.last() {
        Some(&open) => Err(Fault::new(tokens[open].start, "this bracket is not closed")),
        None => Ok(partners),
    }
}
