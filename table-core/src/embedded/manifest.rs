//! The manifest: identifies a folder as an engine's, with its format version (`docs/format.md`, "Folder").

use std::io::ErrorKind;
use std::path::Path;

use crate::embedded::bytes::{Reader, Writer};
use crate::embedded::disk::Disk;
use crate::embedded::journal::failed;
use crate::embedded::mend::Mend;
use crate::error::{Error, ErrorCode, Result};

/// The manifest's name.
pub(crate) const FORMAT: &str = "FORMAT";
/// The lock file's name.
pub(crate) const LOCK: &str = "LOCK";
const FORMAT_NEW: &str = "FORMAT.new";
const MAGIC: &[u8; 8] = b"TABLES\r\n";
/// The version of the folder that is written, and the one that is read.
const VERSION: u32 = 2;
const BYTES: usize = 16;

/// Whether a folder is ours to open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Folder {
    /// It holds nothing yet, or is not there.
    Empty,
    /// It holds an engine's files in a version that this library reads.
    Ours,
}

fn bytes() -> Vec<u8> {
    let mut out = Writer::default();
    out.raw(MAGIC);
    out.u32(VERSION);
    out.u32(crc32c::crc32c(out.as_bytes()));
    out.into_bytes()
}

/// Looks at a folder without changing it.
///
/// # Errors
/// `FolderNotOurs`, `FormatTooNew`, `FormatTooOld`, `Corrupted`.
pub(crate) fn check(disk: &dyn Disk, folder: &Path) -> Result<Folder> {
    let io = |error| failed(&format!("the folder {} cannot be read", folder.display()), error);
    let names = match disk.list(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Folder::Empty),
        names => names.map_err(io)?,
    };
    if !names.iter().any(|name| name == FORMAT) {
        // A crash while the folder was made leaves these two at most. The third is in the root of a volume.
        let allowed = [LOCK, FORMAT_NEW, if Mend::AllowLostAndFound.is_in() { "lost+found" } else { LOCK }];
        if names.iter().all(|name| allowed.contains(&name.as_str())) {
            return Ok(Folder::Empty);
        }
        let message = format!("the folder {} holds something else: choose an empty one", folder.display());
        return Err(Error::new(ErrorCode::FolderNotOurs, message));
    }
    let file = disk.open(&folder.join(FORMAT), false).map_err(io)?;
    let mut bytes = [0; BYTES];
    let length = file.len().map_err(io)?;
    if length < BYTES as u64 {
        return Err(broken(folder));
    }
    file.read_at(0, &mut bytes).map_err(io)?;
    let mut reader = Reader::new(&bytes);
    if reader.u64() != Some(u64::from_le_bytes(*MAGIC)) {
        let message = format!("the folder {} holds another program's FORMAT file", folder.display());
        return Err(Error::new(ErrorCode::FolderNotOurs, message));
    }
    match (reader.u32(), reader.u32()) {
        (Some(version), Some(sum)) if Some(sum) == bytes.get(..12).map(crc32c::crc32c) => {
            if version > VERSION {
                let message = format!(
                    "the folder {} is of format {version}; this version reads up to {VERSION}: upgrade",
                    folder.display()
                );
                return Err(Error::new(ErrorCode::FormatTooNew, message));
            }
            if version < VERSION {
                let message = format!(
                    "Unsupported format: the folder {} is of format {version}, of a version before the first release; \
                     this version reads format {VERSION}: copy the tables by a program of the version that wrote them",
                    folder.display()
                );
                return Err(Error::new(ErrorCode::FormatTooOld, message));
            }
            Ok(Folder::Ours)
        }
        _ => Err(broken(folder)),
    }
}

fn broken(folder: &Path) -> Error {
    let message = format!("the FORMAT file of {} is broken: restore it from a copy", folder.display());
    Error::new(ErrorCode::Corrupted, message)
}

/// Makes an empty folder ours, durably and at once.
pub(crate) fn write(disk: &dyn Disk, folder: &Path) -> Result<()> {
    let make = || {
        let file = disk.open(&folder.join(FORMAT_NEW), true)?;
        file.write_at(0, &bytes())?;
        file.sync_data()?;
        disk.rename(&folder.join(FORMAT_NEW), &folder.join(FORMAT))?;
        // IMPORTANT: durable before any other file is made: files without a manifest are not ours.
        disk.sync_dir(folder)
    };
    make().map_err(|error| failed(&format!("the folder {} cannot be made", folder.display()), error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded::disk::RealDisk;

    #[test]
    fn golden_bytes_of_the_manifest() {
        assert_eq!(bytes()[..12], *b"TABLES\r\n\x02\0\0\0");
    }

    #[test]
    fn foreign_newer_and_broken_folders_are_refused_and_left_as_they_are() {
        let check_file = |name: &str, bytes: &[u8]| {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join(name), bytes).unwrap();
            let error = check(&RealDisk, folder.path()).unwrap_err();
            assert_eq!(RealDisk.list(folder.path()).unwrap(), [name]);
            assert_eq!(std::fs::read(folder.path().join(name)).unwrap(), bytes);
            error.code()
        };
        assert_eq!(check_file("letter.txt", b"Dear"), ErrorCode::FolderNotOurs);
        assert_eq!(check_file("FORMAT", b"something else, long enough"), ErrorCode::FolderNotOurs);
        assert_eq!(check_file("FORMAT", b"TABL"), ErrorCode::Corrupted);
        let of_version = |version| {
            let mut bytes = Writer::default();
            bytes.raw(MAGIC);
            bytes.u32(version);
            bytes.u32(crc32c::crc32c(bytes.as_bytes()));
            bytes.into_bytes()
        };
        assert_eq!(check_file("FORMAT", &of_version(VERSION + 1)), ErrorCode::FormatTooNew);
        assert_eq!(check_file("FORMAT", &of_version(VERSION - 1)), ErrorCode::FormatTooOld);
        let mut flipped = bytes();
        flipped[8] ^= 4;
        assert_eq!(check_file("FORMAT", &flipped), ErrorCode::Corrupted);
    }

    #[test]
    fn a_folder_made_is_ours() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(check(&RealDisk, folder.path()).unwrap(), Folder::Empty);
        write(&RealDisk, folder.path()).unwrap();
        assert_eq!(check(&RealDisk, folder.path()).unwrap(), Folder::Ours);
        assert_eq!(std::fs::read(folder.path().join(FORMAT)).unwrap(), bytes());
    }
}
