//! The manifest: a file that marks a folder as an engine's folder or as a backup. It contains the format version (`docs/format.md`, "Folder").

use std::io::ErrorKind;
use std::path::Path;

use table_store::{Error, Result};

use crate::bytes::{Reader, Writer};
use crate::disk::{Disk, DiskLock, fault::Task};
use crate::folder::fault::FolderFault;

/// The name of an engine's manifest.
pub(crate) const FORMAT: &str = "FORMAT";
/// The name of a backup's manifest.
pub(crate) const BACKUP: &str = "BACKUP";
/// The name of the lock file in an engine's folder.
pub(crate) const LOCK: &str = "LOCK";
/// The temporary name of an engine's manifest while it is being written.
const FORMAT_NEW: &str = "FORMAT.new";
const BACKUP_NEW: &str = "BACKUP.new";
/// The name of an empty file that marks a folder as the destination of a restore.
const RESTORING: &str = "RESTORING";
const MAGIC: &[u8; 8] = b"TABLES\r\n";
/// The folder format version that this library writes.
const VERSION: u32 = 6;
/// The first released version of the format. This version and all later ones are readable.
const FIRST_RELEASED: u32 = 2;
const BYTES: usize = 16;

/// The result of checking a folder's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Folder {
    /// The folder is empty or does not exist.
    Empty,
    /// The folder contains an engine's files, in a version that this library reads.
    Engine(Version),
    /// The folder contains a backup, in a version that this library reads.
    Backup(Version),
}

/// A folder format version that this library can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Version(u32);

impl Version {
    /// Returns `true` if the version is the current version of the format.
    pub(crate) fn is_current(self) -> bool {
        self.0 == VERSION
    }
}

/// Returns the bytes of a manifest in the current format.
pub(crate) fn bytes() -> Vec<u8> {
    let mut out = Writer::default();
    out.raw(MAGIC);
    out.u32(VERSION);
    out.u32(crc32c::crc32c(out.as_bytes()));
    out.into_bytes()
}

/// Determines the content of a folder, without changing it.
///
/// # Errors
/// - `FolderNotOurs` if the folder contains other files or an incomplete restore.
/// - `FormatTooNew` or `FormatTooOld` if this library cannot read the version.
/// - `Corrupted` if the manifest is corrupted.
pub(crate) fn check(disk: &dyn Disk, folder: &Path) -> Result<Folder> {
    let io = |error| Task::ReadFolder(folder.into()).refused(error);
    let names = match disk.list(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Folder::Empty),
        names => names.map_err(io)?,
    };
    let read = |name: &str| {
        let file = disk.open_to_read(&folder.join(name)).map_err(io)?;
        let length = file.len().map_err(io)?.min(BYTES as u64);
        let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
        file.read_at(0, &mut bytes).map_err(io)?;
        version(&bytes, name, folder)
    };
    let has = |name: &str| names.iter().any(|other| other == name);
    if has(FORMAT) {
        return read(FORMAT).map(Folder::Engine);
    }
    if has(BACKUP) {
        return read(BACKUP).map(Folder::Backup);
    }
    if has(RESTORING) {
        return Err(Error::of(FolderFault::HalfRestored(folder.into())));
    }
    // A crash while a folder is being created leaves at most these files. `lost+found` exists in the root folder of a volume.
    let allowed = [LOCK, FORMAT_NEW, BACKUP_NEW, "lost+found"];
    if names.iter().all(|name| allowed.contains(&name.as_str())) {
        return Ok(Folder::Empty);
    }
    Err(Error::of(FolderFault::NotOurs(folder.into())))
}

/// Checks the bytes of a backup's manifest. Error messages name the folder `to`.
pub(crate) fn check_backup(bytes: &[u8], to: &Path) -> Result<()> {
    version(bytes, BACKUP, to).map(drop)
}

/// Returns the version in a manifest.
fn version(bytes: &[u8], name: &str, folder: &Path) -> Result<Version> {
    let broken = || Error::of(FolderFault::Broken { folder: folder.into(), name: name.to_owned() });
    let mut reader = Reader::new(bytes.get(..BYTES).ok_or_else(broken)?);
    if reader.u64() != Some(u64::from_le_bytes(*MAGIC)) {
        let (folder, name) = (folder.into(), name.to_owned());
        return Err(Error::of(FolderFault::OthersManifest { folder, name }));
    }
    let version = reader.u32().ok_or_else(broken)?;
    if reader.u32() != bytes.get(..12).map(crc32c::crc32c) {
        return Err(broken());
    }
    let (folder, first, last) = (folder.into(), FIRST_RELEASED, VERSION);
    if version > last {
        return Err(Error::of(FolderFault::TooNew { folder, version, first, last }));
    }
    if version < first {
        return Err(Error::of(FolderFault::TooOld { folder, version, first, last }));
    }
    Ok(Version(version))
}

/// Durably and atomically writes a manifest of the current version, [`FORMAT`] or [`BACKUP`], to a folder. Returns a lock on this manifest.
pub(crate) fn write(disk: &dyn Disk, folder: &Path, name: &str) -> Result<Box<dyn DiskLock>> {
    let new = folder.join(format!("{name}.new"));
    let task = || Task::MakeFolder(folder.into());
    let written = disk.open(&new, true).and_then(|file| file.write_at(0, &bytes()).map(|()| file));
    let file = written.map_err(|error| task().refused(error))?;
    let make = || {
        file.sync_data()?;
        // IMPORTANT: the new file is locked before it gets the manifest's name. From then on, another engine may open the folder.
        let lock = disk.lock(&new)?;
        disk.rename(&new, &folder.join(name))?;
        // IMPORTANT: the manifest is durable before any other file is created, because a folder with files but without a manifest is refused.
        disk.sync_dir(folder)?;
        Ok(lock)
    };
    make().map_err(|error| task().failed(error))
}

/// Durably marks an empty folder as the destination of a restore. If the restore is interrupted, the mark shows that the folder is incomplete.
pub(crate) fn begin_restore(disk: &dyn Disk, folder: &Path) -> Result<()> {
    let task = || Task::WriteFolder(folder.into());
    let file = disk.open(&folder.join(RESTORING), true).map_err(|error| task().refused(error))?;
    file.sync_data().and_then(|()| disk.sync_dir(folder)).map_err(|error| task().failed(error))
}

/// Completes a restored folder. All other files must exist.
pub(crate) fn end_restore(disk: &dyn Disk, folder: &Path) -> Result<()> {
    let cannot = |error| Task::WriteFolder(folder.into()).failed(error);
    disk.remove(&folder.join(RESTORING)).map_err(cannot)?;
    disk.sync_dir(folder).map_err(cannot)?;
    // IMPORTANT: the manifest is written last, because a folder with content but without a manifest is refused.
    write(disk, folder, FORMAT).map(drop)
}

#[cfg(test)]
mod tests {
    use table_store::ErrorCode;

    use super::*;
    use crate::disk::RealDisk;

    #[test]
    fn golden_bytes_of_the_manifest() {
        assert_eq!(bytes()[..12], *b"TABLES\r\n\x06\0\0\0");
    }

    #[test]
    fn foreign_newer_and_broken_folders_are_refused_and_unchanged() {
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
        assert_eq!(check_file("FORMAT", &of_version(FIRST_RELEASED - 1)), ErrorCode::FormatTooOld);
        assert_eq!(check_file("BACKUP", &of_version(VERSION + 1)), ErrorCode::FormatTooNew);
        let mut flipped = bytes();
        flipped[8] ^= 4;
        assert_eq!(check_file("FORMAT", &flipped), ErrorCode::Corrupted);
    }

    #[test]
    fn a_created_folder_is_recognised() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(check(&RealDisk, folder.path()).unwrap(), Folder::Empty);
        write(&RealDisk, folder.path(), BACKUP).unwrap();
        assert_eq!(check(&RealDisk, folder.path()).unwrap(), Folder::Backup(Version(VERSION)));
        write(&RealDisk, folder.path(), FORMAT).unwrap();
        assert_eq!(check(&RealDisk, folder.path()).unwrap(), Folder::Engine(Version(VERSION)));
        assert_eq!(std::fs::read(folder.path().join(FORMAT)).unwrap(), bytes());
    }
}
