//! Imports a tenant from an export's lines, into the same partitions or into other partitions.

#[cfg(feature = "blobs")]
mod blob_parts;
mod finish;
#[cfg(not(feature = "blobs"))]
mod no_blob_parts;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use table_core::key::{EntityKey, PartitionKey};
use table_core::name::TableName;
use table_core::odata::{Sender, read_entity};
use table_core::table::Table;
use table_core::{Error, Result};

use crate::migrate::Copied;
use crate::migrate::guard::sets_back;
use crate::migrate::register::Kind;
use crate::outbox::guard::GUARD_PREFIX;
use crate::tenant::Tenant;
use crate::tenant::fault::TenantFault;
use crate::tenant::incoming::{Incoming, entity};
#[cfg(feature = "blobs")]
use crate::tenant::incoming_blobs::IncomingBlobs;
use crate::tenant::line::{End, FORMAT, Header, HeaderPlace, Line, RowLine};
use crate::tenant::place::Place;
use crate::tenant::schemas::LackingOf;
use crate::tenant::transfer;

/// An import in progress. Created by [`Tenant::import`].
///
/// When [`push`](Self::push) returns, the lines passed to it are stored, except for a blob whose last part has not been passed yet. A push writes consecutive
/// rows of one partition in transactions of up to 100 rows, so pass many lines in each call. To continue after an interruption, push the header and then the
/// export from any earlier line: rows already stored are written again, except for sequences and feeds that have issued later numbers. A blob must be pushed
/// again from its first part: a later part is refused if the earlier parts have not been pushed to the same import. A push that failed, or whose future was
/// dropped, can be repeated, even if it contains the header. If the push failed or was dropped while writing a part of a blob begun in an earlier push, the
/// repeated push is refused: push from the blob's first part.
///
/// ```
/// use table_patterns::Result;
/// use table_patterns::tenant::Tenant;
///
/// /// Imports an export that fits in memory.
/// async fn read(tenant: &Tenant, text: &str) -> Result<u64> {
///     let mut import = tenant.import();
///     import.push(text).await?;
///     Ok(import.finish().await?.rows)
/// }
/// ```
pub struct Import<'a> {
    tenant: &'a Tenant,
    /// The header of the export; `None` until it has been pushed.
    header: Option<Header>,
    /// The parts of the types' schemas for which the export may lack derived rows.
    lacking: LackingOf,
    resumes: bool,
    /// `true` if the target's sequences and feeds may have issued later numbers than the export contains.
    may_be_later: bool,
    /// The number of the line being processed.
    line: u64,
    imported: Imported,
    /// The numbers of lines, rows and blobs in successful pushes.
    pushed: Pushed,
    /// The last line of the export; `None` until it has been pushed.
    end: Option<End>,
    /// The tables opened by this import, with the opened handles. The keys are the index of the location in the tenant, and the name of the table.
    opened: BTreeMap<(usize, String), Place>,
    /// The partitions registered by this import for feed followers and for sweeps.
    registered: BTreeSet<(Kind, String, PartitionKey)>,
    /// The blobs of which some parts have been pushed, but not the last one.
    unfinished: BTreeSet<String>,
    #[cfg(feature = "blobs")]
    blobs: IncomingBlobs,
}

/// The numbers of pushed lines, rows and blobs. A line pushed twice counts twice.
#[derive(Clone, Copy, Debug, Default)]
struct Pushed {
    lines: u64,
    rows: u64,
    blobs: u64,
}

/// The result of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Imported {
    /// The number of rows written to the tenant's partitions.
    pub rows: u64,
    /// The number of blobs written.
    pub blobs: u64,
    /// The number of blobs referenced by rows but missing during the export.
    pub missing_blobs: u64,
    /// The number of rows that the export lacks because the exporting store cannot represent them; see
    /// [`ExportPosition::skipped_rows`](super::ExportPosition::skipped_rows).
    pub skipped_rows: u64,
    /// The number of derived rows written to other partitions and tables.
    pub remote_rows: u64,
}

impl Tenant {
    /// Creates an import. Sends no request. The tenant's partitions must be empty, and their blobs must not be in a folder used by the tenant in another table
    /// store. Stop their writers first.
    #[must_use]
    pub fn import(&self) -> Import<'_> {
        Import {
            tenant: self,
            header: None,
            lacking: LackingOf::new(),
            resumes: false,
            may_be_later: false,
            line: 0,
            imported: Imported::default(),
            pushed: Pushed::default(),
            end: None,
            opened: BTreeMap::new(),
            registered: BTreeSet::new(),
            unfinished: BTreeSet::new(),
            #[cfg(feature = "blobs")]
            blobs: IncomingBlobs::default(),
        }
    }

    /// Copies the tenant to another store, or to other partitions in the same store. An interrupted copy cannot be continued: erase the target and repeat
    /// the copy. For a copy that can be continued, push an export's lines to an import that [resumes](Import::resume).
    ///
    /// # Errors
    /// `EntityAlreadyExists` if the blobs of both tenants are in the same folder of the same blob store; any error from [`Export::step`](super::Export::step), [`Import::push`] or [`Import::finish`].
    pub async fn copy_to(&self, target: &Self) -> Result<Imported> {
        #[cfg(feature = "blobs")]
        self.check_other_folders(target)?;
        let (mut export, mut import) = (self.export(), target.import());
        while let Some(lines) = export.step().await? {
            import.push(&lines).await?;
        }
        import.finish().await
    }
}

impl Import<'_> {
    /// Continues an interrupted import: the tenant's partitions may contain rows and blobs.
    #[must_use]
    pub fn resume(self) -> Self {
        Self { resumes: true, may_be_later: true, ..self }
    }

    /// Stores the next lines of an export.
    ///
    /// # Errors
    /// - `EntityAlreadyExists` if the tenant already has rows or blobs, and the import does not [resume](Self::resume) an earlier import. The blobs may belong
    ///   to the tenant in another table store.
    /// - `InvalidInput` if the text does not consist of lines from an export with the same tables, or if a partition would get a different name and one of its
    ///   rows contains the old name or is a recorded step.
    /// - `InvalidInput` if a blob part is pushed before the earlier parts have been pushed to this import, or if the blob store failed at an earlier part; push
    ///   the export again from the blob's first part.
    /// - `InvalidInput` if a row or a blob belongs to a partition outside the exported tenant.
    /// - `SchemaMismatch` if this program could not read the exported rows, because its types have different keys or properties, or if a newer release prevents
    ///   this program from writing.
    /// - `FormatTooNew` if a newer release wrote the export.
    /// - Any error from the stores. The push can be repeated. If the blob store failed within a blob begun in an earlier push, push from the blob's first part.
    pub async fn push(&mut self, lines: &str) -> Result<()> {
        // IMPORTANT: lines in a push that failed or was dropped are not counted, because they may not be stored.
        let mut pushed = self.pushed;
        self.line = pushed.lines;
        let (mut rows, mut end) = (Vec::<(usize, Incoming)>::new(), None);
        for text in lines.lines() {
            self.line += 1;
            let line = self.line;
            let parsed =
                serde_json::from_str(text).map_err(|source| Error::of(TenantFault::Line { line, source }))?;
            match parsed {
                Line::Tenant(header) if self.header.is_none() => self.begin(header).await?,
                Line::Tenant(header) if self.header.as_ref() == Some(&header) => {}
                Line::Row(row) if self.header.is_some() => {
                    rows.extend(self.incoming(&row)?);
                    pushed.rows += 1;
                }
                Line::Blob(part) if self.header.is_some() => {
                    pushed.blobs += u64::from(self.blob(line, part).await?);
                }
                Line::End(found) if self.header.is_some() => end = Some(found),
                _ => return Err(Error::of(TenantFault::Order { line })),
            }
        }
        while !rows.is_empty() {
            let (place, table) = match rows.first() {
                Some((place, row)) => (*place, row.table.clone()),
                None => break,
            };
            let is_same_table = |(at, row): &(usize, Incoming)| *at == place && row.table == table;
            let end = rows.iter().position(|row| !is_same_table(row)).unwrap_or(rows.len());
            let some: Vec<_> = rows.drain(..end).map(|(_, row)| row).collect();
            self.write(place, &table, some).await?;
        }
        #[cfg(feature = "blobs")]
        self.blobs.end_push();
        self.pushed = Pushed { lines: self.line, ..pushed };
        if let Some(end) = end {
            self.end = Some(end);
            (self.imported.missing_blobs, self.imported.skipped_rows) = (end.missing, end.skipped);
        }
        Ok(())
    }

    /// Returns the tables and partitions of the exported tenant. The result is empty until the header has been pushed.
    fn places(&self) -> &[HeaderPlace] {
        self.header.as_ref().map_or(&[], |header| &header.places)
    }

    /// Checks that the exported tenant has the same tables as this tenant, with the same kind of partitions (single or by prefix) in each table, and that this
    /// program can read the exported rows.
    async fn begin(&mut self, header: Header) -> Result<()> {
        let Header { format, places, schemas } = &header;
        if *format > FORMAT {
            return Err(Error::of(TenantFault::Format { found: *format, known: FORMAT }));
        }
        self.tenant.check()?;
        let own = self.tenant.header()?;
        if own.len() != places.len() {
            return Err(Error::of(TenantFault::Places { found: places.len(), own: own.len() }));
        }
        for (place, (own, found)) in own.iter().zip(places).enumerate() {
            if own.table()?.folded() != found.table()?.folded() {
                return Err(Error::of(TenantFault::OtherTable { place, found: found.table()? }));
            }
            let is_same_kind =
                own.partitions.iter().zip(&found.partitions).all(|(own, found)| own.is_same_kind(found));
            if !is_same_kind || own.partitions.len() != found.partitions.len() {
                return Err(Error::of(TenantFault::OtherPartitions { place }));
            }
        }
        let lacking = self.tenant.lacking(schemas)?;
        if !self.resumes && !self.tenant.is_empty().await? {
            return Err(Error::of(TenantFault::NotEmpty));
        }
        #[cfg(feature = "blobs")]
        if !self.resumes {
            self.tenant.check_no_blobs().await?;
        }
        (self.header, self.lacking) = (Some(header), lacking);
        Ok(())
    }

    /// Returns the location (tables and partitions) in this tenant that receives an imported row, and the row's new PartitionKey.
    pub(super) fn moved(&self, place: usize, partition_key: &str) -> Result<(&Place, PartitionKey)> {
        let (Some(from), Some(to)) = (self.places().get(place), self.tenant.places.get(place)) else {
            return Err(Error::of(TenantFault::Order { line: self.line }));
        };
        let mut pairs = from.partitions.iter().zip(&to.partitions);
        let moved = pairs.find_map(|(from, to)| from.moved(to, partition_key));
        let moved = moved.ok_or_else(|| Error::of(TenantFault::Outside))?;
        Ok((to, PartitionKey::new(moved)?))
    }

    /// Parses a row line. Returns the row and the index of the location into which it is imported. Returns `None` for a row that the import derives itself (an
    /// export by a program that does not declare the index contains such rows), and for the guard of a row that moves to another partition. Steps cannot be
    /// imported into another partition, so such a guard has no use.
    fn incoming(&self, line: &RowLine) -> Result<Option<(usize, Incoming)>> {
        let mut body = read_entity(line.entity.to_string().as_bytes(), Sender::Client)?;
        let from = body.take_key()?;
        let (place, partition_key) = self.moved(line.place, from.partition_key.as_str())?;
        let table = TableName::new(&line.table)?;
        if !place.has(&table) {
            return Err(Error::of(TenantFault::OtherTable { place: line.place, found: table }));
        }
        let to = EntityKey { partition_key, row_key: from.row_key.clone() };
        if from != to && from.row_key.as_str().starts_with(GUARD_PREFIX) {
            return Ok(None);
        }
        if self.tenant.is_remote_row(place, &table, entity(&from, &body.row)) {
            return Ok(None);
        }
        let incoming = Incoming { table, from, to, row: body.row };
        let row = transfer::moved(place, &incoming).map_err(|error| {
            let key = &incoming.from;
            error.with_table(&line.table).with_key(key.partition_key.as_str(), key.row_key.as_str())
        })?;
        Ok(Some((line.place, Incoming { row, ..incoming })))
    }

    /// Returns a location whose types have opened handles to one of its tables. The table is created if it does not exist.
    async fn open(&mut self, at: usize, table: &TableName) -> Result<Place> {
        let (tenant, line) = (self.tenant, self.line);
        let place = tenant.places.get(at).ok_or_else(|| Error::of(TenantFault::Order { line }))?;
        let key = (at, table.folded().to_owned());
        if let Some(opened) = self.opened.get(&key) {
            return Ok(opened.clone());
        }
        // IMPORTANT: each type stores its schema while the table is empty. Otherwise, the type's indexes would be considered incomplete.
        let mut members = Vec::with_capacity(place.members.len());
        for member in &place.members {
            members.push(member.open(table).await?);
        }
        for member in &members {
            if let Some(lacking) = self.lacking.get(&(at, member.schema().entity)) {
                member.note_pending(lacking).await?;
            }
        }
        let opened = Place { members, ..place.clone() };
        self.opened.insert(key, opened.clone());
        Ok(opened)
    }

    /// Writes imported rows to a table of the location with the index `at`.
    async fn write(&mut self, at: usize, table: &TableName, rows: Vec<Incoming>) -> Result<()> {
        let place = self.open(at, table).await?;
        let mut copied = Vec::with_capacity(rows.len());
        for Incoming { to, row, .. } in rows {
            let (to, row) = transfer::resumed(to, row)?;
            // A row from the export must not rewind a sequence or feed that has issued numbers since an earlier import.
            if self.may_be_later && sets_back(&place.store, table, entity(&to, &row)).await? {
                continue;
            }
            if let Some(kind) = Kind::of(to.row_key.as_str()) {
                self.register(kind, &place, table, &to.partition_key).await?;
            }
            let row = transfer::sealed(&place, table, &to, row).await?;
            copied.push(Copied::new(to, row));
        }
        // IMPORTANT: a newer release's backfill assumes that older programs no longer write, so each type's schema is checked before the write.
        let watches = place.members.iter().map(|member| member.schema_watch());
        let target = Table::<Copied, _>::new(place.store.clone(), table.clone()).watched_by(watches);
        target.bulk().insert_or_replace_all(&copied).await.map_err(|stopped| stopped.source)?;
        self.imported.rows += u64::try_from(copied.len()).unwrap_or(u64::MAX);
        Ok(())
    }

    /// Registers a partition, unless this import has already done so.
    async fn register(
        &mut self,
        kind: Kind,
        place: &Place,
        table: &TableName,
        partition_key: &PartitionKey,
    ) -> Result<()> {
        let partition = (kind, table.folded().to_owned(), partition_key.clone());
        if !self.registered.contains(&partition) {
            kind.register(&place.store, table, partition_key).await?;
            // IMPORTANT: the partition is remembered only after the request has succeeded. If the request failed or the push was dropped, the repeated push
            // registers the partition.
            self.registered.insert(partition);
        }
        Ok(())
    }
}

impl fmt::Debug for Import<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Import")
            .field("line", &self.line)
            .field("imported", &self.imported)
            .finish_non_exhaustive()
    }
}
