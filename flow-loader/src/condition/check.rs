//! Type checks of a condition: what fails, or is never true, for any values.

use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, MapExpr, operators,
};
use flow_spec::did_you_mean;

use super::shown::shown;
use super::types::{Kind, Type};
use super::{Mistyped, TypedKey};

/// A key with its type, and the name of the Rust type.
struct Typed<'a> {
    name: &'a str,
    ty: Type,
    rust_type: String,
}

/// Checks a condition over these keys.
pub(super) fn check(condition: &IdedExpr, keys: &[TypedKey<'_>]) -> Vec<Mistyped> {
    let typed = keys.iter().filter_map(|&(name, ty)| {
        let ty = ty?;
        Some(Typed {
            name,
            ty: Type::of(ty),
            rust_type: ty.short_name(),
        })
    });
    let keys: Vec<Typed<'_>> = typed.collect();
    let mut checker = Checker {
        keys: &keys,
        own: Vec::new(),
        found: Vec::new(),
    };
    let whole = Operand {
        expression: condition,
        ty: checker.ty(condition),
    };
    checker.expect(&whole, &[Kind::Bool]);
    checker.found
}

struct Operand<'a> {
    expression: &'a IdedExpr,
    ty: Type,
}

struct Checker<'a> {
    keys: &'a [Typed<'a>],
    /// The variables of the expression itself, the innermost last.
    own: Vec<(&'a str, Type)>,
    found: Vec<Mistyped>,
}

impl<'a> Checker<'a> {
    fn ty(&mut self, expression: &'a IdedExpr) -> Type {
        match &expression.expr {
            Expr::Ident(name) => self.variable(name),
            Expr::Literal(literal) => literal_type(literal),
            Expr::Select(select) => {
                let operand = Operand {
                    expression: &select.operand,
                    ty: self.ty(&select.operand),
                };
                let field = self.field(&operand, &select.field);
                if select.test { Type::Bool } else { field }
            }
            Expr::Call(call) => self.call(expression, call),
            Expr::List(list) => {
                let items = list.elements.iter().map(|item| self.ty(item));
                Type::List(Box::new(items.reduce(Type::or).unwrap_or(Type::Any)))
            }
            Expr::Comprehension(all) => self.comprehension(all),
            Expr::Map(map) => self.map(map),
            Expr::Struct(_) | Expr::Unspecified => Type::Any,
        }
    }

    fn map(&mut self, map: &'a MapExpr) -> Type {
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for entry in &map.entries {
            if let EntryExpr::MapEntry(entry) = &entry.expr {
                names.push(self.ty(&entry.key));
                values.push(self.ty(&entry.value));
            }
        }
        let common = |types: Vec<Type>| {
            let common = types.into_iter().reduce(Type::or);
            Box::new(common.unwrap_or(Type::Any))
        };
        Type::Map(common(names), common(values))
    }

    fn variable(&self, name: &str) -> Type {
        let own = self.own.iter().rev().find(|(own, _)| *own == name);
        let key = || self.keys.iter().find(|key| key.name == name);
        match own {
            Some((_, ty)) => ty.clone(),
            None => key().map_or(Type::Any, |key| key.ty.clone()),
        }
    }

    fn call(&mut self, expression: &'a IdedExpr, call: &'a CallExpr) -> Type {
        let target = call.target.as_deref().into_iter();
        let mut operands = Vec::new();
        for operand in target.chain(&call.args) {
            let ty = self.ty(operand);
            operands.push(Operand {
                expression: operand,
                ty,
            });
        }
        let function = call.func_name.as_str();
        match &operands[..] {
            [one] => self.unary(function, one),
            [left, right] => self.binary(expression, function, left, right),
            [condition, yes, no] if function == operators::CONDITIONAL => {
                self.expect(condition, &[Kind::Bool]);
                yes.ty.clone().or(no.ty.clone())
            }
            _ => Type::Any,
        }
    }

    fn unary(&mut self, function: &str, one: &Operand<'a>) -> Type {
        match function {
            operators::LOGICAL_NOT => {
                self.expect(one, &[Kind::Bool]);
                Type::Bool
            }
            operators::NEGATE => {
                self.expect(one, &[Kind::Number]);
                one.ty.clone()
            }
            operators::NOT_STRICTLY_FALSE => Type::Bool,
            "size" => {
                self.expect(one, &[Kind::Text, Kind::List, Kind::Object]);
                Type::Int
            }
            "string" => Type::Text,
            "timestamp" | "duration" => {
                // A timestamp also accepts a timestamp, and a number of seconds.
                self.expect(one, &[Kind::Text, Kind::Number]);
                Type::Any
            }
            "int" => Type::Int,
            "uint" => Type::UInt,
            "double" => Type::Double,
            _ => Type::Any,
        }
    }

    fn binary(
        &mut self,
        expression: &IdedExpr,
        function: &str,
        left: &Operand<'a>,
        right: &Operand<'a>,
    ) -> Type {
        match function {
            operators::LOGICAL_AND | operators::LOGICAL_OR => {
                self.expect(left, &[Kind::Bool]);
                self.expect(right, &[Kind::Bool]);
            }
            operators::EQUALS => self.equality(expression, "never true", left, right),
            operators::NOT_EQUALS => self.equality(expression, "always true", left, right),
            operators::LESS
            | operators::LESS_EQUALS
            | operators::GREATER
            | operators::GREATER_EQUALS => self.order(expression, left, right),
            operators::IN => self.membership(expression, left, right),
            "startsWith" | "endsWith" | "contains" | "matches" => {
                self.expect(left, &[Kind::Text]);
                self.expect(right, &[Kind::Text]);
            }
            operators::ADD
            | operators::SUBSTRACT
            | operators::MULTIPLY
            | operators::DIVIDE
            | operators::MODULO => return self.calculation(expression, function, left, right),
            operators::INDEX => return self.index(left, right),
            _ => return Type::Any,
        }
        Type::Bool
    }

    fn equality(
        &mut self,
        expression: &IdedExpr,
        result: &str,
        left: &Operand<'_>,
        right: &Operand<'_>,
    ) {
        if let Some((one, other)) = different(&left.ty, &right.ty)
            && one != Kind::Null
            && other != Kind::Null
        {
            let (one, other) = (one.words(), other.words());
            let message = format!(
                "`{}` is {result}: it compares {one} with {other}",
                shown(expression)
            );
            self.found(message, &[left, right]);
        }
    }

    fn order(&mut self, expression: &IdedExpr, left: &Operand<'_>, right: &Operand<'_>) {
        let text = shown(expression);
        if let Some((one, other)) = different(&left.ty, &right.ty) {
            let (one, other) = (one.words(), other.words());
            let message = format!("`{text}` compares {one} with {other}");
            self.found(message, &[left, right]);
            return;
        }
        if let (Some(kind @ (Kind::Null | Kind::List | Kind::Object)), Some(_)) =
            (left.ty.kind(), right.ty.kind())
        {
            let words = kind.words();
            let message = format!("`{text}` compares {words} with {words}, which have no order");
            self.found(message, &[left, right]);
        }
    }

    fn membership(&mut self, expression: &IdedExpr, left: &Operand<'_>, right: &Operand<'_>) {
        self.expect(right, &[Kind::List, Kind::Object]);
        if let Type::List(item) | Type::Map(item, _) = &right.ty
            && let Some((one, other)) = different(&left.ty, item)
        {
            let (one, other) = (one.words(), other.words());
            let text = shown(expression);
            let message = format!("`{text}` is never true: it looks for {one}, and finds {other}");
            self.found(message, &[left, right]);
        }
    }

    /// The type of a calculation with two operands. CEL does not convert numbers implicitly.
    fn calculation(
        &mut self,
        expression: &IdedExpr,
        function: &str,
        left: &Operand<'_>,
        right: &Operand<'_>,
    ) -> Type {
        let (Some(one), Some(other)) = (left.ty.kind(), right.ty.kind()) else {
            return Type::Any;
        };
        let joins = function == operators::ADD;
        let calculates = |kind| match kind {
            Kind::Number => true,
            Kind::Text | Kind::List => joins,
            Kind::Null | Kind::Bool | Kind::Object => false,
        };
        let text = shown(expression);
        if one != other || !calculates(one) {
            let (one, other) = (one.words(), other.words());
            let message = format!("`{text}` calculates with {one} and {other}");
            self.found(message, &[left, right]);
            return Type::Any;
        }
        match (&left.ty, &right.ty) {
            (Type::Double, Type::Double) if function == operators::MODULO => {
                let message =
                    format!("`{text}` calculates a remainder of numbers that are not whole");
                self.found(message, &[left, right]);
                Type::Any
            }
            (Type::Number, _) | (_, Type::Number) => Type::Number,
            (one, other) if one == other => one.clone(),
            (Type::List(_), _) => Type::List(Box::new(Type::Any)),
            (one, other) => {
                let (message, help) = mixed(&text, one, other);
                self.found(message, &[left, right]);
                if let Some(found) = self.found.last_mut() {
                    found.help = Some(help.to_owned());
                }
                Type::Number
            }
        }
    }

    fn index(&mut self, left: &Operand<'_>, right: &Operand<'_>) -> Type {
        match (&left.ty, &right.expression.expr) {
            (Type::List(item), _) => {
                self.expect(right, &[Kind::Number]);
                (**item).clone()
            }
            (Type::Record(_), Expr::Literal(LiteralValue::String(name))) => {
                self.field(left, name.inner())
            }
            (Type::Map(name, value), _) => {
                if let Some(kind) = name.kind() {
                    self.expect(right, &[kind]);
                }
                (**value).clone()
            }
            _ => {
                self.expect(left, &[Kind::List, Kind::Object]);
                Type::Any
            }
        }
    }

    fn field(&mut self, operand: &Operand<'_>, name: &str) -> Type {
        let Type::Record(fields) = &operand.ty else {
            self.expect(operand, &[Kind::Object]);
            return Type::Any;
        };
        if let Some((_, ty)) = fields.iter().find(|(field, _)| field == name) {
            return ty.clone();
        }
        let names = fields.iter().map(|(name, _)| name.as_str());
        let help = did_you_mean(name, names);
        let message = format!("`{}` has no field `{name}`", shown(operand.expression));
        self.found.push(Mistyped {
            message: self.explained(message, &[operand]),
            help,
        });
        Type::Any
    }

    fn comprehension(&mut self, all: &'a ComprehensionExpr) -> Type {
        let range = Operand {
            expression: &all.iter_range,
            ty: self.ty(&all.iter_range),
        };
        let outer = self.own.len();
        self.expect(&range, &[Kind::List, Kind::Object]);
        let item = match range.ty {
            Type::List(item) if all.iter_var2.is_none() => *item,
            Type::Map(name, _) if all.iter_var2.is_none() => *name,
            Type::Record(_) if all.iter_var2.is_none() => Type::Text,
            _ => Type::Any,
        };
        self.own.push((&all.iter_var, item));
        self.own
            .extend(all.iter_var2.iter().map(|name| (name.as_str(), Type::Any)));
        let so_far = self.ty(&all.accu_init);
        self.own.push((&all.accu_var, so_far));
        self.ty(&all.loop_step);
        let result = self.ty(&all.result);
        self.own.truncate(outer);
        result
    }

    /// Reports an operand that is known to have none of these kinds.
    fn expect(&mut self, operand: &Operand<'_>, expected: &[Kind]) {
        if let Some(kind) = operand.ty.kind()
            && !expected.contains(&kind)
        {
            let words: Vec<&str> = expected.iter().map(|kind| kind.words()).collect();
            let message = format!(
                "`{}` is {}, and should be {}",
                shown(operand.expression),
                kind.words(),
                words.join(" or ")
            );
            self.found(message, &[operand]);
        }
    }

    fn found(&mut self, message: String, operands: &[&Operand<'_>]) {
        let message = self.explained(message, operands);
        let help = match operands {
            [one, other] => quotes(one, other).or_else(|| quotes(other, one)),
            _ => None,
        };
        self.found.push(Mistyped { message, help });
    }

    /// The message, with the Rust types of the keys among the operands.
    fn explained(&self, message: String, operands: &[&Operand<'_>]) -> String {
        let mut types = Vec::new();
        for operand in operands {
            let key = match &operand.expression.expr {
                Expr::Ident(name) if !self.own.iter().any(|(own, _)| own == name) => {
                    self.keys.iter().find(|key| key.name == *name)
                }
                _ => None,
            };
            types.extend(key.map(|key| format!("`{}` is a `{}`", key.name, key.rust_type)));
        }
        if types.is_empty() {
            return message;
        }
        format!("{message} ({})", types.join(", "))
    }
}

/// The kinds of two types that are known to differ.
fn different(one: &Type, other: &Type) -> Option<(Kind, Kind)> {
    let kinds = (one.kind()?, other.kind()?);
    (kinds.0 != kinds.1).then_some(kinds)
}

/// The message for mixed kinds of numbers, and help.
fn mixed(text: &str, one: &Type, other: &Type) -> (String, &'static str) {
    let (what, help) = if [one, other].contains(&&Type::UInt) {
        (
            "a number with `u`, which CEL keeps apart from others",
            "leave out the `u`",
        )
    } else {
        (
            "whole numbers and others, which CEL keeps apart",
            "write whole numbers with a point, as in `2.0`, and convert keys with `double(…)`",
        )
    };
    (format!("`{text}` calculates with {what}"), help)
}

/// The literal, written as the kind that it is compared with.
fn quotes(literal: &Operand<'_>, other: &Operand<'_>) -> Option<String> {
    match (&literal.expression.expr, other.ty.kind()?) {
        (Expr::Literal(LiteralValue::String(text)), Kind::Number)
            if text.inner().parse::<f64>().is_ok() =>
        {
            Some(format!("for the number, write `{}`", text.inner()))
        }
        (Expr::Literal(LiteralValue::Int(_) | LiteralValue::Double(_)), Kind::Text) => {
            let text = shown(literal.expression);
            Some(format!("for the text, write `'{text}'`"))
        }
        _ => None,
    }
}

fn literal_type(literal: &LiteralValue) -> Type {
    match literal {
        LiteralValue::Boolean(_) => Type::Bool,
        LiteralValue::Bytes(_) => Type::Any,
        LiteralValue::Double(_) => Type::Double,
        LiteralValue::Int(_) => Type::Int,
        LiteralValue::Null => Type::Null,
        LiteralValue::String(_) => Type::Text,
        LiteralValue::UInt(_) => Type::UInt,
    }
}
