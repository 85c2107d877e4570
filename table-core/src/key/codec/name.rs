//! Names of codecs with arguments, such as `digits(6)` and `desc(ticks)`, built at compile time.

/// A string of up to `CAPACITY` bytes that is built at compile time.
pub(super) struct Name<const CAPACITY: usize> {
    bytes: [u8; CAPACITY],
    length: usize,
}

impl<const CAPACITY: usize> Name<CAPACITY> {
    pub(super) const EMPTY: Self = Self { bytes: [0; CAPACITY], length: 0 };

    pub(super) const fn with(mut self, text: &str) -> Self {
        let text = text.as_bytes();
        assert!(self.length + text.len() <= CAPACITY, "the name of this key codec is too long");
        let mut at = 0;
        while at < text.len() {
            self.bytes[self.length + at] = text[at];
            at += 1;
        }
        self.length += text.len();
        self
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
}
