//! A program as it is written by macros of its author's: each node, enum of actions and flow comes from a
//! `macro_rules!`, whose fragments are its types, names, paths, literals, expressions and bodies.
//!
//! Such a program does the same as the one written out, so the passing cases are run in both forms.

use std::fmt::Write as _;
use std::ops::Range;

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{
    Attribute, Block, Expr, FnArg, Ident, Item, Pat, ReturnType, Signature, Stmt, Token, Type,
    Visibility,
};

/// The methods of a node.
const PHASES: [&str; 4] = ["prep", "exec", "exec_fallback", "post"];

/// The words of a flow that name no node.
const WORDS: [&str; 4] = ["start", "end", "wait", "with"];

/// The program with a macro for each of its nodes, enums of actions and flows.
pub(super) fn from_macros(program: &str) -> String {
    let file = syn::parse_file(program).expect("a program");
    let mut macros = Macros {
        program,
        replaced: Vec::new(),
    };
    macros.items(&file.items);
    let mut text = String::new();
    let mut rest = 0;
    for (range, replacement) in &macros.replaced {
        text.push_str(&program[rest..range.start]);
        text.push_str(replacement);
        rest = range.end;
    }
    text + &program[rest..]
}

/// The items that come from macros: their places in the program, and the calls that replace them.
struct Macros<'a> {
    program: &'a str,
    replaced: Vec<(Range<usize>, String)>,
}

impl Macros<'_> {
    fn items<'i>(&mut self, items: impl IntoIterator<Item = &'i Item>) {
        for item in items {
            self.item(item);
        }
    }

    fn item(&mut self, item: &Item) {
        let mut fragments = Fragments::default();
        match item {
            Item::Fn(function) if is_of_flows(&function.attrs) => {
                fragments.attributes(&function.attrs);
                fragments.visibility(&function.vis);
                fragments.function(&function.sig, &function.block);
                fragments.add("ident", function.sig.ident.span());
            }
            Item::Fn(function) => return self.statements(&function.block.stmts),
            Item::Impl(block) if is_of_flows(&block.attrs) => {
                fragments.attributes(&block.attrs);
                fragments.add("ty", block.self_ty.span());
                for item in &block.items {
                    if let syn::ImplItem::Fn(method) = item
                        && PHASES.iter().any(|phase| method.sig.ident == phase)
                    {
                        fragments.function(&method.sig, &method.block);
                    }
                }
            }
            Item::Enum(item) if is_of_flows(&item.attrs) => {
                fragments.attributes(&item.attrs);
                fragments.visibility(&item.vis);
                fragments.add("ident", item.ident.span());
                for variant in &item.variants {
                    fragments.attributes(&variant.attrs);
                    fragments.add("ident", variant.ident.span());
                    for field in &variant.fields {
                        fragments.add("ty", field.ty.span());
                    }
                }
            }
            Item::Struct(item) if is_of_flows(&item.attrs) => {
                fragments.attributes(&item.attrs);
                fragments.visibility(&item.vis);
                for field in &item.fields {
                    fragments.add("ty", field.ty.span());
                }
            }
            Item::Macro(call) if is_flow(&call.mac) => fragments.flow(call.mac.tokens.clone()),
            Item::Mod(module) => {
                return self.items(module.content.iter().flat_map(|(_, items)| items));
            }
            _ => return,
        }
        self.replace(item.span(), fragments);
    }

    fn statements(&mut self, statements: &[Stmt]) {
        for statement in statements {
            match statement {
                Stmt::Item(item) => self.item(item),
                Stmt::Macro(call) if is_flow(&call.mac) => {
                    let mut fragments = Fragments::default();
                    fragments.flow(call.mac.tokens.clone());
                    self.replace(call.span(), fragments);
                }
                _ => {}
            }
        }
    }

    /// Puts a macro and its call in place of an item. What has a `$` of its own stays.
    fn replace(&mut self, item: Span, fragments: Fragments) {
        let item = item.byte_range();
        if self.program[item.clone()].contains('$') {
            return;
        }
        let Fragments(mut fragments) = fragments;
        fragments.sort_by_key(|(_, range)| range.start);
        let (mut body, mut matcher, mut arguments) = (String::new(), String::new(), String::new());
        let mut rest = item.start;
        for (index, (kind, range)) in fragments.into_iter().enumerate() {
            body.push_str(&self.program[rest..range.start]);
            // The words around it end here.
            let _ = write!(body, " $f{index} ");
            let _ = write!(matcher, "$f{index}:{kind}, ");
            let _ = write!(arguments, "{}, ", &self.program[range.clone()]);
            rest = range.end;
        }
        body.push_str(&self.program[rest..item.end]);
        let name = format!("from_a_macro_{}", self.replaced.len());
        let text = format!(
            "macro_rules! {name} {{ ({matcher}) => {{ {body} }} }}\n{name}! {{ {arguments} }}\n"
        );
        self.replaced.push((item, text));
    }
}

/// The parts of an item that are fragments: the kind of each, and its place in the program.
#[derive(Default)]
struct Fragments(Vec<(&'static str, Range<usize>)>);

impl Fragments {
    fn add(&mut self, kind: &'static str, span: Span) {
        self.0.push((kind, span.byte_range()));
    }

    fn visibility(&mut self, vis: &Visibility) {
        if !matches!(vis, Visibility::Inherited) {
            self.add("vis", vis.span());
        }
    }

    /// The settings of a node, and the names of actions.
    fn attributes(&mut self, attributes: &[Attribute]) {
        for attribute in attributes {
            let path = attribute.path();
            let is_read = path.is_ident("action")
                || path
                    .segments
                    .last()
                    .is_some_and(|last| last.ident == "node");
            if let (Ok(list), true) = (attribute.meta.require_list(), is_read) {
                self.literals(list.tokens.clone());
            }
        }
    }

    fn literals(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Literal(literal) => self.add("literal", literal.span()),
                TokenTree::Group(group) => self.literals(group.stream()),
                _ => {}
            }
        }
    }

    fn function(&mut self, sig: &Signature, block: &Block) {
        for lifetime in sig.generics.lifetimes() {
            self.add("lifetime", lifetime.lifetime.span());
        }
        for input in &sig.inputs {
            match input {
                FnArg::Receiver(receiver) => self.add("ident", receiver.self_token.span()),
                FnArg::Typed(typed) => {
                    // A body sees only names that come from where it comes from.
                    match &*typed.pat {
                        Pat::Ident(name) => self.add("ident", name.ident.span()),
                        pattern => self.add("pat", pattern.span()),
                    }
                    self.add("ty", typed.ty.span());
                }
            }
        }
        if let ReturnType::Type(_, ty) = &sig.output {
            self.add("ty", ty.span());
        }
        self.add("block", block.span());
    }

    fn flow(&mut self, tokens: TokenStream) {
        let read = |input: ParseStream<'_>| {
            input.call(Attribute::parse_outer)?;
            self.visibility(&input.parse()?);
            self.add("ident", input.parse::<Ident>()?.span());
            self.parameters(input)?;
            if input.parse::<Option<Token![->]>>()?.is_some() {
                self.parameters(input)?;
            }
            let body;
            syn::braced!(body in input);
            while !body.is_empty() {
                self.statement(&body)?;
            }
            Ok(())
        };
        read.parse2(tokens).expect("a flow");
    }

    fn parameters(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let content;
        syn::parenthesized!(content in input);
        while !content.is_empty() {
            content.call(Attribute::parse_outer)?;
            self.add("ident", content.parse::<Ident>()?.span());
            content.parse::<Token![:]>()?;
            self.add("ty", content.parse::<Type>()?.span());
            if content.parse::<Option<Token![=]>>()?.is_some() {
                self.add("expr", content.parse::<Expr>()?.span());
            }
            content.parse::<Option<Token![,]>>()?;
        }
        Ok(())
    }

    fn statement(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let is_named = input.peek2(Ident) && input.peek(Ident);
        let word = input.fork().parse::<Ident>().map(|word| word.to_string());
        match word.as_deref() {
            Ok("branch") if is_named => self.branch(input),
            Ok("node") if is_named => self.declaration(input),
            _ => self.edge(input),
        }
    }

    /// `branch name(keys) { condition => "action", else => "action" }`
    fn branch(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        input.parse::<Ident>()?;
        input.parse::<Ident>()?;
        // A condition sees only keys that come from where it comes from.
        let keys;
        syn::parenthesized!(keys in input);
        for key in Punctuated::<Ident, Token![,]>::parse_terminated(&keys)? {
            self.add("ident", key.span());
        }
        let cases;
        syn::braced!(cases in input);
        while !cases.is_empty() {
            if cases.parse::<Option<Token![else]>>()?.is_none() {
                self.add("expr", cases.parse::<Expr>()?.span());
            }
            cases.parse::<Token![=>]>()?;
            self.add("literal", cases.parse::<syn::LitStr>()?.span());
            cases.parse::<Option<Token![,]>>()?;
        }
        Ok(())
    }

    /// `node name: Type { mapping } = value with settings;`
    fn declaration(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        input.parse::<Ident>()?;
        input.parse::<Ident>()?;
        input.parse::<Token![:]>()?;
        let ahead = input.fork();
        if ahead.parse::<Ident>().is_ok_and(|word| word == "human") && ahead.peek(Ident) {
            input.parse::<Ident>()?;
        }
        if !input.peek(Token![for]) && !input.peek(syn::token::Bracket) {
            self.add("ty", input.parse::<Type>()?.span());
        }
        while !input.peek(Token![;]) {
            if input.parse::<Option<Token![=]>>()?.is_some() {
                self.add("expr", input.parse::<Expr>()?.span());
                continue;
            }
            match input.parse::<TokenTree>()? {
                TokenTree::Ident(word) if word == "with" => return self.edge(input),
                _ => {}
            }
        }
        input.parse::<Token![;]>().map(drop)
    }

    /// What remains of a statement: names of nodes are paths.
    fn edge(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let mut tokens = Vec::new();
        while !input.is_empty() && !input.peek(Token![;]) {
            tokens.push(input.parse::<TokenTree>()?);
        }
        input.parse::<Option<Token![;]>>()?;
        self.steps(&tokens);
        Ok(())
    }

    fn steps(&mut self, tokens: &[TokenTree]) {
        let has_arrow = tokens.windows(2).any(|pair| {
            pair.iter()
                .all(|token| matches!(token, TokenTree::Punct(mark) if mark.as_char() == '>'))
        });
        for (at, token) in tokens.iter().enumerate() {
            let next = tokens.get(at + 1);
            let before = at.checked_sub(1).map(|at| &tokens[at]);
            let is_colon = |token: Option<&TokenTree>| matches!(token, Some(TokenTree::Punct(mark)) if mark.as_char() == ':');
            match token {
                TokenTree::Literal(literal) => self.add("literal", literal.span()),
                TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    let branches = inner.split(
                        |token| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ','),
                    );
                    for branch in branches {
                        match branch {
                            [TokenTree::Ident(name)] => self.add("path", name.span()),
                            chain => self.steps(chain),
                        }
                    }
                }
                TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => {
                    let is_wait = matches!(before, Some(TokenTree::Ident(word)) if word == "wait");
                    if !is_wait {
                        self.literals(group.stream());
                    }
                }
                TokenTree::Ident(name)
                    if has_arrow
                        && !is_colon(before)
                        && !is_colon(next)
                        && WORDS.iter().all(|word| name != word) =>
                {
                    self.add("path", name.span());
                }
                _ => {}
            }
        }
    }
}

/// Returns true for a node and an enum of actions.
fn is_of_flows(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let last = attribute.path().segments.last();
        let derives = || {
            let paths =
                attribute.parse_args_with(Punctuated::<syn::Path, Token![,]>::parse_terminated);
            let mut paths = paths.into_iter().flatten();
            paths.any(|path| {
                path.segments
                    .last()
                    .is_some_and(|last| last.ident == "Action")
            })
        };
        last.is_some_and(|last| last.ident == "node")
            || (attribute.path().is_ident("derive") && derives())
    })
}

fn is_flow(call: &syn::Macro) -> bool {
    call.path
        .segments
        .last()
        .is_some_and(|last| last.ident == "flow")
}

#[test]
fn fragments_are_where_the_user_has_types_and_names() {
    let program = "#[node(timeout = \"1s\")]\nasync fn pay(amount: &u64) -> u64 { *amount }\n";
    let written = from_macros(program);
    let expected = "macro_rules! from_a_macro_0 { ($f0:literal, $f1:ident, $f2:ident, $f3:ty, $f4:ty, $f5:block, ) => { \
                    #[node(timeout =  $f0 )]\nasync fn  $f1 ( $f2 :  $f3 ) ->  $f4   $f5  } }\n\
                    from_a_macro_0! { \"1s\", pay, amount, &u64, u64, { *amount },  }\n\n";
    assert_eq!(written, expected);
}
