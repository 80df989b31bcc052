//! Numbers as they are written: 0.29 is 29 hundredths, not the nearest binary number.
//!
//! Sums, products, quotients and powers of such numbers are exact. Only the result is converted to
//! the nearest binary number, so that 29 percent of 100 are 29 and not 28.999999999999996.

use num_bigint::BigInt;

/// The number of decimal digits of a quotient. The midpoint of two binary numbers never has more.
const QUOTIENT_DIGITS: u64 = 800;

/// The number of decimal digits of an inexact root.
const ROOT_DIGITS: u64 = 60;

/// The maximum number of bits of a power that is computed exactly.
const POWER_BITS: u64 = 1 << 16;

/// A number: `numerator / denominator * 10^exponent`. The denominator is positive.
#[derive(Debug, Clone)]
pub(super) struct Exact {
    numerator: BigInt,
    denominator: BigInt,
    exponent: i64,
}

/// The direction in which a number is rounded to fewer decimal places.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rounding {
    Down,
    Up,
    /// Halves are rounded away from zero.
    Nearest,
}

impl Exact {
    /// The shortest decimal number that parses as this one, which has to be finite.
    pub(super) fn of(value: f64) -> Exact {
        let text = format!("{value:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let numerator = format!("{whole}{fraction}").parse();
        let exponent = exponent.parse::<i64>();
        let (Ok(numerator), Ok(exponent)) = (numerator, exponent) else {
            unreachable!("{text} is a number")
        };
        Exact {
            exponent: exponent - fraction.len() as i64,
            ..Exact::integer(numerator)
        }
    }

    pub(super) fn integer(numerator: BigInt) -> Exact {
        Exact {
            numerator,
            denominator: BigInt::from(1),
            exponent: 0,
        }
    }

    /// The nearest binary number, or infinity if this one is too large.
    pub(super) fn to_f64(&self) -> f64 {
        let (digits, exponent) = if self.denominator == BigInt::from(1) {
            (self.numerator.clone(), self.exponent)
        } else {
            self.quotient()
        };
        let text = format!("{digits}e{exponent}");
        text.parse()
            .unwrap_or_else(|_| unreachable!("{text} is a number"))
    }

    /// Enough digits of the number to find the nearest binary number, and the exponent of the last
    /// digit. The last digit is not zero if others follow.
    fn quotient(&self) -> (BigInt, i64) {
        let missing = self.denominator.bits() + bits_of(QUOTIENT_DIGITS);
        let places = digits_of(missing.saturating_sub(self.numerator.bits()));
        let scaled = &self.numerator * power_of_ten(places);
        let exponent = self.exponent - places as i64;
        let quotient = &scaled / &self.denominator;
        let is_exact = &quotient * &self.denominator == scaled;
        with_rest(quotient, exponent, is_exact, self.is_negative())
    }

    pub(super) fn is_zero(&self) -> bool {
        self.numerator == BigInt::ZERO
    }

    fn is_negative(&self) -> bool {
        self.numerator < BigInt::ZERO
    }

    pub(super) fn plus(&self, other: &Exact) -> Exact {
        let exponent = self.exponent.min(other.exponent);
        let left = self.scaled_to(exponent) * &other.denominator;
        let right = other.scaled_to(exponent) * &self.denominator;
        Exact {
            numerator: left + right,
            denominator: &self.denominator * &other.denominator,
            exponent,
        }
    }

    pub(super) fn negated(&self) -> Exact {
        Exact {
            numerator: -&self.numerator,
            ..self.clone()
        }
    }

    pub(super) fn times(&self, other: &Exact) -> Exact {
        Exact {
            numerator: &self.numerator * &other.numerator,
            denominator: &self.denominator * &other.denominator,
            exponent: self.exponent + other.exponent,
        }
    }

    /// Divides by a number that is not zero.
    pub(super) fn over(&self, other: &Exact) -> Exact {
        self.times(&other.inverse())
    }

    fn inverse(&self) -> Exact {
        let (numerator, denominator) = if self.is_negative() {
            (-&self.denominator, -&self.numerator)
        } else {
            (self.denominator.clone(), self.numerator.clone())
        };
        Exact {
            numerator,
            denominator,
            exponent: -self.exponent,
        }
    }

    /// The remainder of a division by a number that is not zero, with the sign of this one.
    pub(super) fn modulo(&self, other: &Exact) -> Exact {
        let exponent = self.exponent.min(other.exponent);
        let left = self.scaled_to(exponent) * &other.denominator;
        let right = other.scaled_to(exponent) * &self.denominator;
        Exact {
            numerator: left % right,
            denominator: &self.denominator * &other.denominator,
            exponent,
        }
    }

    /// Raises to the power of `power / root`. `None` if the result would have too many digits. A
    /// negative number needs an odd root, and zero a positive power.
    pub(super) fn to_the(&self, power: i64, root: u32) -> Option<Exact> {
        let exponent = u32::try_from(power.unsigned_abs()).ok()?;
        let bits = self.numerator.bits().max(self.denominator.bits());
        if bits.checked_mul(u64::from(exponent))? > POWER_BITS {
            return None;
        }
        let base = if power < 0 {
            self.inverse()
        } else {
            self.clone()
        };
        let raised = Exact {
            numerator: base.numerator.pow(exponent),
            denominator: base.denominator.pow(exponent),
            exponent: base.exponent * i64::from(exponent),
        };
        if root == 1 {
            return Some(raised);
        }
        (root <= 64).then(|| raised.root(root))
    }

    /// The digits of a root, all of them if it is exact.
    fn root(&self, root: u32) -> Exact {
        let wanted = bits_of(ROOT_DIGITS * u64::from(root)) + self.denominator.bits();
        let mut places = digits_of(wanted.saturating_sub(self.numerator.bits())) as i64;
        // The exponent of the radicand has to be a multiple of the root.
        places += (self.exponent - places).rem_euclid(i64::from(root));
        let scaled = &self.numerator * power_of_ten(places as u64);
        let radicand = &scaled / &self.denominator;
        let digits = radicand.nth_root(root);
        let is_exact = digits.pow(root) == radicand && &radicand * &self.denominator == scaled;
        let exponent = (self.exponent - places) / i64::from(root);
        let (numerator, exponent) = with_rest(digits, exponent, is_exact, self.is_negative());
        Exact {
            exponent,
            ..Exact::integer(numerator)
        }
    }

    /// The number as a fraction, if its parts are small.
    pub(super) fn fraction(&self) -> Option<(i64, u32)> {
        let places = u64::try_from(-self.exponent.min(0)).ok()?;
        if places > 40 || self.exponent > 18 {
            return None;
        }
        let numerator = self.scaled_to(self.exponent.min(0));
        let denominator = &self.denominator * power_of_ten(places);
        let common = gcd(&numerator, &denominator);
        let numerator = i64::try_from(numerator / &common).ok()?;
        Some((numerator, u32::try_from(denominator / common).ok()?))
    }

    /// Rounds to a number of decimal places.
    pub(super) fn rounded(&self, decimals: u8, rounding: Rounding) -> Exact {
        let shift = self.exponent + i64::from(decimals);
        let tens = power_of_ten(shift.unsigned_abs());
        let (numerator, denominator) = if shift < 0 {
            (self.numerator.clone(), &self.denominator * tens)
        } else {
            (&self.numerator * tens, self.denominator.clone())
        };
        let steps = match rounding {
            Rounding::Down => floor(&numerator, &denominator),
            Rounding::Up => -floor(&-numerator, &denominator),
            Rounding::Nearest if self.is_negative() => {
                -floor(&(&denominator - 2 * numerator), &(2 * denominator))
            }
            Rounding::Nearest => floor(&(2 * numerator + &denominator), &(2 * denominator)),
        };
        Exact {
            exponent: -i64::from(decimals),
            ..Exact::integer(steps)
        }
    }

    fn scaled_to(&self, exponent: i64) -> BigInt {
        &self.numerator * power_of_ten((self.exponent - exponent).unsigned_abs())
    }
}

impl PartialEq for Exact {
    fn eq(&self, other: &Exact) -> bool {
        self.plus(&other.negated()).is_zero()
    }
}

/// Appends a digit that stands for all that follow, if any.
fn with_rest(digits: BigInt, exponent: i64, is_exact: bool, is_negative: bool) -> (BigInt, i64) {
    if is_exact {
        return (digits, exponent);
    }
    let rest = if is_negative { -1 } else { 1 };
    (digits * 10 + rest, exponent - 1)
}

/// The quotient, rounded down. The denominator is positive.
fn floor(numerator: &BigInt, denominator: &BigInt) -> BigInt {
    let quotient = numerator / denominator;
    let is_above = &quotient * denominator > *numerator;
    if is_above { quotient - 1 } else { quotient }
}

/// The greatest common divisor. The second number is positive.
fn gcd(a: &BigInt, b: &BigInt) -> BigInt {
    let (mut a, mut b) = (a.clone(), b.clone());
    while b != BigInt::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    if a < BigInt::ZERO { -a } else { a }
}

fn power_of_ten(exponent: u64) -> BigInt {
    let exponent = u32::try_from(exponent);
    BigInt::from(10).pow(exponent.unwrap_or_else(|_| unreachable!("powers are limited")))
}

/// At least the number of decimal digits of a number with this many bits.
fn digits_of(bits: u64) -> u64 {
    bits * 31 / 100 + 1
}

/// At least the number of bits of a number with this many decimal digits.
fn bits_of(digits: u64) -> u64 {
    digits * 10 / 3 + 1
}
