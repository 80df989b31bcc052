//! The defaults of inputs: the functions that evaluate them, and their JSON.
//!
//! The document of a flow is written at compile time, so it has a default only if the expression
//! shows its value: a literal, or a list of literals. An export evaluates the others.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use serde_json::Value;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Expr, ExprLit, ExprUnary, Lit, Token, UnOp};

use crate::names::{here, hidden, path_text, plain};

use super::syntax::{FlowSyntax, Parameter};
use super::types::TypeNames;

/// The functions that return the defaults. Each expression thus occurs once, and a mistake in it is
/// reported once.
pub(super) fn functions(flow: &FlowSyntax, names: &TypeNames) -> Option<TokenStream> {
    let functions = flow.inputs.iter().filter_map(|parameter| {
        let (name, ty) = (function(parameter), &parameter.ty);
        let default = parameter.default.as_ref()?;
        Some(quote_spanned! {here(default.span())=>
            #[doc(hidden)]
            fn #name() -> #ty {
                let __default: #ty = #default;
                __default
            }
        })
    });
    let functions: Vec<TokenStream> = functions.collect();
    let input = &names.input;
    (!functions.is_empty()).then(|| quote!(impl #input { #(#functions)* }))
}

fn function(parameter: &Parameter) -> Ident {
    hidden("default", &plain(&parameter.name), parameter.name.span())
}

/// An expression of the default of an input. `None` if it has none.
pub(super) fn call(parameter: &Parameter, names: &TypeNames) -> Option<TokenStream> {
    parameter.default.as_ref()?;
    let (input, function) = (&names.input, function(parameter));
    Some(quote_spanned!(here(parameter.name.span())=> #input::#function()))
}

/// The value of an expression as JSON. `None` if the expression does not show it.
pub(super) fn json(expression: &Expr) -> Option<Value> {
    match expression {
        Expr::Lit(ExprLit { lit, .. }) => literal(lit),
        Expr::Paren(inner) => json(&inner.expr),
        Expr::Group(inner) => json(&inner.expr),
        Expr::Unary(ExprUnary {
            op: UnOp::Neg(_),
            expr,
            ..
        }) => negated(json(expr)?),
        Expr::Array(list) => list.elems.iter().map(json).collect(),
        Expr::Macro(call) if call.mac.path.is_ident("vec") => {
            let items = Punctuated::<Expr, Token![,]>::parse_terminated;
            let items = call.mac.parse_body_with(items).ok()?;
            items.iter().map(json).collect()
        }
        Expr::MethodCall(call) if call.args.is_empty() => {
            let makes_a_string = ["to_owned", "to_string", "into"];
            let is_one = makes_a_string.iter().any(|name| call.method == name);
            json(&call.receiver).filter(|value| is_one && value.is_string())
        }
        Expr::Call(call) => {
            let Expr::Path(function) = &*call.func else {
                return None;
            };
            let arguments: Vec<&Expr> = call.args.iter().collect();
            match (&*path_text(&function.path), &arguments[..]) {
                ("String::new", []) => Some("".into()),
                ("Vec::new", []) => Some(Value::Array(Vec::new())),
                ("String::from", [text]) => json(text).filter(Value::is_string),
                _ => None,
            }
        }
        _ => None,
    }
}

fn literal(literal: &Lit) -> Option<Value> {
    match literal {
        Lit::Bool(literal) => Some(literal.value.into()),
        Lit::Str(literal) => Some(literal.value().into()),
        Lit::Char(literal) => Some(literal.value().to_string().into()),
        Lit::Byte(literal) => Some(literal.value().into()),
        Lit::Int(literal) => {
            let number: Result<u64, _> = literal.base10_parse();
            match literal.suffix() {
                "f32" | "f64" => literal.base10_digits().parse().ok().and_then(float),
                _ => number.ok().map(Value::from),
            }
        }
        Lit::Float(literal) => literal.base10_digits().parse().ok().and_then(float),
        _ => None,
    }
}

/// Returns `None` if the number is infinite, which JSON cannot express.
fn float(number: f64) -> Option<Value> {
    serde_json::Number::from_f64(number).map(Value::Number)
}

fn negated(value: Value) -> Option<Value> {
    if let Some(whole) = value.as_u64() {
        return 0_i64.checked_sub_unsigned(whole).map(Value::from);
    }
    value.as_f64().and_then(|number| float(-number))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(text: &str) -> Option<Value> {
        json(&syn::parse_str(text).unwrap())
    }

    #[test]
    fn literals_are_json() {
        for (text, value) in [
            ("50", json!(50)),
            ("50_000u64", json!(50_000)),
            ("0xff", json!(255)),
            ("-5", json!(-5)),
            ("-9223372036854775808", json!(i64::MIN)),
            ("1.5", json!(1.5)),
            ("-1.5e3", json!(-1500.0)),
            ("2f64", json!(2.0)),
            ("true", json!(true)),
            ("'ä'", json!("ä")),
            ("\"a\".into()", json!("a")),
            ("\"a\".to_owned()", json!("a")),
            ("(\"a\").to_string()", json!("a")),
            ("String::from(\"a\")", json!("a")),
            ("String::new()", json!("")),
            ("Vec::new()", json!([])),
            ("vec![1, -2,]", json!([1, -2])),
            ("[vec![], vec![true]]", json!([[], [true]])),
        ] {
            assert_eq!(of(text), Some(value), "{text}");
        }
    }

    #[test]
    fn what_only_the_program_knows_is_not() {
        for text in [
            "LIMIT",
            "limit()",
            "1 + 1",
            "vec![1; 3]",
            "vec![1, LIMIT]",
            "5.into()",
            "\"a\".len()",
            "String::from(NAME)",
            "b\"ab\"",
            "-true",
            "1e400",
            "18446744073709551616",
            "Policy { limit: 5 }",
            "if true { 1 } else { 2 }",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
