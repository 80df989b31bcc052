//! Methods that were probably meant as one of a node's, by their names. A flow would never call them, and
//! rustc says nothing of them if they are public.
//!
//! The hard thing is to leave alone the methods that a node has for itself.

use flow_spec::closest;
use syn::Visibility;

use super::syntax::{Method, Steps};

/// The methods of a node that it can do without.
const OPTIONAL: [&str; 3] = ["prep", "exec_fallback", "post"];

/// Words near to the short names that mean something by themselves.
const WORDS: [&str; 17] = [
    "cost", "host", "lost", "most", "past", "pest", "port", "pos", "pose", "pot", "pots", "posts",
    "pre", "prey", "rep", "reps", "pep",
];

/// The method that was meant, if the node has none of that name and no method of the node calls this one.
pub(super) fn phase(method: &Method, steps: &Steps) -> Option<&'static str> {
    let name = &method.sig.ident;
    let text = name.to_string();
    let meant = spelled_otherwise(&text).or_else(|| {
        let is_own = matches!(method.vis, Visibility::Inherited);
        let is_word = WORDS.contains(&text.as_str());
        let near = closest(&text, OPTIONAL)?;
        // A short name is near to many others: a public method that only swaps two letters was meant.
        let is_meant = near == "exec_fallback" || is_own || is_swapped(&text, near);
        (is_meant && !is_word).then_some(near)
    })?;
    (steps.method(meant).is_none() && !steps.mentions(name)).then_some(meant)
}

/// Returns true if the two differ by two letters next to each other that have changed places.
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

/// The name in other spellings: `exec_fall_back`, `execFallback`, and `post_async` of another library.
fn spelled_otherwise(text: &str) -> Option<&'static str> {
    let letters = |text: &str| text.to_lowercase().replace('_', "");
    let text = letters(text);
    let text = text.strip_suffix("async").unwrap_or(&text);
    if text == "fallback" {
        return Some("exec_fallback");
    }
    OPTIONAL.into_iter().find(|name| letters(name) == text)
}
