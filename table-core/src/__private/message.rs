//! Compile-time error messages that name the entity and the field.

/// A string of up to 512 bytes, built at compile time.
#[derive(Debug)]
pub(super) struct Message {
    bytes: [u8; 512],
    length: usize,
}

impl Message {
    pub(super) const fn new() -> Self {
        Self { bytes: [0; 512], length: 0 }
    }

    /// Appends a string. Text that exceeds the capacity is dropped.
    pub(super) const fn with(mut self, text: &str) -> Self {
        let text = text.as_bytes();
        let mut at = 0;
        while at < text.len() && self.length < self.bytes.len() {
            self.bytes[self.length] = text[at];
            self.length += 1;
            at += 1;
        }
        self
    }

    /// Appends a string, replacing each `{, field}` with `, name`, or with nothing if the name is empty.
    pub(super) const fn with_field(mut self, text: &str, field: &str) -> Self {
        let mut rest = text.as_bytes();
        while let Some((&first, after)) = rest.split_first() {
            if let [b'{', b',', b' ', b'f', b'i', b'e', b'l', b'd', b'}', after @ ..] = rest {
                if !field.is_empty() {
                    self = self.with(", ").with(field);
                }
                rest = after;
                continue;
            }
            if self.length < self.bytes.len() {
                self.bytes[self.length] = first;
                self.length += 1;
            }
            rest = after;
        }
        self
    }

    pub(super) const fn as_str(&self) -> &str {
        match std::str::from_utf8(self.bytes.split_at(self.length).0) {
            Ok(text) => text,
            Err(_) => "the declaration is wrong; the message is too long",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_joined_and_truncated() {
        const MESSAGE: Message = Message::new().with("entity `").with("Employee").with("`");
        const FORM: Message = Message::new().with_field("write `digits(6{, field})`", "id");
        assert_eq!(MESSAGE.as_str(), "entity `Employee`");
        assert_eq!(FORM.as_str(), "write `digits(6, id)`");
        assert_eq!(Message::new().with(&"x".repeat(600)).as_str().len(), 512);
    }
}
