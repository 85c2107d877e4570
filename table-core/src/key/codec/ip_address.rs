//! `IpAddress`: an IP address with leading zeros.

use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use table_store::Result;

use crate::key::codec::fault::mismatch;
use crate::key::codec::{Alphabet, Form, KeyCodec, Reversible};

/// A codec that writes an IP address with leading zeros, such as `192.168.000.001` or `2001:0db8:0000:0000:0000:0000:0000:0001`. The default codec for
/// `Ipv4Addr`, `Ipv6Addr` and `IpAddr`.
///
/// - `Ipv4Addr` and `Ipv6Addr` have a fixed width and are ordered. `IpAddr` has no fixed width and is not ordered, because it can contain an address of either
///   version.
/// - In reverse order, an `Ipv4Addr` or `Ipv6Addr` is written as its complement. This is the address at the same distance from the other end of the address
///   range.
///
/// ```
/// use std::net::{IpAddr, Ipv4Addr};
/// use table_core::key::codec::{IpAddress, KeyCodec};
///
/// let mut key = String::new();
/// IpAddress::encode(&Ipv4Addr::new(192, 168, 0, 1), &mut key)?;
/// assert_eq!(key, "192.168.000.001");
/// assert_eq!(<IpAddress as KeyCodec<IpAddr>>::decode(&key)?, IpAddr::from([192, 168, 0, 1]));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug)]
pub enum IpAddress {}

const NAME: &str = "address";
const WIDTH_4: usize = 15;
const WIDTH_6: usize = 39;

fn push_4(address: Ipv4Addr, out: &mut String) {
    let [a, b, c, d] = address.octets();
    // Writing to a `String` cannot fail.
    let _ = write!(out, "{a:03}.{b:03}.{c:03}.{d:03}");
}

fn push_6(address: Ipv6Addr, out: &mut String) {
    for (at, segment) in address.segments().into_iter().enumerate() {
        let _ = write!(out, "{}{segment:04x}", if at == 0 { "" } else { ":" });
    }
}

/// Splits a string into `COUNT` groups of `width` bytes with a separator between them. Returns `None` if the string has a different structure.
fn groups<const COUNT: usize>(text: &str, separator: char, width: usize) -> Option<[&str; COUNT]> {
    let mut parts = text.split(separator);
    let mut groups = [""; COUNT];
    for group in &mut groups {
        *group = parts.next().filter(|part| part.len() == width)?;
    }
    parts.next().is_none().then_some(groups)
}

fn read_4(text: &str) -> Option<Ipv4Addr> {
    let mut octets = [0; 4];
    for (octet, group) in octets.iter_mut().zip(groups::<4>(text, '.', 3)?) {
        *octet = group.bytes().all(|byte| byte.is_ascii_digit()).then(|| group.parse().ok())??;
    }
    Some(Ipv4Addr::from(octets))
}

fn read_6(text: &str) -> Option<Ipv6Addr> {
    let mut segments = [0; 8];
    for (segment, group) in segments.iter_mut().zip(groups::<8>(text, ':', 4)?) {
        let is_lower_hex = group.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        *segment = is_lower_hex.then(|| u16::from_str_radix(group, 16).ok())??;
    }
    Some(Ipv6Addr::from(segments))
}

macro_rules! ordered {
    ($($type:ident: $width:ident, $alphabet:literal, $push:ident, $read:ident;)+) => {$(
        #[diagnostic::do_not_recommend]
        impl KeyCodec<$type> for IpAddress {
            const NAME: &'static str = NAME;
            const FORM: Form = Form::fixed($width, true, Alphabet::of($alphabet));

            fn encode(value: &$type, out: &mut String) -> Result<()> {
                $push(*value, out);
                Ok(())
            }

            fn decode(text: &str) -> Result<$type> {
                $read(text).ok_or_else(|| mismatch(text, NAME))
            }
        }

        #[diagnostic::do_not_recommend]
        impl Reversible<$type> for IpAddress {
            fn encode_reversed(value: &$type, out: &mut String) -> Result<()> {
                $push($type::from_bits(!value.to_bits()), out);
                Ok(())
            }

            fn decode_reversed(text: &str) -> Result<$type> {
                let address = $read(text).map(|address| $type::from_bits(!address.to_bits()));
                address.ok_or_else(|| mismatch(text, "desc(address)"))
            }
        }
    )+};
}

ordered! {
    Ipv4Addr: WIDTH_4, "0123456789.", push_4, read_4;
    Ipv6Addr: WIDTH_6, "0123456789abcdef:", push_6, read_6;
}

#[diagnostic::do_not_recommend]
impl KeyCodec<IpAddr> for IpAddress {
    const NAME: &'static str = NAME;
    const FORM: Form =
        Form { min: WIDTH_4, max: WIDTH_6, ordered: false, alphabet: Alphabet::of("0123456789abcdef:.") };

    fn encode(value: &IpAddr, out: &mut String) -> Result<()> {
        match value {
            IpAddr::V4(address) => push_4(*address, out),
            IpAddr::V6(address) => push_6(*address, out),
        }
        Ok(())
    }

    fn decode(text: &str) -> Result<IpAddr> {
        let address = read_4(text).map(IpAddr::V4).or_else(|| read_6(text).map(IpAddr::V6));
        address.ok_or_else(|| mismatch(text, NAME))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_form_with_all_digits_is_read() {
        for wrong in ["192.168.0.1", "256.000.000.000", "+12.000.000.001", "192.168.000", "192.168.000.001."]
        {
            assert!(<IpAddress as KeyCodec<IpAddr>>::decode(wrong).is_err(), "{wrong}");
        }
        for wrong in [
            "2001:db8::1",
            "2001:0DB8:0000:0000:0000:0000:0000:0001",
            "é001:0db8:0000:0000:0000:0000:0000:0001",
        ] {
            assert!(<IpAddress as KeyCodec<Ipv6Addr>>::decode(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_reversed_address_is_at_the_same_distance_from_the_other_end() {
        let mut text = String::new();
        IpAddress::encode_reversed(&Ipv4Addr::new(255, 254, 0, 1), &mut text).unwrap();
        assert_eq!(text, "000.001.255.254");
    }
}
