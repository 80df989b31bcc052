//! The pieces of work. Nodes differ between contenders, but their work must not.
//!
//! `black_box` keeps the compiler from doing the work of several nodes at once.

use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::PAYLOAD_BYTES;

/// The bits of a byte of ASCII.
const ASCII: u8 = 0x7f;

/// Adds one.
#[inline(always)]
pub fn add(total: u64) -> u64 {
    black_box(total) + 1
}

/// Adds one, unless it overflows.
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

/// Returns true if the loop is done.
#[inline(always)]
pub fn is_enough(total: u64, limit: u64) -> bool {
    black_box(total) >= limit
}

/// Returns which of three ways to take.
#[inline(always)]
pub fn way(value: u64) -> u64 {
    (black_box(value) & 3).min(2)
}

/// The work of the chosen way.
#[inline(always)]
pub fn plus(value: u64, more: u64) -> u64 {
    black_box(value) + more
}

/// Doubles it.
#[inline(always)]
pub fn double(value: u64) -> u64 {
    black_box(value) * 2
}

/// The large value.
pub fn payload() -> Vec<u8> {
    payload_text().into_bytes()
}

/// The large value as a text, for contenders that keep values as JSON: one value, not an array.
pub fn payload_text() -> String {
    let mut text = "a".repeat(PAYLOAD_BYTES);
    text.replace_range(PAYLOAD_BYTES - 1.., ".");
    text
}

/// The number of changes to a large value since its first byte was `before`; 0 if bytes are lost.
pub fn changes(before: u8, payload: &[u8]) -> u64 {
    match payload {
        [first, .., b'.'] if payload.len() == PAYLOAD_BYTES => {
            u64::from(first.wrapping_sub(before) & ASCII)
        }
        _ => 0,
    }
}

/// The first byte of a large value.
pub fn first_of(payload: &[u8]) -> u8 {
    payload.first().copied().unwrap_or_default()
}

/// Changes one byte of the large value.
#[inline(always)]
pub fn touch(mut payload: Vec<u8>) -> Vec<u8> {
    touch_in_place(&mut payload);
    payload
}

/// Like [`touch`], for a library that keeps the value and lends it.
#[inline(always)]
pub fn touch_in_place(payload: &mut [u8]) {
    if let Some(first) = black_box(payload).first_mut() {
        *first = next(*first);
    }
}

/// Like [`touch`], for a text.
#[inline(always)]
pub fn touch_text(text: String) -> String {
    let mut text = black_box(text);
    let first = char::from(next(first_of(text.as_bytes())));
    text.replace_range(..1, first.encode_utf8(&mut [0]));
    text
}

/// The byte stays in ASCII, so that the value remains a text.
#[inline(always)]
fn next(byte: u8) -> u8 {
    byte.wrapping_add(1) & ASCII
}

/// Yields to other tasks once.
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
