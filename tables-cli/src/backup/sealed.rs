//! Small JSON files that end with a checksum and are replaced atomically.

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::backup::storage::Storage;
use crate::failure::{Failure, Result};

/// The start of the last line of a sealed file. The checksum follows it.
const SEAL: &str = "sha256 ";

/// Formats bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

fn seal_of(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

/// Writes a value atomically. The file always has either the old or the new content.
///
/// # Errors
/// `File` if the value cannot be written.
pub(super) fn write(storage: &dyn Storage, name: &str, value: &impl Serialize) -> Result<()> {
    storage.replace(name, sealed(name, value)?.as_bytes())
}

/// Writes the file that completes a command, provided that the command still holds the lock.
///
/// # Errors
/// `Refused` if another command has taken over the lock. `File` if the value cannot be written.
pub(super) fn commit(storage: &dyn Storage, name: &str, value: &impl Serialize) -> Result<()> {
    storage.commit(name, sealed(name, value)?.as_bytes())
}

/// Writes a value to a new file, unless the file already exists.
///
/// # Errors
/// `Refused` if another command is writing the file. `File` if the value cannot be written.
pub(super) fn begin(storage: &dyn Storage, name: &str, value: &impl Serialize) -> Result<()> {
    storage.begin(name, sealed(name, value)?.as_bytes())
}

/// Returns a value as JSON text with its checksum.
fn sealed(name: &str, value: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::file(name)(error.into()))? + "\n";
    Ok(format!("{text}{SEAL}{}\n", seal_of(&text)))
}

/// Reads a value and verifies its checksum. Returns `None` if the file does not exist.
///
/// # Errors
/// `Refused` if the file is corrupted, or if its content is not a `T`, for example because a file name in it is a path. `File` if the file cannot be read.
pub(super) fn read<T: DeserializeOwned>(storage: &dyn Storage, name: &str) -> Result<Option<T>> {
    let Some(bytes) = storage.read(name)? else { return Ok(None) };
    let text = std::str::from_utf8(&bytes).ok().and_then(unsealed).ok_or_else(|| {
        Failure::Refused(format!("{storage}/{name} is damaged: its checksum does not match its content"))
    })?;
    serde_json::from_str(text).map(Some).map_err(|error| {
        Failure::Refused(format!("{storage}/{name} was not written by `tables backup`: {error}"))
    })
}

/// Returns the content before the checksum, or `None` if the checksum is incorrect.
fn unsealed(content: &str) -> Option<&str> {
    let (at, _) = content.trim_end_matches('\n').rmatch_indices('\n').next()?;
    let (text, seal) = content.split_at_checked(at + 1)?;
    let sum = seal.strip_prefix(SEAL)?.strip_suffix('\n')?;
    (sum == seal_of(text)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backup::storage::Folder;

    #[test]
    fn a_value_is_read_back_and_every_flipped_bit_is_detected() {
        let folder = tempfile::tempdir().unwrap();
        let (path, storage) = (folder.path().join("value.json"), Folder::new(folder.path()));
        let read = || read::<Vec<u32>>(&storage, "value.json");
        assert_eq!(read().unwrap(), None);
        write(&storage, "value.json", &vec![1, 2]).unwrap();
        assert_eq!(read().unwrap(), Some(vec![1, 2]));
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut damaged = whole.clone();
                damaged[at] ^= 1 << bit;
                std::fs::write(&path, damaged).unwrap();
                assert!(read().is_err(), "byte {at}, bit {bit}");
            }
        }
    }
}
