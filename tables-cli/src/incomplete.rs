//! Incomplete files and folders. Each has a unique temporary name, so two commands with the same target do not write to the same file.

mod folder;

use std::fs::{File, Metadata, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::failure::{Failure, Result};
pub(crate) use folder::{IncompleteFolder, remove_remains};

/// The text before the random characters of a temporary name. For example, a temporary name for `company.jsonl` is `company.jsonl.tables-k3XdPq.part`.
const MARK: &str = ".tables-";
const END: &str = ".part";

/// Appends an extension to a path. For example, `GENERATION` and `part` result in `GENERATION.part`.
pub(crate) fn part_of(path: &Path, extension: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    name.into()
}

/// A file that receives its final name when it is complete, and is removed if the value is dropped earlier. The file is locked, so other commands can see that
/// it is in use. A target that is not a regular file, such as a device or a pipe, cannot be replaced, so it is written directly.
#[derive(Debug)]
pub(crate) struct Incomplete {
    file: Content,
    path: PathBuf,
}

#[derive(Debug)]
enum Content {
    /// A file with a temporary name.
    Named(NamedTempFile),
    /// The target, which is written directly.
    Direct(File),
}

impl Incomplete {
    /// Creates an empty file next to `path`, or, if `path` is a link, next to the target of the link. The new file has the permissions of the file it replaces,
    /// if any.
    ///
    /// # Errors
    /// `File` if the file cannot be created.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        if is_special(path) {
            let file = File::options().write(true).open(path).map_err(Failure::file(path.display()))?;
            return Ok(Self { file: Content::Direct(file), path: path.to_owned() });
        }
        let path = target_of(path);
        let (folder, prefix) = split(&path);
        let permissions = path.metadata().ok().filter(Metadata::is_file).map(|found| found.permissions());
        let mut named = Builder::new();
        named.prefix(&prefix).suffix(END);
        #[cfg(unix)]
        named.permissions(std::os::unix::fs::PermissionsExt::from_mode(if permissions.is_some() {
            0o600
        } else {
            0o666
        }));
        loop {
            let file =
                named.tempfile_in(folder).map_err(without_path).map_err(Failure::file(path.display()))?;
            // IMPORTANT: `remove_remains` removes a file only while holding the file's lock. If the file still exists after this command has locked it,
            // `remove_remains` can no longer remove it.
            let is_taken = matches!(file.as_file().try_lock(), Err(TryLockError::WouldBlock));
            if !is_taken && file.path().exists() {
                if let Some(permissions) = permissions.filter(|_| cfg!(unix)) {
                    file.as_file().set_permissions(permissions).map_err(Failure::file(path.display()))?;
                }
                return Ok(Self { file: Content::Named(file), path });
            }
        }
    }

    /// Returns the open file that receives the content.
    pub(crate) fn file(&self) -> &File {
        match &self.file {
            Content::Named(file) => file.as_file(),
            Content::Direct(file) => file,
        }
    }

    /// Returns the temporary path, or the path of the target if it is written directly.
    pub(crate) fn path(&self) -> &Path {
        match &self.file {
            Content::Named(file) => file.path(),
            Content::Direct(_) => &self.path,
        }
    }

    /// Returns `true` if the written content can be read back.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "only Parquet files are read again"))]
    pub(crate) const fn can_be_read(&self) -> bool {
        matches!(self.file, Content::Named(_))
    }

    /// Makes the content durable, and gives the file its final name. An existing file with this name is replaced only if `replaces` is `true`.
    ///
    /// # Errors
    /// `Refused` if `replaces` is `false` and a file with this name exists. `File` if the content or the name cannot be written.
    pub(crate) fn complete(self, replaces: bool) -> Result<()> {
        let Self { file, path } = self;
        let Content::Named(file) = file else { return Ok(()) };
        file.as_file().sync_all().map_err(Failure::file(path.display()))?;
        let kept = if replaces { file.persist(&path) } else { file.persist_noclobber(&path) };
        kept.map(drop).map_err(|failed| match failed.error.kind() {
            ErrorKind::AlreadyExists => exists(&path),
            _ => Failure::file(path.display())(failed.error),
        })
    }
}

/// Removes the path of the temporary file from an error of `tempfile`. The user knows only the path of the target.
fn without_path(error: io::Error) -> io::Error {
    let text = error.to_string();
    match text.split_once(" at path ") {
        Some((cause, _)) => io::Error::new(error.kind(), cause),
        None => error,
    }
}

/// Returns `true` if a path refers to neither a file nor a folder, but for example to a device or a pipe.
fn is_special(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Follows the links in a path, and returns the path of the target. Returns the original path if the target does not exist.
fn target_of(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Returns the failure for a command that would replace an existing file.
fn exists(path: &Path) -> Failure {
    Failure::Refused(format!("{} exists; pass `--force` to replace it", path.display()))
}

/// Returns an error if a file exists and must not be replaced. Devices and pipes are accepted, because writing to them does not replace them.
///
/// # Errors
/// `Refused`, with the path, if the file exists and `replaces` is `false`.
pub(crate) fn refuse_existing(path: &Path, replaces: bool) -> Result<()> {
    if path.exists() && !is_special(path) && !replaces { Err(exists(path)) } else { Ok(()) }
}

/// Returns the folder that contains a path, and the prefix of the temporary names for that path.
fn split(path: &Path) -> (&Path, String) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // A file name can have at most 255 bytes.
    let mut end = name.len().min(200);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    let beginning = name.get(..end).unwrap_or_default();
    (folder, format!("{beginning}{MARK}"))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    pub(super) fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn two_commands_with_one_target_do_not_share_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let [one, other, third] = [(); 3].map(|()| Incomplete::create(&path).unwrap());
        one.file().write_all(b"one").unwrap();
        other.file().write_all(b"other").unwrap();
        one.complete(false).unwrap();
        other.complete(false).unwrap_err();
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        third.file().write_all(b"third").unwrap();
        third.complete(true).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"third");
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_replaced_file_keeps_its_permissions_and_its_links_and_a_device_remains() {
        use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};

        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a"), folder.path().join("latest"));
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        symlink(&path, &link).unwrap();
        let part = Incomplete::create(&link).unwrap();
        part.file().write_all(b"new").unwrap();
        part.complete(true).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert!(link.symlink_metadata().unwrap().is_symlink());
        let device = folder.path().join("null");
        symlink("/dev/null", &device).unwrap();
        refuse_existing(&device, false).unwrap();
        let part = Incomplete::create(&device).unwrap();
        part.file().write_all(b"lost").unwrap();
        part.complete(true).unwrap();
        assert!(device.metadata().unwrap().file_type().is_char_device());
        assert_eq!(names(folder.path()), ["a", "latest", "null"]);
        let long = folder.path().join("n".repeat(250));
        Incomplete::create(&long).unwrap().complete(false).unwrap();
        assert!(long.exists());
    }
}
