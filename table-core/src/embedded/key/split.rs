//! A key in two pieces, as the blocks of the base have it.

/// What a key begins with, which it mostly shares with its neighbours, and the rest. Not put together before its bytes are asked for:
/// most rows that a filter looks at are passed over without.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SplitKey<'k> {
    front: &'k [u8],
    rest: &'k [u8],
    /// Whether the entry visited just before has the same front, and its row the same shape: then neither need be compared again.
    pub(crate) is_alike: bool,
}

impl<'k> SplitKey<'k> {
    pub(crate) const fn new(front: &'k [u8], rest: &'k [u8]) -> Self {
        Self { front, rest, is_alike: false }
    }

    /// The same, where the entry before is like it.
    pub(crate) const fn alike_if(self, is_alike: bool) -> Self {
        Self { is_alike, ..self }
    }

    /// A key that is in one piece.
    pub(crate) const fn whole(key: &'k [u8]) -> Self {
        Self::new(&[], key)
    }

    pub(crate) const fn len(self) -> usize {
        self.front.len() + self.rest.len()
    }

    /// Its bytes, in memory of their own.
    pub(crate) fn to_vec(self) -> Vec<u8> {
        [self.front, self.rest].concat()
    }

    /// Its bytes, put together in a buffer.
    #[inline]
    pub(crate) fn join(self, buffer: &mut Vec<u8>) -> &[u8] {
        buffer.clear();
        buffer.extend_from_slice(self.front);
        buffer.extend_from_slice(self.rest);
        buffer
    }

    /// The same in a buffer that has a key with the same front.
    #[inline]
    pub(crate) fn rejoin(self, buffer: &mut Vec<u8>) -> &[u8] {
        debug_assert!(buffer.starts_with(self.front), "another front");
        buffer.truncate(self.front.len());
        buffer.extend_from_slice(self.rest);
        buffer
    }

    /// How many bytes the front has.
    pub(crate) const fn front(self) -> usize {
        self.front.len()
    }
}
