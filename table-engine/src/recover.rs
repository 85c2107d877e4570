//! Opens a folder. This checks the manifest, takes the lock, opens the base, and replays the journal.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use table_store::{Error, Result};

use crate::base::{self, Base, BaseView, Meta, Place};
use crate::catalog::Catalog;
use crate::disk::fault::Task;
use crate::disk::{Disk, DiskFile, DiskLock};
use crate::folder::{self, fault::FolderFault};
use crate::journal::fault::JournalFault;
use crate::journal::file::{self, FileHeader};
use crate::journal::frame::{Change, Record};
use crate::journal::synced::{Mark, Records, SYNCED, Synced};
use crate::journal::{Journal, Tail, reader};
use crate::key::Span;
use crate::manifest::{self, FORMAT, Folder, Version};
use crate::options::EngineOptions;
use crate::reserve::{RESERVE, Reserve};
use crate::state::State;

/// The number of rows of a dropped table that are removed from memory at a time.
const REMOVED: usize = 1_000;

/// The recovered content of a folder, and the resources for the engine that uses the folder.
pub(crate) struct Recovered {
    pub(crate) state: State,
    /// The largest Timestamp issued so far.
    pub(crate) timestamp: u64,
    /// Tables dropped since the last checkpoint.
    pub(crate) dropped: Vec<u32>,
    /// The disk that accesses the folder through an open handle.
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) reserve: Arc<Reserve>,
    pub(crate) journal: Journal,
    pub(crate) base: Base,
    pub(crate) lock: Lock,
}

/// The locks that prevent other engines from opening a folder.
#[derive(Debug)]
pub(crate) struct Lock {
    _manifest: Box<dyn DiskLock>,
    _file: Box<dyn DiskLock>,
}

/// Opens a folder by its absolute path.
pub(crate) fn open(options: &EngineOptions, path: &Path) -> Result<Recovered> {
    let io = |error| Task::OpenFolder(path.into()).refused(error);
    // The folder is checked before the lock file is created, because another program's folder must not be changed.
    if check(&*options.disk, path)?.is_none() {
        folder::make(&*options.disk, path)?;
    }
    // IMPORTANT: from this point on, the open handle identifies the folder, even if the folder's path changes.
    let held_disk = folder::hold(&options.disk, path)?;
    let disk = &*held_disk;
    let lock = |name| {
        disk.lock(&path.join(name)).map_err(|error| match error.kind() {
            ErrorKind::WouldBlock => Error::of(FolderFault::Open(path.into())),
            _ => io(error),
        })
    };
    let file = lock(manifest::LOCK)?;
    let version = check(disk, path)?;
    // The manifest is locked as well, because a cleanup script may remove the lock file. If it removed the manifest, the folder could no longer be opened.
    let mut manifest = if version.is_some() { lock(FORMAT)? } else { manifest::write(disk, path, FORMAT)? };
    // IMPORTANT: an earlier engine may have changed the folder without making the changes durable. They are made durable here, because the engine relies on
    // them from now on.
    disk.sync_dir(path).map_err(io)?;
    let names = disk.list(path).map_err(io)?;
    let records = Records::read(disk, path)?;
    let mut base = open_base(&options.place(&held_disk, path), &names)?;
    let (meta, engine) = (base.meta().clone(), base.engine());
    let mut replay = Replay::new(base.view());
    let numbers = names.iter().filter_map(|name| file::number(name)).filter(|number| *number >= meta.journal);
    let open = |number| disk.open(&file::path(path, number), false).map(|file| (number, file));
    let mut files: Vec<_> = numbers.map(open).collect::<std::io::Result<_>>().map_err(io)?;
    files.sort_unstable_by_key(|(number, _)| *number);
    let mut end = match replay_all(path, &files, &meta, records.mark(engine), &mut replay)? {
        Some(end) => end,
        None => End { tail: Journal::create(disk, path, 1, 1)?, torn: false, unsynced: file::HEADER },
    };
    // At this point, the folder is known to be intact, and nothing has been changed. The reserve's space stays free until the folder is open, because a
    // copy-on-write file system needs space even to overwrite the end of the journal.
    let journal_bytes = bytes_of(&files, &end).map_err(io)?;
    let reserve =
        Reserve::replace((&held_disk, &options.threads), path, options.memtable_bytes, journal_bytes);
    if version.is_some_and(|version| !version.is_current()) {
        // IMPORTANT: the manifest is replaced before anything is written in the new format, because engines that do not support the format must not open the
        // folder. The new manifest is locked before it replaces the old one, so one of them is always locked.
        manifest = manifest::write(disk, path, FORMAT)?;
    }
    // IMPORTANT: journal files and the record of synced frames are overwritten in place, so hard-linked ones are replaced with copies first. All other files
    // are never overwritten.
    let mut written: Vec<PathBuf> = files.iter().map(|(number, _)| file::path(path, *number)).collect();
    written.push(path.join(SYNCED));
    if folder::separate(disk, path, &written)? {
        end.tail.file = disk.open(&file::path(path, end.tail.number), false).map_err(io)?;
    }
    let left_over = base.left_over();
    folder::delete(disk, path, |name| {
        left_over(name)
            || name == folder::COPY_NEW
            || file::number(name).is_some_and(|number| number < meta.journal || number > end.tail.number)
    })?;
    let tail = mend(end)?;
    // IMPORTANT: the journal is durable before the base records that it exists.
    base.establish()?;
    let folder = PathBuf::from(path);
    reserve.set_base(base.file_bytes());
    // If the disk is full, the committer tries again later.
    let _ = reserve.restore();
    let synced = Synced::new(&held_disk, path, &records, engine);
    let place = (Arc::clone(&held_disk), folder);
    let journal = Journal::new(place, options.hook.clone(), Arc::clone(&reserve), tail, synced);
    let Replay { state, timestamp, dropped } = replay;
    Ok(Recovered {
        state,
        timestamp,
        dropped,
        disk: held_disk,
        reserve,
        journal,
        base,
        lock: Lock { _manifest: manifest, _file: file },
    })
}

/// Returns the version of an engine's folder, or `None` for an empty folder.
fn check(disk: &dyn Disk, path: &Path) -> Result<Option<Version>> {
    match manifest::check(disk, path)? {
        Folder::Empty => Ok(None),
        Folder::Engine(version) => Ok(Some(version)),
        Folder::Backup(_) => Err(Error::of(FolderFault::Backup(path.into()))),
    }
}

/// Returns `true` if a folder contains neither `BASE` nor any file that is created after `BASE`. In that case, an engine was interrupted while it was creating
/// the folder.
pub(crate) fn is_new(names: &[String]) -> bool {
    let is_later = |name: &str| {
        file::number(name).is_some()
            || base::is_run(name)
            || [RESERVE, SYNCED, folder::COPY_NEW].contains(&name)
    };
    !names.iter().any(|name| name == base::BASE || is_later(name))
}

fn open_base(place: &Place, names: &[String]) -> Result<Base> {
    if !is_new(names) {
        let mut base = Base::open(place)?;
        base.check_files(names);
        return Ok(base);
    }
    // IMPORTANT: the base is made durable before any later file is created. A folder with a later file but no base has therefore lost its base.
    let fresh =
        Meta { journal: 1, sequence: 1, timestamp: 0, catalog: Catalog::default(), dropped: Vec::new() };
    Base::create(place, fresh)
}

/// A replay of the journal on top of a base.
pub(crate) struct Replay {
    pub(crate) state: State,
    pub(crate) timestamp: u64,
    dropped: Vec<u32>,
}

impl Replay {
    /// Creates a replay that starts from a base.
    pub(crate) fn new(base: BaseView) -> Self {
        let (catalog, timestamp) = (base.meta().catalog.clone(), base.meta().timestamp);
        Self { timestamp, ..Self::of(State { catalog, base: Some(base), ..State::default() }) }
    }

    /// Creates a replay that starts from a given state.
    pub(crate) fn of(state: State) -> Self {
        Self { state, timestamp: 0, dropped: Vec::new() }
    }

    fn apply(&mut self, record: Record) {
        self.timestamp = self.timestamp.max(record.ticks());
        match record {
            Record::Write { changes, .. } => {
                for Change { key, row } in changes {
                    self.state.memtable.set(key, row);
                }
            }
            Record::Create { entry } => {
                if let Some(replaced) = self.state.catalog.add(entry) {
                    self.forget(replaced);
                }
            }
            Record::Drop { id, .. } => {
                self.state.catalog.remove(id);
                self.forget(id);
            }
        }
    }

    /// Removes the rows of a dropped table from memory.
    fn forget(&mut self, table: u32) {
        while self.state.memtable.remove_some(&Span::table(table), REMOVED) {}
        self.dropped.push(table);
    }
}

/// The state of a journal file after its last frame.
pub(crate) struct End {
    tail: Tail,
    /// `true` if bytes other than zeros follow the last frame.
    torn: bool,
    /// The first offset that is not known to have been synced.
    unsynced: u64,
}

/// Replays, in order, the journal files whose frames are not in the base. Returns `None` if the folder is new and has no journal file yet. `mark` is a position
/// in the journal. Everything before it is known to have been durable.
pub(crate) fn replay_all(
    path: &Path,
    files: &[(u64, Arc<dyn DiskFile>)],
    meta: &Meta,
    mark: Option<Mark>,
    replay: &mut Replay,
) -> Result<Option<End>> {
    let fresh = replay.state.base.as_ref().is_none_or(BaseView::is_new);
    let mut sequence = meta.sequence;
    let mut last: Option<End> = None;
    for (at, (expected, (number, file))) in (meta.journal..).zip(files).enumerate() {
        let number = *number;
        if number != expected {
            return Err(missing(path, expected));
        }
        let is_last = at + 1 == files.len();
        let mark = mark.filter(|mark| mark.journal == number);
        match (read_file(path, (number, file), sequence, mark, replay)?, &last) {
            // This file was created after its predecessor had been synced. The predecessor cannot end in a torn write, so it is corrupted.
            (Found::Later, Some(before)) => {
                return Err(reader::corrupted(&file::path(path, number - 1), before.tail.end));
            }
            // IMPORTANT: this file has no frames yet, so its predecessor is the end of the journal, and may be torn.
            (Found::Whole(end), Some(_)) if end.tail.end == file::HEADER && is_last => {}
            (Found::Whole(end), _) => {
                sequence = end.tail.sequence;
                last = Some(end);
            }
            // A crash or a full disk interrupted the creation of the file, so its predecessor is the end of the journal.
            (Found::Nothing, _) if is_last && (number > meta.journal || fresh) => {}
            (Found::Nothing | Found::Later, _) => {
                return Err(reader::corrupted(&file::path(path, number), 0));
            }
        }
    }
    if last.is_none() && !fresh {
        return Err(missing(path, meta.journal));
    }
    let found = last.as_ref().map_or(meta.sequence, |end| end.tail.sequence);
    // IMPORTANT: the journal lacks frames that were durable. An interrupted write cannot lose such frames, so the journal has been truncated or replaced by an
    // older one.
    if let Some(synced) = mark.map(|mark| mark.sequence).filter(|synced| *synced > found) {
        let number = last.as_ref().map_or(meta.journal, |end| end.tail.number);
        return Err(Error::of(JournalFault::Cut { file: file::path(path, number), found, synced }));
    }
    Ok(last)
}

/// Returns the error for a missing journal file.
fn missing(path: &Path, number: u64) -> Error {
    Error::of(JournalFault::Missing(file::path(path, number)))
}

/// The result of reading a journal file.
enum Found {
    Whole(End),
    /// The file was created but never written, because a crash or a full disk interrupted its creation.
    Nothing,
    /// The file begins with a later frame than expected. The frames in between are missing.
    Later,
}

/// Replays the frames of one journal file.
fn read_file(
    folder: &Path,
    (number, file): (u64, &Arc<dyn DiskFile>),
    sequence: u64,
    mark: Option<Mark>,
    replay: &mut Replay,
) -> Result<Found> {
    let path = file::path(folder, number);
    let io = |error| Task::ReadJournal(path.clone()).failed(error);
    let filled = file.len().map_err(io)?;
    let header = || {
        let mut bytes = vec![0; usize::try_from(filled.min(file::HEADER)).unwrap_or_default()];
        file.read_at(0, &mut bytes).map_err(io)?;
        Ok::<_, Error>(FileHeader::read(&bytes).filter(|header| header.number == number))
    };
    let Some(found) = header()? else {
        // A header is made durable before anything is written after it. A file that is longer than a header must therefore have a complete header.
        return if filled > file::HEADER { Err(reader::corrupted(&path, 0)) } else { Ok(Found::Nothing) };
    };
    let salt = found.salt;
    match reader::first(&path, &**file, salt, filled)? {
        Some(first) if first < sequence => return Err(reader::corrupted(&path, file::HEADER)),
        first if first.unwrap_or(found.sequence) > sequence => return Ok(Found::Later),
        _ => {}
    }
    let end = reader::read(&path, file, salt, sequence, mark, |record| {
        replay.apply(record);
        Ok(())
    })?;
    // IMPORTANT: if a concurrent writer reused the file during the read, the file seems to end too early.
    if header()? != Some(found) {
        return Err(reader::corrupted(&path, 0));
    }
    let reader::End { offset, sequence, is_closed, frames, .. } = end;
    let tail =
        Tail { number, file: Arc::clone(file), salt, end: offset, filled, sequence, is_closed, frames };
    Ok(Found::Whole(End { tail, torn: !end.clean, unsynced: end.unsynced }))
}

/// Returns the size of the journal in bytes. `end` describes its last file.
fn bytes_of(files: &[(u64, Arc<dyn DiskFile>)], end: &End) -> std::io::Result<u64> {
    let earlier = files.iter().filter(|(number, _)| *number < end.tail.number);
    Ok(earlier.map(|(_, file)| file.len()).sum::<std::io::Result<u64>>()? + end.tail.end)
}

/// Truncates an interrupted write at the end of the journal, and makes the replayed frames durable.
fn mend(end: End) -> Result<Tail> {
    let End { mut tail, torn, unsynced } = end;
    let refused = |error| Task::MendJournal.refused(error);
    if torn {
        tail.file.set_len(tail.end).map_err(refused)?;
        tail.filled = tail.end;
    }
    // IMPORTANT: the replayed frames are about to become visible, but may exist only in the operating system's cache. After a failed sync, the system may
    // consider them written and would not write them again, so they are rewritten before this sync.
    let mut bytes = vec![0; usize::try_from(tail.end.saturating_sub(unsynced)).unwrap_or_default()];
    tail.file.read_at(unsynced, &mut bytes).map_err(refused)?;
    tail.file.write_at(unsynced, &bytes).map_err(refused)?;
    tail.file.sync_data().map_err(|error| Task::MendJournal.failed(error))?;
    Ok(tail)
}
