//! Implements growing files in an object store, whose objects cannot grow. Each file is a sequence of objects that are named by their offsets in the file.

use std::io::Read;
use std::sync::Arc;

use bytes::Bytes;

use crate::backup::storage::shared::Shared;
use crate::backup::storage::{Append, too_short};
use crate::failure::{Failure, Result};

/// Returns the name of the object at the given offset in a file.
fn segment(name: &str, offset: u64) -> String {
    format!("{name}/{offset:020}")
}

/// Returns the offset and length of each object of a file, in order.
fn objects(shared: &Shared, name: &str) -> Result<Vec<(u64, u64)>> {
    let lengths = shared.requests.lengths(name)?;
    let mut found: Vec<(u64, u64)> =
        lengths.into_iter().filter_map(|(offset, length)| Some((offset.parse().ok()?, length))).collect();
    found.sort_unstable();
    Ok(found)
}

/// Returns the objects up to the first gap.
fn chain(mut objects: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    let mut end = 0;
    objects.retain(|(offset, length)| {
        let follows = *offset == end;
        end += if follows { *length } else { 0 };
        follows
    });
    objects
}

/// Returns the length of a file, or `None` if it has no objects.
pub(super) fn length(shared: &Shared, name: &str) -> Result<Option<u64>> {
    let chain = chain(objects(shared, name)?);
    Ok((!chain.is_empty()).then(|| chain.iter().map(|(_, length)| length).sum()))
}

/// Removes all objects of a file from an offset onwards.
pub(super) fn remove(shared: &Shared, name: &str, from: u64) -> Result<()> {
    for (offset, _) in objects(shared, name)?.into_iter().filter(|(offset, _)| *offset >= from) {
        // A command that paused before this request may have lost the lock, and the file may belong to another command now.
        shared.renew(false)?;
        shared.requests.delete(&segment(name, offset))?;
    }
    Ok(())
}

/// A file that is read one object at a time.
#[derive(Debug)]
pub(super) struct Reading {
    shared: Arc<Shared>,
    name: String,
    /// The offset in the file just past the object in `current`.
    end: u64,
    current: Bytes,
}

impl Reading {
    pub(super) fn open(shared: Arc<Shared>, name: &str) -> Result<Self> {
        let missing = || Failure::file(segment(name, 0))(std::io::ErrorKind::NotFound.into());
        let current = shared.requests.get(&segment(name, 0))?.ok_or_else(missing)?;
        Ok(Self { shared, name: name.to_owned(), end: current.len() as u64, current })
    }
}

impl Read for Reading {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.current.is_empty() && self.end > 0 {
            let next = self.shared.requests.get(&segment(&self.name, self.end));
            // If an object is missing, the file appears to end before it. The checksums detect this.
            self.current = next.map_err(std::io::Error::other)?.unwrap_or_default();
            self.end += self.current.len() as u64;
        }
        let length = buffer.len().min(self.current.len());
        let read = self.current.split_to(length);
        if let Some(to) = buffer.get_mut(..length) {
            to.copy_from_slice(&read);
        }
        Ok(length)
    }
}

/// A file that is being appended to. Its buffered bytes are written as an object at each sync, and whenever they reach the maximum size of an object.
#[derive(Debug)]
pub(super) struct Growing {
    shared: Arc<Shared>,
    name: String,
    /// The length of the file without the buffered bytes.
    length: u64,
    buffer: Vec<u8>,
    /// `true` if objects written by an earlier command may exist after `length`.
    has_rest: bool,
    /// `true` if an empty object represents the file until its first bytes are written.
    is_created: bool,
}

impl Growing {
    pub(super) fn open(shared: Arc<Shared>, name: &str, length: u64) -> Result<Self> {
        let objects = objects(&shared, name)?;
        let has_rest = objects.iter().any(|(offset, _)| *offset >= length);
        if length > 0 && !chain(objects).iter().any(|(offset, bytes)| offset + bytes == length) {
            return Err(too_short(name));
        }
        // IMPORTANT: nothing is deleted or emptied here. A command that has lost the lock may open a file that another command is copying. In that case, it
        // only rewrites the same objects, because files with the same name have the same content.
        let (name, buffer) = (name.to_owned(), Vec::new());
        Ok(Self { shared, name, length, buffer, has_rest, is_created: false })
    }

    fn end_segment(&mut self) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let content = Bytes::from(std::mem::take(&mut self.buffer));
        let bytes = content.len() as u64;
        self.shared.put(&segment(&self.name, self.length), content)?;
        self.length += bytes;
        Ok(())
    }
}

impl Append for Growing {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= self.shared.segment { self.end_segment() } else { Ok(()) }
    }

    fn sync(&mut self) -> Result<()> {
        self.end_segment()?;
        if self.length == 0 && !std::mem::replace(&mut self.is_created, true) {
            self.shared.put(&segment(&self.name, 0), Bytes::new())?;
        }
        if std::mem::take(&mut self.has_rest) {
            remove(&self.shared, &self.name, self.length.max(1))?;
        }
        Ok(())
    }
}
