//! The file `BASE`: a version of the base and what was recorded with it (`docs/format.md`, "Base").
//!
//! It is replaced as a whole, by a rename, and holds its content twice: it is small, and all else hangs on it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use crate::embedded::base::meta::Meta;
use crate::embedded::base::pool::Pool;
use crate::embedded::base::run::Run;
use crate::embedded::base::version::{Layer, Segment, Version};
use crate::embedded::bytes::{Reader, Writer};
use crate::embedded::disk::Disk;
use crate::embedded::journal::{failed, refused};
use crate::embedded::mend::Mend;
use crate::error::{Error, ErrorCode, Result};

/// The name of the file.
pub(crate) const BASE: &str = "BASE";
/// Its name while it is written.
pub(crate) const BASE_NEW: &str = "BASE.new";

const MAGIC: &[u8; 8] = b"TBLBASE\0";
const VERSION: u32 = 1;
/// Bytes before the content: magic, version, length.
const HEADER: usize = 16;

/// What the file says.
#[derive(Clone, Debug)]
pub(in super::super) struct Stored {
    pub(in super::super) meta: Meta,
    /// The number that the next run gets.
    pub(in super::super) next: u64,
    pub(in super::super) version: Version,
}

impl Stored {
    fn content(&self) -> Vec<u8> {
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let mut out = Writer::default();
        self.meta.write(&mut out);
        out.u64(self.next);
        let runs = self.version.runs();
        out.u32(count(runs.len()));
        for run in &runs {
            out.u64(run.number);
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
                out.u64(layer.bytes);
            }
        }
        out.into_bytes()
    }

    fn copy(&self) -> Vec<u8> {
        let content = self.content();
        let mut out = Writer::default();
        out.raw(MAGIC);
        out.u32(VERSION);
        out.bytes(&content);
        out.u32(crc32c::crc32c(out.as_bytes()));
        out.into_bytes()
    }

    /// Replaces the file, durably. Files of runs that are new become durable before.
    ///
    /// # Errors
    /// After `DiskFull` the file is as it was. After anything else it may be either.
    pub(in super::super) fn write(&self, disk: &dyn Disk, folder: &Path) -> Result<()> {
        let copy = self.copy();
        let write = || {
            let file = disk.open(&folder.join(BASE_NEW), true)?;
            file.write_at(0, &[copy.as_slice(), &copy].concat())?;
            file.sync_data()?;
            // IMPORTANT: the entries of the runs that it names are durable before it gets its name.
            disk.sync_dir(folder)
        };
        write().map_err(|error| refused("the base cannot be recorded", error))?;
        let rename = || {
            disk.rename(&folder.join(BASE_NEW), &folder.join(BASE))?;
            if Mend::SyncBase.is_in() { disk.sync_dir(folder) } else { Ok(()) }
        };
        rename().map_err(|error| failed("the base cannot be recorded", error))
    }

    /// Reads the file.
    pub(in super::super) fn read(pool: &Arc<Pool>) -> Result<Self> {
        let path = pool.folder.join(BASE);
        let copies = read_copies(&*pool.disk, &path)?;
        let broken = |offset| {
            let message =
                format!("{} is broken at byte {offset}: restore the folder from a copy", path.display());
            Error::new(ErrorCode::Corrupted, message)
        };
        let content = copies.first.or(copies.second).ok_or_else(|| broken(0))?;
        Self::of(&content, pool).ok_or_else(|| broken(HEADER))
    }

    fn of(content: &[u8], pool: &Arc<Pool>) -> Option<Self> {
        let mut reader = Reader::new(content);
        let meta = Meta::read(&mut reader)?;
        let next = reader.u64()?;
        let mut runs = Vec::new();
        for _ in 0..reader.u32()? {
            let file = (reader.u64()?, reader.u64()?);
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
                layers.push(Layer { run, bytes: reader.u64()? });
            }
            if !in_order {
                return None;
            }
            segments.push(Arc::new(Segment { start, layers }));
        }
        let whole = reader.is_empty() && !segments.is_empty();
        whole.then_some(Self { meta, next, version: Version { segments } })
    }
}

/// The contents of the file's two copies; `None` for one that is broken.
pub(in super::super) struct Copies {
    pub(in super::super) first: Option<Vec<u8>>,
    pub(in super::super) second: Option<Vec<u8>>,
    /// Where the second one begins.
    pub(in super::super) half: u64,
}

/// Reads both copies.
pub(in super::super) fn read_copies(disk: &dyn Disk, path: &Path) -> Result<Copies> {
    let read = || {
        let file = disk.open(path, false)?;
        let mut bytes = vec![0; usize::try_from(file.len()?).unwrap_or_default()];
        file.read_at(0, &mut bytes)?;
        Ok(bytes)
    };
    let bytes: Vec<u8> =
        read().map_err(|error| failed(&format!("{} cannot be read", path.display()), error))?;
    let half = bytes.len() / 2;
    let (front, back) = bytes.split_at(half);
    // A file of another length than it was written with still has its first copy at its beginning.
    let first = content(front).or_else(|| content(&bytes));
    Ok(Copies { first, second: content(back), half: half as u64 })
}

/// The content of a copy at the front of some bytes, if it is whole.
fn content(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut reader = Reader::new(bytes);
    let known = reader.u64()? == u64::from_le_bytes(*MAGIC) && reader.u32()? == VERSION;
    let content = reader.bytes()?;
    let sum = reader.u32()?;
    (known && crc32c::crc32c(bytes.get(..HEADER + content.len())?) == sum).then(|| content.to_vec())
}
