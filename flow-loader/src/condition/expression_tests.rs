use super::*;

fn read(text: &str) -> Result<Condition, Misread> {
    let mut left = crate::condition::MOST_PATTERNS;
    Condition::read(text, &mut left)
}

fn holds(text: &str, value: Value) -> Result<bool, String> {
    let condition = read(text).unwrap();
    Evaluation::new([&condition].into_iter(), &[("a", value)]).holds(&condition)
}

fn names(text: &str) -> Vec<String> {
    read(text).unwrap().names().to_vec()
}

fn refused(text: &str) -> String {
    match read(text) {
        Err(misread) => misread.to_string(),
        Ok(_) => panic!("`{text}` was read"),
    }
}

#[test]
fn references_of_rust_are_left_out() {
    assert_eq!(
        without_references("*a >= 3 && &b == *c"),
        "a >= 3 && b == c"
    );
    assert_eq!(without_references("(*a * *b) > 2"), "(a * *b) > 2");
}

#[test]
fn a_condition_compares_numbers_of_any_sign() {
    assert_eq!(holds("a == 3", 3.into()), Ok(true));
    assert_eq!(holds("a > -1", 3.into()), Ok(true));
    assert_eq!(holds("a < 0", (-3).into()), Ok(true));
    assert_eq!(holds("a > 0.5", 0.75.into()), Ok(true));
    assert_eq!(holds("a in ['x', 'y']", "x".into()), Ok(true));
    assert_eq!(holds("size(a) > 3", "abc".into()), Ok(false));
    assert_eq!(holds("a.exists(one, one > 1)", vec![1, 2].into()), Ok(true));
    assert!(holds("a + 1", 3.into()).is_err());
    assert_eq!(holds("a + 1 > 3", 3.into()), Ok(true));
    assert_eq!(holds("a - 1 == -4", (-3).into()), Ok(true));
    assert_eq!(holds("a[0] * 2 == a[1]", vec![2, 4].into()), Ok(true));
    assert_eq!(holds("a > 1", u64::MAX.into()), Ok(true));
    assert_eq!(holds("type(a) == int", 3.into()), Ok(true));
    assert_eq!(holds("type(a) == int", "3".into()), Ok(false));
    assert_eq!(holds("null_type != type(a)", Value::Null), Ok(false));
}

#[test]
fn a_condition_names_its_keys() {
    assert_eq!(names("b > 1 && size(a) > 0"), ["a", "b"]);
    let all = names("a.exists(one, one > b) && {'x': c}['x'] == [d][0]");
    assert_eq!(all, ["a", "b", "c", "d"]);
    // The name is a local variable only inside the macro.
    let all = names("a.all(one, b.all(two, one == two)) && one");
    assert_eq!(all, ["a", "b", "one"]);
    // The name of a type is one only where types are compared.
    assert_eq!(names("type(a) == int || string != type(b)"), ["a", "b"]);
    assert_eq!(names("list == 3 && type(list) == list"), ["list"]);
    assert_eq!(names("type(a) == number"), ["a", "number"]);
    refused("c >");
}

#[test]
fn what_is_no_expression_says_where() {
    for (text, said) in [
        ("a >", "unexpected end, at its column 4"),
        (
            "a > 1\n  && (b",
            "missing ')' at end, at its line 2, column 8",
        ),
        ("a ; 1", "unexpected ';', at its column 3"),
        ("", "unexpected end, at its column 1"),
    ] {
        assert_eq!(
            refused(text),
            format!("it is not an expression in CEL: {said}")
        );
    }
}

#[test]
fn a_condition_calls_what_there_is() {
    for known in [
        "size(a) > 1 && !(a[0] == -2) || a.exists(one, one in [1, 2 % 3])",
        "a.size() > 0 ? a.all(one, one.startsWith('x')) : has(a.b)",
        "int(a) + 1 - 2 * 3 / 4 < 1 && string(a).contains('b') && a.endsWith('x')",
        "a.matches('x') && timestamp(a) > timestamp('2026-01-01T00:00:00Z')",
        "duration(a) < duration('1h') && timestamp(a).getFullYear() == 2026",
    ] {
        assert!(read(known).is_ok(), "{known}");
    }
    for (text, said) in [
        (
            "a.len() > 1",
            "CEL has no function `len` (did you mean `size`?)",
        ),
        (
            "a == 1 || startWith(a)",
            "CEL has no function `startWith` (did you mean `startsWith`?)",
        ),
        ("frobnicate(a)", "CEL has no function `frobnicate`"),
    ] {
        assert_eq!(refused(text), said);
    }
}

#[test]
fn patterns_times_and_names_in_backquotes() {
    assert_eq!(holds("a.matches('^b+$')", "bbb".into()), Ok(true));
    assert_eq!(holds("matches(a, 'c')", "bbb".into()), Ok(false));
    assert_eq!(holds("a.matches(a)", "b".into()), Ok(true));
    let later = "timestamp(a) > timestamp('2026-01-01T00:00:00Z')";
    assert_eq!(holds(later, "2026-06-01T00:00:00Z".into()), Ok(true));
    let day = "timestamp(a) - timestamp('2026-01-01T00:00:00Z') == duration('24h')";
    assert_eq!(holds(day, "2026-01-02T00:00:00Z".into()), Ok(true));
    let value = serde_json::json!({ "content-type": "text", "größe": 3 });
    assert_eq!(holds("a.`content-type` == 'text'", value.clone()), Ok(true));
    assert_eq!(holds("`a`.`größe` == 3 && has(a.`größe`)", value), Ok(true));
    assert_eq!(names("`größe` > 1 && `loop` == 2"), ["größe", "loop"]);
    assert!(refused("a.matches('(')").contains("`(` is not a regular expression"));
    assert!(refused("a.matches('(x{1000}){1000}')").ends_with("it is too large"));
}

/// Without a limit, each of these would run for minutes or take all memory.
#[test]
fn a_condition_ends() {
    let list: Value = vec![1; 1000].into();
    for text in [
        "a.map(b, a.map(c, a.map(d, d))) == []",
        "a.all(b, a.all(c, a.all(d, d == 1)))",
        "a.exists(b, a.exists(c, a.exists(d, d == 2))) || true",
        "a.map(b, a) == a.map(b, a).map(b, a.map(c, a))",
        "a.all(b, a.all(c, a == a))",
        "a.all(b, a.all(c, c in a))",
        "a.all(b, a.all(c, string(c).matches(string(b))))",
    ] {
        assert!(holds(text, list.clone()).is_err(), "{text}");
    }
    let text: Value = "x".repeat(100_000).into();
    let doubled = (0..20).fold("[a]".to_owned(), |list, _| format!("{list}.map(b, b + b)"));
    assert!(holds(&format!("{doubled} == []"), text.clone()).is_err());
    assert!(holds(r"a.matches('(\\w|\\d|x){20}$') || true", text).is_err());
    let shorter = "a.filter(b, b > 0).map(b, b * 2).all(b, b == 2) && size(a) == 1000";
    assert_eq!(holds(shorter, list), Ok(true));
}

/// The parser's own messages for these do not help the author.
#[test]
fn mistakes_are_told_in_words() {
    for (text, expected) in [
        (
            "a ?? 1",
            "it is not an expression in CEL: a `?` needs two values with `:` between them, at its column 1",
        ),
        (
            "a == '\\ud800'",
            "it is not an expression in CEL: invalid string literal, at its column 6",
        ),
        (
            ".a == 1",
            "the name of a key begins with no dot: `.a` (write `a`)",
        ),
    ] {
        assert_eq!(refused(text), expected);
    }
}
