//! Changes tokens at any depth, as a program generator or a cat on the keyboard would. Each change
//! is small, so that proptest finds the smallest number of changes that cause a failure.

use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::rustc::parse;

/// One change, of the token with the number `at` among all tokens, including those in groups.
#[derive(Debug, Clone)]
pub(super) struct Mutation {
    at: usize,
    change: Change,
}

#[derive(Debug, Clone)]
enum Change {
    Delete,
    Duplicate,
    SwapWithNext,
    /// Repeats the token this many times.
    Repeat(usize),
    Insert(Piece),
    Replace(Piece),
    /// Appends to the end of a group.
    Append(Piece),
    /// Replaces the text of the next literal.
    Retext(String),
    /// Replaces the next name.
    Rename(&'static str),
    /// Makes an identifier a raw one.
    MakeRaw,
    Delimit(Delimiter),
    Wrap(Delimiter),
    /// Nests groups in groups.
    Nest(Delimiter, usize),
    /// Replaces a group by its content.
    Unwrap,
    /// Removes everything that follows in the same group.
    Cut,
}

/// New tokens.
#[derive(Debug, Clone)]
enum Piece {
    Source(&'static str),
    Text(String),
    Number(u64),
    /// The token with this number in the mutated input, copied from its place.
    Copied(usize),
}

/// Names with a meaning in the language, in Rust or in generated code. Without `default`: unlike
/// rustc, syn takes it for that of an `impl` even before `::`.
const NAMES: &str = "\
    start end wait undo commit node branch namespace with error timeout retry fork exec prep post exec_fallback \
    prep_res exec_res self Self super crate fn async match type try gen union macro_rules _ __ _x _1 T E Option \
    Result Context String vec r#type r#match r#self_ r#end r#start ünï 名前 ª ǆ ßa İ ﬁ state State Action End engine \
    scope route input outcome argument_0 hello review Payment claim text Wrong wrong wait_2 both Both";

const LETTERS: &str = "aZ_1 .-#r'\"\\\n{}`:²ªßǆİŉ½٣Ⅷ\u{301}\u{200d}\u{0}名😀s5h";

/// Tokens and short phrases without a space in them.
const WORDS: &str = r####"
    for in else attempts backoff concurrency collect_errors writes actions poll every blocking human signal impl enum
    struct unsafe where dyn mut ref move loop const static pub r#node __0 x1 error_ 0 1 5s 1h 3.5 1e400
    99999999999999999999999999 0x_f 1u8 -1 'c' b"x" c"x" true "" "." "a.b" ".." "\"" "r#" "self" "Self" "_" "²" "ª"
    "ß" "ǆ" "-" "1" "error" "default" "timeout" "\n" "{}" "{" "`" "30s" "0s" "1ns" "584554049253y"
    "18446744073709551615s" r##"x"#"## "e\u{301}" ; , : :: . .. ... ..= >> > >>= -> <- => = == - < << ! # $ @ ? & &&
    * | || + / % ^ ~ 'a 'static '_ 'r#fn () [] {} (a) [a] <T> (5s) ("x") wait(5s) #![allow(x)] #[derive] #[cfg(x)]
    #[action("x")] pub(crate) Vec<Vec<u8>> a::b::C ::a a::<b>::c a..b return x!{} x![]
"####;

/// One per line.
const PHRASES: &str = r####"
    " "
    - -
    (a, b)
    [a, b >> c]
    { a }
    (attempts = 3)
    >> end;
    - "x" >>
    start >> end;
    node x: hello;
    node y: for i in claim { hello }
    node z: [hello, pay];
    node v: Ask = Ask;
    branch b(x) { true => "a", else => "b" }
    namespace "x";
    with timeout = "1s"
    with undo = pay
    >> undo >>
    commit >> end;
    { a <- b, c -> d }
    for i in k { x }
    #[doc = "x"]
    #[derive(A, B<C>)]
    pub(in a::b)
    -> Result<(), E>
    -> Result
    -> io::Result<Option<u8>>
    -> Option<&str>
    -> !
    -> (A, B)
    x: &Context
    y: Option<&str>,
    z: &mut u8,
    <A as B>::C
    dyn for<'a> Fn(&'a u8)
    impl Sized
    Fn(u8) -> u8
    if a { b } else { c }
    |x| x
    S { a: 1, ..b }
    unsafe { x }
    break 'a x
    async move {}
    where T: Copy
    = 3
    /// doc
    vec![1; 2]
"####;

/// At most this many changes.
pub(super) fn mutations(most: usize) -> impl Strategy<Value = Vec<Mutation>> {
    vec(mutation(), 0..=most)
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let change = prop_oneof![
        3 => Just(Change::Delete),
        2 => Just(Change::Duplicate),
        2 => Just(Change::SwapWithNext),
        1 => (2..60usize).prop_map(Change::Repeat),
        6 => piece().prop_map(Change::Insert),
        6 => piece().prop_map(Change::Replace),
        2 => piece().prop_map(Change::Append),
        4 => text().prop_map(Change::Retext),
        4 => name().prop_map(Change::Rename),
        1 => Just(Change::MakeRaw),
        1 => delimiter().prop_map(Change::Delimit),
        1 => delimiter().prop_map(Change::Wrap),
        1 => (delimiter(), 2..16usize).prop_map(|(delimiter, depth)| Change::Nest(delimiter, depth)),
        1 => Just(Change::Unwrap),
        1 => Just(Change::Cut),
    ];
    (0..100_000usize, change).prop_map(|(at, change)| Mutation { at, change })
}

fn piece() -> impl Strategy<Value = Piece> {
    prop_oneof![
        8 => source().prop_map(Piece::Source),
        1 => text().prop_map(Piece::Text),
        1 => any::<u64>().prop_map(Piece::Number),
        4 => (0..100_000usize).prop_map(Piece::Copied),
    ]
}

fn name() -> impl Strategy<Value = &'static str> {
    select(NAMES.split_whitespace().collect::<Vec<_>>())
}

fn source() -> impl Strategy<Value = &'static str> {
    let phrases = PHRASES
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let words = WORDS.split_whitespace().chain(NAMES.split_whitespace());
    select(words.chain(phrases).collect::<Vec<_>>())
}

/// Texts for labels, actions, durations and namespaces, some of which become names.
fn text() -> impl Strategy<Value = String> {
    let letter = prop_oneof![
        4 => select(LETTERS.chars().collect::<Vec<_>>()),
        1 => any::<char>(),
    ];
    prop_oneof![
        name().prop_map(str::to_owned),
        vec(letter, 0..5).prop_map(|letters| letters.into_iter().collect()),
    ]
}

fn delimiter() -> impl Strategy<Value = Delimiter> {
    select(vec![
        Delimiter::Parenthesis,
        Delimiter::Brace,
        Delimiter::Bracket,
        Delimiter::None,
    ])
}

/// The tokens after all of these changes, one after the other.
pub(super) fn mutated(tokens: TokenStream, mutations: &[Mutation]) -> TokenStream {
    let mut trees = planted(tokens);
    for mutation in mutations {
        let all = count(&trees);
        if all == 0 || all > 20_000 {
            break;
        }
        let at = match &mutation.change {
            Change::Retext(_) => next(&trees, mutation.at % all, &is_text),
            Change::Rename(_) => next(&trees, mutation.at % all, &is_name),
            _ => mutation.at % all,
        };
        let change = match &mutation.change {
            Change::Insert(piece) => Planted::Insert(piece.planted(&trees)),
            Change::Replace(piece) => Planted::Replace(piece.planted(&trees)),
            Change::Retext(text) => Planted::Replace(Piece::Text(text.clone()).planted(&trees)),
            Change::Rename(name) => Planted::Replace(Piece::Source(name).planted(&trees)),
            Change::Append(piece) => Planted::Append(piece.planted(&trees)),
            other => Planted::Other(other),
        };
        change_at(&mut trees, at, &change);
    }
    grown(trees)
}

/// A token, or a group whose content can be changed.
#[derive(Clone)]
enum Tree {
    Token(TokenTree),
    Group(Delimiter, Span, Vec<Tree>),
}

enum Planted<'a> {
    Insert(Vec<Tree>),
    Replace(Vec<Tree>),
    Append(Vec<Tree>),
    Other(&'a Change),
}

impl Piece {
    fn planted(&self, trees: &[Tree]) -> Vec<Tree> {
        // From text, so that it has a place.
        let written = |literal: Literal| planted(parse(&literal.to_string()));
        match self {
            Piece::Source(source) => planted(parse(source)),
            Piece::Text(text) => written(Literal::string(text)),
            Piece::Number(number) => written(Literal::u64_unsuffixed(*number)),
            Piece::Copied(at) => find(trees, at % count(trees)).into_iter().collect(),
        }
    }
}

fn planted(tokens: TokenStream) -> Vec<Tree> {
    let tree = |token| match token {
        TokenTree::Group(group) => {
            Tree::Group(group.delimiter(), group.span(), planted(group.stream()))
        }
        token => Tree::Token(token),
    };
    tokens.into_iter().map(tree).collect()
}

fn grown(trees: Vec<Tree>) -> TokenStream {
    let token = |tree| match tree {
        Tree::Token(token) => token,
        Tree::Group(delimiter, span, content) => {
            let mut group = Group::new(delimiter, grown(content));
            group.set_span(span);
            TokenTree::Group(group)
        }
    };
    trees.into_iter().map(token).collect()
}

fn count(trees: &[Tree]) -> usize {
    let of_tree = |tree: &Tree| match tree {
        Tree::Token(_) => 1,
        Tree::Group(_, _, content) => 1 + count(content),
    };
    trees.iter().map(of_tree).sum()
}

/// The first token from here on that meets the condition. If there is none, the token here.
fn next(trees: &[Tree], at: usize, is_it: &dyn Fn(&TokenTree) -> bool) -> usize {
    let is_there =
        |index: &usize| matches!(find(trees, *index), Some(Tree::Token(token)) if is_it(&token));
    (at..count(trees)).chain(0..at).find(is_there).unwrap_or(at)
}

fn is_text(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Literal(literal) if literal.to_string().ends_with('"'))
}

fn is_name(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Ident(_))
}

fn find(trees: &[Tree], mut at: usize) -> Option<Tree> {
    for tree in trees {
        if at == 0 {
            return Some(tree.clone());
        }
        let content = match tree {
            Tree::Group(_, _, content) => &content[..],
            Tree::Token(_) => &[],
        };
        let inside = count(content);
        if at <= inside {
            return find(content, at - 1);
        }
        at -= 1 + inside;
    }
    None
}

fn change_at(trees: &mut Vec<Tree>, mut at: usize, change: &Planted<'_>) {
    for index in 0..trees.len() {
        if at == 0 {
            apply(trees, index, change);
            return;
        }
        at -= 1;
        if let Tree::Group(_, _, content) = &mut trees[index] {
            let inside = count(content);
            if at < inside {
                change_at(content, at, change);
                return;
            }
            at -= inside;
        }
    }
}

fn apply(trees: &mut Vec<Tree>, index: usize, change: &Planted<'_>) {
    let span = match &trees[index] {
        Tree::Token(token) => token.span(),
        Tree::Group(_, span, _) => *span,
    };
    match change {
        Planted::Insert(pieces) => {
            trees.splice(index..index, pieces.iter().cloned());
        }
        Planted::Replace(pieces) => {
            trees.splice(index..=index, pieces.iter().cloned());
        }
        Planted::Append(pieces) => match &mut trees[index] {
            Tree::Group(_, _, content) => content.extend(pieces.iter().cloned()),
            Tree::Token(_) => trees.extend(pieces.iter().cloned()),
        },
        Planted::Other(change) => match change {
            Change::Delete => drop(trees.remove(index)),
            Change::Duplicate => trees.insert(index, trees[index].clone()),
            Change::SwapWithNext if index + 1 < trees.len() => trees.swap(index, index + 1),
            Change::Repeat(times) => {
                let same = vec![trees[index].clone(); *times];
                trees.splice(index..index, same);
            }
            Change::MakeRaw => {
                if let Tree::Token(TokenTree::Ident(ident)) = &mut trees[index] {
                    make_raw(ident);
                }
            }
            Change::Delimit(new) => {
                if let Tree::Group(delimiter, _, _) = &mut trees[index] {
                    *delimiter = *new;
                }
            }
            Change::Wrap(delimiter) => {
                trees[index] = Tree::Group(*delimiter, span, vec![trees[index].clone()]);
            }
            Change::Nest(delimiter, depth) => {
                for _ in 0..*depth {
                    trees[index] = Tree::Group(*delimiter, span, vec![trees[index].clone()]);
                }
            }
            Change::Unwrap => {
                if let Tree::Group(_, _, content) = &trees[index] {
                    let content = content.clone();
                    trees.splice(index..=index, content);
                }
            }
            Change::Cut => trees.truncate(index),
            _ => {}
        },
    }
}

fn make_raw(ident: &mut Ident) {
    let text = ident.to_string();
    let never_raw = ["self", "Self", "super", "crate", "_"];
    if !text.starts_with("r#") && !never_raw.contains(&text.as_str()) {
        *ident = Ident::new_raw(&text, ident.span());
    }
}
