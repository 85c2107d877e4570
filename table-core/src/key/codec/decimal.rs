//! Zero-padded decimal digits of fixed width, plain or as nine's complement. They are written and read without heap allocation or UTF-8 validation.

const E8: u64 = 100_000_000;
const E16: u64 = 10_000_000_000_000_000;
const E19: u128 = 10_000_000_000_000_000_000;

/// The byte offset in [`FOURS`] at which the text of the number 0 ends.
const ZERO_ENDS: usize = 8;
static FOUR_BYTES: [u8; ZERO_ENDS + 40_000] = {
    let mut bytes = [b'0'; ZERO_ENDS + 40_000];
    let mut four = 0;
    while four < 10_000 {
        let (mut rest, mut at) = (four, ZERO_ENDS + four * 4);
        while rest > 0 {
            at -= 1;
            bytes[at] = b"0123456789"[rest % 10];
            rest /= 10;
        }
        four += 1;
    }
    bytes
};
/// The numbers `0000` to `9999` as text. Digits copied from a `str` need no UTF-8 check. Copying four digits at a time is twice as fast as copying two. The
/// texts are preceded by zeros that keep every slice within bounds, which saves two comparisons per slice.
static FOURS: &str = match str::from_utf8(&FOUR_BYTES) {
    Ok(text) => text,
    Err(_) => "",
};

/// Returns the number of decimal digits of the largest integer with `bits` bits. For example, it is 3 for 7 or 8 bits, 19 for 63 bits, and 20 for 64 bits.
pub(super) const fn digits_of(bits: u32) -> usize {
    // log10(2) to five places is exact enough for 128 bits.
    (bits as usize * 30_103) / 100_000 + 1
}

/// Returns the largest number with `digits` digits, or `u128::MAX` for 39 or more digits.
pub(super) const fn largest(digits: usize) -> u128 {
    let mut number: u128 = 0;
    let mut at = 0;
    while at < digits {
        number = number.saturating_mul(10).saturating_add(9);
        at += 1;
    }
    number
}

/// Appends the last `WIDTH` (at most 39) digits of a number. If `complement` is `true`, each digit `d` is written as 9 − `d`.
#[inline]
pub(super) fn push<const WIDTH: usize>(number: u128, complement: bool, out: &mut String) {
    // Division of 128-bit integers is slow, so it is used only for large numbers.
    if let Ok(small) = u64::try_from(number) {
        push_16::<32, WIDTH>(0, complement, out);
        push_16::<16, WIDTH>(small / E16, complement, out);
        push_16::<0, WIDTH>(small % E16, complement, out);
    } else {
        let scale = u128::from(E16);
        let rest = number / scale;
        let high = rest / scale;
        push_16::<32, WIDTH>(narrow(high), complement, out);
        push_16::<16, WIDTH>(narrow(rest - high * scale), complement, out);
        push_16::<0, WIDTH>(narrow(number - rest * scale), complement, out);
    }
}

#[expect(clippy::cast_possible_truncation, reason = "numbers below 10^16")]
const fn narrow(number: u128) -> u64 {
    number as u64
}

/// Appends 16 digits of a number, which has `BELOW` more digits after these. Only the last `WIDTH` digits of the number are written.
#[inline]
fn push_16<const BELOW: usize, const WIDTH: usize>(number: u64, complement: bool, out: &mut String) {
    if WIDTH > BELOW {
        let (high, low) = (number / E8, number % E8);
        push_4::<WIDTH>(BELOW + 12, high / 10_000, complement, out);
        push_4::<WIDTH>(BELOW + 8, high % 10_000, complement, out);
        push_4::<WIDTH>(BELOW + 4, low / 10_000, complement, out);
        push_4::<WIDTH>(BELOW, low % 10_000, complement, out);
    }
}

#[inline]
fn push_4<const WIDTH: usize>(below: usize, four: u64, complement: bool, out: &mut String) {
    if WIDTH > below {
        let four = if complement { 9_999 - four } else { four };
        let end = ZERO_ENDS + usize::try_from(four).unwrap_or_default() * 4;
        if let Some(digits) = FOURS.get(end - (WIDTH - below).min(4)..end) {
            out.push_str(digits);
        }
    }
}

/// Parses decimal digits. If `complement` is `true`, each digit `d` is read as 9 − `d`. Returns `None` if the text is empty, contains other characters, or is a
/// number that does not fit into 128 bits.
#[inline]
pub(super) fn read(text: &[u8], complement: bool) -> Option<u128> {
    if text.is_empty() {
        return None;
    }
    let mut number: u128 = 0;
    for chunk in text.rchunks(19).rev() {
        let (eights, rest) = chunk.as_chunks();
        let mut part: u64 = 0;
        for eight in eights {
            part = part * E8 + read_8(*eight, complement)?;
        }
        for byte in rest {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                return None;
            }
            part = part * 10 + u64::from(if complement { 9 - digit } else { digit });
        }
        number = number.checked_mul(E19)?.checked_add(u128::from(part))?;
    }
    Some(number)
}

/// Parses eight digits in parallel, one in each byte. Three multiplications combine the digits into pairs, the pairs into groups of four, and the
/// groups into the number.
#[inline]
fn read_8(text: [u8; 8], complement: bool) -> Option<u64> {
    const fn all(byte: u8) -> u64 {
        u64::from_le_bytes([byte; 8])
    }
    let text = u64::from_le_bytes(text);
    // A byte is a digit (0x30 to 0x39) if and only if its high half is 3, and is still 3 after adding 6.
    let halves = text & all(0xF0) | (text.wrapping_add(all(6)) & all(0xF0)) >> 4;
    if halves != all(0x33) {
        return None;
    }
    let digits = if complement { all(b'9') - text } else { text - all(b'0') };
    let pairs = (digits.wrapping_mul((10 << 8) + 1) >> 8) & 0x00FF_00FF_00FF_00FF;
    let fours = (pairs.wrapping_mul((100 << 16) + 1) >> 16) & 0x0000_FFFF_0000_FFFF;
    Some(fours.wrapping_mul((10_000 << 32) + 1) >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn agrees<const WIDTH: usize>(number: u128) -> Result<(), TestCaseError> {
        let number = if WIDTH < 39 { number % 10u128.pow(u32::try_from(WIDTH).unwrap()) } else { number };
        let (mut plain, mut mirrored) = ("kept".to_owned(), String::new());
        push::<WIDTH>(number, false, &mut plain);
        push::<WIDTH>(number, true, &mut mirrored);
        prop_assert_eq!(&plain, &format!("kept{number:0WIDTH$}"));
        prop_assert_eq!(read(plain.trim_start_matches("kept").as_bytes(), false), Some(number));
        let nines = |byte: u8| char::from(b'0' + b'9' - byte);
        prop_assert_eq!(&mirrored, &format!("{number:0WIDTH$}").bytes().map(nines).collect::<String>());
        prop_assert_eq!(read(mirrored.as_bytes(), true), Some(number));
        Ok(())
    }

    #[test]
    fn digits_of_matches_the_largest_number() {
        for bits in 1..=128 {
            let most = u128::MAX >> (128 - bits);
            assert_eq!(digits_of(bits), most.to_string().len(), "{bits} bits");
        }
        assert_eq!((largest(0), largest(3), largest(39)), (0, 999, u128::MAX));
    }

    proptest! {
        #[test]
        fn push_writes_the_same_text_as_format(number: u128, shift in 0..128u32) {
            let number = number >> shift;
            agrees::<1>(number)?;
            agrees::<2>(number)?;
            agrees::<7>(number)?;
            agrees::<8>(number)?;
            agrees::<10>(number)?;
            agrees::<15>(number)?;
            agrees::<16>(number)?;
            agrees::<17>(number)?;
            agrees::<19>(number)?;
            agrees::<20>(number)?;
            agrees::<31>(number)?;
            agrees::<32>(number)?;
            agrees::<33>(number)?;
            agrees::<38>(number)?;
            agrees::<39>(number)?;
        }

        #[test]
        fn eight_digits_at_once_equal_eight_single_digits(text: [u8; 8], near in "[/-:0-9]{8}", complement: bool) {
            let mut exact = [0; 8];
            exact.copy_from_slice(near.as_bytes());
            for text in [text, exact] {
                let value = |byte: u8| if complement { b'9' - byte } else { byte - b'0' };
                let digits = text.iter().all(u8::is_ascii_digit);
                let wanted = digits.then(|| text.iter().fold(0, |sum, byte| sum * 10 + u64::from(value(*byte))));
                prop_assert_eq!(read_8(text, complement), wanted);
            }
        }

        #[test]
        fn read_takes_digits_only(text in "[0-9+-]{0,4}|[0-9]{36,41}") {
            let expected = if text.starts_with('+') { None } else { text.parse::<u128>().ok() };
            prop_assert_eq!(read(text.as_bytes(), false), expected);
        }
    }
}
