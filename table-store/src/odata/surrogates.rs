//! Replacement of unpaired surrogates in JSON.
//!
//! The service stores UTF-16, so a client can store a string that was cut in the middle of a surrogate pair. JavaScript servers send the unpaired surrogate as
//! an escape. A Rust string cannot represent it.

use std::borrow::Cow;

/// The hexadecimal digits of U+FFFD, the replacement for an unpaired surrogate in a property. The UTF-8 encoders of JavaScript and .NET use the same character.
pub(super) const REPLACEMENT: [u8; 4] = *b"FFFD";
/// The replacement for an unpaired surrogate in a key. No key can contain it (KEY-3), so the altered key cannot name another entity.
pub(super) const MARK: char = '\0';
/// The hexadecimal digits of [`MARK`].
pub(super) const MARK_DIGITS: [u8; 4] = *b"0000";

/// Replaces the digits of each unpaired-surrogate escape in a JSON document. A document without one is returned unchanged.
pub(super) fn replace_halves(json: &[u8], by: [u8; 4]) -> Cow<'_, [u8]> {
    let mut replaced = Cow::Borrowed(json);
    let mut at = 0;
    // In JSON, a backslash occurs only in strings, where it starts an escape.
    while let Some(next) = json.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == b'\\')) {
        at += next;
        let is_pair =
            |first| matches!(first, 0xD800..=0xDBFF) && matches!(unit(json, at + 6), Some(0xDC00..=0xDFFF));
        at += match unit(json, at) {
            Some(first) if is_pair(first) => 12,
            Some(0xD800..=0xDFFF) => {
                if let Some(digits) = replaced.to_mut().get_mut(at + 2..at + 6) {
                    digits.copy_from_slice(&by);
                }
                6
            }
            _ => 2,
        };
    }
    replaced
}

/// Returns the UTF-16 code unit of a `\u00e9`-style escape at offset `at`, or `None` if no such escape starts there.
fn unit(json: &[u8], at: usize) -> Option<u16> {
    let digits = json.get(at..at + 6)?.strip_prefix(br"\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}
