//! Types as they are spelled: their names, their items, and what borrows from them.

/// The names of standard types that nothing else is usually called.
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

/// Returns true if there is a `Result` with one argument: only the compiler knows its error.
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

/// Returns true if a type that takes arguments is named without them. Of this the compiler says
/// more.
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

/// How many `Option`s a type is, one in the other, as it is written.
pub fn options(rust_type: &str) -> usize {
    let (mut options, mut rest) = (0, rust_type);
    while let Some((path, inner)) = rest.split_once('<')
        && path.rsplit("::").next().map(str::trim) == Some("Option")
    {
        (options, rest) = (options + 1, inner);
    }
    options
}

/// Whether a type is given, without any `_`.
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

/// What a value is usually borrowed as.
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

/// The type of the value, if there is one: a node that returns an `Option` may leave its key
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

/// The type without spaces and without the paths of its names.
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
