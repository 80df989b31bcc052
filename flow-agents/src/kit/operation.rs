//! The operations of the calculator.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// An operation of the [`calculator`](super::calculator). Its name in JSON is in snake_case, such
/// as `nth_root`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// The sum of `a` and `b`.
    Add,
    /// The difference of `a` and `b`.
    Subtract,
    /// The product of `a` and `b`.
    Multiply,
    /// `a` divided by `b`.
    Divide,
    /// `a` to the power of `b`.
    Power,
    /// The remainder of `a` divided by `b`, with the sign of `a`.
    Modulo,
    /// The `b`-th root of `a`.
    NthRoot,
    /// The square root of `a`.
    Sqrt,
    /// The absolute value of `a`.
    Abs,
    /// `a` with the opposite sign.
    Negate,
    /// `a` as a percentage of `b`.
    Percentage,
    /// The sum of `values`.
    Sum,
    /// The mean of `values`.
    Average,
    /// The smallest of `values`.
    Min,
    /// The largest of `values`.
    Max,
    /// `a` rounded to the nearest integer, or to the precision if there is one. Halves are rounded
    /// away from zero.
    Round,
    /// `a` rounded down to an integer, or to the precision if there is one.
    Floor,
    /// `a` rounded up to an integer, or to the precision if there is one.
    Ceil,
    /// The natural logarithm of `a`.
    Ln,
    /// The logarithm of `a` to the base 10.
    Log10,
    /// The logarithm of `a` to the base `b`.
    Log,
    /// The sine of `a`, in radians.
    Sin,
    /// The cosine of `a`, in radians.
    Cos,
    /// The tangent of `a`, in radians.
    Tan,
    /// The product of all integers from 1 to the integer `a`.
    Factorial,
    /// The greatest common divisor of the integers `a` and `b`.
    Gcd,
    /// The least common multiple of the integers `a` and `b`.
    Lcm,
}

impl Operation {
    /// All operations.
    pub const ALL: [Operation; 27] = [
        Operation::Add,
        Operation::Subtract,
        Operation::Multiply,
        Operation::Divide,
        Operation::Power,
        Operation::Modulo,
        Operation::NthRoot,
        Operation::Sqrt,
        Operation::Abs,
        Operation::Negate,
        Operation::Percentage,
        Operation::Sum,
        Operation::Average,
        Operation::Min,
        Operation::Max,
        Operation::Round,
        Operation::Floor,
        Operation::Ceil,
        Operation::Ln,
        Operation::Log10,
        Operation::Log,
        Operation::Sin,
        Operation::Cos,
        Operation::Tan,
        Operation::Factorial,
        Operation::Gcd,
        Operation::Lcm,
    ];
}

// Every provider supports a list of names. The derived schema would be a choice with texts.
impl JsonSchema for Operation {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Operation".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": Operation::ALL })
    }
}
