//! Keys that are split into a prefix and a rest, as in the blocks of the base.

/// A key split into a prefix and the rest. Neighbouring keys usually have the same prefix. The two parts are joined only when the whole key is needed, because
/// filters reject most rows without reading their keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SplitKey<'k> {
    front: &'k [u8],
    rest: &'k [u8],
    /// `true` if the entry has the same prefix as the previous entry, and its row has the same property names and types. The caller then need not compare them
    /// again.
    pub(crate) is_alike: bool,
}

impl<'k> SplitKey<'k> {
    pub(crate) const fn new(front: &'k [u8], rest: &'k [u8]) -> Self {
        Self { front, rest, is_alike: false }
    }

    /// Returns the same key with `is_alike` set to the given value.
    pub(crate) const fn alike_if(self, is_alike: bool) -> Self {
        Self { is_alike, ..self }
    }

    /// Creates a key with an empty prefix.
    pub(crate) const fn whole(key: &'k [u8]) -> Self {
        Self::new(&[], key)
    }

    pub(crate) const fn len(self) -> usize {
        self.front.len() + self.rest.len()
    }

    /// Returns the bytes of the key as an owned vector.
    pub(crate) fn to_vec(self) -> Vec<u8> {
        [self.front, self.rest].concat()
    }

    /// Returns the bytes of the key, joined in a buffer.
    #[inline]
    pub(crate) fn join(self, buffer: &mut Vec<u8>) -> &[u8] {
        buffer.clear();
        buffer.extend_from_slice(self.front);
        buffer.extend_from_slice(self.rest);
        buffer
    }

    /// Returns the bytes of the key, joined in a buffer that already contains a key with the same prefix.
    #[inline]
    pub(crate) fn rejoin(self, buffer: &mut Vec<u8>) -> &[u8] {
        debug_assert!(buffer.starts_with(self.front), "another front");
        buffer.truncate(self.front.len());
        buffer.extend_from_slice(self.rest);
        buffer
    }

    /// Returns the number of bytes in the prefix.
    pub(crate) const fn front(self) -> usize {
        self.front.len()
    }
}
