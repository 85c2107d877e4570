//! Compile-time messages that name the entity and the field.

/// A text of up to 512 bytes, built in a constant.
#[derive(Debug)]
pub(super) struct Message {
    bytes: [u8; 512],
    length: usize,
}

impl Message {
    pub(super) const fn new() -> Self {
        Self { bytes: [0; 512], length: 0 }
    }

    /// Appends a text. Text beyond the capacity is dropped.
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
    fn texts_are_joined_and_cut_at_the_end() {
        const MESSAGE: Message = Message::new().with("entity `").with("Employee").with("`");
        assert_eq!(MESSAGE.as_str(), "entity `Employee`");
        assert_eq!(Message::new().with(&"x".repeat(600)).as_str().len(), 512);
    }
}
