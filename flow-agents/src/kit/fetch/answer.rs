//! The body of an answer as text, up to its maximum size.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE};
use reqwest::{Response, Url};

use super::super::text::{counted, grouped, shortened};
use super::error::{FetchError, beginning};
use super::html::{self, Syntax};

/// The maximum sizes of what is read and returned.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) bytes: usize,
    pub(super) characters: usize,
}

/// The text of an answer from a character offset. `asked` is the requested address.
pub(super) async fn read(
    answer: Response,
    asked: &str,
    limits: Limits,
    offset: u32,
) -> Result<String, FetchError> {
    let url = answer.url().to_string();
    let kind = Kind::of(&answer).map_err(|reason| not_text(&url, reason))?;
    let (bytes, is_cut) = body(answer, limits.bytes).await?;
    let mut notes = Vec::new();
    if is_cut {
        let most = grouped(limits.bytes as u64);
        notes.push(format!(
            "only the first {most} bytes of the answer were read"
        ));
    }
    let is_elsewhere = Url::parse(asked).is_ok_and(|mut asked| {
        asked.set_fragment(None); // it is not sent
        asked.as_str() != url
    });
    if is_elsewhere {
        notes.push(format!("the text is at {}", beginning(&url)));
    }
    let page = url.clone();
    let decoded = tokio::task::spawn_blocking(move || kind.decode(&bytes, is_cut, &page)).await;
    let text = match decoded {
        Ok(text) => text.map_err(|reason| not_text(&url, reason))?,
        Err(error) => {
            let url = beginning(&url);
            return Err(FetchError::Failed {
                url,
                source: error.into(),
            });
        }
    };
    if text.is_damaged {
        notes.push("some characters of the answer could not be read".to_owned());
    }
    Ok(part(&text.text, limits.characters, offset as usize, &notes))
}

/// The beginning of the text of an error answer. Empty if it is not text.
pub(super) async fn said(answer: Response) -> String {
    let url = answer.url().to_string();
    let Ok(kind) = Kind::of(&answer) else {
        return String::new();
    };
    let Ok((bytes, is_cut)) = body(answer, 16 << 10).await else {
        return String::new();
    };
    let text = kind.decode(&bytes, is_cut, &url).map(|text| text.text);
    shortened(text.unwrap_or_default().trim(), 500)
}

fn not_text(url: &str, reason: String) -> FetchError {
    let url = beginning(url);
    FetchError::NotText { url, reason }
}

/// The body up to a maximum number of bytes, and true if there is more.
async fn body(mut answer: Response, most: usize) -> Result<(Vec<u8>, bool), FetchError> {
    let url = answer.url().to_string();
    let mut bytes = Vec::new();
    loop {
        match answer.chunk().await {
            Ok(Some(chunk)) if bytes.len() + chunk.len() > most => {
                bytes.extend_from_slice(&chunk[..most - bytes.len()]);
                return Ok((bytes, true));
            }
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            Ok(None) => return Ok((bytes, false)),
            Err(error) => return Err(FetchError::of(&url, error)),
        }
    }
}

/// The declared type of an answer.
struct Kind {
    /// The syntax of a page. `None` for all other text.
    page: Option<Syntax>,
    charset: Option<&'static Encoding>,
}

struct Text {
    text: String,
    is_damaged: bool,
}

impl Kind {
    fn of(answer: &Response) -> Result<Kind, String> {
        // Of several values, it is unknown which one holds. Those of encodings form a list anyway.
        let header = |name| {
            let values = answer.headers().get_all(name).iter();
            let values: Vec<_> = values
                .map(|value| String::from_utf8_lossy(value.as_bytes()))
                .collect();
            (!values.is_empty()).then(|| values.join(", "))
        };
        // Empty elements of a list do not count: RFC 9110, 5.6.1.2.
        let encoding = header(CONTENT_ENCODING).unwrap_or_default();
        let encodings = encoding.split(',').map(str::trim);
        let encodings: Vec<_> = encodings.filter(|it| !it.is_empty()).collect();
        let encoding = encodings.join(", ");
        if !encoding.is_empty() && !encoding.eq_ignore_ascii_case("identity") {
            return Err(format!(
                "it is compressed, as {:?}",
                shortened(&encoding, 50)
            ));
        }
        if answer.headers().get_all(CONTENT_TYPE).iter().count() > 1 {
            return Err("it says more than once of what type it is".to_owned());
        }
        let Some(kind) = header(CONTENT_TYPE) else {
            return Ok(Kind {
                page: None,
                charset: None,
            });
        };
        let (name, parameters) = kind.split_once(';').unwrap_or((&kind, ""));
        let name = name.trim().to_ascii_lowercase();
        if !is_text(&name) {
            return Err(format!(
                "its type is {:?}, which is not text",
                shortened(&name, 100)
            ));
        }
        let charset = match parameter(parameters, "charset") {
            None => None,
            Some(label) => Some(Encoding::for_label(label.as_bytes()).ok_or_else(|| {
                format!(
                    "its characters are encoded as {:?}, which is not known",
                    shortened(label, 50)
                )
            })?),
        };
        let page = match name.as_str() {
            "text/html" => Some(Syntax::Html),
            "application/xhtml+xml" => Some(Syntax::Xhtml),
            _ => None,
        };
        Ok(Kind { page, charset })
    }

    /// The text of a body. Bytes that do not fit the declared encoding are replaced.
    fn decode(&self, bytes: &[u8], is_cut: bool, url: &str) -> Result<Text, String> {
        let charset = self
            .charset
            .or_else(|| self.page.and_then(|_| declared(bytes)));
        let (text, _, is_damaged) = charset.unwrap_or(UTF_8).decode(bytes);
        if text.contains('\0') {
            return Err("it is binary".to_owned());
        }
        let text = match self.page {
            Some(syntax) => html::text(&text, url, syntax),
            None => text.into_owned(),
        };
        Ok(Text {
            text,
            is_damaged: is_damaged && !is_cut,
        })
    }
}

fn is_text(kind: &str) -> bool {
    const OTHERS: &[&str] = &[
        "application/javascript",
        "application/json",
        "application/toml",
        "application/x-ndjson",
        "application/xml",
        "application/yaml",
    ];
    kind.starts_with("text/")
        || OTHERS.contains(&kind)
        || kind.ends_with("+json")
        || kind.ends_with("+xml")
        || kind.ends_with("+yaml")
}

fn parameter<'p>(parameters: &'p str, name: &str) -> Option<&'p str> {
    parameters.split(';').find_map(|parameter| {
        let (key, value) = parameter.split_once('=')?;
        key.trim()
            .eq_ignore_ascii_case(name)
            .then(|| value.trim().trim_matches('"'))
    })
}

/// The encoding that a page declares within its first kilobyte.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(1_024)];
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let (_, rest) = head.split_once("charset=")?;
    let rest = rest.trim_start_matches(['"', '\'']);
    let label = rest
        .split(|character: char| !is_of_label(character))
        .next()?;
    let encoding = Encoding::for_label(label.as_bytes())?;
    // It was read as ASCII, so it cannot be UTF-16; HTML then uses UTF-8.
    let is_wide = encoding == UTF_16LE || encoding == UTF_16BE;
    Some(if is_wide { UTF_8 } else { encoding })
}

fn is_of_label(character: char) -> bool {
    character.is_ascii_alphanumeric() || "-_:.".contains(character)
}

fn part(text: &str, most: usize, offset: usize, notes: &[String]) -> String {
    let count = text.chars().count();
    let mut part: String = text.chars().skip(offset).take(most).collect();
    let mut all = Vec::new();
    let next = offset.saturating_add(most);
    if text.is_empty() {
        all.push("the text is empty".to_owned());
    } else if offset >= count {
        all.push(format!(
            "the text has only {}",
            counted(count as u64, "character", "characters")
        ));
    } else if next < count {
        let left = counted((count - next) as u64, "more character", "more characters");
        all.push(format!("{left}; read on with offset {next}"));
    }
    for note in all.iter().chain(notes) {
        if !part.is_empty() && !part.ends_with('\n') {
            part.push('\n');
        }
        part.push_str(&format!("… {note}"));
    }
    part
}
