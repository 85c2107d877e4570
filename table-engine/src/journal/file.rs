//! Journal files: their names and their header.

use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::bytes::{Reader, Writer};

/// The number of bytes before the first frame of a file.
pub(crate) const HEADER: u64 = 40;
const MAGIC: &[u8; 8] = b"TBLJRNL\0";
const VERSION: u32 = 3;
/// The oldest readable version of the format. In this version, the sequence number in the header is that of the first frame. In later versions, it is only a
/// lower bound.
const EXACT: u32 = 2;
const SUFFIX: &str = ".journal";

fn name(number: u64) -> String {
    format!("{number:010}{SUFFIX}")
}

/// Returns the path of a journal file.
pub(crate) fn path(folder: &Path, number: u64) -> PathBuf {
    folder.join(name(number))
}

/// Returns the number in a journal file's name, or `None` for other names.
pub(crate) fn number(name: &str) -> Option<u64> {
    let number = name.strip_suffix(SUFFIX)?.parse().ok()?;
    (name == self::name(number)).then_some(number)
}

/// Random seeds for the checksums of a file's frames. They ensure that bytes that only look like a frame, such as a stored value, do not have a valid checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Salt {
    pub(crate) head: u32,
    pub(crate) record: u32,
}

impl Salt {
    pub(crate) fn random() -> Self {
        let bits = Uuid::new_v4().as_u128();
        // The version and variant bits of the UUID lie between these parts.
        let part = |shift: u32| u32::try_from(bits >> shift & u128::from(u32::MAX)).unwrap_or_default();
        Self { head: part(96), record: part(0) }
    }
}

/// The header of a journal file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileHeader {
    /// The number of the file, as in its name.
    pub(crate) number: u64,
    /// A lower bound on the frames' sequence numbers.
    pub(crate) sequence: u64,
    pub(crate) salt: Salt,
}

impl FileHeader {
    pub(crate) fn write(self) -> Vec<u8> {
        let mut out = Writer::default();
        out.raw(MAGIC);
        out.u32(VERSION);
        out.u64(self.number);
        out.u64(self.sequence);
        out.u32(self.salt.head);
        out.u32(self.salt.record);
        out.u32(crc32c::crc32c(out.as_bytes()));
        out.into_bytes()
    }

    /// Reads a header. Returns `None` if the bytes are not a header of a known version.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let (magic, version) = (reader.u64()?, reader.u32()?);
        let (number, sequence) = (reader.u64()?, reader.u64()?);
        let salt = Salt { head: reader.u32()?, record: reader.u32()? };
        let checksum = reader.u32()?;
        let known = magic == u64::from_le_bytes(*MAGIC) && (EXACT..=VERSION).contains(&version);
        (known && checksum == crc32c::crc32c(bytes.get(..36)?)).then_some(Self { number, sequence, salt })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_bytes_of_a_header() {
        let salt = Salt { head: 0x0403_0201, record: 0x0807_0605 };
        let header = FileHeader { number: 2, sequence: 77, salt };
        let bytes = header.write();
        let wanted =
            *b"TBLJRNL\0\x03\0\0\0\x02\0\0\0\0\0\0\0\x4D\0\0\0\0\0\0\0\x01\x02\x03\x04\x05\x06\x07\x08";
        assert_eq!(bytes[..36], wanted);
        assert_eq!((bytes.len() as u64, FileHeader::read(&bytes)), (HEADER, Some(header)));
        for at in 0..bytes.len() {
            let mut bad = bytes.clone();
            bad[at] ^= 0x10;
            assert_eq!(FileHeader::read(&bad), None, "byte {at}");
        }
    }

    #[test]
    fn file_names_contain_the_number() {
        let path = path(Path::new("folder"), 12);
        assert_eq!(path, Path::new("folder/0000000012.journal"));
        assert_eq!(number("0000000012.journal"), Some(12));
        for other in ["x.journal", "12", "12.journal", "+000000012.journal", "00000000012.journal"] {
            assert_eq!(number(other), None, "{other}");
        }
    }

    #[test]
    fn each_file_has_its_own_salt() {
        let salts: std::collections::BTreeSet<u32> =
            (0..8).flat_map(|_| [Salt::random().head, Salt::random().record]).collect();
        assert!(salts.len() > 12, "{salts:?}");
    }
}
