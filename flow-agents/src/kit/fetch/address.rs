//! Classifies addresses as public or special, by the registries of IANA.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The kind of a special address. `None` if it is public.
pub(super) fn special(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => special_v4(address),
        IpAddr::V6(address) => special_v6(address),
    }
}

/// The prefixes of addresses, with their length in bits.
const V4: &[([u8; 4], u32, &str)] = &[
    ([0, 0, 0, 0], 8, "an address of this machine"),
    ([10, 0, 0, 0], 8, "a private address"),
    (
        [100, 64, 0, 0],
        10,
        "an address that a provider shares among its customers",
    ),
    ([127, 0, 0, 0], 8, "a loopback address"),
    (
        [168, 63, 129, 16],
        32,
        "an address of the services of a cloud",
    ),
    ([169, 254, 0, 0], 16, "a link-local address"),
    ([172, 16, 0, 0], 12, "a private address"),
    ([192, 0, 0, 0], 24, "an address for protocols"),
    ([192, 0, 2, 0], 24, "an address for documentation"),
    ([192, 88, 99, 0], 24, "an address of a 6to4 relay"),
    ([192, 168, 0, 0], 16, "a private address"),
    ([198, 18, 0, 0], 15, "an address for benchmarks"),
    ([198, 51, 100, 0], 24, "an address for documentation"),
    ([203, 0, 113, 0], 24, "an address for documentation"),
    ([224, 0, 0, 0], 4, "a multicast address"),
    ([240, 0, 0, 0], 4, "a reserved address"),
];

fn special_v4(address: Ipv4Addr) -> Option<&'static str> {
    let begins_with = |start: [u8; 4], bits: u32| {
        (address.to_bits() ^ Ipv4Addr::from(start).to_bits()).leading_zeros() >= bits
    };
    let found = V4
        .iter()
        .find(|(start, bits, _)| begins_with(*start, *bits));
    found.map(|(.., what)| *what)
}

/// The same as [`V4`] within 2000::/3.
const V6: &[([u16; 2], u32, &str)] = &[
    ([0x2001, 0], 23, "an address for protocols, such as Teredo"),
    ([0x2001, 0xdb8], 32, "an address for documentation"),
    ([0x2002, 0], 16, "an address of 6to4"),
    ([0x3fff, 0], 20, "an address for documentation"),
];

fn special_v6(address: Ipv6Addr) -> Option<&'static str> {
    if let Some(within) = address.to_ipv4_mapped() {
        return special_v4(within);
    }
    let segments = address.segments();
    if segments[..6] == [0x64, 0xff9b, 0, 0, 0, 0] {
        // NAT64: the address reached is that in the last 32 bits.
        let within = Ipv4Addr::from_bits(u32::from(segments[6]) << 16 | u32::from(segments[7]));
        return special_v4(within);
    }
    if address.is_loopback() {
        return Some("a loopback address");
    }
    if address.is_unspecified() {
        return Some("an address of this machine");
    }
    if address.is_multicast() {
        return Some("a multicast address");
    }
    if address.is_unicast_link_local() {
        return Some("a link-local address");
    }
    if address.is_unique_local() {
        return Some("a private address");
    }
    if segments[0] & 0xe000 != 0x2000 {
        return Some("a reserved address");
    }
    let start = u32::from(segments[0]) << 16 | u32::from(segments[1]);
    let begins_with = |[first, second]: [u16; 2], bits: u32| {
        (start ^ (u32::from(first) << 16 | u32::from(second))).leading_zeros() >= bits
    };
    let found = V6
        .iter()
        .find(|(start, bits, _)| begins_with(*start, *bits));
    found.map(|(.., what)| *what)
}
