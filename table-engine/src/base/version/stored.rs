//! The file `BASE`: a version of the base and its metadata (`docs/format.md`, "Base").
//!
//! The file is small, and is replaced by an atomic rename. Without this file, the runs are useless, so it contains two copies of its content.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use table_store::{Error, Result};
use uuid::Uuid;

use crate::base::fault::{BaseFault, Unrelated};
use crate::base::lineage::Lineage;
use crate::base::meta::Meta;
use crate::base::policy::Weight;
use crate::base::pool::Pool;
use crate::base::run::{Run, RunFile};
use crate::base::version::{Layer, Segment, Version};
use crate::bytes::{Reader, Writer};
use crate::disk::Disk;
use crate::disk::fault::{Task, is_exhausted};

/// The name of the file that stores the current version of a base.
pub(crate) const BASE: &str = "BASE";
/// The temporary name of the file while it is being written.
pub(crate) const BASE_NEW: &str = "BASE.new";

const MAGIC: &[u8; 8] = b"TBLBASE\0";
const VERSION: u32 = 4;
/// The first format version. It has no engine and run identifiers.
const WITHOUT_IDENTITIES: u32 = 1;
/// The last format version that does not store the entry and tombstone counts of layers.
const WITHOUT_COUNTS: u32 = 2;
/// The last format version without a lineage.
const WITHOUT_LINEAGE: u32 = 3;
/// The number of bytes before the content: magic number, version and length.
const HEADER: usize = 16;

/// The content of the `BASE` file: a version of the base with its metadata.
#[derive(Clone, Debug)]
pub(in super::super) struct Stored {
    /// The identity of the engine, which its backups share. A folder restored from a backup gets a new identity, because both engines may then write different
    /// rows under the same run and transaction numbers.
    pub(in super::super) engine: Uuid,
    pub(in super::super) lineage: Lineage,
    pub(in super::super) meta: Meta,
    /// The number of the next run.
    pub(in super::super) next: u64,
    pub(in super::super) version: Arc<Version>,
}

impl Stored {
    fn write_content(&self, out: &mut Writer) {
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        out.raw(self.engine.as_bytes());
        self.lineage.write(out);
        self.meta.write(out);
        out.u64(self.next);
        let runs = self.version.runs();
        out.u32(count(runs.len()));
        for run in &runs {
            out.u64(run.number);
            out.raw(run.identity.as_bytes());
            out.u64(run.length);
            out.bytes(&run.first);
            out.bytes(&run.last);
        }
        let places: HashMap<u64, usize> =
            runs.iter().enumerate().map(|(place, run)| (run.number, place)).collect();
        out.u32(count(self.version.segments().len()));
        for segment in self.version.segments() {
            out.bytes(&segment.start);
            out.u32(count(segment.layers.len()));
            for layer in &segment.layers {
                out.u32(places.get(&layer.run.number).map_or(u32::MAX, |place| count(*place)));
                out.u64(layer.weight.bytes);
                out.u64(layer.weight.entries);
                out.u64(layer.weight.deletions);
            }
        }
    }

    /// Returns this version with a new identity. It is used for a folder that continues independently of the original.
    pub(in super::super) fn restored(&self) -> Self {
        Self { engine: Uuid::new_v4(), lineage: Lineage::default(), ..self.clone() }
    }

    /// Checks that this version can replace `earlier` in a backup folder, and that their runs do not conflict.
    ///
    /// # Errors
    /// An `Unrelated` with the reason if `earlier` is not an earlier version of the same folder.
    pub(in super::super) fn check_follows(&self, earlier: &Self) -> Result<(), Unrelated> {
        if self.engine != earlier.engine {
            return Err(Unrelated::Engine);
        }
        let runs: HashMap<u64, Uuid> =
            self.version.runs().iter().map(|run| (run.number, run.identity)).collect();
        let differs = |run: &Arc<Run>| runs.get(&run.number).is_some_and(|other| *other != run.identity);
        if !earlier.lineage.is_continued_by(&self.lineage)
            || earlier.next > self.next
            || earlier.meta.sequence > self.meta.sequence
            || earlier.version.runs().iter().any(differs)
        {
            return Err(Unrelated::History);
        }
        Ok(())
    }

    /// Returns the bytes of the file.
    pub(in super::super) fn bytes(&self) -> Vec<u8> {
        let mut copy = Writer::default();
        copy.raw(MAGIC);
        copy.u32(VERSION);
        copy.u32(0);
        self.write_content(&mut copy);
        let length = u32::try_from(copy.as_bytes().len() - HEADER).unwrap_or(u32::MAX);
        copy.patch(HEADER - 4, &length.to_le_bytes());
        copy.u32(crc32c::crc32c(copy.as_bytes()));
        let mut copies = copy.into_bytes();
        copies.extend_from_within(..);
        copies
    }

    /// Replaces the file durably, and returns the length of the new file. The directory entries of new runs are made durable first.
    ///
    /// # Errors
    /// `DiskFull` or `ServerBusy` if disk space, file descriptors or memory run out. In that case, the old file remains in place. After any other disk error,
    /// the folder may contain either file.
    pub(in super::super) fn write(&self, disk: &dyn Disk, folder: &Path) -> Result<u64> {
        let bytes = self.bytes();
        let write = || {
            let file = disk.open(&folder.join(BASE_NEW), true)?;
            // If the write fails, the disk may be full. The incomplete file is truncated to free its space.
            let written = file.write_at(0, &bytes).and_then(|()| file.sync_data());
            written.inspect_err(|_| drop(file.set_len(0)))?;
            // IMPORTANT: the directory entries of the new runs are made durable before the file is renamed.
            disk.sync_dir(folder)
        };
        write().map_err(|error| Task::RecordBase.refused(error))?;
        let rename = || {
            disk.rename(&folder.join(BASE_NEW), &folder.join(BASE))?;
            disk.sync_dir(folder)
        };
        rename().map_err(|error| Task::RecordBase.failed(error))?;
        Ok(bytes.len() as u64)
    }

    /// Reads the current version from the `BASE` file.
    pub(in super::super) fn read(pool: &Arc<Pool>) -> Result<Self> {
        let path = pool.folder.join(BASE);
        Self::parse(&read_bytes(&*pool.disk, &path)?, &path, pool)
    }

    /// Parses the bytes of a `BASE` file.
    pub(in super::super) fn parse(bytes: &[u8], path: &Path, pool: &Arc<Pool>) -> Result<Self> {
        let copies = Copies::of(bytes);
        let broken = |offset| Error::of(BaseFault::Broken { file: path.into(), offset });
        let content = copies.first.or(copies.second).ok_or_else(|| broken(0))?;
        Self::of(&content, pool).ok_or_else(|| broken(HEADER as u64))
    }

    /// Returns the encoded content. The file contains two copies of it.
    #[cfg(feature = "testing")]
    pub(in super::super) fn content(&self) -> Vec<u8> {
        let mut out = Writer::default();
        self.write_content(&mut out);
        out.into_bytes()
    }

    /// Parses the encoded content.
    #[cfg(feature = "testing")]
    pub(in super::super) fn of_content(bytes: &[u8], pool: &Arc<Pool>) -> Option<Self> {
        Self::of(&Content { version: VERSION, bytes: bytes.to_vec() }, pool)
    }

    fn of(Content { version, bytes }: &Content, pool: &Arc<Pool>) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        // IMPORTANT: a run without an identity gets a new one, so runs in different folders are never confused.
        let identity = |reader: &mut Reader<'_>| match *version {
            WITHOUT_IDENTITIES => Some(Uuid::new_v4()),
            _ => Some(Uuid::from_bytes(reader.take(16)?.try_into().ok()?)),
        };
        let engine = identity(&mut reader)?;
        let lineage = match *version {
            ..=WITHOUT_LINEAGE => Lineage::default(),
            _ => Lineage::read(&mut reader)?,
        };
        let meta = Meta::read(&mut reader)?;
        let next = reader.u64()?;
        let mut runs = Vec::new();
        for _ in 0..reader.u32()? {
            let (number, identity) = (reader.u64()?, identity(&mut reader)?);
            let file = RunFile { number, identity, length: reader.u64()? };
            let ends = (reader.bytes()?.into(), reader.bytes()?.into());
            runs.push(Arc::new(Run::new(pool, file, ends)));
        }
        let mut segments: Vec<Arc<Segment>> = Vec::new();
        for _ in 0..reader.u32()? {
            let start: Arc<[u8]> = reader.bytes()?.into();
            let in_order = segments.last().map_or(start.is_empty(), |before| before.start < start);
            let mut layers = Vec::new();
            for _ in 0..reader.u32()? {
                let run = Arc::clone(runs.get(usize::try_from(reader.u32()?).ok()?)?);
                let mut weight = Weight { bytes: reader.u64()?, ..Weight::default() };
                if *version > WITHOUT_COUNTS {
                    (weight.entries, weight.deletions) = (reader.u64()?, reader.u64()?);
                }
                layers.push(Layer { run, weight });
            }
            if !in_order {
                return None;
            }
            segments.push(Arc::new(Segment { start, layers }));
        }
        let whole = reader.is_empty() && !segments.is_empty();
        whole.then_some(Self { engine, lineage, meta, next, version: Arc::new(Version { segments }) })
    }
}

/// The bytes of one copy of the content, and their format version.
#[derive(PartialEq, Eq)]
pub(in super::super) struct Content {
    version: u32,
    bytes: Vec<u8>,
}

/// The two copies of the content. A corrupted copy is `None`.
pub(in super::super) struct Copies {
    pub(in super::super) first: Option<Content>,
    pub(in super::super) second: Option<Content>,
    /// The offset of the second copy.
    pub(in super::super) half: u64,
}

/// Reads the bytes of the file. If one half cannot be read, it is replaced with zeros, because the copy in the other half is sufficient.
pub(in super::super) fn read_bytes(disk: &dyn Disk, path: &Path) -> Result<Vec<u8>> {
    let failed = |error| Task::ReadFile(path.into()).refused(error);
    let file = disk.open_to_read(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Error::of(BaseFault::Missing(path.into())),
        _ => failed(error),
    })?;
    let length = usize::try_from(file.len().map_err(failed)?).unwrap_or_default();
    let mut bytes = vec![0; length];
    let (front, back) = bytes.split_at_mut(length / 2);
    let first = file.read_at(0, front);
    if first.is_err() {
        front.fill(0);
    }
    match (first, file.read_at((length / 2) as u64, back)) {
        (Err(error), Err(_)) => return Err(failed(error)),
        // The copy may be readable later, when file descriptors or memory are available again.
        (Err(error), _) | (_, Err(error)) if is_exhausted(&error) => return Err(failed(error)),
        (Ok(()), Err(_)) => back.fill(0),
        _ => {}
    }
    Ok(bytes)
}

impl Copies {
    /// Finds the two copies in the bytes of a file.
    pub(in super::super) fn of(bytes: &[u8]) -> Self {
        let half = bytes.len() / 2;
        let (front, back) = bytes.split_at(half);
        // If the file was truncated or extended, the middle is in the wrong place, but the first copy still begins at the start.
        let first = content(front).or_else(|| content(bytes));
        Self { first, second: content(back), half: half as u64 }
    }
}

/// Returns the content of the copy at the start of the bytes, or `None` if the copy is corrupted.
fn content(bytes: &[u8]) -> Option<Content> {
    let mut reader = Reader::new(bytes);
    let magic = reader.u64()? == u64::from_le_bytes(*MAGIC);
    let version = reader.u32()?;
    let content = reader.bytes()?;
    let sum = reader.u32()?;
    let known = magic && (WITHOUT_IDENTITIES..=VERSION).contains(&version);
    let whole = known && crc32c::crc32c(bytes.get(..HEADER + content.len())?) == sum;
    whole.then(|| Content { version, bytes: content.to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use crate::disk::RealDisk;

    fn pool() -> Arc<Pool> {
        Arc::new(Pool::new(Arc::new(RealDisk), "folder".into(), 0))
    }

    fn meta() -> Meta {
        Meta { journal: 3, sequence: 99, timestamp: 7, catalog: Catalog::default(), dropped: Vec::new() }
    }

    /// Returns the bytes after [`Meta`]. `identity` is written between the number and the length of each run, and `counts` is written after each layer.
    fn runs(identity: &[u8], counts: &[u8]) -> Vec<u8> {
        let parts: [&[u8]; 5] = [
            b"\x06\0\0\0\0\0\0\0\x01\0\0\0\x05\0\0\0\0\0\0\0",
            identity,
            b"\x09\x08\0\0\0\0\0\0\x01\0\0\0a\x02\0\0\0bc",
            b"\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x44\0\0\0\0\0\0\0",
            counts,
        ];
        parts.concat()
    }

    fn file(version: u8, content: &[u8]) -> Vec<u8> {
        let mut copy = [&MAGIC[..], &[version, 0, 0, 0]].concat();
        copy.extend(u32::try_from(content.len()).unwrap().to_le_bytes());
        copy.extend(content);
        copy.extend(crc32c::crc32c(&copy).to_le_bytes());
        copy.repeat(2)
    }

    #[test]
    fn golden_bytes_of_the_file_and_of_its_earlier_versions() {
        let (pool, engine, identity) = (pool(), Uuid::from_bytes([0xE1; 16]), Uuid::from_bytes([0xD2; 16]));
        let ends: (Box<[u8]>, Box<[u8]>) = ((*b"a").into(), (*b"bc").into());
        let run = Arc::new(Run::new(&pool, RunFile { number: 5, identity, length: 0x809 }, ends));
        let weight = Weight { bytes: 0x44, entries: 3, deletions: 1 };
        let segment = Segment { start: Arc::default(), layers: vec![Layer { run, weight }] };
        let version = Arc::new(Version { segments: vec![Arc::new(segment)] });
        let lineage = Lineage::default().with(Uuid::from_bytes([0xC3; 16]), 99, 6);
        let stored = Stored { engine, lineage: lineage.clone(), meta: meta(), next: 6, version };
        let mut recorded = Writer::default();
        meta().write(&mut recorded);
        let counts = b"\x03\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0";
        let opening = b"\x63\0\0\0\0\0\0\0\x06\0\0\0\0\0\0\0";
        let openings = [b"\x01\0\0\0", &[0xC3; 16][..], opening].concat();
        let rest = [recorded.as_bytes(), &runs(identity.as_bytes(), counts)].concat();
        let content = [engine.as_bytes(), &openings[..], &rest].concat();
        assert_eq!(stored.bytes(), file(4, &content));

        let first = file(1, &[recorded.as_bytes(), &runs(&[], &[])].concat());
        let second =
            file(2, &[engine.as_bytes(), recorded.as_bytes(), &runs(identity.as_bytes(), &[])].concat());
        let third = file(3, &[engine.as_bytes(), &rest[..]].concat());
        let read = |bytes: &[u8]| Stored::parse(bytes, Path::new(BASE), &pool).unwrap();
        assert_eq!(read(&stored.bytes()).lineage, lineage);
        assert!([&first, &second, &third].iter().all(|bytes| read(bytes).lineage.is_empty()));
        assert_eq!(read(&third).engine, engine);
        let again = read(&first);
        assert_ne!((again.engine, again.version.runs()[0].identity), (engine, identity));
        assert_ne!(again.engine, read(&first).engine, "never the same in two folders");
        let layer = |stored: &Stored| stored.version.segments()[0].layers[0].weight;
        let uncounted = Weight { entries: 0, deletions: 0, ..weight };
        assert_eq!((layer(&again), layer(&read(&second))), (uncounted, uncounted));
        assert_eq!(layer(&read(&stored.bytes())), weight);
        for (back, engine) in
            [(read(&stored.bytes()), engine), (read(&second), engine), (again.clone(), again.engine)]
        {
            let run = &back.version.runs()[0];
            assert_eq!((back.engine, back.next, run.number, run.length), (engine, 6, 5, 0x809));
            assert_eq!((&*run.first, &*run.last), (&b"a"[..], &b"bc"[..]));
        }
        let unknown = file(5, &content);
        assert!(Stored::parse(&unknown, Path::new(BASE), &pool).is_err());
    }
}
