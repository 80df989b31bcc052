//! The part of a doc comment that a model reads.

/// A doc comment up to the first heading after text: sections such as `# Errors` and `# Examples`
/// are for programmers.
pub(super) fn for_models(documentation: &str) -> &str {
    let mut end = 0;
    let mut is_code = false; // where `# ` begins a line that readers are not shown
    for line in documentation.split_inclusive('\n') {
        let begin = line.trim_start();
        is_code ^= begin.starts_with("```") || begin.starts_with("~~~");
        let text = line.trim_start_matches('#');
        let is_heading = text.len() < line.len() && text.starts_with(' ');
        if !is_code && is_heading && !documentation[..end].trim().is_empty() {
            break;
        }
        end += line.len();
    }
    documentation[..end].trim_end()
}
