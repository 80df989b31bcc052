//! Fragments of `macro_rules!`: the tokens that such a macro inserts for `$ty:ty` come in a group
//! without delimiters. Without these groups, a program from a macro reads as if written out.
//!
//! Precedence has to survive: `$count * 2` multiplies all of `1 + 2`. A fragment that its
//! neighbours would split therefore gets parentheses.

use proc_macro2::{Delimiter, Group, Ident, Spacing, Span, TokenStream, TokenTree};
use syn::{Expr, Type};

/// The tokens without groups that have no delimiters.
pub(crate) fn ungrouped(tokens: TokenStream) -> TokenStream {
    changed(&tokens, &mut Bodies::Changed).unwrap_or(tokens)
}

/// Ungroups an item, except for the bodies of its functions: these are for rustc alone, which
/// handles its own groups.
pub(crate) fn ungrouped_item(item: TokenStream) -> TokenStream {
    changed(&item, &mut Bodies::Kept { comes_next: false }).unwrap_or(item)
}

/// The handling of function bodies.
#[derive(Clone, Copy)]
enum Bodies {
    Changed,
    Kept {
        /// True after the word `fn`: the next braces are a body.
        comes_next: bool,
    },
}

impl Bodies {
    /// Returns true for the body of a function, which is to stay. Expects tokens in order.
    fn keep(&mut self, token: &TokenTree) -> bool {
        let Bodies::Kept { comes_next } = self else {
            return false;
        };
        match token {
            TokenTree::Ident(word) if word == "fn" => *comes_next = true,
            TokenTree::Punct(mark) if mark.as_char() == ';' => *comes_next = false,
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                return std::mem::take(comes_next);
            }
            _ => {}
        }
        false
    }
}

/// Returns `None` if there is no such group: then the tokens are best left as they are.
fn changed(tokens: &TokenStream, bodies: &mut Bodies) -> Option<TokenStream> {
    let mut is_changed = false;
    let mut result: Vec<TokenTree> = Vec::new();
    let mut rest = tokens.clone().into_iter().peekable();
    while let Some(token) = rest.next() {
        let keep = bodies.keep(&token);
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
                is_changed = true;
                let inner = group.stream();
                let inner = changed(&inner, bodies).unwrap_or(inner);
                if is_taken_apart(&inner, &result, rest.peek()) {
                    let mut whole = Group::new(Delimiter::Parenthesis, inner);
                    whole.set_span(Span::mixed_site().located_at(group.span()));
                    result.push(whole.into());
                } else {
                    result.extend(inner);
                }
            }
            TokenTree::Group(group) if !keep => {
                // The braces of an `impl` block have functions in them, too.
                let mut inside = match bodies {
                    Bodies::Changed => Bodies::Changed,
                    Bodies::Kept { .. } => Bodies::Kept { comes_next: false },
                };
                match changed(&group.stream(), &mut inside) {
                    Some(inner) => {
                        is_changed = true;
                        let mut whole = Group::new(group.delimiter(), inner);
                        whole.set_span(group.span());
                        result.push(whole.into());
                    }
                    None => result.push(group.into()),
                }
            }
            // A keyword only since the newest edition, which generated code uses.
            TokenTree::Ident(word) if word == "gen" => {
                is_changed = true;
                result.push(Ident::new_raw("gen", word.span()).into());
            }
            token => result.push(token),
        }
    }
    is_changed.then(|| result.into_iter().collect())
}

/// Returns true if a fragment without its group would have another meaning between these tokens.
fn is_taken_apart(fragment: &TokenStream, before: &[TokenTree], after: Option<&TokenTree>) -> bool {
    if fragment.clone().into_iter().nth(1).is_none() {
        return false;
    }
    match syn::parse2::<Type>(fragment.clone()) {
        Ok(Type::TraitObject(ty)) if ty.dyn_token.is_some() => {
            return ty.bounds.len() > 1 && is_pointer(before);
        }
        Ok(Type::ImplTrait(ty)) => return ty.bounds.len() > 1 && is_pointer(before),
        // These may be expressions: `&value`, and `a + b` as bounds.
        Ok(Type::Reference(_) | Type::TraitObject(_)) | Err(_) => {}
        Ok(_) => return false,
    }
    let Ok(expression) = syn::parse2::<Expr>(fragment.clone()) else {
        return false;
    };
    match expression {
        Expr::Lit(_)
        | Expr::Path(_)
        | Expr::Paren(_)
        | Expr::Tuple(_)
        | Expr::Array(_)
        | Expr::Repeat(_)
        | Expr::Call(_)
        | Expr::MethodCall(_)
        | Expr::Index(_)
        | Expr::Try(_)
        | Expr::Await(_)
        | Expr::Macro(_)
        | Expr::Struct(_) => is_before_block(after) && has_braces(fragment),
        // `rule.is_big` before `(n)` would be a method.
        Expr::Field(_) => {
            let is_called = matches!(
                after,
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis
            );
            is_called || is_before_block(after) && has_braces(fragment)
        }
        Expr::Unary(_) | Expr::Reference(_) => is_before_postfix(after),
        _ => is_after_operator(before) || is_before_operator(after),
    }
}

fn is_mark(token: Option<&TokenTree>, marks: &[char]) -> bool {
    matches!(token, Some(TokenTree::Punct(mark)) if marks.contains(&mark.as_char()))
}

/// Returns true after `&`, `&'a`, `&mut` or `*const`: then `+` would be ambiguous.
fn is_pointer(before: &[TokenTree]) -> bool {
    match before {
        [.., TokenTree::Punct(mark)] => mark.as_char() == '&',
        [.., quote, TokenTree::Ident(_)] if is_mark(Some(quote), &['\'']) => true,
        [.., TokenTree::Ident(word)] => word == "mut" || word == "const",
        _ => false,
    }
}

fn is_before_block(after: Option<&TokenTree>) -> bool {
    matches!(after, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace)
}

fn has_braces(fragment: &TokenStream) -> bool {
    let mut tokens = fragment.clone().into_iter();
    tokens.any(|token| is_before_block(Some(&token)))
}

fn is_before_postfix(after: Option<&TokenTree>) -> bool {
    let is_call =
        matches!(after, Some(TokenTree::Group(group)) if group.delimiter() != Delimiter::Brace);
    is_call || is_mark(after, &['.', '?'])
}

fn is_after_operator(before: &[TokenTree]) -> bool {
    match before {
        // `=` and `=>` before an expression begin it, and `==` and `<=` do not.
        [.., TokenTree::Punct(joint), TokenTree::Punct(last)]
            if joint.spacing() == Spacing::Joint =>
        {
            (joint.as_char(), last.as_char()) != ('=', '>')
        }
        [.., TokenTree::Punct(last)] => ![',', ';', ':', '='].contains(&last.as_char()),
        _ => false,
    }
}

fn is_before_operator(after: Option<&TokenTree>) -> bool {
    match after {
        // `=>` ends a condition, and `=` a pattern, but `==` is an operator.
        Some(TokenTree::Punct(mark)) => match mark.as_char() {
            ',' | ';' | ':' => false,
            '=' => mark.spacing() == Spacing::Joint,
            _ => true,
        },
        Some(TokenTree::Ident(word)) => word == "as",
        Some(TokenTree::Group(_)) => true,
        Some(TokenTree::Literal(_)) | None => false,
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    /// A group as `macro_rules!` makes it.
    fn fragment(tokens: TokenStream) -> TokenTree {
        Group::new(Delimiter::None, tokens).into()
    }

    #[test]
    fn groups_without_delimiters_are_gone() {
        let (vis, lifetime, none) = (
            fragment(quote!(pub(crate))),
            fragment(quote!('a)),
            fragment(quote!()),
        );
        let (ty, inner) = (fragment(quote!(Vec<u8>)), fragment(quote!(u8)));
        let nested = fragment(quote!(Option<&#ty>));
        let found = ungrouped(
            quote!(#vis fn f<#lifetime>(#none a: &#lifetime #ty, b: #nested, c: [#inner; 2])),
        );
        let expected =
            quote!(pub(crate) fn f<'a>(a: &'a Vec<u8>, b: Option<&Vec<u8> >, c: [u8; 2]));
        let plain = |tokens: TokenStream| tokens.to_string().replace(' ', "");
        assert_eq!(plain(found), plain(expected));
    }

    #[test]
    fn what_neighbours_would_take_apart_gets_parentheses() {
        let sum = fragment(quote!(1 + 2));
        let negative = fragment(quote!(-1));
        let call = fragment(quote!(f(1)));
        let dynamic = fragment(quote!(dyn Model + Sync));
        let chosen = fragment(quote!(if a { 1 } else { 2 }));
        let object = fragment(quote!(A { a: 1 }.b()));
        for (found, expected) in [
            (quote!(#sum * 2), quote!((1 + 2) * 2)),
            (quote!(2 * #sum), quote!(2 * (1 + 2))),
            (quote!(a == #sum), quote!(a == (1 + 2))),
            (quote!(#sum == a), quote!((1 + 2) == a)),
            (quote!(#sum as u8), quote!((1 + 2) as u8)),
            (quote!(a: u8 = #sum, b), quote!(a: u8 = 1 + 2, b)),
            (quote!(#sum => #sum, a), quote!((1 + 2) => 1 + 2, a)),
            (quote!(f(#sum)), quote!(f(1 + 2))),
            (quote!(#sum.abs()), quote!((1 + 2).abs())),
            (quote!(#negative.abs()), quote!((-1).abs())),
            (quote!(2 - #negative), quote!(2 - -1)),
            (quote!(#call.abs() + #call), quote!(f(1).abs() + f(1))),
            (quote!(#chosen + 1), quote!((if a { 1 } else { 2 }) + 1)),
            (quote!(match #object {}), quote!(match (A { a: 1 }.b()) {})),
            (quote!(&#dynamic), quote!(&(dyn Model + Sync))),
            (quote!(&'a #dynamic), quote!(&'a (dyn Model + Sync))),
            (quote!(Box<#dynamic>), quote!(Box<dyn Model + Sync>)),
        ] {
            let written = found.to_string();
            assert_eq!(
                ungrouped(found).to_string(),
                expected.to_string(),
                "{written}"
            );
        }
    }

    #[test]
    fn bodies_are_left_to_rustc() {
        let sum = fragment(quote!(1 + 2));
        let ty = fragment(quote!(u8));
        let block = quote!({ #sum * 2 });
        let whole = fragment(block.clone());
        let found = ungrouped_item(quote! {
            impl #ty { const ONE: fn() = one; fn f(a: #ty) -> #ty #block fn g() #whole }
        });
        let kept = ungrouped_item(block.clone()).to_string();
        assert_eq!(kept, quote!({ (1 + 2) * 2 }).to_string());
        let expected = quote! {
            impl u8 { const ONE: fn() = one; fn f(a: u8) -> u8 #block fn g() #block }
        };
        assert_eq!(found.to_string(), expected.to_string());
    }
}
