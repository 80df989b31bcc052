//! A calculator: one operation at a time, with exactly the operands that it needs.

use flow_runtime::prelude::*;
use num_bigint::BigInt;

use super::exact::{Exact, Rounding};
use super::operation::Operation;

/// The reason why there is no result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CalculatorError {
    /// A required operand that is missing.
    #[error("{operand} is required for this operation")]
    Missing {
        /// `a`, `b` or `values`.
        operand: &'static str,
    },
    /// An operand that the operation does not use: the result would not be the intended one.
    #[error("{operand} is not used by this operation; leave it out")]
    Unused {
        /// `a`, `b` or `values`.
        operand: &'static str,
    },
    /// A number that is infinite, or is not a number.
    #[error("{operand} must be a finite number")]
    NotFinite {
        /// `a`, `b`, `values` or `the result`. The result is not finite if it is too large.
        operand: &'static str,
    },
    /// A number with a fraction, or one too large to be exact.
    #[error("{operand} must be an integer of at most 16 digits")]
    NotAnInteger {
        /// `a` or `b`.
        operand: &'static str,
    },
    /// An operand for which the operation is undefined, such as a division by zero.
    #[error("{0}")]
    Undefined(&'static str),
    /// A precision outside the allowed range.
    #[error("precision must be from 0 to 12")]
    Precision,
}

/// Computes one operation on numbers, and returns the number. Numbers are decimal, such as 0.1,
/// with about 16 significant digits. A result that is too large is refused. Leave out operands that
/// the operation does not use, or pass `null`.
///
/// # Errors
/// See [`CalculatorError`].
///
/// # Examples
/// ```
/// use flow_agents::kit::{Operation, calculator};
///
/// let third = calculator(Operation::Divide, Some(1.0), Some(3.0), None, Some(4))?;
/// assert_eq!(third, 0.3333);
///
/// let refused = calculator(Operation::Divide, Some(1.0), None, None, None).unwrap_err();
/// assert_eq!(refused.to_string(), "b is required for this operation");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[node]
pub fn calculator(
    /// With `a` and `b`: add, subtract, multiply, divide, power (`a` to the power of `b`), modulo
    /// (the remainder, with the sign of `a`), nth_root (the `b`-th root of `a`), percentage (`a` as
    /// a percentage of `b`), log (of `a`, to the base `b`), gcd and lcm (of integers). With `a`:
    /// sqrt, abs, negate, round, floor, ceil, ln, log10, sin, cos and tan (of radians), factorial
    /// (of an integer). With `values`: sum, average, min, max.
    operation: Operation,
    /// The first operand.
    a: Option<f64>,
    /// The second operand.
    b: Option<f64>,
    /// The operands of `sum`, `average`, `min` and `max`.
    values: Option<Vec<f64>>,
    /// The number of decimal places of the result, from 0 to 12. By default as many as there are;
    /// none for `round`, `floor` and `ceil`. `floor` rounds down, `ceil` rounds up, and all others
    /// round to the nearest.
    precision: Option<u8>,
) -> Result<f64, CalculatorError> {
    let decimals = match precision {
        None => None,
        Some(decimals @ 0..=12) => Some(decimals),
        Some(_) => return Err(CalculatorError::Precision),
    };
    let result = compute(operation, &Operands { a, b, values })?;
    let rounding = match operation {
        Operation::Floor => Some((Rounding::Down, decimals.unwrap_or(0))),
        Operation::Ceil => Some((Rounding::Up, decimals.unwrap_or(0))),
        Operation::Round => Some((Rounding::Nearest, decimals.unwrap_or(0))),
        _ => decimals.map(|decimals| (Rounding::Nearest, decimals)),
    };
    let nearest = finite(result.to_f64())?;
    let result = match rounding {
        Some((rounding, decimals)) if nearest != 0.0 => {
            finite(result.rounded(decimals, rounding).to_f64())?
        }
        _ => nearest,
    };
    Ok(result + 0.0) // which makes 0 of -0
}

fn finite(result: f64) -> Result<f64, CalculatorError> {
    if result.is_finite() {
        return Ok(result);
    }
    let operand = "the result";
    Err(CalculatorError::NotFinite { operand })
}

/// The result of a function of binary numbers.
fn found(result: f64) -> Result<Exact, CalculatorError> {
    finite(result).map(Exact::of)
}

fn compute(operation: Operation, operands: &Operands) -> Result<Exact, CalculatorError> {
    let exact = |value: f64| Ok(Exact::of(value));
    match operation {
        Operation::Add => operands.two(|a, b| Ok(Exact::of(a).plus(&Exact::of(b)))),
        Operation::Subtract => operands.two(|a, b| Ok(Exact::of(a).plus(&Exact::of(-b)))),
        Operation::Multiply => operands.two(|a, b| Ok(Exact::of(a).times(&Exact::of(b)))),
        Operation::Divide => operands.two(divide),
        Operation::Power => operands.two(power),
        Operation::Modulo => operands.two(modulo),
        Operation::NthRoot => operands.two(nth_root),
        Operation::Percentage => operands.two(|a, b| Ok(divide(a, b)?.times(&Exact::of(100.0)))),
        Operation::Log => operands.two(logarithm),
        Operation::Gcd => operands.two(|a, b| exact(gcd(integer("a", a)?, integer("b", b)?))),
        Operation::Lcm => operands.two(|a, b| Ok(lcm(integer("a", a)?, integer("b", b)?))),
        Operation::Sqrt => operands.one(|a| nth_root(a, 2.0)),
        Operation::Abs => operands.one(|a| exact(a.abs())),
        Operation::Negate => operands.one(|a| exact(-a)),
        Operation::Round | Operation::Floor | Operation::Ceil => operands.one(exact),
        Operation::Ln => operands.one(|a| found(positive(a)?.ln())),
        Operation::Log10 => operands.one(|a| logarithm(a, 10.0)),
        Operation::Sin => operands.one(|a| found(a.sin())),
        Operation::Cos => operands.one(|a| found(a.cos())),
        Operation::Tan => operands.one(|a| found(a.tan())),
        Operation::Factorial => operands.one(|a| factorial(integer("a", a)?)),
        Operation::Sum => operands.many(sum),
        Operation::Average => operands.many(|values| {
            let count = Exact::integer(values.len().into());
            sum(values).over(&count)
        }),
        Operation::Min => {
            operands.many(|values| Exact::of(values.iter().copied().fold(f64::MAX, f64::min)))
        }
        Operation::Max => {
            operands.many(|values| Exact::of(values.iter().copied().fold(f64::MIN, f64::max)))
        }
    }
}

/// The operands as they were passed.
struct Operands {
    a: Option<f64>,
    b: Option<f64>,
    values: Option<Vec<f64>>,
}

impl Operands {
    fn one(
        &self,
        result: impl FnOnce(f64) -> Result<Exact, CalculatorError>,
    ) -> Result<Exact, CalculatorError> {
        unused("b", self.b.is_some())?;
        unused("values", self.values.is_some())?;
        result(required("a", self.a)?)
    }

    fn two(
        &self,
        result: impl FnOnce(f64, f64) -> Result<Exact, CalculatorError>,
    ) -> Result<Exact, CalculatorError> {
        unused("values", self.values.is_some())?;
        result(required("a", self.a)?, required("b", self.b)?)
    }

    fn many(&self, result: impl FnOnce(&[f64]) -> Exact) -> Result<Exact, CalculatorError> {
        unused("a", self.a.is_some())?;
        unused("b", self.b.is_some())?;
        let operand = "values";
        match self.values.as_deref() {
            None | Some([]) => Err(CalculatorError::Missing { operand }),
            Some(values) if values.iter().all(|value| value.is_finite()) => Ok(result(values)),
            Some(_) => Err(CalculatorError::NotFinite { operand }),
        }
    }
}

fn unused(operand: &'static str, is_there: bool) -> Result<(), CalculatorError> {
    if is_there {
        return Err(CalculatorError::Unused { operand });
    }
    Ok(())
}

fn required(operand: &'static str, value: Option<f64>) -> Result<f64, CalculatorError> {
    match value {
        None => Err(CalculatorError::Missing { operand }),
        Some(value) if value.is_finite() => Ok(value),
        Some(_) => Err(CalculatorError::NotFinite { operand }),
    }
}

/// The maximum denominator of the fractions with which a logarithm is compared.
const MOST_PARTS: u32 = 1_100;

/// 2 to the power of 53. Below it, each integer is exact.
const EXACT: f64 = 9_007_199_254_740_992.0;

fn integer(operand: &'static str, value: f64) -> Result<f64, CalculatorError> {
    if value.fract() == 0.0 && value.abs() < EXACT {
        return Ok(value);
    }
    Err(CalculatorError::NotAnInteger { operand })
}

fn positive(value: f64) -> Result<f64, CalculatorError> {
    if value > 0.0 {
        return Ok(value);
    }
    let reason = "a logarithm is of a positive number";
    Err(CalculatorError::Undefined(reason))
}

fn divide(a: f64, b: f64) -> Result<Exact, CalculatorError> {
    if b == 0.0 {
        return Err(CalculatorError::Undefined("division by zero"));
    }
    Ok(Exact::of(a).over(&Exact::of(b)))
}

fn modulo(a: f64, b: f64) -> Result<Exact, CalculatorError> {
    if b == 0.0 {
        return Err(CalculatorError::Undefined("modulo by zero"));
    }
    Ok(Exact::of(a).modulo(&Exact::of(b)))
}

fn power(a: f64, b: f64) -> Result<Exact, CalculatorError> {
    if a == 0.0 && b < 0.0 {
        let reason = "zero has no negative power";
        return Err(CalculatorError::Undefined(reason));
    }
    if a < 0.0 && b.fract() != 0.0 {
        let reason = "a negative number has no power with a fraction";
        return Err(CalculatorError::Undefined(reason));
    }
    let parts = Exact::of(b).fraction();
    match parts.and_then(|(power, root)| Exact::of(a).to_the(power, root)) {
        Some(result) => Ok(result),
        None => found(a.powf(b)),
    }
}

fn nth_root(a: f64, b: f64) -> Result<Exact, CalculatorError> {
    if b == 0.0 {
        return Err(CalculatorError::Undefined("there is no zeroth root"));
    }
    if a == 0.0 && b < 0.0 {
        return Err(CalculatorError::Undefined("zero has no negative root"));
    }
    if a < 0.0 && b.abs() % 2.0 != 1.0 {
        let reason = "a negative number has only odd roots";
        return Err(CalculatorError::Undefined(reason));
    }
    let exact = Exact::of(b).fraction().and_then(|(root, power)| {
        let sign = root.signum();
        let root = u32::try_from(root.unsigned_abs()).ok()?;
        Exact::of(a).to_the(sign * i64::from(power), root)
    });
    match exact {
        Some(result) => Ok(result),
        None => found(a.abs().powf(1.0 / b).copysign(a)),
    }
}

/// The logarithm of `a` to the base `b`.
fn logarithm(a: f64, b: f64) -> Result<Exact, CalculatorError> {
    if b <= 0.0 || b == 1.0 {
        let reason = "the base of a logarithm is positive, and is not 1";
        return Err(CalculatorError::Undefined(reason));
    }
    let a = positive(a)?;
    let exponent = match b {
        2.0 => a.log2(),
        10.0 => a.log10(),
        _ => a.ln() / b.ln(),
    };
    let exponent = finite(exponent)?;
    let (number, base) = (Exact::of(a), Exact::of(b));
    // The exact fraction, if its parts are small.
    for denominator in 1..=MOST_PARTS {
        let numerator = (exponent * f64::from(denominator)).round();
        let fraction = numerator / f64::from(denominator);
        if (exponent - fraction).abs() > 1e-9 * exponent.abs().max(1.0) {
            continue;
        }
        let powers = (
            base.to_the(numerator as i64, 1),
            number.to_the(denominator.into(), 1),
        );
        if matches!(powers, (Some(of_base), Some(of_number)) if of_base == of_number) {
            return divide(numerator, denominator.into());
        }
    }
    Ok(Exact::of(exponent))
}

fn sum(values: &[f64]) -> Exact {
    let zero = Exact::of(0.0);
    let add = |sum: Exact, value: &f64| sum.plus(&Exact::of(*value));
    values.iter().fold(zero, add)
}

fn factorial(value: f64) -> Result<Exact, CalculatorError> {
    if value < 0.0 {
        let reason = "a factorial is of an integer that is not negative";
        return Err(CalculatorError::Undefined(reason));
    }
    let factors = (2..=171).take_while(|factor| f64::from(*factor) <= value); // that of 171 is too large already
    Ok(Exact::integer(factors.map(BigInt::from).product()))
}

fn gcd(a: f64, b: f64) -> f64 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0.0 {
        (a, b) = (b, a % b);
    }
    a
}

fn lcm(a: f64, b: f64) -> Exact {
    match gcd(a, b) {
        0.0 => Exact::of(0.0),
        common => Exact::of((a / common).abs()).times(&Exact::of(b.abs())),
    }
}
