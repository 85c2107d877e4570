//! Reads of all kinds. Their results are compared with the model.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use rand::RngExt;
use table_core::embedded::{Engine, Snapshot};
use table_core::query::{Continuation, KeyRange, Page, Query, Select};
use table_core::{ETag, ErrorCode, Result, TableStore};

use super::History;
use super::rest::MOST_LAYERS;
use crate::sim::model::{Number, Place, State, Table, Wrong};
use crate::sim::rows;

/// A scan that is continued page by page. Other events happen between its pages.
pub(super) struct Scan {
    table: u8,
    from: Option<Continuation>,
    /// The first position that the scan has not read yet.
    start: Option<Place>,
    /// The operations that may have created the table from which the first page was read.
    made: BTreeSet<Number>,
}

/// A snapshot, and the states it may show.
pub(super) struct Kept {
    snapshot: Snapshot,
    states: Vec<Arc<State>>,
}

fn all() -> Query {
    Query::new(KeyRange::ALL)
}

/// Returns the rows of a table from one position (inclusive) to another (exclusive).
fn within(table: &Table, start: Option<Place>, end: Option<Place>) -> Vec<(Place, Number)> {
    let start = start.map_or(Bound::Unbounded, Bound::Included);
    let end = end.map_or(Bound::Unbounded, Bound::Excluded);
    table.rows().range((start, end)).map(|(place, number)| (*place, *number)).collect()
}

impl History {
    /// Records the version of a row. Each operation creates one version. No two versions of a row may be equal.
    pub(super) fn note_version(
        &mut self,
        table: u8,
        place: Place,
        number: Number,
        etag: &ETag,
    ) -> Result<(), Wrong> {
        let known = self.etags.entry(number).or_insert_with(|| etag.clone());
        if known != etag {
            return Err(Wrong(format!("operation {number} gave the versions {known} and {etag}")));
        }
        let ticks = etag.ticks().unwrap_or_default();
        match self.versions.insert((table, place, ticks), number) {
            Some(other) if other != number => Err(Wrong(format!(
                "operations {other} and {number} on {place:?} gave the same version {etag}"
            ))),
            _ => Ok(()),
        }
    }

    /// Returns `true` if an event in the history allows a read to fail with this error.
    pub(super) fn may_fail(&self, error: &table_core::Error) -> bool {
        match error.code() {
            _ if self.disk.has_lost_power() => true,
            ErrorCode::Corrupted => self.excuses.is_damaged(),
            ErrorCode::ServerBusy => self.lacks_resources(),
            ErrorCode::EngineClosed => self.excuses.closing,
            _ => false,
        }
    }

    /// Returns `true` if the history allows a read of a table to fail with this error.
    ///
    /// A corrupted file affects only the tables that it may contain. While a request deletes or creates the table, the read may have begun in a table that no
    /// longer exists.
    fn may_fail_in(&self, engine: &Engine, number: u8, error: &table_core::Error) -> bool {
        let Ok(table) = rows::table(number) else { return false };
        let text = error.to_string();
        let file =
            text.split_whitespace().find(|word| Path::new(word).extension().is_some_and(|end| end == "rows"));
        let is_elsewhere = |file: &str| engine.may_be_in(&table, file).is_ok_and(|may_be| !may_be);
        let is_other = error.code() == ErrorCode::Corrupted && file.is_some_and(is_elsewhere);
        self.may_fail(error) && (!is_other || self.disk.has_lost_power() || self.may_be_replaced(number))
    }

    /// Returns `true` if the possible states disagree about a table. Either it exists in only some of them, or different requests have created it.
    fn may_be_replaced(&self, number: u8) -> bool {
        let states = self.model.states();
        let made = states.iter().map(|state| state.tables.get(&number).map(|table| table.made));
        made.collect::<BTreeSet<_>>().len() > 1
    }

    /// Reads while the engine is being closed, and afterwards. Each read must return the correct result, or fail with `EngineClosed`.
    pub(super) fn read_beside_close(&mut self, engine: &Engine) -> Result<(), Wrong> {
        match self.random.random_range(0..4) {
            0 => self.look_up(engine),
            1 => self.read_on(engine),
            2 => self.list(engine),
            _ => Ok(()),
        }
    }

    pub(super) fn look_up(&mut self, engine: &Engine) -> Result<(), Wrong> {
        let table = self.random.random_range(0..self.shape.tables);
        let place = (
            self.random.random_range(0..self.shape.partitions),
            self.random.random_range(0..self.shape.rows),
        );
        let (Ok(name), Ok(key)) = (rows::table(table), self.shape.key(place)) else { return Ok(()) };
        let found = pollster::block_on(engine.get(&name, &key, &Select::All));
        let what = match found {
            Ok(Some(stored)) => {
                let number = self.shape.number(stored.row.view()).map_err(Wrong)?;
                self.note_version(table, place, number, &stored.etag)?;
                Ok(Some(number))
            }
            Ok(None) => Ok(None),
            Err(error) if is_missing(&error) => Err(error.code()),
            Err(error) if self.may_fail_in(engine, table, &error) => return Ok(()),
            Err(error) => return Err(Wrong(format!("a look-up of table {table} received {error}"))),
        };
        self.seen.reads += 1;
        self.schedule.note((table, place, what.ok()));
        let agrees = |state: &State| match state.missing(table) {
            Some(code) => what == Err(code),
            None => state.tables.get(&table).map(|table| table.rows().get(&place).copied()) == what.ok(),
        };
        self.model.observe(agrees, || format!("{place:?} of table {table} is {what:?}"))
    }

    /// Continues the scan in progress, or starts a new one.
    pub(super) fn read_on(&mut self, engine: &Engine) -> Result<(), Wrong> {
        let table = self.random.random_range(0..self.shape.tables);
        let scan = self.scan.take();
        let scan = scan.unwrap_or(Scan { table, from: None, start: None, made: BTreeSet::new() });
        let Ok(name) = rows::table(scan.table) else { return Ok(()) };
        let page = pollster::block_on(engine.query(&name, &all(), scan.from.as_ref()));
        self.scan = self.take_page(engine, scan, page)?;
        Ok(())
    }

    /// Compares a page with the model. Returns the scan with its next position, or `None` if it has ended.
    fn take_page(
        &mut self,
        engine: &Engine,
        mut scan: Scan,
        page: Result<Page>,
    ) -> Result<Option<Scan>, Wrong> {
        let number = scan.table;
        let page = match page {
            Ok(page) => page,
            Err(error) if is_missing(&error) => {
                let agrees = |state: &State| state.missing(number) == Some(error.code());
                self.model.observe(agrees, || format!("a read of table {number} received {error}"))?;
                return Ok(None);
            }
            Err(error) if error.rule() == Some("PAGE-9") && scan.from.is_some() => {
                // If the name now refers to a different table, the scan ends.
                let others = |state: &State| {
                    let made = state.tables.get(&number).map(|table| table.made);
                    made.is_some_and(|made| scan.made.len() > 1 || !scan.made.contains(&made))
                };
                self.model.observe(others, || format!("a scan of table {number} received {error}"))?;
                return Ok(None);
            }
            Err(error) if self.may_fail_in(engine, number, &error) => return Ok(None),
            Err(error) => return Err(Wrong(format!("a page of table {number} received {error}"))),
        };
        let found = self.rows_of(number, &page)?;
        let end = page.continuation.as_ref().map(|next| position(&scan, next)).transpose()?;
        self.seen.reads += 1;
        self.schedule.note((number, &found));
        let (start, first) = (scan.start, scan.from.is_none());
        let agrees = |state: &State| {
            state.tables.get(&number).is_some_and(|table| {
                (first || scan.made.contains(&table.made)) && within(table, start, end) == found
            })
        };
        self.model.observe(agrees, || format!("from {start:?} to {end:?} table {number} has {found:?}"))?;
        let states = self.model.states();
        if first {
            let agrees = states.iter().filter(|state| agrees(state));
            scan.made =
                agrees.filter_map(|state| state.tables.get(&number)).map(|table| table.made).collect();
        }
        (scan.from, scan.start) = (page.continuation, end);
        Ok(scan.from.is_some().then_some(scan))
    }

    /// Returns the rows of a page. Each row must be exactly as it was written.
    fn rows_of(&mut self, table: u8, page: &Page) -> Result<Vec<(Place, Number)>, Wrong> {
        let mut found = Vec::new();
        for entity in page.rows.iter() {
            let number = self.shape.number(entity.row).map_err(Wrong)?;
            let place = rows::place(entity.partition_key, entity.row_key).ok_or_else(|| {
                Wrong(format!("a row has the key {} {}", entity.partition_key, entity.row_key))
            })?;
            self.note_version(table, place, number, &entity.etag())?;
            found.push((place, number));
        }
        Ok(found)
    }

    pub(super) fn list(&mut self, engine: &Engine) -> Result<(), Wrong> {
        let page = pollster::block_on(engine.list_tables("", None, 1_000));
        let names = match page {
            // Some tables were not created by the history, such as tables of an earlier release. Their names have a different first letter.
            Ok(page) => {
                page.names.into_iter().filter(|name| name.as_str().starts_with("Table")).collect::<Vec<_>>()
            }
            Err(error) if self.may_fail(&error) => return Ok(()),
            Err(error) => return Err(Wrong(format!("a list of tables received {error}"))),
        };
        self.model.observe(
            |state| {
                let tables = state.tables.keys().filter_map(|number| rows::table(*number).ok());
                tables.eq(names.iter().cloned())
            },
            || format!("the tables are {names:?}"),
        )
    }

    /// Takes a snapshot, or reads from the existing snapshot and possibly drops it.
    pub(super) fn use_snapshot(&mut self, engine: &Engine) -> Result<(), Wrong> {
        let Some(Kept { snapshot, states }) = self.snapshot.take() else {
            let Ok(snapshot) = engine.snapshot() else {
                return Err(Wrong("no snapshot is given".to_owned()));
            };
            self.snapshot = Some(Kept { snapshot, states: self.model.states() });
            return Ok(());
        };
        let number = self.random.random_range(0..self.shape.tables);
        let Ok(name) = rows::table(number) else { return Ok(()) };
        let (mut found, mut from) = (Some(BTreeMap::new()), None);
        loop {
            match snapshot.query(&name, &all(), from.as_ref()) {
                Ok(page) => {
                    let rows = self.rows_of(number, &page)?;
                    found.get_or_insert_default().extend(rows);
                    from = page.continuation;
                }
                Err(error) if is_missing(&error) => (found, from) = (None, None),
                Err(error) if self.may_fail(&error) => return Ok(()),
                Err(error) => return Err(Wrong(format!("a snapshot received {error}"))),
            }
            if from.is_none() {
                break;
            }
        }
        let agrees =
            |state: &Arc<State>| state.tables.get(&number).map(|table| table.rows()) == found.as_ref();
        let states: Vec<_> = states.into_iter().filter(agrees).collect();
        if states.is_empty() {
            return Err(Wrong(format!("a snapshot of table {number} has {found:?}")));
        }
        self.seen.reads += 1;
        self.snapshot = self.random.random::<bool>().then_some(Kept { snapshot, states });
        Ok(())
    }

    /// Checks that all checksums are correct, unless data was changed without the engine's knowledge.
    pub(super) fn verify(&mut self, engine: &Engine) -> Result<(), Wrong> {
        if !self.has_failed() {
            self.check_bounds(engine, MOST_LAYERS)?;
        }
        let found = match engine.verify() {
            Err(error) if error.code() == ErrorCode::ServerBusy && self.lacks_resources() => return Ok(()),
            found => found.map_err(|error| Wrong(format!("a verification received {error}")))?,
        };
        match found.damage.first() {
            Some(damage) if damage.code() == ErrorCode::ServerBusy || !self.may_fail(damage) => {
                Err(Wrong(format!("a verification finds {damage}")))
            }
            _ => Ok(()),
        }
    }

    /// Reads all tables and the list of tables.
    pub(super) fn look_at_everything(&mut self, engine: &Engine) -> Result<(), Wrong> {
        if self.disk.has_lost_power() {
            return Ok(());
        }
        self.list(engine)?;
        self.count_messages(engine)?;
        self.check_earlier_rows(engine)?;
        for table in 0..self.shape.tables {
            let Ok(name) = rows::table(table) else { continue };
            let mut scan = Some(Scan { table, from: None, start: None, made: BTreeSet::new() });
            while let Some(next) = scan {
                let page = pollster::block_on(engine.query(&name, &all(), next.from.as_ref()));
                scan = self.take_page(engine, next, page)?;
            }
        }
        self.verify(engine)
    }
}

/// Returns `true` if the error means that a table does not exist or is being deleted.
fn is_missing(error: &table_core::Error) -> bool {
    matches!(error.code(), ErrorCode::TableNotFound | ErrorCode::TableBeingDeleted)
}

/// Returns the start position of the next page.
fn position(scan: &Scan, next: &Continuation) -> Result<Place, Wrong> {
    let name = rows::table(scan.table).map_err(|error| Wrong(error.to_string()))?;
    let position =
        next.position(&name, &all()).map_err(|error| Wrong(format!("a token received {error}")))?;
    let place = position.row_key.as_deref().and_then(|row| rows::place(&position.partition_key, row));
    place.ok_or_else(|| Wrong(format!("a token stands at {position:?}")))
}
