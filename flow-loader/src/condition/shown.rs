//! Expressions as text, for messages.

use cel::common::ast::{Expr, IdedExpr, LiteralValue, operators};

/// An expression in CEL. Omits the parts that messages do not quote.
pub(super) fn shown(expression: &IdedExpr) -> String {
    match &expression.expr {
        Expr::Ident(name) => name.clone(),
        Expr::Literal(literal) => literal_shown(literal),
        Expr::Select(select) => {
            let field = format!("{}.{}", shown(&select.operand), select.field);
            if select.test {
                format!("has({field})")
            } else {
                field
            }
        }
        Expr::List(list) => format!("[{}]", listed(&list.elements)),
        Expr::Comprehension(all) => format!("{}.…", shown(&all.iter_range)),
        Expr::Call(call) => match (&call.target, &call.args[..]) {
            (Some(target), args) => {
                format!("{}.{}({})", shown(target), call.func_name, listed(args))
            }
            (None, [left, right]) if call.func_name == operators::INDEX => {
                format!("{}[{}]", shown(left), shown(right))
            }
            (None, [one]) if call.func_name == operators::LOGICAL_NOT => {
                format!("!{}", part(one, UNARY))
            }
            (None, [one]) if call.func_name == operators::NEGATE => {
                format!("-{}", part(one, UNARY))
            }
            (None, [left, right]) => match infix(&call.func_name) {
                Some((word, binds)) => {
                    format!("{} {word} {}", part(left, binds), part(right, binds + 1))
                }
                None => format!("{}({})", call.func_name, listed(&call.args)),
            },
            (None, [condition, yes, no]) if call.func_name == operators::CONDITIONAL => {
                let condition = part(condition, 1);
                format!("{condition} ? {} : {}", part(yes, 1), part(no, 1))
            }
            (None, args) => format!("{}({})", call.func_name, listed(args)),
        },
        Expr::Map(_) | Expr::Struct(_) => "{…}".to_owned(),
        Expr::Unspecified => String::new(),
    }
}

fn literal_shown(literal: &LiteralValue) -> String {
    match literal {
        LiteralValue::Boolean(value) => value.inner().to_string(),
        LiteralValue::Int(value) => value.inner().to_string(),
        LiteralValue::UInt(value) => format!("{}u", value.inner()),
        LiteralValue::Double(value) => format!("{:?}", value.inner()),
        LiteralValue::String(value) => format!("'{}'", value.inner()),
        LiteralValue::Bytes(_) => "b'…'".to_owned(),
        LiteralValue::Null => "null".to_owned(),
    }
}

fn listed(expressions: &[IdedExpr]) -> String {
    expressions.iter().map(shown).collect::<Vec<_>>().join(", ")
}

/// The precedence of `!` and `-`.
const UNARY: u8 = 6;

/// The symbol of an operator between two operands, and its precedence.
fn infix(function: &str) -> Option<(&str, u8)> {
    let binds = match function {
        operators::LOGICAL_OR => 1,
        operators::LOGICAL_AND => 2,
        operators::ADD | operators::SUBSTRACT => 4,
        operators::MULTIPLY | operators::DIVIDE | operators::MODULO => 5,
        operators::IN => return Some(("in", 3)),
        _ => 3,
    };
    let word = function.strip_prefix('_')?.strip_suffix('_')?;
    Some((word, binds))
}

/// An operand, in parentheses if its precedence is lower than the operator's.
fn part(operand: &IdedExpr, binds: u8) -> String {
    let own = match &operand.expr {
        Expr::Call(call) if call.func_name == operators::CONDITIONAL => 0,
        Expr::Call(call) if call.args.len() == 2 && call.func_name != operators::INDEX => {
            infix(&call.func_name).map_or(UNARY, |(_, binds)| binds)
        }
        _ => UNARY,
    };
    if own < binds {
        format!("({})", shown(operand))
    } else {
        shown(operand)
    }
}
