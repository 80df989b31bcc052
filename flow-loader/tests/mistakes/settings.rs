//! Settings that a node does not have, and those out of their ranges.

use super::article::said;

#[test]
fn a_setting_that_the_node_does_not_have() {
    assert_eq!(
        said("words: 50", "words: 50\n      temperature: 0.2"),
        "23:7: `Draft` has no setting `temperature` [F015]
at /nodes/0/params/temperature
help: there is `instruction`, `words`, `style`"
    );
    assert_eq!(
        said("formal: true", "fromal: true"),
        "23:16: `Draft` has no setting `fromal` [F015]
at /nodes/0/params/style/fromal
help: did you mean `formal`?"
    );
    // All of them, and a value of another type as well.
    let several = said(
        "words: 50",
        "words: many\n      temperature: 0.2\n      seed: 1",
    );
    for what in ["`temperature`", "`seed`", "invalid type: string \"many\""] {
        assert!(several.contains(what), "{several}");
    }
}

#[test]
fn settings_that_do_nothing_for_their_node() {
    for (node, settings, message) in [
        (
            "id: score",
            "concurrency: 2",
            "`concurrency` does nothing for `score`, which is a single step",
        ),
        (
            "id: score",
            "spread: 2",
            "`spread` does nothing for `score`",
        ),
        ("id: score", "blocking: true", "`score` does not block"),
        ("id: score", "poll: { every: 1s }", "`score` does not poll"),
        (
            "id: good",
            "timeout: 5s",
            "`good` makes no attempts of its own",
        ),
        (
            "id: good",
            "concurrency: 5",
            "`concurrency` does nothing for `good`",
        ),
        (
            "id: publish",
            "collectErrors: true",
            "`collectErrors` does nothing for `publish`",
        ),
        (
            "id: decided",
            "retry: { attempts: 2 }",
            "`decided` makes no attempts of its own",
        ),
        ("id: score", "timout: 5s", "there is no field `timout` here"),
    ] {
        let with = format!("{node}\n    settings: {{ {settings} }}");
        let found = said(&format!("{node}\n"), &format!("{with}\n"));
        assert!(found.contains(message), "{settings}: {found}");
        assert_eq!(found.matches("\nat /nodes/").count(), 1, "{found}");
    }
}

#[cfg(feature = "schemars")]
#[test]
fn a_setting_out_of_its_range() {
    assert_eq!(
        said("words: 50", "words: 501"),
        "22:14: this setting of `Draft` is out of range: expected at most 500, found 501 [F016]
at /nodes/0/params/words"
    );
    assert_eq!(
        said("words: 50", "words: 0"),
        "22:14: this setting of `Draft` is out of range: expected at least 1, found 0 [F016]
at /nodes/0/params/words"
    );
}

#[test]
fn a_default_out_of_its_range() {
    assert_eq!(
        said("default: 0", "default: 11"),
        "9:38: the default of `round` is out of range: expected at most 10, found 11 [F016]
at /inputs/properties/round/default"
    );
}
