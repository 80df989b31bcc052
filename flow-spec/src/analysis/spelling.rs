//! Spellings of types: their names, their items, and the types that borrow from them.

/// The names of standard types that other types rarely have.
const STANDARD: [&str; 32] = [
    "bool",
    "char",
    "str",
    "String",
    "u8",
    "u16",
    "u32",
    "u64",
    "u128",
    "usize",
    "i8",
    "i16",
    "i32",
    "i64",
    "i128",
    "isize",
    "f32",
    "f64",
    "Vec",
    "VecDeque",
    "Option",
    "Box",
    "Arc",
    "Rc",
    "HashMap",
    "HashSet",
    "BTreeMap",
    "BTreeSet",
    "PathBuf",
    "Path",
    "Result",
    "NodeError",
];

pub(super) fn is_standard(path: &str) -> bool {
    path.starts_with("std::")
        || STANDARD.contains(&path)
        || path.bytes().all(|letter| letter.is_ascii_digit())
}

/// The paths in a type.
pub(super) fn paths(rust_type: &str) -> impl Iterator<Item = &str> {
    rust_type.split(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != ':')
}

/// Returns `true` if there is a `Result` with one argument: only the compiler knows its error.
pub(super) fn has_aliased_result(rust_type: &str) -> bool {
    rust_type.match_indices("Result<").any(|(start, found)| {
        let mut depth = 0_usize;
        let arguments = rust_type[start + found.len()..].chars();
        let next_at_top = arguments.into_iter().find(|letter| {
            match letter {
                '<' | '(' | '[' => depth += 1,
                '>' | ')' | ']' if depth > 0 => depth -= 1,
                ',' | '>' if depth == 0 => return true,
                _ => {}
            }
            false
        });
        next_at_top != Some(',')
    })
}

/// Returns `true` if a type that takes arguments is named without them. The compiler reports this
/// better.
pub(super) fn lacks_arguments(rust_type: &str) -> bool {
    const GENERIC: [&str; 10] = [
        "Vec", "VecDeque", "Option", "Box", "Arc", "Rc", "HashMap", "HashSet", "BTreeMap",
        "BTreeSet",
    ];
    let is_generic = |name: &str| GENERIC.contains(&name);
    let mut before_arguments = rust_type.split('<').map(str::trim_end);
    let last = before_arguments.next_back().unwrap_or_default();
    names(last).any(is_generic)
        || before_arguments.any(|text| {
            let mut names: Vec<&str> = names(text).collect();
            names.pop();
            names.into_iter().any(is_generic)
        })
}

/// The words of a type.
pub(super) fn names(rust_type: &str) -> impl Iterator<Item = &str> {
    rust_type.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
}

/// Returns the number of `Option`s that are nested in the spelling of a type.
pub fn options(rust_type: &str) -> usize {
    let (mut options, mut rest) = (0, rust_type);
    while let Some((path, inner)) = rest.split_once('<')
        && path.rsplit("::").next().map(str::trim) == Some("Option")
    {
        (options, rest) = (options + 1, inner);
    }
    options
}

/// Returns `true` if a type is given, without any `_`.
pub(super) fn is_named(rust_type: &str) -> bool {
    !rust_type.trim().is_empty() && names(rust_type).all(|name| name != "_")
}

/// The type of the items of a list or a set.
pub(super) fn item_type(collection: &str) -> Option<&str> {
    let (name, rest) = collection.trim().split_once('<')?;
    let item = rest.strip_suffix('>')?.trim();
    let name = name.rsplit("::").next()?;
    ["Vec", "VecDeque", "HashSet", "BTreeSet"]
        .contains(&name)
        .then_some(item)
}

/// The type as which a value is usually borrowed.
pub(super) fn borrowed(owned: &str) -> String {
    match plain(owned).as_str() {
        "String" => "str".to_owned(),
        list => match list
            .strip_prefix("Vec<")
            .and_then(|rest| rest.strip_suffix('>'))
        {
            Some(item) => format!("[{}]", item.replace(',', ", ")),
            None => owned.to_owned(),
        },
    }
}

/// The type of the value, if there is one. A node that returns an `Option` may leave its key
/// unwritten.
pub(super) fn value_type(rust_type: &str, optional: bool) -> &str {
    let inner = rust_type
        .trim()
        .strip_prefix("Option<")
        .and_then(|rest| rest.strip_suffix('>'));
    inner.filter(|_| optional).unwrap_or(rust_type)
}

/// The type to which a reference or a `Cow` dereferences.
pub(super) fn target(owned: &str) -> Option<&str> {
    let owned = owned.trim();
    let after_lifetime = |text: &'_ str| match text.strip_prefix('\'') {
        Some(lifetime) => lifetime.find([' ', ',']),
        None => None,
    };
    if let Some(rest) = owned.strip_prefix('&') {
        let rest = rest.trim_start();
        return Some(after_lifetime(rest).map_or(rest, |at| rest[at + 1..].trim_start()));
    }
    let inner = owned.rsplit_once("Cow<")?.1.strip_suffix('>')?;
    after_lifetime(inner).map(|at| inner[at + 1..].trim_start_matches([' ', ',']))
}

/// The type without spaces, and with names without paths.
pub(super) fn plain(rust_type: &str) -> String {
    let mut text = String::with_capacity(rust_type.len());
    let letters: Vec<char> = rust_type
        .chars()
        .filter(|letter| !letter.is_whitespace())
        .collect();
    let mut name = 0;
    let mut at = 0;
    while at < letters.len() {
        if letters[at] == ':' && letters.get(at + 1) == Some(&':') {
            text.truncate(name);
            at += 2;
            continue;
        }
        text.push(letters[at]);
        if !letters[at].is_alphanumeric() && letters[at] != '_' {
            name = text.len();
        }
        at += 1;
    }
    text
}
