//! Journal files: their names and their header.

use std::path::{Path, PathBuf};

use crate::embedded::bytes::{Reader, Writer};

/// Bytes of a file before its first frame.
pub(crate) const HEADER: u64 = 32;
const MAGIC: &[u8; 8] = b"TBLJRNL\0";
const VERSION: u32 = 1;
const SUFFIX: &str = ".journal";

/// The path of a journal file.
pub(crate) fn path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:010}{SUFFIX}"))
}

/// The number in a journal file's name; `None` if it is none.
pub(crate) fn number(name: &str) -> Option<u64> {
    name.strip_suffix(SUFFIX)?.parse().ok()
}

/// What a journal file says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileHeader {
    /// Its number, as in its name.
    pub(crate) number: u64,
    /// The sequence number of its first frame.
    pub(crate) sequence: u64,
}

impl FileHeader {
    pub(crate) fn write(self) -> Vec<u8> {
        let mut out = Writer::default();
        out.raw(MAGIC);
        out.u32(VERSION);
        out.u64(self.number);
        out.u64(self.sequence);
        out.u32(crc32c::crc32c(out.as_bytes()));
        out.into_bytes()
    }

    /// Reads it; `None` if the bytes are none, or of another version.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let (magic, version) = (reader.u64()?, reader.u32()?);
        let header = Self { number: reader.u64()?, sequence: reader.u64()? };
        let checksum = reader.u32()?;
        let known = magic == u64::from_le_bytes(*MAGIC) && version == VERSION;
        (known && checksum == crc32c::crc32c(bytes.get(..28)?)).then_some(header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_bytes_of_a_header() {
        let header = FileHeader { number: 2, sequence: 77 };
        let bytes = header.write();
        assert_eq!(bytes[..28], *b"TBLJRNL\0\x01\0\0\0\x02\0\0\0\0\0\0\0\x4D\0\0\0\0\0\0\0");
        assert_eq!((bytes.len() as u64, FileHeader::read(&bytes)), (HEADER, Some(header)));
        for at in 0..bytes.len() {
            let mut bad = bytes.clone();
            bad[at] ^= 0x10;
            assert_eq!(FileHeader::read(&bad), None, "byte {at}");
        }
    }

    #[test]
    fn names_say_the_number() {
        let path = path(Path::new("folder"), 12);
        assert_eq!(path, Path::new("folder/0000000012.journal"));
        assert_eq!(number("0000000012.journal"), Some(12));
        assert_eq!((number("x.journal"), number("12")), (None, None));
    }
}
