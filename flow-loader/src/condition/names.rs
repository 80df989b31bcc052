//! The names in an expression: the keys that it reads, and the functions that it calls.

use std::collections::BTreeSet;

use cel::common::ast::{CallExpr, EntryExpr, Expr, IdedExpr, operators};

/// The names of the types of CEL.
const TYPES: [&str; 11] = [
    "bool",
    "bytes",
    "double",
    "int",
    "list",
    "map",
    "null_type",
    "optional_type",
    "string",
    "type",
    "uint",
];

/// The parts of an expression. Each follows its own parts.
pub(super) fn parts(expression: &IdedExpr) -> Vec<&IdedExpr> {
    match &expression.expr {
        Expr::Ident(_) | Expr::Literal(_) | Expr::Unspecified => Vec::new(),
        Expr::Select(select) => vec![&select.operand],
        Expr::Call(call) => call
            .target
            .as_deref()
            .into_iter()
            .chain(&call.args)
            .collect(),
        Expr::List(list) => list.elements.iter().collect(),
        Expr::Map(map) => entries(map.entries.iter().map(|entry| &entry.expr)),
        Expr::Struct(one) => entries(one.entries.iter().map(|entry| &entry.expr)),
        Expr::Comprehension(all) => vec![
            &all.iter_range,
            &all.accu_init,
            &all.loop_cond,
            &all.loop_step,
            &all.result,
        ],
    }
}

fn entries<'e>(entries: impl Iterator<Item = &'e EntryExpr>) -> Vec<&'e IdedExpr> {
    let parts = entries.flat_map(|entry| match entry {
        EntryExpr::StructField(field) => vec![&field.value],
        EntryExpr::MapEntry(entry) => vec![&entry.key, &entry.value],
    });
    parts.collect()
}

/// The parts of an expression, mutably.
pub(super) fn parts_mut(expression: &mut IdedExpr) -> Vec<&mut IdedExpr> {
    match &mut expression.expr {
        Expr::Ident(_) | Expr::Literal(_) | Expr::Unspecified => Vec::new(),
        Expr::Select(select) => vec![&mut select.operand],
        Expr::Call(call) => {
            let target = call.target.as_deref_mut().into_iter();
            target.chain(&mut call.args).collect()
        }
        Expr::List(list) => list.elements.iter_mut().collect(),
        Expr::Map(map) => entries_mut(map.entries.iter_mut().map(|entry| &mut entry.expr)),
        Expr::Struct(one) => entries_mut(one.entries.iter_mut().map(|entry| &mut entry.expr)),
        Expr::Comprehension(all) => {
            let all = &mut **all;
            vec![
                &mut all.iter_range,
                &mut all.accu_init,
                &mut all.loop_cond,
                &mut all.loop_step,
                &mut all.result,
            ]
        }
    }
}

fn entries_mut<'e>(entries: impl Iterator<Item = &'e mut EntryExpr>) -> Vec<&'e mut IdedExpr> {
    let parts = entries.flat_map(|entry| match entry {
        EntryExpr::StructField(field) => vec![&mut field.value],
        EntryExpr::MapEntry(entry) => vec![&mut entry.key, &mut entry.value],
    });
    parts.collect()
}

/// The depth to which expressions are nested.
pub(super) fn depth(expression: &IdedExpr) -> usize {
    let inside = parts(expression).into_iter().map(depth).max();
    inside.unwrap_or_default() + 1
}

/// Adds the names in an expression, except its own variables, such as the item in `a.exists(item,
/// item > 1)`.
pub(super) fn add_keys<'e>(
    expression: &'e IdedExpr,
    own: &mut Vec<&'e str>,
    names: &mut BTreeSet<&'e str>,
) {
    match &expression.expr {
        Expr::Ident(name) => {
            if !own.contains(&name.as_str()) {
                names.insert(name);
            }
        }
        Expr::Call(call) => {
            let operands = parts(expression).into_iter();
            let operands = operands.filter(|operand| !names_type(operand, call));
            operands.for_each(|operand| add_keys(operand, own, names));
        }
        Expr::Comprehension(all) => {
            add_keys(&all.iter_range, own, names);
            add_keys(&all.accu_init, own, names);
            let outer = own.len();
            own.extend([all.iter_var.as_str(), &all.accu_var]);
            own.extend(all.iter_var2.as_deref());
            for part in [&all.loop_cond, &all.loop_step, &all.result] {
                add_keys(part, own, names);
            }
            own.truncate(outer);
        }
        _ => {
            let inside = parts(expression).into_iter();
            inside.for_each(|part| add_keys(part, own, names));
        }
    }
}

/// Returns `true` for the `int` of `type(a) == int`.
fn names_type(operand: &IdedExpr, call: &CallExpr) -> bool {
    let compares = [operators::EQUALS, operators::NOT_EQUALS].contains(&&*call.func_name);
    let is_type =
        |one: &IdedExpr| matches!(&one.expr, Expr::Call(call) if call.func_name == "type");
    let is_name = matches!(&operand.expr, Expr::Ident(name) if TYPES.contains(&name.as_str()));
    compares && is_name && call.args.iter().any(is_type)
}

/// Restores the names in backquotes that others stand for.
pub(super) fn rename(expression: &mut IdedExpr, names: &[(String, String)]) {
    let meant = |name: &mut String| {
        if let Some((_, meant)) = names.iter().find(|(stand_in, _)| stand_in == name) {
            name.clone_from(meant);
        }
    };
    match &mut expression.expr {
        Expr::Ident(name) => meant(name),
        Expr::Select(select) => meant(&mut select.field),
        Expr::Call(call) => meant(&mut call.func_name),
        Expr::Comprehension(all) => meant(&mut all.iter_var),
        _ => {}
    }
    for part in parts_mut(expression) {
        rename(part, names);
    }
}
