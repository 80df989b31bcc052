//! A calculator: one operation at a time, with the operands that it needs and no others.

use flow_runtime::prelude::*;

use super::operation::Operation;

/// Why there is no result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CalculatorError {
    /// An operand that the operation needs.
    #[error("{operand} is required for this operation")]
    Missing {
        /// `a`, `b` or `values`.
        operand: &'static str,
    },
    /// An operand that the operation does not use: the result would not be what was meant.
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
    /// A number with a fraction, or one that is so large that it is not exact.
    #[error("{operand} must be an integer of at most 16 digits")]
    NotAnInteger {
        /// `a` or `b`.
        operand: &'static str,
    },
    /// An operand for which the operation has no result, such as a division by zero.
    #[error("{0}")]
    Undefined(&'static str),
    /// More decimal places than a number has.
    #[error("precision must be from 0 to 12")]
    Precision,
}

/// Computes one operation on numbers, and returns the number. Numbers have about 16 significant
/// digits; a result that is too large is refused. Operands that the operation does not use are left
/// out or `null`.
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
    /// Of `a` and `b`: add, subtract, multiply, divide, power (`a` to the power of `b`), modulo
    /// (the remainder, with the sign of `a`), nth_root (the `b`-th root of `a`), percentage (how
    /// many percent of `b` are `a`), log (of `a`, to the base `b`), gcd and lcm (of integers). Of
    /// `a`: sqrt, abs, negate, round, floor, ceil, ln, log10, sin, cos and tan (of radians),
    /// factorial (of an integer). Of `values`: sum, average, min, max.
    operation: Operation,
    /// The first operand.
    a: Option<f64>,
    /// The second operand.
    b: Option<f64>,
    /// The operands of `sum`, `average`, `min` and `max`.
    values: Option<Vec<f64>>,
    /// How many decimal places the result has, from 0 to 12. By default as many as there are;
    /// `round`, `floor` and `ceil` have none. `floor` rounds down, `ceil` rounds up, and all others
    /// round to the nearest.
    precision: Option<u8>,
) -> Result<f64, CalculatorError> {
    let decimals = match precision {
        None => None,
        Some(decimals @ 0..=12) => Some(decimals),
        Some(_) => return Err(CalculatorError::Precision),
    };
    let result = compute(operation, &Operands { a, b, values })?;
    if !result.is_finite() {
        let operand = "the result";
        return Err(CalculatorError::NotFinite { operand });
    }
    let result = match (operation, decimals) {
        (Operation::Floor, decimals) => floor(result, decimals.unwrap_or(0)),
        (Operation::Ceil, decimals) => -floor(-result, decimals.unwrap_or(0)),
        (Operation::Round, decimals) => round(result, decimals.unwrap_or(0)),
        (_, Some(decimals)) => round(result, decimals),
        (_, None) => result,
    };
    Ok(result + 0.0) // which makes 0 of -0
}

fn compute(operation: Operation, operands: &Operands) -> Result<f64, CalculatorError> {
    match operation {
        Operation::Add => operands.two(|a, b| Ok(a + b)),
        Operation::Subtract => operands.two(|a, b| Ok(a - b)),
        Operation::Multiply => operands.two(|a, b| Ok(a * b)),
        Operation::Divide => operands.two(divide),
        Operation::Power => operands.two(power),
        Operation::Modulo => operands.two(modulo),
        Operation::NthRoot => operands.two(nth_root),
        Operation::Percentage => operands.two(|a, b| Ok(divide(a, b)? * 100.0)),
        Operation::Log => operands.two(logarithm),
        Operation::Gcd => operands.two(|a, b| Ok(gcd(integer("a", a)?, integer("b", b)?))),
        Operation::Lcm => operands.two(|a, b| Ok(lcm(integer("a", a)?, integer("b", b)?))),
        Operation::Sqrt => operands.one(|a| nth_root(a, 2.0)),
        Operation::Abs => operands.one(|a| Ok(a.abs())),
        Operation::Negate => operands.one(|a| Ok(-a)),
        Operation::Round | Operation::Floor | Operation::Ceil => operands.one(Ok),
        Operation::Ln => operands.one(|a| Ok(positive(a)?.ln())),
        Operation::Log10 => operands.one(|a| Ok(positive(a)?.log10())),
        Operation::Sin => operands.one(|a| Ok(a.sin())),
        Operation::Cos => operands.one(|a| Ok(a.cos())),
        Operation::Tan => operands.one(|a| Ok(a.tan())),
        Operation::Factorial => operands.one(|a| factorial(integer("a", a)?)),
        Operation::Sum => operands.many(|values| values.iter().sum()),
        Operation::Average => operands.many(average),
        Operation::Min => operands.many(|values| values.iter().copied().fold(f64::MAX, f64::min)),
        Operation::Max => operands.many(|values| values.iter().copied().fold(f64::MIN, f64::max)),
    }
}

/// The operands as they came.
struct Operands {
    a: Option<f64>,
    b: Option<f64>,
    values: Option<Vec<f64>>,
}

impl Operands {
    fn one(
        &self,
        result: impl FnOnce(f64) -> Result<f64, CalculatorError>,
    ) -> Result<f64, CalculatorError> {
        unused("b", self.b.is_some())?;
        unused("values", self.values.is_some())?;
        result(required("a", self.a)?)
    }

    fn two(
        &self,
        result: impl FnOnce(f64, f64) -> Result<f64, CalculatorError>,
    ) -> Result<f64, CalculatorError> {
        unused("values", self.values.is_some())?;
        result(required("a", self.a)?, required("b", self.b)?)
    }

    fn many(&self, result: impl FnOnce(&[f64]) -> f64) -> Result<f64, CalculatorError> {
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

/// The largest integer below which each integer is a number of its own.
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

fn divide(a: f64, b: f64) -> Result<f64, CalculatorError> {
    if b == 0.0 {
        return Err(CalculatorError::Undefined("division by zero"));
    }
    Ok(a / b)
}

fn modulo(a: f64, b: f64) -> Result<f64, CalculatorError> {
    if b == 0.0 {
        return Err(CalculatorError::Undefined("modulo by zero"));
    }
    Ok(a % b)
}

fn power(a: f64, b: f64) -> Result<f64, CalculatorError> {
    if a == 0.0 && b < 0.0 {
        let reason = "zero has no negative power";
        return Err(CalculatorError::Undefined(reason));
    }
    if a < 0.0 && b.fract() != 0.0 {
        let reason = "a negative number has no power with a fraction";
        return Err(CalculatorError::Undefined(reason));
    }
    Ok(a.powf(b))
}

fn nth_root(a: f64, b: f64) -> Result<f64, CalculatorError> {
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
    let root = match b {
        2.0 => a.sqrt(),
        3.0 => a.cbrt(),
        _ => a.abs().powf(1.0 / b).copysign(a),
    };
    let nearest = root.round();
    let is_exact = nearest.abs() < EXACT && nearest.powf(b) == a;
    Ok(if is_exact { nearest } else { root })
}

fn logarithm(a: f64, b: f64) -> Result<f64, CalculatorError> {
    if b <= 0.0 || b == 1.0 {
        let reason = "the base of a logarithm is positive, and is not 1";
        return Err(CalculatorError::Undefined(reason));
    }
    let exponent = positive(a)?.ln() / b.ln();
    let nearest = exponent.round();
    Ok(if b.powf(nearest) == a {
        nearest
    } else {
        exponent
    })
}

fn average(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    values.iter().sum::<f64>() / count
}

fn factorial(value: f64) -> Result<f64, CalculatorError> {
    if value < 0.0 {
        let reason = "a factorial is of an integer that is not negative";
        return Err(CalculatorError::Undefined(reason));
    }
    let factors = (2..=171).map(f64::from); // the factorial of 171 is too large already
    Ok(factors.take_while(|factor| *factor <= value).product())
}

fn gcd(a: f64, b: f64) -> f64 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0.0 {
        (a, b) = (b, a % b);
    }
    a
}

fn lcm(a: f64, b: f64) -> f64 {
    match gcd(a, b) {
        0.0 => 0.0,
        common => (a / common * b).abs(),
    }
}

/// The largest number with so many decimal places that is not above the value.
///
/// A value that was written with so many places is itself: 0.29 times 100 is a little below 29, and
/// 29 by 100 is 0.29 again.
fn floor(value: f64, decimals: u8) -> f64 {
    let factor = 10_f64.powi(i32::from(decimals));
    let steps = (value * factor).floor();
    if steps.abs() >= EXACT {
        return value; // it has no more decimal places than that
    }
    let next = (steps + 1.0) / factor;
    if next <= value { next } else { steps / factor }
}

/// The nearest number with so many decimal places. What was written as the middle of two is rounded
/// away from zero.
fn round(value: f64, decimals: u8) -> f64 {
    let factor = 10_f64.powi(i32::from(decimals));
    let below = floor(value.abs(), decimals);
    let steps = (below * factor).round();
    if steps >= EXACT / 2.0 {
        return value;
    }
    let middle = (2.0 * steps + 1.0) / (2.0 * factor);
    let rounded = if value.abs() < middle {
        below
    } else {
        (steps + 1.0) / factor
    };
    rounded.copysign(value)
}
