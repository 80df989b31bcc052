//! The formats of documents.

use std::path::Path;

/// The format in which a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON, as `serde_json` reads it.
    Json,
    /// YAML 1.2.
    Yaml,
}

impl Format {
    /// The format of a file with this name: `.json`, `.yaml` or `.yml`. `None` for other endings.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::path::Path;
    /// use flow_text::Format;
    ///
    /// assert_eq!(Format::of_name(Path::new("flows/qa.yaml")), Some(Format::Yaml));
    /// assert_eq!(Format::of_name(Path::new("flows/README.md")), None);
    /// ```
    pub fn of_name(path: &Path) -> Option<Format> {
        let ending = path.extension()?;
        let is = |name: &str| ending.eq_ignore_ascii_case(name);
        if is("json") {
            Some(Format::Json)
        } else if is("yaml") || is("yml") {
            Some(Format::Yaml)
        } else {
            None
        }
    }

    /// The ending of files in this format: `json` or `yaml`.
    pub fn ending(self) -> &'static str {
        match self {
            Format::Json => "json",
            Format::Yaml => "yaml",
        }
    }
}
