//! The calculator computes with what is written: against exact arithmetic, by random cases.

use flow_agents::kit::{Operation, calculator};
use proptest::prelude::*;

/// The result of one or two operands.
#[track_caller]
fn of(operation: Operation, a: f64, b: Option<f64>) -> f64 {
    let result = calculator(operation, Some(a), b, None, None);
    result.unwrap_or_else(|error| panic!("{operation:?} of {a} and {b:?}: {error}"))
}

fn two(operation: Operation, a: f64, b: f64) -> f64 {
    of(operation, a, Some(b))
}

fn many(operation: Operation, values: &[f64]) -> f64 {
    calculator(operation, None, None, Some(values.to_vec()), None).unwrap()
}

/// The number `units / 10^places`, as it is read where it is written.
fn decimal(units: i128, places: usize) -> f64 {
    format!("{units}e-{places}").parse().unwrap()
}

#[test]
fn what_people_write_has_the_result_that_they_expect() {
    use Operation::*;
    let cases = [
        (Percentage, 29.0, 100.0, 29.0),
        (Percentage, 57.0, 100.0, 57.0),
        (Percentage, 0.07, 1.0, 7.0),
        (Percentage, 1.1, 2.2, 50.0),
        (Add, 0.1, 0.2, 0.3),
        (Add, 1e16, 1.0, 1e16),
        (Subtract, 0.3, 0.1, 0.2),
        (Subtract, 1.1, 1.0, 0.1),
        (Multiply, 0.1, 3.0, 0.3),
        (Multiply, 4.35, 100.0, 435.0),
        (Multiply, 1.1, 1.1, 1.21),
        (Divide, 0.3, 0.1, 3.0),
        (Divide, 4.35, 0.01, 435.0),
        (Divide, -1.1, 1.1, -1.0),
        (Modulo, 5.5, 0.1, 0.0),
        (Modulo, -0.7, 0.2, -0.1),
        (Modulo, 1e300, 7.0, 1.0),
        (Power, 1.1, 2.0, 1.21),
        (Power, 0.1, -3.0, 1000.0),
        (Power, 0.7, 2.0, 0.49),
        (Power, 243.0, 0.2, 3.0),
        (Power, 0.0, 0.0, 1.0),
        (Power, 1.5, 200.0, 1.6529199107882081e35),
        (NthRoot, 0.008, 3.0, 0.2),
        (NthRoot, -0.00032, 5.0, -0.2),
        (NthRoot, 0.25, -2.0, 2.0),
        (NthRoot, 1.728, 3.0, 1.2),
        (Log, 0.008, 0.2, 3.0),
        (Log, 8.0, 4.0, 1.5),
        (Log, 8.0, 8192.0, 3.0 / 13.0),
        (Log, 0.001, 10.0, -3.0),
        (Log, 1e-300, 1e10, -30.0),
    ];
    for (operation, a, b, result) in cases {
        assert_eq!(two(operation, a, b), result, "{operation:?} of {a} and {b}");
    }
    let cases = [
        (Sqrt, 0.09, 0.3),
        (Sqrt, 1e-320, 1e-160),
        (Log10, 1e-7, -7.0),
        (Factorial, 25.0, 15_511_210_043_330_985_984_000_000.0),
        (Factorial, 170.0, 7.257415615307999e306),
    ];
    for (operation, a, result) in cases {
        assert_eq!(of(operation, a, None), result, "{operation:?} of {a}");
    }
    assert_eq!(many(Sum, &[0.1; 10]), 1.0);
    assert_eq!(many(Sum, &[1e100, 1.0, -1e100]), 1.0);
    assert_eq!(many(Average, &[0.1, 0.2, 0.3]), 0.2);
    assert_eq!(many(Average, &[1e308, 1e308]), 1e308);
}

#[test]
fn a_result_is_rounded_once() {
    let rounded =
        |operation, a, b, places| calculator(operation, Some(a), b, None, Some(places)).unwrap();
    // 0.125 less a little: the nearest number with 16 digits is 0.125.
    assert_eq!(rounded(Operation::Subtract, 0.125, Some(1e-30), 2), 0.12);
    assert_eq!(rounded(Operation::Multiply, 1.005, Some(1.0), 2), 1.01);
    assert_eq!(
        rounded(Operation::Divide, 2.0, Some(3.0), 12),
        0.666_666_666_667
    );
    assert_eq!(rounded(Operation::Round, -0.5, None, 0), -1.0);
    assert_eq!(rounded(Operation::Round, 1e-300, None, 12), 0.0);
    assert_eq!(rounded(Operation::Ceil, 1e-300, None, 12), 1e-12);
    assert_eq!(rounded(Operation::Floor, -1e-300, None, 0), -1.0);
    assert_eq!(rounded(Operation::Floor, 1e300, None, 12), 1e300);
    // It takes no longer, however large the exponent would be.
    assert_eq!(rounded(Operation::Power, 1e-300, Some(60_000.0), 12), 0.0);
    assert!(calculator(Operation::Power, Some(1e300), Some(60_000.0), None, Some(1)).is_err());
}

/// A number with up to 12 digits, and up to 6 of them behind the point.
fn units() -> impl Strategy<Value = (i128, usize)> {
    (-999_999_999_999_i128..=999_999_999_999, 0..=6_usize)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn sums_and_products_are_exact((a, p) in units(), (b, q) in units()) {
        let (left, right) = (decimal(a, p), decimal(b, q));
        let places = p.max(q);
        let (x, y) = (a * 10_i128.pow((places - p) as u32), b * 10_i128.pow((places - q) as u32));
        prop_assert_eq!(two(Operation::Add, left, right), decimal(x + y, places) + 0.0);
        prop_assert_eq!(two(Operation::Subtract, left, right), decimal(x - y, places) + 0.0);
        prop_assert_eq!(two(Operation::Multiply, left, right), decimal(a * b, p + q) + 0.0);
        prop_assert_eq!(many(Operation::Sum, &[left, right, left]), decimal(2 * x + y, places) + 0.0);
        if y != 0 {
            prop_assert_eq!(two(Operation::Modulo, left, right), decimal(x % y, places) + 0.0);
        }
    }

    /// A quotient is the nearest number: no other one is nearer to it.
    #[test]
    fn quotients_are_the_nearest_numbers(a in -999_999_i128..=999_999, b in 1..=999_999_i128) {
        let found = two(Operation::Divide, a as f64, b as f64);
        // Integers below 2^53 are exact, and so the quotient of the machine is the nearest one.
        prop_assert_eq!(found, a as f64 / b as f64 + 0.0);
        let percent = two(Operation::Percentage, a as f64, b as f64);
        prop_assert_eq!(percent, (100 * a) as f64 / b as f64 + 0.0);
        let small = two(Operation::Divide, decimal(a, 3), decimal(b, 3));
        prop_assert_eq!(small, found);
        let average = many(Operation::Average, &[a as f64, b as f64, 7.0]);
        prop_assert_eq!(average, (a + b + 7) as f64 / 3.0);
    }

    #[test]
    fn a_percentage_of_whole_numbers_is_what_it_was(a in 0..100_000_i128, b in 1..10_000_i128, places in 0..6_usize) {
        let part = decimal(a * b, places + 2);
        prop_assert_eq!(two(Operation::Percentage, part, decimal(b, places)), a as f64);
    }

    #[test]
    fn a_root_and_a_logarithm_undo_a_power(a in 2..999_i128, places in 0..4_usize, exponent in 1..6_i64) {
        let base = decimal(a, places);
        let power = two(Operation::Power, base, exponent as f64);
        prop_assert_eq!(power, decimal(a.pow(exponent as u32), places * exponent as usize));
        // As long as the power has no more digits than a number.
        if a.pow(exponent as u32) < 1_i128 << 53 {
            prop_assert_eq!(two(Operation::NthRoot, power, exponent as f64), base);
            if base != 1.0 {
                prop_assert_eq!(two(Operation::Log, power, base), exponent as f64);
            }
            let inverse = two(Operation::NthRoot, power, -(exponent as f64));
            prop_assert_eq!(inverse, two(Operation::Divide, 1.0, base));
        }
    }

    #[test]
    fn rounding_is_that_of_the_digits(units in -999_999_999_i128..=999_999_999, places in 0..8_usize, kept in 0..8_u8) {
        let value = decimal(units, places);
        let drop = 10_i128.pow(places.saturating_sub(kept.into()) as u32);
        let (kept_places, whole) = (places.min(kept.into()), units.div_euclid(drop));
        let rest = units.rem_euclid(drop);
        let rounded = |operation| calculator(operation, Some(value), None, None, Some(kept)).unwrap();
        prop_assert_eq!(rounded(Operation::Floor), decimal(whole, kept_places) + 0.0);
        let up = whole + i128::from(rest > 0);
        prop_assert_eq!(rounded(Operation::Ceil), decimal(up, kept_places) + 0.0);
        let away = units.signum() * ((2 * units.abs() + drop) / (2 * drop));
        prop_assert_eq!(rounded(Operation::Round), decimal(away, kept_places) + 0.0);
    }

    /// Whatever the numbers are, there is a result or a reason.
    #[test]
    fn nothing_goes_wrong_with_any_numbers(a: f64, b: f64, precision in 0..=12_u8) {
        for operation in Operation::ALL {
            for b in [None, Some(b)] {
                let result = calculator(operation, Some(a), b, None, Some(precision));
                prop_assert!(result.is_err() || result.is_ok_and(f64::is_finite));
            }
        }
        let _ = many_or_reason(&[a, b]);
    }
}

fn many_or_reason(values: &[f64]) -> Result<f64, flow_agents::kit::CalculatorError> {
    calculator(Operation::Average, None, None, Some(values.to_vec()), None)
}
