//! The identity of a file whose import was interrupted.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The number of bytes that are compared at each end of a file.
const END: u64 = 64 << 10;

/// The length of a file and the checksum of its ends, by which another file of the same name is recognised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileMark {
    length: u64,
    ends: String,
}

impl FileMark {
    /// Returns the mark of a file; `None` for a pipe or a device, which cannot be read twice.
    ///
    /// # Errors
    /// The error of reading the file.
    pub fn of(path: &Path) -> io::Result<Option<Self>> {
        let file = File::open(path)?;
        let found = file.metadata()?;
        if found.is_file() { Self::until(file, found.len()).map(Some) } else { Ok(None) }
    }

    /// Returns `true` if the file begins with the bytes that were marked. More may have been appended.
    ///
    /// # Errors
    /// The error of reading the file.
    pub fn is_of(&self, path: &Path) -> io::Result<bool> {
        let file = File::open(path)?;
        let is_shorter = file.metadata()?.len() < self.length;
        Ok(!is_shorter && Self::until(file, self.length)? == *self)
    }

    /// Returns the mark of the beginning of a file, with the given length.
    fn until(mut file: File, length: u64) -> io::Result<Self> {
        let mut hash = Sha256::new();
        for from in [0, length.saturating_sub(END)] {
            file.seek(SeekFrom::Start(from))?;
            let mut bytes = Vec::new();
            file.by_ref().take(END.min(length)).read_to_end(&mut bytes)?;
            hash.update(&bytes);
        }
        let ends = hash.finalize().iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        Ok(Self { length, ends })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_file_is_recognised_and_appended_lines_are_accepted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in.csv");
        let text = "p,1,a\n".repeat(40_000);
        for length in [0, 6, 6_000, text.len()] {
            let text = text.get(..length).unwrap();
            std::fs::write(&path, text).unwrap();
            let mark = FileMark::of(&path).unwrap().unwrap();
            assert!(mark.is_of(&path).unwrap(), "{length}");
            std::fs::write(&path, format!("{text}q,1,b\n")).unwrap();
            assert!(mark.is_of(&path).unwrap(), "{length}: lines were appended");
            if length > 0 {
                for other in [text.replacen('1', "2", 1), text.get(..length - 2).unwrap().to_owned() + "b\n"]
                {
                    std::fs::write(&path, other).unwrap();
                    assert!(!mark.is_of(&path).unwrap(), "{length}");
                }
                std::fs::write(&path, text.get(..length - 1).unwrap()).unwrap();
                assert!(!mark.is_of(&path).unwrap(), "{length}: the file is shorter");
            }
        }
    }
}
