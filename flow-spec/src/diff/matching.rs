//! Finds the names that were kept, added, removed or renamed.
//!
//! The documents do not record renames. A rename is assumed if one name was removed and another one
//! of the same sort was added at the same place: after the same kept name.

use std::collections::{HashMap, HashSet};

/// The new id of each node that was renamed, by the old one.
pub(super) type Renamed<'a> = HashMap<&'a str, &'a str>;

/// The fate of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Match<'a> {
    Kept(&'a str),
    Renamed { old: &'a str, new: &'a str },
    Added(&'a str),
    Removed(&'a str),
}

/// The fate of each name: those of the new list in its order, then those that were removed.
pub(super) fn match_names<'a>(
    old: &[&'a str],
    new: &[&'a str],
    alike: impl Fn(&str, &str) -> bool,
) -> Vec<Match<'a>> {
    let before_old = places(old, &new.iter().copied().collect());
    let before_new = places(new, &old.iter().copied().collect());
    let mut gone: Vec<&str> = Vec::new();
    for &name in old {
        if !before_new.contains_key(name) && !gone.contains(&name) {
            gone.push(name);
        }
    }
    let mut matches = Vec::new();
    for &name in new {
        if before_old.contains_key(name) {
            matches.push(Match::Kept(name));
            continue;
        }
        let place = before_new.get(name);
        let was = gone
            .iter()
            .position(|old| before_old.get(old) == place && alike(old, name));
        matches.push(match was {
            Some(index) => Match::Renamed {
                old: gone.remove(index),
                new: name,
            },
            None => Match::Added(name),
        });
    }
    matches.extend(gone.into_iter().map(Match::Removed));
    matches
}

/// For each name, the last one before it that was kept.
fn places<'a>(names: &[&'a str], others: &HashSet<&str>) -> HashMap<&'a str, Option<&'a str>> {
    let mut places = HashMap::new();
    let mut last = None;
    for &name in names {
        places.entry(name).or_insert(last);
        if others.contains(name) {
            last = Some(name);
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matched<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Match<'a>> {
        match_names(old, new, |_, _| true)
    }

    #[test]
    fn one_that_went_and_came_at_the_same_place_was_renamed() {
        let renamed = Match::Renamed { old: "b", new: "x" };
        assert_eq!(
            matched(&["a", "b", "c"], &["a", "x", "c"]),
            [Match::Kept("a"), renamed, Match::Kept("c")]
        );
    }

    #[test]
    fn one_that_came_elsewhere_was_added() {
        assert_eq!(
            matched(&["a", "b"], &["x", "a"]),
            [Match::Added("x"), Match::Kept("a"), Match::Removed("b")]
        );
    }

    #[test]
    fn of_several_at_a_place_each_is_matched_once() {
        assert_eq!(
            matched(&["a", "b"], &["x", "y", "z"]),
            [
                Match::Renamed { old: "a", new: "x" },
                Match::Renamed { old: "b", new: "y" },
                Match::Added("z")
            ]
        );
    }
}
