//! Expressions that count their cost: a call of [`SPEND`] is put around each value that may be
//! large.

use cel::common::ast::{CallExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators};

use super::budget::STEP;
use super::names::{parts, parts_mut};

/// The function that spends: no condition can write its name.
pub(super) const SPEND: &str = "@spend";

/// The cost of an expression whose values are all small, without its loops.
pub(super) fn cost(expression: &IdedExpr) -> u64 {
    let inside = match &expression.expr {
        Expr::Comprehension(all) => vec![&all.iter_range, &all.accu_init, &all.result],
        _ => parts(expression),
    };
    inside.into_iter().map(cost).sum::<u64>() + STEP
}

/// Puts calls around values that may be large.
pub(super) fn meter(expression: &mut IdedExpr) {
    for part in parts_mut(expression) {
        meter(part);
    }
    match &mut expression.expr {
        Expr::Call(call) if looks_at_all(call) => {
            let target = call.target.as_deref_mut().into_iter();
            target.chain(&mut call.args).for_each(|part| spend(part, 0));
        }
        Expr::List(list) => list.elements.iter_mut().for_each(|part| spend(part, 0)),
        Expr::Map(map) => {
            for entry in &mut map.entries {
                if let EntryExpr::MapEntry(entry) = &mut entry.expr {
                    spend(&mut entry.key, 0);
                    spend(&mut entry.value, 0);
                }
            }
        }
        Expr::Comprehension(all) => {
            let each = cost(&all.loop_cond) + cost(&all.loop_step);
            spend(&mut all.iter_range, each);
        }
        _ => {}
    }
}

/// Returns `true` for a call that takes longer with larger arguments.
fn looks_at_all(call: &CallExpr) -> bool {
    let passes_on = [
        operators::CONDITIONAL,
        operators::LOGICAL_AND,
        operators::LOGICAL_OR,
        operators::LOGICAL_NOT,
        operators::NOT_STRICTLY_FALSE,
        operators::NEGATE,
        operators::INDEX,
        "size",
        "type",
        SPEND,
    ];
    // The interpreter adds to the result of a `map` or `filter` in place.
    let collects = matches!(
        call.args.first(),
        Some(IdedExpr { expr: Expr::Ident(name), .. }) if name.starts_with('@')
    );
    !passes_on.contains(&call.func_name.as_str()) && !collects
}

fn spend(part: &mut IdedExpr, each: u64) {
    let is_small = matches!(part.expr, Expr::Literal(_));
    let is_own = matches!(&part.expr, Expr::Ident(name) if name.starts_with('@'));
    if (is_small && each == 0) || is_own {
        return;
    }
    let each = LiteralValue::UInt(each.into());
    let (id, inner) = (part.id, std::mem::take(part));
    let each = IdedExpr {
        id,
        expr: Expr::Literal(each),
    };
    *part = IdedExpr {
        id,
        expr: Expr::Call(CallExpr {
            target: None,
            func_name: SPEND.to_owned(),
            args: vec![inner, each],
        }),
    };
}
