//! Finds methods whose names suggest that they were meant as phases. A flow would never call them,
//! and rustc does not report unused public methods.
//!
//! A node's own helper methods must not be reported.

use flow_spec::closest;
use syn::Visibility;

use super::syntax::{Method, Steps};

/// The optional methods of a node.
const OPTIONAL: [&str; 3] = ["prep", "exec_fallback", "post"];

/// Meaningful words that are similar to the short names.
const WORDS: [&str; 17] = [
    "cost", "host", "lost", "most", "past", "pest", "port", "pos", "pose", "pot", "pots", "posts",
    "pre", "prey", "rep", "reps", "pep",
];

/// The phase that was meant, if the node lacks it and none of its methods calls this one.
pub(super) fn phase(method: &Method, steps: &Steps) -> Option<&'static str> {
    let name = &method.sig.ident;
    let text = name.to_string();
    let meant = spelled_otherwise(&text).or_else(|| {
        let is_own = matches!(method.vis, Visibility::Inherited);
        let is_word = WORDS.contains(&text.as_str());
        let near = closest(&text, OPTIONAL)?;
        // A short name is near many others: a public method counts only if it swaps two letters.
        let is_meant = near == "exec_fallback" || is_own || is_swapped(&text, near);
        (is_meant && !is_word).then_some(near)
    })?;
    (steps.method(meant).is_none() && !steps.mentions(name)).then_some(meant)
}

/// Returns true if the names differ only by two swapped adjacent letters.
fn is_swapped(text: &str, name: &str) -> bool {
    let (text, name) = (text.as_bytes(), name.as_bytes());
    let Some(first) = (text.iter().zip(name)).position(|(one, other)| one != other) else {
        return false;
    };
    let mut swapped = text.to_vec();
    if first + 1 < swapped.len() {
        swapped.swap(first, first + 1);
    }
    swapped == name
}

/// The phase in other spellings: `exec_fall_back`, `execFallback`, or the foreign `post_async`.
fn spelled_otherwise(text: &str) -> Option<&'static str> {
    let letters = |text: &str| text.to_lowercase().replace('_', "");
    let text = letters(text);
    let text = text.strip_suffix("async").unwrap_or(&text);
    if text == "fallback" {
        return Some("exec_fallback");
    }
    OPTIONAL.into_iter().find(|name| letters(name) == text)
}
