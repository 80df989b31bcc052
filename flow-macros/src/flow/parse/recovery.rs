//! Continues after a mistake: finds the end of an unreadable statement, and the parts of it that
//! are still useful.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{Ident, LitStr, Token, token};

use crate::names::{ident, is_type_name, snake_case};
use crate::report::Report;

use super::foreign;

/// The places of all tokens of the body: a stream only knows the tokens ahead, while a missing `;`
/// is reported behind.
pub(super) struct Body(Vec<Span>);

impl Body {
    pub(super) fn of(content: ParseStream<'_>) -> syn::Result<Self> {
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

/// Reads the `;`. If it is missing, the next statement begins anyway.
pub(super) fn end_of_statement(
    input: ParseStream<'_>,
    body: &Body,
    report: &mut Report,
) -> syn::Result<()> {
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

/// Skips to the end of an unreadable statement: its `;`, or the block of a statement of Rust.
pub(super) fn skip_statement(input: ParseStream<'_>) -> syn::Result<()> {
    let first = input.fork().call(Ident::parse_any);
    let has_block = first.is_ok_and(|word| foreign::ends_with_a_block(&word.to_string()));
    while !input.is_empty() {
        if input.peek(Token![;]) {
            input.parse::<Token![;]>()?;
            return Ok(());
        }
        let ends = has_block && input.peek(token::Brace);
        input.parse::<TokenTree>()?;
        if ends && !input.peek(Token![else]) {
            input.parse::<Option<Token![;]>>()?;
            return Ok(());
        }
    }
    Ok(())
}

pub(super) fn skip_to_end(input: ParseStream<'_>) -> syn::Result<()> {
    input.parse::<TokenStream>().map(drop)
}

/// The name of the declaration that begins here, if it has one.
pub(super) fn name_ahead(input: ParseStream<'_>) -> Option<Ident> {
    let ahead = input.fork();
    ahead.call(Ident::parse_any).ok()?;
    ahead.parse().ok()
}

/// The names that generic types in edges should have been declared with.
pub(super) fn generic_nodes(statement: ParseStream<'_>) -> Vec<Ident> {
    let mut names = Vec::new();
    while !statement.is_empty() && !statement.peek(Token![;]) {
        let Ok(token) = statement.parse::<TokenTree>() else {
            break;
        };
        if let TokenTree::Ident(ty) = token
            && statement.peek(Token![<])
            && !statement.peek(Token![<-])
            && is_type_name(&ty)
        {
            names.push(ident(&snake_case(&ty.to_string()), ty.span()));
        }
    }
    names
}

/// The ends named by an unreadable statement.
pub(super) fn ends(statement: ParseStream<'_>) -> syn::Result<Vec<(Span, Option<LitStr>)>> {
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
