//! The bytes of a simulated file, in pages. Clones share a page until one of them changes it. A page of zeros takes up no memory.
//!
//! This saves memory and time. Engines reserve space that they rarely use, and the entire disk is copied whenever an engine ends.

use std::ops::Range;
use std::sync::Arc;

pub(super) const PAGE: usize = 4096;
const ZEROS: [u8; PAGE] = [0; PAGE];

/// The bytes of a file.
#[derive(Clone, Debug, Default)]
pub(in crate::power) struct Content {
    /// The pages. `None` is a page of zeros. In the last page, all bytes after the end of the file are zeros.
    pages: Vec<Option<Arc<[u8; PAGE]>>>,
    length: usize,
}

impl From<&[u8]> for Content {
    fn from(bytes: &[u8]) -> Self {
        let mut content = Self::default();
        content.write(0, bytes);
        content
    }
}

/// Returns `true` if all bytes are zeros.
fn is_zero(bytes: &[u8]) -> bool {
    bytes.chunks(PAGE).all(|page| ZEROS[..page.len()] == *page)
}

/// Splits a byte range at page boundaries. Returns the number of each page and the range within it.
fn parts(all: Range<usize>) -> impl Iterator<Item = (usize, Range<usize>)> {
    let mut at = all.start;
    std::iter::from_fn(move || {
        let (page, start) = (at / PAGE, at % PAGE);
        let end = PAGE.min(start + all.end.saturating_sub(at));
        at += end - start;
        (end > start).then_some((page, start..end))
    })
}

impl Content {
    pub(in crate::power) fn len(&self) -> usize {
        self.length
    }

    /// Truncates the file, or extends it with zeros.
    pub(in crate::power) fn resize(&mut self, length: usize) {
        self.pages.resize(length.div_ceil(PAGE), None);
        let cut = length % PAGE;
        if length < self.length
            && cut > 0
            && let Some(Some(page)) = self.pages.last_mut()
        {
            Arc::make_mut(page)[cut..].fill(0);
        }
        self.length = length;
    }

    /// Writes bytes at an offset, and extends the file if necessary.
    pub(in crate::power) fn write(&mut self, offset: usize, bytes: &[u8]) {
        let end = offset + bytes.len();
        if self.length < end {
            self.resize(end);
        }
        let mut rest = bytes;
        for (number, part) in parts(offset..end) {
            let (bytes, others) = rest.split_at(part.len());
            rest = others;
            self.write_part(number, part, bytes);
        }
    }

    /// Writes a part of another file at an offset. Complete pages are shared with the other file if the offsets allow it.
    pub(in crate::power) fn write_from(&mut self, offset: usize, other: &Self, part: Range<usize>) {
        self.resize(self.length.max(offset + part.len()));
        let start = part.start;
        for (number, part) in parts(part) {
            let at = offset + number * PAGE + part.start - start;
            let Some(page) = other.pages.get(number) else { return };
            match self.pages.get_mut(at / PAGE) {
                Some(own) if at.is_multiple_of(PAGE) && part.len() == PAGE => own.clone_from(page),
                _ => self.write(at, &page.as_deref().unwrap_or(&ZEROS)[part]),
            }
        }
    }

    /// Writes bytes into a part of a page.
    fn write_part(&mut self, number: usize, part: Range<usize>, bytes: &[u8]) {
        let Some(page) = self.pages.get_mut(number) else { return };
        match page {
            None if is_zero(bytes) => {}
            Some(_) if bytes.len() == PAGE && is_zero(bytes) => *page = None,
            Some(page) => Arc::make_mut(page)[part].copy_from_slice(bytes),
            None => {
                let mut all = ZEROS;
                all[part].copy_from_slice(bytes);
                *page = Some(Arc::new(all));
            }
        }
    }

    /// Resizes this file to the length of another file. The pages that contain the given byte range are shared with the other file.
    pub(in crate::power) fn share(&mut self, other: &Self, bytes: Range<usize>) {
        self.resize(other.length);
        let pages = bytes.start / PAGE..bytes.end.div_ceil(PAGE).min(self.pages.len());
        if let (Some(own), Some(others)) = (self.pages.get_mut(pages.clone()), other.pages.get(pages)) {
            own.clone_from_slice(others);
        }
    }

    /// Reads bytes at an offset. Returns `None` if the file is too short.
    pub(in crate::power) fn read(&self, offset: usize, buffer: &mut [u8]) -> Option<()> {
        let end = offset.checked_add(buffer.len()).filter(|end| *end <= self.length)?;
        let mut rest = buffer;
        for (number, part) in parts(offset..end) {
            let (target, others) = rest.split_at_mut(part.len());
            rest = others;
            match self.pages.get(number)? {
                Some(page) => target.copy_from_slice(&page[part]),
                None => target.fill(0),
            }
        }
        Some(())
    }

    pub(in crate::power) fn to_vec(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.length];
        let _ = self.read(0, &mut bytes);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;

    #[test]
    fn content_is_the_same_as_a_vector_and_clones_are_independent() {
        let mut random = StdRng::seed_from_u64(7);
        let (mut content, mut wanted) = (Content::default(), Vec::new());
        for round in 0..2_000 {
            let (offset, count) = (random.random_range(0..20_000_usize), random.random_range(0..9_000));
            let earlier = (content.clone(), wanted.clone());
            match random.random_range(0..4) {
                0 => {
                    content.resize(offset);
                    wanted.resize(offset, 0);
                }
                kind => {
                    let byte = if kind == 1 { 0 } else { random.random_range(0..3) };
                    wanted.resize(wanted.len().max(offset + count), 0);
                    wanted[offset..offset + count].fill(byte);
                    if kind == 1 {
                        let other = Content::from(&[&vec![9; 5_000][..], &vec![0; count]].concat()[..]);
                        content.write_from(offset, &other, 5_000..5_000 + count);
                    } else {
                        content.write(offset, &vec![byte; count]);
                    }
                }
            }
            assert_eq!((content.len(), content.to_vec()), (wanted.len(), wanted.clone()), "round {round}");
            assert_eq!(earlier.0.to_vec(), earlier.1, "round {round}");
            let mut part = vec![1; count];
            let read = content.read(offset, &mut part).map(|()| part);
            assert_eq!(read.as_deref(), wanted.get(offset..offset + count), "round {round}");
        }
    }

    #[test]
    fn zeros_take_no_pages() {
        let mut content = Content::default();
        content.resize(1 << 20);
        content.write(5, &[0; 3 * PAGE]);
        content.write_from(7, &content.clone(), 5..9 * PAGE);
        assert!(content.pages.iter().all(Option::is_none));
        content.write(PAGE, &[1; PAGE]);
        content.write(PAGE, &[0; PAGE]);
        assert!(content.pages.iter().all(Option::is_none));
    }
}
