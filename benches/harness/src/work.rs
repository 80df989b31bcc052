//! The pieces of work. Nodes differ between contenders, what they do must not.
//!
//! `black_box` keeps the compiler from doing the work of several nodes at once.

use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Adds one.
#[inline(always)]
pub fn add(total: u64) -> u64 {
    black_box(total) + 1
}

/// Adds one, unless that is too much.
///
/// # Errors
///
/// The sum does not fit.
#[inline(always)]
pub fn checked_add(total: u64) -> Result<u64, Overflow> {
    black_box(total).checked_add(1).ok_or(Overflow)
}

/// The error of a node.
#[derive(Debug, Clone, Copy)]
pub struct Overflow;

impl std::fmt::Display for Overflow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the sum does not fit")
    }
}

impl std::error::Error for Overflow {}

/// Whether the loop is done.
#[inline(always)]
pub fn is_enough(total: u64, limit: u64) -> bool {
    black_box(total) >= limit
}

/// Which of three ways to go.
#[inline(always)]
pub fn way(value: u64) -> u64 {
    (black_box(value) & 3).min(2)
}

/// What the chosen way does.
#[inline(always)]
pub fn plus(value: u64, more: u64) -> u64 {
    black_box(value) + more
}

/// Doubles it.
#[inline(always)]
pub fn double(value: u64) -> u64 {
    black_box(value) * 2
}

/// Changes one byte of the large value.
#[inline(always)]
pub fn touch(mut payload: Vec<u8>) -> Vec<u8> {
    touch_in_place(&mut payload);
    payload
}

/// The same where the library keeps the value and lends it.
#[inline(always)]
pub fn touch_in_place(payload: &mut [u8]) {
    if let Some(first) = black_box(payload).first_mut() {
        *first = first.wrapping_add(1);
    }
}

/// Gives way to others once.
pub fn give_way() -> impl Future<Output = ()> + Send {
    GiveWay(false)
}

struct GiveWay(bool);

impl Future for GiveWay {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0 {
            return Poll::Ready(());
        }
        self.0 = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}
