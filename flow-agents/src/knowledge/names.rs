//! Compares names by identity and by similarity.

use std::collections::BTreeSet;

/// The minimum similarity of two names that may mean the same.
const ALIKE: f64 = 0.5;

/// A name in the form for comparison: lowercase, with single spaces between words.
pub(super) fn plain(name: &str) -> String {
    let words: Vec<String> = name.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ")
}

/// The groups of three letters in the words of a text, with a space before and after each word.
pub(super) fn grams(text: &str) -> BTreeSet<String> {
    let mut grams = BTreeSet::new();
    for word in words(text) {
        let padded: Vec<char> = [' ']
            .into_iter()
            .chain(word.to_lowercase().chars())
            .chain([' '])
            .collect();
        grams.extend(
            padded
                .windows(3)
                .map(|gram| gram.iter().collect::<String>()),
        );
    }
    grams
}

/// The words of a text. In scripts without spaces, each character is a word.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| !it.is_alphanumeric())
        .flat_map(|run| run.split_inclusive(is_word_alone))
        .flat_map(|part| match part.char_indices().next_back() {
            Some((at, last)) if is_word_alone(last) => {
                let (before, alone) = part.split_at(at);
                [before, alone]
            }
            _ => [part, ""],
        })
        .filter(|word| !word.is_empty())
}

/// Returns true for a Chinese, Japanese or Korean character.
fn is_word_alone(it: char) -> bool {
    matches!(it, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// The number of groups.
pub(super) fn number<'a>(grams: impl IntoIterator<Item = &'a String>) -> u32 {
    u32::try_from(grams.into_iter().count()).unwrap_or(u32::MAX)
}

/// The similarity of two names by their numbers of groups of letters, and of shared ones: 1 if one
/// has all groups of the other. `None` if they are not similar.
pub(super) fn likeness(shared: u32, one: u32, other: u32) -> Option<f64> {
    let likeness = f64::from(shared) / f64::from(one.min(other).max(1));
    // One group, such as ` an`, is the beginning of many names.
    let is_alike = likeness >= 1.0 || likeness >= ALIKE && shared > 1;
    is_alike.then_some(likeness)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alike(one: &str, other: &str) -> Option<f64> {
        let (one, other) = (grams(one), grams(other));
        likeness(
            number(one.intersection(&other)),
            number(&one),
            number(&other),
        )
    }

    #[test]
    fn a_name_is_found_in_a_question_and_in_a_longer_name() {
        assert_eq!(alike("Ann Lee", "Where does Ann Lee work?"), Some(1.0));
        assert_eq!(alike("ACME", "Acme, Inc."), Some(1.0));
        assert_eq!(alike("Ann Lee", "What does Ann do?"), Some(0.5));
        assert_eq!(alike("X", "Who owns X?"), Some(1.0));
        assert_eq!(alike("北京", "我在北京工作"), Some(1.0));
        assert!(alike("Jonathan", "Jonathon").is_some());
    }

    #[test]
    fn other_names_are_not() {
        assert_eq!(alike("Ann Lee", "What is it about?"), None);
        assert_eq!(alike("Al", "also"), None);
        assert_eq!(alike("", "anything"), None);
        assert_eq!(alike("++", "--"), None);
    }

    #[test]
    fn names_are_compared_without_their_spaces_and_capitals() {
        assert_eq!(plain("  Ann \n LEE "), "ann lee");
        assert_ne!(plain("C++"), plain("C"));
    }
}
