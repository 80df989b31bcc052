//! The text of a page, in linear time. Tags are read one after the other, without building a tree,
//! whose depth a page could choose.

use std::borrow::Cow;

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{StartTag, Token, Tokenizer};
use reqwest::Url;

/// Elements whose content is not for readers.
const SKIPPED: &[&[u8]] = &[
    b"iframe",
    b"noembed",
    b"noframes",
    b"noscript",
    b"script",
    b"style",
    b"template",
];
/// Elements with their own line.
const LINES: &[&[u8]] = &[b"br", b"dd", b"div", b"dt", b"li", b"option", b"tr"];
/// Elements with an empty line above and below.
const PARAGRAPHS: &[&[u8]] = &[
    b"address",
    b"article",
    b"aside",
    b"blockquote",
    b"body",
    b"details",
    b"dl",
    b"fieldset",
    b"figure",
    b"footer",
    b"form",
    b"h1",
    b"h2",
    b"h3",
    b"h4",
    b"h5",
    b"h6",
    b"header",
    b"hr",
    b"main",
    b"nav",
    b"ol",
    b"p",
    b"pre",
    b"section",
    b"summary",
    b"table",
    b"title",
    b"ul",
];
/// The maximum length of a page's address for resolving its links: it would be repeated in each
/// link. With a longer one, links stay as they are written.
const LONGEST_BASE: usize = 300;

/// The syntax of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    Html,
    /// XML: each element can be closed where it is opened, as in `<script src="a.js"/>`.
    Xhtml,
}

/// The text of a page at this address: paragraphs, headings with `#`, lists with `-`, and links as
/// `[text](URL)`.
pub(super) fn text(page: &str, url: &str, syntax: Syntax) -> String {
    let base = Url::parse(url)
        .ok()
        .filter(|url| url.as_str().len() <= LONGEST_BASE);
    let is_xml = syntax == Syntax::Xhtml;
    let source = if is_xml {
        without_sections(page)
    } else {
        page.into()
    };
    let mut page = Page {
        base,
        ..Page::default()
    };
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(!is_xml);
    for Ok(token) in Tokenizer::new_with_emitter(source.as_ref(), emitter) {
        match token {
            Token::StartTag(tag) => {
                page.start(&tag);
                if is_xml && tag.self_closing {
                    page.end(&tag.name);
                }
            }
            Token::EndTag(tag) => page.end(&tag.name),
            Token::String(text) => page.text(&String::from_utf8_lossy(&text.value)),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    page.end_link();
    page.text
}

/// Replaces the CDATA sections of XHTML by plain text.
fn without_sections(page: &str) -> Cow<'_, str> {
    const START: &str = "<![CDATA[";
    if !page.contains(START) {
        return page.into();
    }
    let mut pieces = page.split(START);
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (section, rest) = piece.split_once("]]>").unwrap_or((piece, ""));
        plain.push_str(&section.replace('&', "&amp;").replace('<', "&lt;"));
        plain.push_str(rest);
    }
    plain.into()
}

/// The gap before the next piece of text.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    #[default]
    None,
    Space,
    Line,
    Paragraph,
}

#[derive(Default)]
struct Page {
    base: Option<Url>,
    text: String,
    gap: Gap,
    /// The beginning of the line of the next piece of text, such as `-`.
    mark: String,
    /// The element whose content is skipped.
    skipped: Option<&'static [u8]>,
    /// The number of enclosing `pre` elements.
    preformatted: usize,
    /// The start of a link's text, and the target of the link.
    link: Option<(usize, String)>,
}

impl Page {
    fn start(&mut self, tag: &StartTag<()>) {
        let name = tag.name.as_slice();
        if self.skipped.is_some() {
            return;
        }
        self.skipped = SKIPPED.iter().copied().find(|skipped| *skipped == name);
        self.separate(name);
        match name {
            b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => {
                let level = usize::from(name[1] - b'0');
                self.mark = "#".repeat(level) + " ";
            }
            b"title" => self.mark = "# ".to_owned(),
            b"li" => self.mark = "- ".to_owned(),
            b"hr" => {
                self.words("---");
                self.gap = Gap::Paragraph;
            }
            b"pre" => self.preformatted += 1,
            b"td" | b"th" => self.cell(),
            b"img" => self.words(&attribute(tag, b"alt").unwrap_or_default()),
            b"a" => self.begin_link(tag),
            _ => {}
        }
    }

    fn end(&mut self, name: &[u8]) {
        if let Some(skipped) = self.skipped {
            if skipped == name {
                self.skipped = None;
            }
            return;
        }
        match name {
            b"a" => self.end_link(),
            b"pre" => self.preformatted = self.preformatted.saturating_sub(1),
            _ => {}
        }
        if self.separate(name) && name != b"br" {
            self.mark.clear(); // there was no text in it
        }
    }

    /// Returns true if this element has its own lines.
    fn separate(&mut self, name: &[u8]) -> bool {
        let gap = match () {
            () if PARAGRAPHS.contains(&name) => Gap::Paragraph,
            () if LINES.contains(&name) => Gap::Line,
            () => return false,
        };
        self.gap = self.gap.max(gap);
        true
    }

    fn text(&mut self, text: &str) {
        if self.skipped.is_some() {
            return;
        }
        if self.preformatted > 0 {
            self.fill();
            self.text.push_str(text);
            return;
        }
        self.words(text);
    }

    /// Adds words, separated by single spaces.
    fn words(&mut self, text: &str) {
        let is_space = |character: char| character.is_ascii_whitespace();
        for (index, word) in text.split(is_space).enumerate() {
            if index > 0 {
                self.gap = self.gap.max(Gap::Space);
            }
            if !word.is_empty() {
                self.fill();
                self.text.push_str(word);
            }
        }
    }

    /// Begins a cell of a table, after another one.
    fn cell(&mut self) {
        if self.gap < Gap::Line && !self.text.is_empty() && !self.text.ends_with('\n') {
            self.gap = Gap::Space;
            self.words("|");
        }
        self.gap = self.gap.max(Gap::Space);
    }

    /// Adds the gap before a piece of text.
    fn fill(&mut self) {
        let gap = std::mem::take(&mut self.gap);
        let ends = |end: &str| self.text.ends_with(end);
        let gap = match gap {
            _ if self.text.is_empty() => "",
            Gap::Space if !ends(" ") && !ends("\n") => " ",
            Gap::Line if !ends("\n") => "\n",
            Gap::Paragraph if ends("\n\n") => "",
            Gap::Paragraph if ends("\n") => "\n",
            Gap::Paragraph => "\n\n",
            _ => "",
        };
        self.text.push_str(gap);
        self.text.push_str(&std::mem::take(&mut self.mark));
    }

    fn begin_link(&mut self, tag: &StartTag<()>) {
        self.end_link();
        let Some(place) = attribute(tag, b"href").filter(|place| !place.starts_with('#')) else {
            return;
        };
        let whole = self.base.as_ref().and_then(|base| base.join(&place).ok());
        let place = match whole {
            Some(whole) if !matches!(whole.scheme(), "http" | "https") => return,
            Some(whole) => whole.into(),
            None => place,
        };
        self.fill();
        self.link = Some((self.text.len(), place));
    }

    fn end_link(&mut self) {
        let Some((start, place)) = self.link.take() else {
            return;
        };
        let text = self.text[start..].trim_start();
        let start = self.text.len() - text.len();
        if text.contains('\n') {
            self.text.push_str(&format!(" ({place})")); // whole paragraphs are the link
        } else if !text.is_empty() {
            self.text.insert(start, '[');
            self.text.push_str(&format!("]({place})"));
        }
    }
}

fn attribute(tag: &StartTag<()>, name: &[u8]) -> Option<String> {
    let value = tag.attributes.get(name)?;
    Some(String::from_utf8_lossy(&value.value).into_owned())
}
