//! `Alphabet`: the set of characters allowed in a codec's output, as a constant.

/// A set of characters. It contains any subset of ASCII, and either all non-ASCII characters or none.
///
/// ```
/// use table_core::key::codec::Alphabet;
///
/// const DIGITS: Alphabet = Alphabet::of("0123456789");
/// assert!(DIGITS.contains('7') && !DIGITS.contains('_'));
/// assert!(Alphabet::LEGAL.contains('é') && !Alphabet::LEGAL.contains('/'));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alphabet {
    ascii: u128,
    beyond_ascii: bool,
}

impl Alphabet {
    /// The empty set of characters.
    pub const EMPTY: Self = Self { ascii: 0, beyond_ascii: false };
    /// The characters legal in keys (KEY-3). The set also contains U+0080 to U+009F, which are illegal but cannot be excluded individually.
    pub const LEGAL: Self = {
        let mut ascii = 0;
        let mut code = 0x20;
        while code < 0x7F {
            if !matches!(code, b'/' | b'\\' | b'#' | b'?') {
                ascii |= 1 << code;
            }
            code += 1;
        }
        Self { ascii, beyond_ascii: true }
    };
    /// The digits `0` to `9`.
    pub const DIGITS: Self = Self::of("0123456789");

    /// Creates a set from the characters in a string. One non-ASCII character adds all non-ASCII characters.
    #[must_use]
    pub const fn of(characters: &str) -> Self {
        let bytes = characters.as_bytes();
        let mut set = Self::EMPTY;
        let mut at = 0;
        while at < bytes.len() {
            if bytes[at] < 0x80 {
                set.ascii |= 1 << bytes[at];
            } else {
                set.beyond_ascii = true;
            }
            at += 1;
        }
        set
    }

    /// Returns the set with an additional character. A non-ASCII character adds all non-ASCII characters.
    #[must_use]
    pub const fn with(self, character: char) -> Self {
        if character.is_ascii() {
            Self { ascii: self.ascii | (1 << character as u32), ..self }
        } else {
            Self { beyond_ascii: true, ..self }
        }
    }

    /// Returns the set without an ASCII character. Non-ASCII characters cannot be removed individually.
    #[must_use]
    pub const fn without(self, character: char) -> Self {
        if character.is_ascii() {
            Self { ascii: self.ascii & !(1 << character as u32), ..self }
        } else {
            self
        }
    }

    /// Returns `true` if the set contains the character.
    #[must_use]
    pub const fn contains(self, character: char) -> bool {
        if character.is_ascii() { self.ascii & (1 << character as u32) != 0 } else { self.beyond_ascii }
    }

    /// Returns the union of two sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self { ascii: self.ascii | other.ascii, beyond_ascii: self.beyond_ascii || other.beyond_ascii }
    }

    /// Returns `true` if the sets have no character in common.
    #[must_use]
    pub(crate) const fn is_disjoint(self, other: Self) -> bool {
        self.ascii & other.ascii == 0 && !(self.beyond_ascii && other.beyond_ascii)
    }

    /// Returns `true` if this set is a subset of `other`.
    #[must_use]
    pub(crate) const fn is_within(self, other: Self) -> bool {
        self.ascii & !other.ascii == 0 && (!self.beyond_ascii || other.beyond_ascii)
    }

    /// Returns the first and last character of the set in key order. Returns `None` if the set is empty or contains non-ASCII characters.
    ///
    /// ```
    /// use table_core::key::codec::Alphabet;
    ///
    /// assert_eq!(Alphabet::DIGITS.with('-').ends(), Some(('-', '9')));
    /// assert_eq!(Alphabet::LEGAL.ends(), None);
    /// ```
    #[must_use]
    pub const fn ends(self) -> Option<(char, char)> {
        if self.ascii == 0 || self.beyond_ascii {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, reason = "bits of a `u128` are numbered below 128")]
        let (first, last) = (self.ascii.trailing_zeros() as u8, 127 - self.ascii.leading_zeros() as u8);
        Some((first as char, last as char))
    }

    /// Returns `true` if `character` is ASCII and all characters of the set sort after it.
    #[must_use]
    pub(crate) const fn all_after(self, character: char) -> bool {
        character.is_ascii() && {
            let up_to: u128 =
                if character as u32 == 127 { u128::MAX } else { (1 << (character as u32 + 1)) - 1 };
            self.ascii & up_to == 0
        }
    }
}
