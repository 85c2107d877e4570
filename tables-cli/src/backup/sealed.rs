//! JSON files that end with their own checksum and are replaced as a whole.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::failure::{Failure, Result};

/// The prefix of a sealed file's last line; the checksum follows it.
const SEAL: &str = "sha256 ";

/// Returns bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

fn seal_of(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

/// Writes a value. At every moment, the file has either the old content or the new one.
///
/// # Errors
/// `File` if the value cannot be written.
pub(super) fn write(path: &Path, value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::file(path.display())(error.into()))?
        + "\n";
    let text = format!("{text}{SEAL}{}\n", seal_of(&text));
    let part = part_of(path);
    let mut file = File::create(&part).map_err(Failure::file(part.display()))?;
    file.write_all(text.as_bytes()).map_err(Failure::file(part.display()))?;
    file.sync_all().map_err(Failure::file(part.display()))?;
    std::fs::rename(&part, path).map_err(Failure::file(path.display()))?;
    sync_folder(path)
}

/// Returns the path of a file while it is written.
pub(super) fn part_of(path: &Path) -> PathBuf {
    crate::part::part_of(path, "part")
}

/// Makes the names in the folder of a file durable, on systems that support this.
pub(super) fn sync_folder(path: &Path) -> Result<()> {
    let Some(folder) = path.parent().filter(|_| cfg!(unix)) else { return Ok(()) };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(Failure::file(folder.display()))
}

/// Reads a value and verifies it; `None` if the file does not exist.
///
/// # Errors
/// `Refused` if the file is damaged or of another kind; `File` if it cannot be read.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let bytes = match std::fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        found => found.map_err(Failure::file(path.display()))?,
    };
    let value =
        std::str::from_utf8(&bytes).ok().and_then(unsealed).and_then(|text| serde_json::from_str(text).ok());
    value.map(Some).ok_or_else(|| {
        Failure::Refused(format!("{} is damaged: its checksum does not match its content", path.display()))
    })
}

/// Returns the content before the checksum, if the checksum is correct.
fn unsealed(content: &str) -> Option<&str> {
    let (at, _) = content.trim_end_matches('\n').rmatch_indices('\n').next()?;
    let (text, seal) = content.split_at_checked(at + 1)?;
    let sum = seal.strip_prefix(SEAL)?.strip_suffix('\n')?;
    (sum == seal_of(text)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_back_and_every_flipped_bit_is_detected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("value.json");
        assert_eq!(read::<Vec<u32>>(&path).unwrap(), None);
        write(&path, &vec![1, 2]).unwrap();
        assert_eq!(read::<Vec<u32>>(&path).unwrap(), Some(vec![1, 2]));
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut damaged = whole.clone();
                damaged[at] ^= 1 << bit;
                std::fs::write(&path, damaged).unwrap();
                assert!(read::<Vec<u32>>(&path).is_err(), "byte {at}, bit {bit}");
            }
        }
    }
}
