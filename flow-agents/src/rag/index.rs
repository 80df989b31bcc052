//! Splits documents, and keeps the passages with their vectors.

use std::sync::Arc;

use flow_runtime::prelude::*;
use text_splitter::{ChunkConfig, MarkdownSplitter, TextSplitter};

use super::passages::{Passage, Passages, PassagesError, RagError};
use crate::embedding::Embedding;
use crate::error::ModelError;

/// The default of [`Split::longest`].
const LONGEST: usize = 1200;

/// The number of passages that are embedded at once: the smallest limit of a provider.
const BATCH: usize = 100;

/// The maximum length of a section, in passages. The time of the splitter grows with the square of
/// its input, if that has no borders.
const SECTION: usize = 10;

/// Parts of a text up to a number of characters. They end where a paragraph, a line or a word ends,
/// if one ends in their second half.
fn sections(text: &str, most: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest
            .char_indices()
            .nth(most)
            .map_or(rest.len(), |(at, _)| at);
        if rest.is_empty() || end == rest.len() {
            let last = std::mem::take(&mut rest);
            return (!last.is_empty()).then_some(last);
        }
        let window = &rest[..end];
        let behind = |at: Option<usize>, border: &str| {
            let at = at.map(|at| at + border.len());
            at.filter(|at| *at > end / 2)
        };
        let border = behind(window.rfind("\n\n"), "\n\n");
        let border = border.or_else(|| behind(window.rfind('\n'), "\n"));
        let border = border.or_else(|| behind(window.rfind(' '), " "));
        let (section, others) = rest.split_at(border.unwrap_or(end));
        rest = others;
        Some(section)
    })
}

/// A node that splits a document into passages. It reads `source` and `text`, and writes `batches`,
/// groups of up to 100 passages, and `number`, the number of passages.
///
/// A passage is as long as possible. It ends at the end of a paragraph, or else of a sentence or a
/// word. Space at its beginning and end is removed, in Markdown only at its end.
#[derive(Debug, Clone)]
pub struct Split {
    longest: usize,
    overlap: usize,
    markdown: bool,
}

impl Default for Split {
    fn default() -> Split {
        Split::new()
    }
}

impl Split {
    /// Creates a node that makes passages of up to 1,200 characters without overlap.
    pub fn new() -> Split {
        Split {
            longest: LONGEST,
            overlap: 0,
            markdown: false,
        }
    }

    /// Sets the maximum number of characters of a passage. 0 counts as 1.
    pub fn longest(mut self, characters: usize) -> Split {
        self.longest = characters.max(1);
        self
    }

    /// Sets the maximum number of characters that a passage shares with the end of the previous
    /// one. It has to be less than [`longest`](Split::longest); more counts as one less than that.
    pub fn overlap(mut self, characters: usize) -> Split {
        self.overlap = characters;
        self
    }

    /// Treats the documents as Markdown. Passages preferably end before a heading, and a list or a
    /// block of code stays together if it fits.
    pub fn markdown(mut self) -> Split {
        self.markdown = true;
        self
    }

    /// The passages of a text.
    fn passages(&self, source: &str, text: &str) -> Vec<Passage> {
        let overlap = self.overlap.min(self.longest - 1);
        let config = ChunkConfig::new(self.longest).with_overlap(overlap);
        let config = config.unwrap_or_else(|_| unreachable!("the overlap is less than the length"));
        let sections = sections(text, self.longest.saturating_mul(SECTION));
        let texts: Vec<&str> = if self.markdown {
            let splitter = MarkdownSplitter::new(config);
            sections.flat_map(|it| splitter.chunks(it)).collect()
        } else {
            let splitter = TextSplitter::new(config);
            sections.flat_map(|it| splitter.chunks(it)).collect()
        };
        let passage = |(place, text): (usize, &str)| Passage {
            source: source.to_owned(),
            place,
            text: text.to_owned(),
        };
        let texts = texts.into_iter().filter(|text| !text.trim().is_empty());
        texts.enumerate().map(passage).collect()
    }
}

#[node(writes(batches, number))]
impl Split {
    fn exec(&self, source: String, text: String) -> (Vec<Vec<Passage>>, usize) {
        let passages = self.passages(&source, &text);
        let batches = passages.chunks(BATCH).map(<[Passage]>::to_vec);
        (batches.collect(), passages.len())
    }
}

/// A node that makes vectors of passages and keeps both. It reads `batch`. Keeping them twice,
/// after a crash, changes nothing.
#[derive(Clone)]
pub struct Keep {
    embedding: Arc<dyn Embedding>,
    passages: Arc<dyn Passages>,
}

impl Keep {
    /// Creates a node with this embedding and this store.
    pub fn new(embedding: impl Embedding + 'static, passages: impl Passages + 'static) -> Keep {
        Keep {
            embedding: Arc::new(embedding),
            passages: Arc::new(passages),
        }
    }
}

#[node]
impl Keep {
    async fn exec(&self, batch: Vec<Passage>) -> Result<(), RagError> {
        let texts: Vec<String> = batch.iter().map(|it| it.text.clone()).collect();
        let vectors = self.embedding.embed(&texts).await?.vectors;
        if vectors.len() != batch.len() {
            let reason = format!(
                "there are {} vectors of {} texts",
                vectors.len(),
                batch.len()
            );
            return Err(ModelError::Malformed {
                source: reason.into(),
            }
            .into());
        }
        let passages: Vec<(Passage, Vec<f32>)> = batch.into_iter().zip(vectors).collect();
        Ok(self.passages.add(&passages).await?)
    }
}

/// A node that removes the old passages of a shorter document. It reads `source` and `number`.
#[derive(Clone)]
pub struct RemoveOld {
    passages: Arc<dyn Passages>,
}

impl RemoveOld {
    /// Creates a node for this store.
    pub fn new(passages: impl Passages + 'static) -> RemoveOld {
        RemoveOld {
            passages: Arc::new(passages),
        }
    }
}

#[node]
impl RemoveOld {
    async fn exec(&self, source: &str, number: usize) -> Result<(), PassagesError> {
        self.passages.remove_from(source, number).await
    }
}
