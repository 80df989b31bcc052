//! Suggestions for misspelt names.

use crate::names::composed;

/// Longer names are not compared: that takes long, and two long names are rarely confused.
const LONGEST: usize = 100;

/// Returns the name nearest to `wrong`, if it is near enough to be a typing mistake. A swap of
/// neighbouring letters counts as one mistake (`prase` for `parse`), whereas plain Levenshtein
/// distance counts two.
pub fn closest<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let written = composed(wrong).to_lowercase();
    let length = written.chars().count();
    if length > LONGEST {
        return None;
    }
    let limit = (length / 3).max(1);
    names
        .into_iter()
        .filter(|name| *name != wrong)
        .map(|name| (name, composed(name)))
        .filter(|(_, name)| name.chars().count().abs_diff(length) <= limit)
        .map(|(name, composed)| {
            (
                strsim::osa_distance(&written, &composed.to_lowercase()),
                name,
            )
        })
        .filter(|(distance, _)| *distance <= limit && *distance < length)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Asks whether this name was meant, in quotes. Unicode can write one letter in several ways, so
/// the question explains names that look the same.
pub(crate) fn question(wrong: &str, near: &str, quoted: impl Fn(&str) -> String) -> String {
    let near_quoted = quoted(near);
    if wrong != near && composed(wrong) == composed(near) {
        return format!(
            "did you mean {near_quoted}, which looks the same and consists of other characters?"
        );
    }
    format!("did you mean {near_quoted}?")
}

/// Like [`question`], for names.
pub(crate) fn question_of_name(wrong: &str, near: &str) -> String {
    question(wrong, near, |name| format!("`{name}`"))
}

/// Returns a sentence of help for an unknown name of Rust or of a setting: the nearest name, or
/// else all names.
pub fn did_you_mean<'a>(
    wrong: &str,
    names: impl IntoIterator<Item = &'a str> + Clone,
) -> Option<String> {
    help(wrong, names, |name| format!("`{name}`"))
}

/// Like [`did_you_mean`], for actions and labels of ends, which are texts in a flow.
pub fn did_you_mean_text<'a>(
    wrong: &str,
    names: impl IntoIterator<Item = &'a str> + Clone,
) -> Option<String> {
    help(wrong, names, |name| format!("\"{name}\""))
}

fn help<'a>(
    wrong: &str,
    names: impl IntoIterator<Item = &'a str> + Clone,
    quoted: impl Fn(&str) -> String,
) -> Option<String> {
    if let Some(name) = closest(wrong, names.clone()) {
        return Some(question(wrong, name, quoted));
    }
    let all: Vec<String> = names.into_iter().map(quoted).collect();
    (!all.is_empty()).then(|| format!("there is {}", all.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swap_is_one_slip() {
        assert_eq!(closest("prase", ["parse", "pause"]), Some("parse"));
    }

    #[test]
    fn a_single_letter_is_near_to_none() {
        assert_eq!(closest("x", ["y", "z"]), None);
    }

    #[test]
    fn names_that_look_the_same_are_said_to_differ() {
        assert_eq!(
            did_you_mean("cafe\u{301}", ["caf\u{e9}"]).as_deref(),
            Some(
                "did you mean `caf\u{e9}`, which looks the same and consists of other characters?"
            )
        );
    }

    #[test]
    fn nothing_near_lists_what_there_is() {
        assert_eq!(closest("zzz", ["approved", "rejected"]), None);
        assert_eq!(
            did_you_mean_text("zzz", ["approved", "rejected"]).as_deref(),
            Some(r#"there is "approved", "rejected""#)
        );
        assert_eq!(
            did_you_mean("zzz", ["wait", "jitter"]).as_deref(),
            Some("there is `wait`, `jitter`")
        );
    }
}
