//! Reads `flow!`. Judges no meaning, and does not stop at the first mistake: what comes after a statement that
//! cannot be read is read all the same, so that a flow that is half typed is mostly there.

use std::rc::Rc;

use flow_spec::Code;
use proc_macro2::{Span, TokenStream, TokenTree};
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{
    Attribute, Expr, Ident, LitStr, Path, Token, Type, braced, bracketed, parenthesized, token,
};

use crate::names::is_name;
use crate::node::option_of;
use crate::report::Report;
use crate::settings::{SETTINGS, Settings, parse_duration};

use super::syntax::{
    BranchSyntax, EdgeSyntax, FlowSyntax, ForkSyntax, Mapping, NodeSource, NodeSyntax, Parameter,
    Parsed, StepSyntax, WaitSyntax,
};

/// Reads the tokens of a `flow!`.
pub(crate) fn parse(tokens: TokenStream, report: &mut Report) -> Parsed {
    let mut found = None;
    let parsed = (|input: ParseStream<'_>| {
        found = Some(flow(input, report)?);
        Ok(())
    })
    .parse2(tokens.clone());
    // After a mistake between parentheses, syn has a word to say of what was left unread there: once is enough.
    if found.is_none() || report.is_empty() {
        report.ok(parsed);
    }
    Parsed {
        flow: found,
        tokens,
    }
}

fn flow(input: ParseStream<'_>, report: &mut Report) -> syn::Result<FlowSyntax> {
    let mut flow = FlowSyntax {
        attributes: input.call(Attribute::parse_outer)?,
        after_attributes: input.fork().parse()?,
        vis: input.parse()?,
        name: input
            .parse()
            .map_err(|error| syn::Error::new(error.span(), "expected the flow's name"))?,
        inputs: parameters(
            input,
            "the flow's inputs: `Name(key: Type, …)`, or `Name()`",
        )?,
        outputs: if input.peek(Token![->]) {
            input.parse::<Token![->]>()?;
            parameters(input, "the flow's outputs: `-> (key: Type, …)`")?
        } else {
            Vec::new()
        },
        namespace: None,
        nodes: Vec::new(),
        branches: Vec::new(),
        edges: Vec::new(),
        unread: Vec::new(),
        unread_ends: Vec::new(),
    };
    if !input.peek(token::Brace) {
        let text = "expected the flow's body: `{ start >> first_node; … }`";
        report.text(flow.name.span(), text);
        skip_to_end(input)?;
        return Ok(flow);
    }
    let content;
    braced!(content in input);
    let body = Body::of(&content)?;
    while !content.is_empty() {
        let statement = content.fork();
        if let Err(error) = item(&content, &body, &mut flow, report) {
            report.push(error);
            skip_statement(&content)?;
            flow.unread_ends.extend(ends(&statement)?);
        }
    }
    if !input.is_empty() {
        report.push(input.error("nothing can follow the flow's body"));
        skip_to_end(input)?;
    }
    Ok(flow)
}

fn parameters(input: ParseStream<'_>, expected: &str) -> syn::Result<Vec<Parameter>> {
    if input.peek(Token![<]) {
        let text = "a flow is not generic: every key has one type. What varies can be a setting, as in \
                    `node ask: Ask<Box<dyn Model>>;`";
        return Err(input.error(text));
    }
    if !input.peek(token::Paren) {
        return Err(input.error(format!("expected {expected}")));
    }
    let content;
    parenthesized!(content in input);
    let parameter = |input: ParseStream<'_>| {
        let attributes = input.call(Attribute::parse_outer)?;
        let text = "expected a key and its type: `key: Type`";
        let name: Ident = input
            .parse()
            .map_err(|error| syn::Error::new(error.span(), text))?;
        input
            .parse::<Token![:]>()
            .map_err(|_| syn::Error::new(name.span(), text))?;
        let ty: Type = input.parse()?;
        Ok(match option_of(&ty) {
            Some(inner) => Parameter {
                attributes,
                name,
                ty: inner.clone(),
                optional: true,
            },
            None => Parameter {
                attributes,
                name,
                ty,
                optional: false,
            },
        })
    };
    Ok(
        Punctuated::<Parameter, Token![,]>::parse_terminated_with(&content, parameter)?
            .into_iter()
            .collect(),
    )
}

/// The places of all tokens of the body: a stream knows only what is ahead, and a missing `;` is missed behind.
struct Body(Vec<Span>);

impl Body {
    fn of(content: ParseStream<'_>) -> syn::Result<Self> {
        let tokens: TokenStream = content.fork().parse()?;
        Ok(Body(tokens.into_iter().map(|token| token.span()).collect()))
    }

    /// The place of the token before the cursor.
    fn before(&self, input: ParseStream<'_>) -> syn::Result<Span> {
        let ahead: TokenStream = input.fork().parse()?;
        let index = self.0.len().saturating_sub(ahead.into_iter().count() + 1);
        Ok(self.0.get(index).copied().unwrap_or_else(|| input.span()))
    }
}

/// One statement.
fn item(
    input: ParseStream<'_>,
    body: &Body,
    flow: &mut FlowSyntax,
    report: &mut Report,
) -> syn::Result<()> {
    if input.peek(Token![;]) {
        let extra: Token![;] = input.parse()?;
        report.text(extra.span(), "this `;` ends nothing");
        return Ok(());
    }
    let keyword = input.fork().call(Ident::parse_any).ok();
    let is = |word: &str| keyword.as_ref().is_some_and(|keyword| keyword == word);
    if is("node") && input.peek2(syn::Ident::peek_any) {
        let ahead = input.fork();
        ahead.call(Ident::parse_any)?;
        let name = ahead.parse::<Ident>().ok();
        let node = node(input, report).inspect_err(|_| flow.unread.extend(name))?;
        flow.nodes.push(node);
        return end_of_statement(input, body, report);
    }
    if is("namespace") && !input.peek2(Token![>>]) && !input.peek2(Token![-]) {
        let keyword: Ident = input.parse()?;
        let namespace: LitStr = input
            .parse()
            .map_err(|error| syn::Error::new(error.span(), "expected the namespace in quotes"))?;
        check_namespace(&namespace, report);
        if flow.namespace.replace(namespace).is_some() {
            report.error(
                Code::Name,
                keyword.span(),
                "a second namespace",
                "a flow has one: remove one of them",
            );
        }
        return end_of_statement(input, body, report);
    }
    if is("branch") && input.peek2(syn::Ident::peek_any) {
        let ahead = input.fork();
        ahead.call(Ident::parse_any)?;
        let name = ahead.parse::<Ident>().ok();
        let branch = branch(input, report).inspect_err(|_| flow.unread.extend(name))?;
        flow.branches.push(branch);
        return Ok(());
    }
    let edges = chain(input, report)?;
    flow.edges.extend(edges);
    end_of_statement(input, body, report)
}

/// The `;`. Where it is missing, the next statement begins all the same.
fn end_of_statement(input: ParseStream<'_>, body: &Body, report: &mut Report) -> syn::Result<()> {
    if input.peek(Token![;]) {
        input.parse::<Token![;]>()?;
        return Ok(());
    }
    if input.peek(Ident) && input.fork().parse::<Ident>()? == "with" {
        let text = "settings belong in a declaration, `node name: … with …;`, whose name the edge then takes";
        return Err(input.error(text));
    }
    if input.is_empty() || input.peek(syn::Ident::peek_any) || input.peek(token::Bracket) {
        report.text(body.before(input)?, "expected `;` after this statement");
        return Ok(());
    }
    Err(input.error("expected `;`, `>>`, or `- \"action\" >>`"))
}

/// Skips to the end of a statement that could not be read.
fn skip_statement(input: ParseStream<'_>) -> syn::Result<()> {
    while !input.is_empty() {
        if input.peek(Token![;]) {
            input.parse::<Token![;]>()?;
            return Ok(());
        }
        input.parse::<TokenTree>()?;
    }
    Ok(())
}

/// The ends that a statement names which could not be read.
fn ends(statement: ParseStream<'_>) -> syn::Result<Vec<(Span, Option<LitStr>)>> {
    let mut ends = Vec::new();
    while !statement.is_empty() && !statement.peek(Token![;]) {
        match statement.parse::<TokenTree>()? {
            TokenTree::Ident(word) if word == "end" => {
                let label = match statement.fork().parse::<TokenTree>() {
                    Ok(TokenTree::Group(group)) => syn::parse2(group.stream()).ok(),
                    _ => None,
                };
                ends.push((word.span(), label));
            }
            _ => {}
        }
    }
    Ok(ends)
}

fn skip_to_end(input: ParseStream<'_>) -> syn::Result<()> {
    input.parse::<TokenStream>().map(drop)
}

/// `a - "x" >> b >> c`: an edge for each `>>`.
fn chain(input: ParseStream<'_>, report: &mut Report) -> syn::Result<Vec<EdgeSyntax>> {
    let mut edges = Vec::new();
    let mut from = step(input, report)?;
    loop {
        let action = action(input)?;
        if !input.peek(Token![>>]) {
            return match action {
                None if is_other_arrow(input) => {
                    Err(input.error("an edge is written with `>>`: `step >> next;`"))
                }
                None if input.peek(Token![<]) => {
                    let text = "generic arguments belong in a declaration, `node name: Type<…>;`, whose name the edge \
                                then takes";
                    Err(input.error(text))
                }
                Some(action) => Err(syn::Error::new(
                    action.span(),
                    "expected `>>` and a step after the action",
                )),
                None if input.peek(LitStr) => {
                    Err(input.error("expected `-` before the action: `step - \"action\" >> next`"))
                }
                None if edges.is_empty() => Err(syn::Error::new(
                    from.span(),
                    "this step leads nowhere: write `step >> next;` or `step - \"action\" >> next;`",
                )),
                None => Ok(edges),
            };
        }
        let arrow = input.parse::<Token![>>]>()?.span();
        if input.is_empty() || input.peek(Token![;]) {
            report.text(
                arrow,
                "expected a step after `>>`: a node, `end`, or `end(\"label\")`",
            );
            return Ok(edges);
        }
        let to = step(input, report)?;
        edges.push(EdgeSyntax {
            from,
            action,
            arrow,
            to: to.clone(),
        });
        from = to;
    }
}

/// What one might write instead of `>>`.
fn is_other_arrow(input: ParseStream<'_>) -> bool {
    input.peek(Token![->]) || input.peek(Token![=>]) || input.peek(Token![>])
}

/// `- "action"`
fn action(input: ParseStream<'_>) -> syn::Result<Option<LitStr>> {
    if !input.peek(Token![-]) || input.peek(Token![->]) {
        return Ok(None);
    }
    input.parse::<Token![-]>()?;
    if let Ok(name) = input.fork().call(Ident::parse_any) {
        return Err(syn::Error::new(
            name.span(),
            format!("an action is written in quotes: `- \"{name}\"`"),
        ));
    }
    let action = input.parse();
    action.map(Some).map_err(|error| {
        syn::Error::new(
            error.span(),
            "expected an action in quotes: `- \"action\" >>`",
        )
    })
}

fn step(input: ParseStream<'_>, report: &mut Report) -> syn::Result<StepSyntax> {
    if input.peek(token::Bracket) {
        return Ok(StepSyntax::Fork(fork(input, report)?));
    }
    let path = input.call(Path::parse_mod_style).map_err(|error| {
        syn::Error::new(
            error.span(),
            "expected a step: a node, `start`, `end`, `end(\"label\")`, or `[a, b]`",
        )
    })?;
    refuse_keyword(&path)?;
    let Some(word) = path.get_ident() else {
        return Ok(StepSyntax::Node(path));
    };
    let span = word.span();
    match word.to_string().as_str() {
        "start" => Ok(StepSyntax::Start(span)),
        "end" if input.peek(token::Paren) => {
            let content;
            parenthesized!(content in input);
            let label: LitStr = content.parse().map_err(|error| {
                syn::Error::new(
                    error.span(),
                    "expected the end's label in quotes: `end(\"label\")`",
                )
            })?;
            if !content.is_empty() {
                return Err(content.error("an end has one label"));
            }
            crate::settings::text(&label, "label", report);
            Ok(StepSyntax::End(span, Some(label)))
        }
        "end" => Ok(StepSyntax::End(span, None)),
        "wait" if input.peek(token::Paren) => {
            let content;
            let paren = parenthesized!(content in input);
            let text = content.parse::<TokenStream>()?.to_string().replace(' ', "");
            let duration = parse_duration(&text, paren.span.join(), report).unwrap_or_default();
            Ok(StepSyntax::Wait(Rc::new(WaitSyntax {
                span,
                text,
                duration,
            })))
        }
        "wait" => {
            let text = "a pause says how long it is: `wait(5s)`";
            Err(syn::Error::new(span, text))
        }
        _ if input.peek(token::Paren) => {
            let text = "a node is wired by its name alone: what it reads comes from the flow";
            Err(syn::Error::new(span, text))
        }
        _ => Ok(StepSyntax::Node(path)),
    }
}

/// `[a >> b, c]`
fn fork(input: ParseStream<'_>, report: &mut Report) -> syn::Result<Rc<ForkSyntax>> {
    let content;
    let bracket = bracketed!(content in input);
    let span = bracket.span.join();
    if content.is_empty() {
        return Err(syn::Error::new(
            span,
            "a fork without branches: write `[a, b]`",
        ));
    }
    let mut branches = Vec::new();
    while !content.is_empty() {
        let mut chain = vec![step(&content, report)?];
        while content.peek(Token![>>]) {
            content.parse::<Token![>>]>()?;
            chain.push(step(&content, report)?);
        }
        if content.peek(Token![-]) {
            let text =
                "an action cannot lead out of a fork: its branches are chains, `[a >> b, c]`";
            return Err(content.error(text));
        }
        branches.push(chain);
        if !content.is_empty() {
            content.parse::<Token![,]>().map_err(|error| {
                syn::Error::new(
                    error.span(),
                    "expected `,` or `>>`: a fork's branches are chains, `[a >> b, c]`",
                )
            })?;
        }
    }
    Ok(Rc::new(ForkSyntax { span, branches }))
}

/// `node name: … with settings`
fn node(input: ParseStream<'_>, report: &mut Report) -> syn::Result<NodeSyntax> {
    input.call(Ident::parse_any)?;
    let name: Ident = input.parse()?;
    input.parse::<Token![:]>().map_err(|error| {
        syn::Error::new(
            error.span(),
            format!("expected `:` and what the node is: `node {name}: path;`"),
        )
    })?;
    let source = if input.peek(token::Bracket) {
        NodeSource::Fork(fork(input, report)?)
    } else if input.peek(Token![for]) {
        each(input)?
    } else {
        NodeSource::Path {
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
    Ok(NodeSyntax {
        name,
        source,
        settings,
    })
}

/// A path that may have generic arguments: `Ask<OpenAi>`.
fn type_path(input: ParseStream<'_>) -> syn::Result<Path> {
    match input.parse::<Type>() {
        Ok(Type::Path(path)) if path.qself.is_none() => {
            refuse_keyword(&path.path)?;
            Ok(path.path)
        }
        Ok(other) => Err(syn::Error::new(other.span(), "expected the path of a node")),
        Err(error) => Err(syn::Error::new(error.span(), "expected the path of a node")),
    }
}

/// A node's contract is told by a macro of its name, and a keyword can name none.
fn refuse_keyword(path: &Path) -> syn::Result<()> {
    let last = path.segments.len().saturating_sub(1);
    let keyword = path.segments.iter().enumerate().find(|(index, segment)| {
        segment.ident == "Self" || (*index == last && !is_name(&segment.ident.to_string()))
    });
    match keyword {
        Some((_, segment)) => {
            let text = format!("`{}` is a word of Rust and names no node", segment.ident);
            Err(syn::Error::new(segment.ident.span(), text))
        }
        None => Ok(()),
    }
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
        let port: Ident = input.parse()?;
        let reads = input.peek(Token![<-]);
        if reads {
            input.parse::<Token![<-]>()?;
        } else {
            input.parse::<Token![->]>().map_err(|error| {
                let text = "expected `<-` and the key that the port reads, or `->` and the key that it writes";
                syn::Error::new(error.span(), text)
            })?;
        }
        Ok(Mapping {
            port,
            reads,
            key: input.parse()?,
        })
    };
    Ok(
        Punctuated::<Mapping, Token![,]>::parse_terminated_with(&content, one)?
            .into_iter()
            .collect(),
    )
}

/// `for item in key { path { mapping } }`
fn each(input: ParseStream<'_>) -> syn::Result<NodeSource> {
    input.parse::<Token![for]>()?;
    let item = input.parse()?;
    input.parse::<Token![in]>()?;
    let over = input.parse()?;
    let content;
    braced!(content in input);
    let path = type_path(&content)?;
    let mapping = if content.peek(token::Brace) {
        mapping(&content)?
    } else {
        Vec::new()
    };
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
        let name: Ident = input
            .parse()
            .map_err(|error| syn::Error::new(error.span(), "expected a setting after `with`"))?;
        if !settings.parse(&name, input, report)? {
            let unknown = name.to_string();
            let help = flow_spec::did_you_mean(&unknown, SETTINGS)
                .unwrap_or_default()
                .replace('"', "`");
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
        if !input.peek(Token![,]) {
            return Ok(settings);
        }
        input.parse::<Token![,]>()?;
    }
}

/// `branch name(reads) { condition => "action", else => "action" }`
fn branch(input: ParseStream<'_>, report: &mut Report) -> syn::Result<BranchSyntax> {
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
        if content.peek(Token![else]) {
            content.parse::<Token![else]>()?;
            content.parse::<Token![=>]>()?;
            branch.otherwise = Some(content.parse()?);
        } else {
            let condition = content.parse()?;
            content.parse::<Token![=>]>()?;
            branch.cases.push((condition, content.parse()?));
        }
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

/// A namespace is names joined by dots, as paths are.
fn check_namespace(namespace: &LitStr, report: &mut Report) {
    let is_name = |segment: &str| {
        let mut letters = segment.chars();
        letters
            .next()
            .is_some_and(|first| first.is_alphabetic() || first == '_')
            && letters.all(|letter| letter.is_alphanumeric() || letter == '_' || letter == '-')
    };
    if !namespace.value().split('.').all(is_name) {
        let help = "write names joined by dots, such as \"sales.research\"";
        report.error(
            Code::Malformed,
            namespace.span(),
            format!("`{}` is not a namespace", namespace.value()),
            help,
        );
    }
}

impl StepSyntax {
    pub(crate) fn span(&self) -> Span {
        match self {
            StepSyntax::Start(span) | StepSyntax::End(span, _) => *span,
            StepSyntax::Wait(wait) => wait.span,
            StepSyntax::Fork(fork) => fork.span,
            StepSyntax::Node(path) => path
                .segments
                .last()
                .map_or_else(Span::call_site, |segment| segment.ident.span()),
        }
    }
}
