//! A key in two pieces, as the blocks of the base have it.

/// What a key begins with, which it mostly shares with its neighbours, and the rest. Not put together before its bytes are asked for:
/// most rows that a filter looks at are passed over without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SplitKey<'k> {
    front: &'k [u8],
    rest: &'k [u8],
}

impl<'k> SplitKey<'k> {
    pub(crate) const fn new(front: &'k [u8], rest: &'k [u8]) -> Self {
        Self { front, rest }
    }

    /// A key that is in one piece.
    pub(crate) const fn whole(key: &'k [u8]) -> Self {
        Self { front: &[], rest: key }
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
}
