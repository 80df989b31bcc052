//! Declarations: `node` in its four forms, with its mapping and its settings, and `branch`.

use flow_spec::Code;
use proc_macro2::{Span, TokenTree};
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Expr, Ident, LitStr, Path, Token, Type, braced, parenthesized, token};

use crate::flow::syntax::{
    BranchSyntax, External, Mapping, NodeSource, NodeSyntax, RaceBranchSyntax,
};
use crate::names::{composed, is_type_name, keyword_in, path_text};
use crate::report::Report;
use crate::settings::{self, OF_NODES, SETTINGS, Settings};
use crate::text::lifetimes;

use super::edges::{branch_of, fork};
use super::foreign;

/// `node name: … with settings`
pub(super) fn node(
    input: ParseStream<'_>,
    waits: &mut usize,
    report: &mut Report,
) -> syn::Result<NodeSyntax> {
    input.call(Ident::parse_any)?;
    let name: Ident = input.parse()?;
    input
        .parse::<Token![:]>()
        .map_err(|_| foreign::instead_of_a_path(&name, input))?;
    let source = if input.peek(token::Bracket) {
        NodeSource::Fork(fork(input, waits, report)?)
    } else if input.peek(Token![for]) {
        each(input)?
    } else if is_race(input) {
        NodeSource::Race(race(&name, input, waits, report)?)
    } else {
        foreign::value_as_path(&name, input)?;
        NodeSource::Path {
            external: external(input)?,
            path: input.call(type_path)?,
            mapping: if input.peek(token::Brace) {
                mapping(input)?
            } else {
                Vec::new()
            },
            value: if input.peek(Token![=]) {
                input.parse::<Token![=]>()?;
                Some(value(input)?)
            } else {
                None
            },
        }
    };
    let settings = if input.peek(Ident) && input.fork().parse::<Ident>()? == "with" {
        with(input, report)?
    } else {
        Settings::default()
    };
    if input.peek(token::Brace) {
        let has_value = matches!(&source, NodeSource::Path { value: Some(_), .. });
        let text = if has_value {
            format!("the mapping comes before the value: `node {name}: … {{ … }} = value`")
        } else {
            format!("the mapping comes before the settings: `node {name}: … {{ … }} with …`")
        };
        return Err(input.error(text));
    }
    if input.peek(Token![=]) {
        let text = format!("the value comes before the settings: `node {name}: … = value with …`");
        return Err(input.error(text));
    }
    Ok(NodeSyntax {
        name,
        source,
        settings,
    })
}

/// Returns true before `first { … }`. A node may have that name: `first { text <- draft }`.
fn is_race(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    if !ahead.parse::<Ident>().is_ok_and(|word| word == "first") || !ahead.peek(token::Brace) {
        return false;
    }
    !foreign::is_mapping(&ahead)
}

/// `first { a >> b => "action", c }`
fn race(
    name: &Ident,
    input: ParseStream<'_>,
    waits: &mut usize,
    report: &mut Report,
) -> syn::Result<Vec<RaceBranchSyntax>> {
    let word: Ident = input.parse()?;
    let content;
    braced!(content in input);
    if content.is_empty() {
        let text =
            "a race without branches: write `first { step => \"done\", wait(5s) => \"late\" }`";
        return Err(syn::Error::new(word.span(), text));
    }
    let mut branches = Vec::new();
    while !content.is_empty() {
        foreign::instead_of_a_branch(&content)?;
        let chain = branch_of(&content, waits, report)?;
        foreign::behind_a_branch(name, &content)?;
        let action = match content.parse::<Option<Token![=>]>>()? {
            Some(_) => {
                let action: LitStr = content
                    .parse()
                    .map(composed)
                    .map_err(|_| foreign::action_of_branch(name, &content))?;
                settings::text(&action, "action", report);
                Some(action)
            }
            None => None,
        };
        branches.push(RaceBranchSyntax { chain, action });
        if !content.is_empty() {
            content.parse::<Token![,]>().map_err(|error| {
                let text = "expected `,`, `>>` or `=> \"action\"`: the branches of a race are chains, \
                            `first { a >> b => \"done\", c }`";
                syn::Error::new(error.span(), text)
            })?;
        }
    }
    Ok(branches)
}

/// The word `human` or `signal` before a path. A node or its module may also have that name.
fn external(input: ParseStream<'_>) -> syn::Result<Option<(External, Span)>> {
    let ahead = input.fork();
    let word = ahead.parse::<Ident>().ok();
    let words = [External::Human, External::Signal];
    let found = words
        .into_iter()
        .find(|known| word.as_ref().is_some_and(|word| word == known.word()));
    let path_follows =
        ahead.peek(Ident::peek_any) && !ahead.parse::<Ident>().is_ok_and(|word| word == "with");
    match found.filter(|_| path_follows) {
        Some(found) => Ok(Some((found, input.parse::<Ident>()?.span()))),
        None => Ok(None),
    }
}

/// A path that may have generic arguments: `Ask<OpenAi>`.
fn type_path(input: ParseStream<'_>) -> syn::Result<Path> {
    match input.parse::<Type>() {
        Ok(Type::Path(path)) if path.qself.is_none() => {
            refuse_nameless(&path.path)?;
            foreign::word_as_a_node(&path.path)?;
            refuse_lifetime(&path.path)?;
            Ok(path.path)
        }
        Ok(other) => Err(syn::Error::new(other.span(), "expected the path of a node")),
        Err(error) => Err(syn::Error::new(error.span(), "expected the path of a node")),
    }
}

/// Refuses a type that borrows for a lifetime, which a flow does not have.
fn refuse_lifetime(path: &Path) -> syn::Result<()> {
    // `for<'a> fn(&'a str)` names its own.
    let names_its_own = path_text(path).contains("for<");
    let mut lifetimes = lifetimes(path).filter(|_| !names_its_own);
    let Some(lifetime) =
        lifetimes.find(|lifetime| lifetime.ident != "static" && lifetime.ident != "_")
    else {
        return Ok(());
    };
    let text = format!(
        "a flow owns its nodes, and cannot borrow for `{lifetime}`: let the type own its values, or write `'static`"
    );
    Err(syn::Error::new(lifetime.span(), text))
}

/// Refuses a path that cannot name a node, because a macro with the node's name passes on its
/// contract: a keyword cannot name a macro, and a type cannot contain one.
pub(super) fn refuse_nameless(path: &Path) -> syn::Result<()> {
    if let Some(word) = keyword_in(path) {
        let text = format!("`{word}` is a word of Rust and names no node");
        return Err(syn::Error::new(word.span(), text));
    }
    let mut outer = path.segments.iter().rev().skip(1);
    if let Some(ty) = outer.find(|segment| is_type_name(&segment.ident)) {
        let (path, ty) = (path_text(path), &ty.ident);
        let text = format!("`{path}` is not a node: a type or a flow is a node as a whole, `{ty}`");
        return Err(syn::Error::new(ty.span(), text));
    }
    Ok(())
}

/// The expression after `=`, up to `with` or `;`.
fn value(input: ParseStream<'_>) -> syn::Result<Expr> {
    input
        .parse()
        .map_err(|error| syn::Error::new(error.span(), "expected the node's value after `=`"))
}

/// `{ port <- key, port -> key }`
fn mapping(input: ParseStream<'_>) -> syn::Result<Vec<Mapping>> {
    let content;
    braced!(content in input);
    let one = |input: ParseStream<'_>| {
        foreign::refuse_attribute(input)?;
        if input.peek(Token![+]) {
            let text = "the `+` stands before the key: `result -> +key`";
            return Err(input.error(text));
        }
        let port: Ident = input.parse()?;
        refuse_value(input)?;
        let reads = input.peek(Token![<-]);
        if reads {
            input.parse::<Token![<-]>()?;
        } else {
            input.parse::<Token![->]>().map_err(|error| {
                let text = "expected `<-` and the key that the parameter reads, or `->` and the key that the result is \
                            written to";
                syn::Error::new(error.span(), text)
            })?;
        }
        let add = input.parse::<Option<Token![+]>>()?;
        if let Some(add) = add.filter(|_| reads) {
            let text = format!("a node adds what it writes, not what it reads: `{port} -> +key`");
            return Err(syn::Error::new(add.span, text));
        }
        let key = key(input)?;
        let adds = add.is_some();
        Ok(Mapping {
            port,
            reads,
            adds,
            key,
        })
    };
    Ok(
        Punctuated::<Mapping, Token![,]>::parse_terminated_with(&content, one)?
            .into_iter()
            .collect(),
    )
}

/// Refuses the fields of a value in place of a mapping.
pub(super) fn refuse_value(input: ParseStream<'_>) -> syn::Result<()> {
    if input.peek(Token![:]) {
        let text = "a key is mapped with `<-`: `{ parameter <- key }`; and a value comes after `=`, in a declaration \
                    `node name: Type = Type { … };`";
        return Err(input.error(text));
    }
    Ok(())
}

/// The key behind the arrow of a mapping.
pub(super) fn key(input: ParseStream<'_>) -> syn::Result<Ident> {
    if input.peek(Token![+]) {
        let text = "an edge gives a key the value of another one. To add, let a node write it: `#[node(writes = +key)]`";
        return Err(input.error(text));
    }
    if !input.peek(Ident::peek_any) && !input.is_empty() {
        let text = "a mapping names a key, not a value: for a value, give the flow an input with a default, `key: Type = …`, or \
                    let a node write it";
        return Err(input.error(text));
    }
    input.parse()
}

/// The error for a loop over a reference or an iterator.
fn the_key_alone(item: &Ident, over: &Ident) -> String {
    format!(
        "a loop names the key alone: `for {item} in {over}`; its items are lent or moved as the body reads them"
    )
}

/// `for item in key { path { mapping } }`
fn each(input: ParseStream<'_>) -> syn::Result<NodeSource> {
    input.parse::<Token![for]>()?;
    let item: Ident = input.parse()?;
    input.parse::<Token![in]>()?;
    let not_a_key = |span| {
        let text = format!(
            "a loop goes over the items of a key: let a node write them, and write `for {item} in its_key`"
        );
        syn::Error::new(span, text)
    };
    if input.peek(Token![&]) {
        let mark = input.span();
        input.parse::<Token![&]>()?;
        input.parse::<Option<Token![mut]>>()?;
        let over = input.parse::<Ident>().map_err(|_| not_a_key(mark))?;
        return Err(syn::Error::new(mark, the_key_alone(&item, &over)));
    }
    let over: Ident = input.parse().map_err(|error| not_a_key(error.span()))?;
    if input.peek(Token![.]) {
        let ahead = input.fork();
        ahead.parse::<Token![.]>()?;
        let method = ahead.call(Ident::parse_any)?;
        if ["iter", "into_iter", "iter_mut", "clone"]
            .iter()
            .any(|itself| method == itself)
        {
            return Err(syn::Error::new(method.span(), the_key_alone(&item, &over)));
        }
    }
    if input.peek(Token![.]) || input.peek(token::Paren) {
        return Err(not_a_key(over.span()));
    }
    if !input.peek(token::Brace) {
        let text = format!(
            "expected the node that each item goes to: `for {item} in {over} {{ step }}`; settings come after it"
        );
        return Err(input.error(text));
    }
    let content;
    braced!(content in input);
    let path = type_path(&content)?;
    let mapping = if content.peek(token::Brace) {
        mapping(&content)?
    } else {
        Vec::new()
    };
    if content.peek(token::Paren) {
        let path = path_text(&path);
        let text = format!("a loop calls its node itself: `for {item} in {over} {{ {path} }}`");
        return Err(content.error(text));
    }
    if !content.is_empty() {
        return Err(content.error("a loop over items runs one node: make a flow of several"));
    }
    Ok(NodeSource::Each {
        item,
        over,
        path,
        mapping,
    })
}

/// `with retry(attempts = 3), timeout = "30s"`
fn with(input: ParseStream<'_>, report: &mut Report) -> syn::Result<Settings> {
    input.parse::<Ident>()?;
    let mut settings = Settings::default();
    loop {
        let name = settings::name(
            input,
            "expected a setting after `with`, such as `retry(attempts = 3)` or `timeout = \"5s\"`",
        )?;
        if name == "undo" && input.peek(Token![=]) {
            let ahead = input.fork();
            ahead.parse::<Token![=]>()?;
            foreign::instead_of_an_undo_node(&ahead)?;
        }
        if settings.parse(&name, input, report)? {
            if let Some((_, path)) = settings.undo.as_ref().filter(|_| name == "undo") {
                refuse_nameless(path)?;
                foreign::word_as_a_node(path)?;
                foreign::behind_an_undo_node(path, input)?;
            }
        } else {
            let unknown = name.to_string();
            let help = if OF_NODES.contains(&unknown.as_str()) {
                "write it where the node is defined, in its `#[node(…)]`".to_owned()
            } else {
                flow_spec::did_you_mean(&unknown, SETTINGS).unwrap_or_default()
            };
            report.error(
                Code::NamesNothing,
                name.span(),
                format!("a node has no setting `{unknown}`"),
                help,
            );
            while !input.is_empty() && !input.peek(Token![,]) && !input.peek(Token![;]) {
                input.parse::<TokenTree>()?;
            }
        }
        if input.peek(Token![,]) {
            input.parse::<Token![,]>()?;
        } else if let Some(next) = setting_ahead(input) {
            settings::comma_missing(&next, report);
        } else {
            return Ok(settings);
        }
    }
}

/// The name of the setting that follows without a comma. A statement looks different: its first
/// word is not followed by `=` or parentheses, and `collect_errors` alone is no statement.
fn setting_ahead(input: ParseStream<'_>) -> Option<Ident> {
    let ahead = input.fork();
    let name: Ident = ahead.parse().ok()?;
    let follows = match name.to_string().as_str() {
        "timeout" | "undo" | "was" => ahead.peek(Token![=]),
        "retry" | "concurrency" | "spread" => ahead.peek(token::Paren),
        "collect_errors" => ahead.peek(Token![;]) || ahead.peek(Token![,]),
        _ => false,
    };
    follows.then_some(name)
}

/// `branch name(reads) { condition => "action", else => "action" }`
pub(super) fn branch(input: ParseStream<'_>, report: &mut Report) -> syn::Result<BranchSyntax> {
    input.parse::<Ident>()?;
    let name: Ident = input.parse()?;
    if !input.peek(token::Paren) {
        let text = format!("expected the keys that it looks at: `branch {name}(key) {{ … }}`");
        return Err(input.error(text));
    }
    let reads;
    parenthesized!(reads in input);
    let reads = Punctuated::<Ident, Token![,]>::parse_terminated(&reads)?;
    let content;
    braced!(content in input);
    let mut branch = BranchSyntax {
        name,
        reads: reads.into_iter().collect(),
        cases: Vec::new(),
        otherwise: None,
    };
    while !content.is_empty() {
        if let Some(otherwise) = &branch.otherwise {
            let message = "nothing after `else` is reached";
            report.error(
                Code::Malformed,
                otherwise.span(),
                message,
                "put `else` last",
            );
        }
        case(&content, &mut branch, report)?;
        if !content.is_empty() {
            content.parse::<Token![,]>()?;
        }
    }
    if branch.otherwise.is_none() {
        let message = format!(
            "`{}` does not say what to do when no condition holds",
            branch.name
        );
        let help = "end it with `else => \"action\"`";
        report.error(Code::UnroutedAction, branch.name.span(), message, help);
    }
    Ok(branch)
}

/// One case of a branch: `condition => "action"` or `else => "action"`.
fn case(input: ParseStream<'_>, branch: &mut BranchSyntax, report: &mut Report) -> syn::Result<()> {
    foreign::attributes(input, report)?;
    let name = branch.name.clone();
    let action = |input: ParseStream<'_>| {
        input.parse::<Token![=>]>()?;
        let action = input.parse().map(composed);
        action.map_err(|_| foreign::action_of_case(&name, input))
    };
    if input.peek(Token![_]) && input.peek2(Token![=>]) {
        let text = "the last case of a branch is `else => \"action\"`";
        report.text(input.span(), text);
        input.parse::<Token![_]>()?;
        branch.otherwise = Some(action(input)?);
    } else if input.parse::<Option<Token![else]>>()?.is_some() {
        branch.otherwise = Some(action(input)?);
    } else {
        let condition = input.parse()?;
        foreign::operator_in_words(input)?;
        branch.cases.push((condition, action(input)?));
    }
    Ok(())
}
