//! Names of codecs with arguments, such as `digits(6)` and `desc(ticks)`, built at compile time.

/// The capacity for most codec names.
pub(super) const SHORT: usize = 256;
/// The capacity for a codec name that contains the name of an enum's codec. Such a name may be very long.
pub(super) const LONG: usize = LONGEST_NAME + SHORT;
/// The maximum length of the name of an enum's codec, in bytes. The name lists all variants between `one_of(` and `)`, separated by `|`. `table-derive` checks
/// the same limit.
pub(super) const LONGEST_NAME: usize = 4_096;

/// Declares the constant `NAMED`, the name of a codec that contains another codec.
///
/// The type must have a function `const fn name<const CAPACITY: usize>() -> Name<CAPACITY>`. Each name occupies its full capacity in the binary, so `LONG` is
/// built only if the name does not fit into `SHORT`.
macro_rules! named {
    () => {
        const SHORT: &'static Name<{ $crate::key::codec::name::SHORT }> = &Self::name();
        const LONG: &'static Name<{ $crate::key::codec::name::LONG }> =
            &if Self::SHORT.is_whole() { Name::EMPTY } else { Self::name() };
        const NAMED: &'static str = {
            assert!(
                Self::SHORT.is_whole() || Self::LONG.is_whole(),
                "[T029] the name of this key codec is too long; nest fewer codecs, or give the codec inside a shorter `NAME`"
            );
            if Self::SHORT.is_whole() { Self::SHORT.as_str() } else { Self::LONG.as_str() }
        };
    };
}
pub(super) use named;

/// A string of up to `CAPACITY` bytes, built at compile time.
pub(super) struct Name<const CAPACITY: usize> {
    bytes: [u8; CAPACITY],
    length: usize,
}

impl<const CAPACITY: usize> Name<CAPACITY> {
    pub(super) const EMPTY: Self = Self { bytes: [0; CAPACITY], length: 0 };

    /// Appends a string. If it exceeds the capacity, the name is not [whole](Self::is_whole).
    pub(super) const fn with(mut self, text: &str) -> Self {
        let text = text.as_bytes();
        let mut at = 0;
        while at < text.len() && self.length + at < CAPACITY {
            self.bytes[self.length + at] = text[at];
            at += 1;
        }
        self.length += text.len();
        self
    }

    /// Returns `true` if the name contains every appended string in full.
    pub(super) const fn is_whole(&self) -> bool {
        self.length <= CAPACITY
    }

    pub(super) const fn with_char(self, character: char) -> Self {
        self.with(character.encode_utf8(&mut [0; 4]))
    }

    pub(super) const fn with_number(self, number: usize) -> Self {
        self.with_u64(number as u64)
    }

    pub(super) const fn with_u64(self, number: u64) -> Self {
        let name = if number >= 10 { self.with_u64(number / 10) } else { self };
        let digit = (number % 10) as usize;
        name.with("0123456789".split_at(digit).1.split_at(1).0)
    }

    pub(super) const fn as_str(&self) -> &str {
        assert!(self.is_whole(), "the name of this key codec is too long");
        match str::from_utf8(self.bytes.split_at(self.length).0) {
            Ok(text) => text,
            Err(_) => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_characters_and_numbers_are_joined() {
        const NAME: &Name<32> = &Name::EMPTY.with("bucket(").with_number(1_070).with_char('é').with(")");
        assert_eq!(NAME.as_str(), "bucket(1070é)");
    }

    #[test]
    fn a_name_longer_than_its_capacity_is_not_whole() {
        const WHOLE: Name<3> = Name::EMPTY.with("ab").with("c");
        const CUT: Name<3> = Name::EMPTY.with("ab").with("cd").with("e");
        assert_eq!((WHOLE.is_whole(), WHOLE.as_str(), CUT.is_whole()), (true, "abc", false));
    }
}
