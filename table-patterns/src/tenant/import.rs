//! Imports a tenant from an export's lines, into the same partitions or into other partitions.

use std::collections::BTreeSet;
use std::fmt;

#[cfg(feature = "blobs")]
use base64::Engine as _;
#[cfg(feature = "blobs")]
use base64::engine::general_purpose::STANDARD;
use futures_util::FutureExt;
use table_core::key::{EntityKey, PartitionKey};
use table_core::name::TableName;
use table_core::odata::{Sender, read_entity};
use table_core::query::Select;
use table_core::table::Table;
use table_core::{Error, Result};

use crate::failure::Failure;
use crate::migrate::Copied;
use crate::migrate::register::Kind;
use crate::outbox::guard::GUARD_PREFIX;
use crate::requests::{self, CONCURRENCY};
use crate::tenant::Tenant;
use crate::tenant::fault::TenantFault;
use crate::tenant::incoming::Incoming;
use crate::tenant::line::{BlobLine, FORMAT, Header, HeaderPlace, Line, RowLine};
#[cfg(feature = "blobs")]
use crate::tenant::open_blob::OpenBlob;
use crate::tenant::place::{Place, all_rows};
use crate::tenant::transfer;

/// An import in progress. Created by [`Tenant::import`].
///
/// When [`push`](Self::push) returns, the lines passed to it are stored, except for a blob whose last part has not been passed yet. A push writes
/// consecutive rows of one partition in transactions of up to 100 rows, so pass many lines in each call. To continue after an interruption, push the header
/// and then the export from any earlier line: rows that are already stored are written again. A blob is continued from its first part. A later part is
/// refused if the earlier parts have not been pushed to the same import.
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
    /// The tables and partitions of the exported tenant, from the header; `None` until the header has been pushed.
    from: Option<Vec<HeaderPlace>>,
    resumes: bool,
    line: u64,
    imported: Imported,
    /// The number of rows that have been pushed.
    pushed: u64,
    /// The number of exported rows; `None` until the last line has been pushed.
    exported: Option<u64>,
    /// The tables that this import has opened, each with its place's index in the tenant and its name.
    opened: BTreeSet<(usize, String)>,
    /// The partitions that this import has registered for feed followers and for sweeps.
    registered: BTreeSet<(Kind, String, PartitionKey)>,
    #[cfg(feature = "blobs")]
    open: Option<OpenBlob>,
}

/// The result of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Imported {
    /// The number of rows written to the tenant's partitions.
    pub rows: u64,
    /// The number of blobs that were written.
    pub blobs: u64,
    /// The number of blobs that are referenced by rows but were missing during the export.
    pub missing_blobs: u64,
    /// The number of derived rows written to other partitions and tables.
    pub remote_rows: u64,
}

impl Tenant {
    /// Creates an import. Sends no request. The tenant's partitions must be empty, and their blobs must not be in a folder that the tenant uses in another table
    /// store. Stop their writers first.
    #[must_use]
    pub fn import(&self) -> Import<'_> {
        Import {
            tenant: self,
            from: None,
            resumes: false,
            line: 0,
            imported: Imported::default(),
            pushed: 0,
            exported: None,
            opened: BTreeSet::new(),
            registered: BTreeSet::new(),
            #[cfg(feature = "blobs")]
            open: None,
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
    /// Allows the tenant's partitions to contain rows and blobs, so that an interrupted import can be continued.
    #[must_use]
    pub fn resume(self) -> Self {
        Self { resumes: true, ..self }
    }

    /// Stores the next lines of an export.
    ///
    /// # Errors
    /// - `EntityAlreadyExists` if the tenant already has rows or blobs, and the import does not [resume](Self::resume) an earlier import. The blobs may belong
    ///   to the tenant in another table store.
    /// - `InvalidInput` if the text does not consist of lines from an export with the same tables, or if a partition would get a different name and one of its
    ///   rows contains the old name or is a recorded step.
    /// - `InvalidInput` if a blob part is pushed before the earlier parts have been pushed to this import; push the export again from the blob's first part.
    /// - `FormatTooNew` if a newer release wrote the export.
    /// - Any error from the stores.
    pub async fn push(&mut self, lines: &str) -> Result<()> {
        let mut rows: Vec<(usize, Incoming)> = Vec::new();
        for text in lines.lines() {
            self.line += 1;
            let line = self.line;
            let parsed =
                serde_json::from_str(text).map_err(|source| Error::of(TenantFault::Line { line, source }))?;
            match parsed {
                Line::Tenant(header) if self.from.is_none() => self.begin(header).await?,
                Line::Row(row) if self.from.is_some() => {
                    rows.extend(self.incoming(&row)?);
                    self.pushed += 1;
                }
                Line::Blob(part) if self.from.is_some() => self.blob(part).await?,
                Line::End(end) if self.from.is_some() => {
                    (self.exported, self.imported.missing_blobs) = (Some(end.rows), end.missing);
                }
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
        Ok(())
    }

    /// Checks that the exported tenant has the same tables as this tenant, with the same kind of partitions (single or by prefix) in each table.
    async fn begin(&mut self, header: Header) -> Result<()> {
        let Header { format, places } = header;
        if format > FORMAT {
            return Err(Error::of(TenantFault::Format { found: format, known: FORMAT }));
        }
        self.tenant.check()?;
        let own = self.tenant.header()?;
        if own.len() != places.len() {
            return Err(Error::of(TenantFault::Places { found: places.len(), own: own.len() }));
        }
        for (place, (own, found)) in own.iter().zip(&places).enumerate() {
            if own.table()?.folded() != found.table()?.folded() {
                return Err(Error::of(TenantFault::OtherTable { place, found: found.table()? }));
            }
            let is_same_kind =
                own.partitions.iter().zip(&found.partitions).all(|(own, found)| own.is_same_kind(found));
            if !is_same_kind || own.partitions.len() != found.partitions.len() {
                return Err(Error::of(TenantFault::OtherPartitions { place }));
            }
        }
        if !self.resumes && !self.tenant.is_empty().await? {
            return Err(Error::of(TenantFault::NotEmpty));
        }
        #[cfg(feature = "blobs")]
        if !self.resumes {
            self.tenant.check_no_blobs().await?;
        }
        self.from = Some(places);
        Ok(())
    }

    /// Returns the place (tables and partitions) in this tenant into which a row is imported, and the row's new PartitionKey.
    pub(super) fn moved(&self, place: usize, partition_key: &str) -> Result<(&Place, PartitionKey)> {
        let from = self.from.as_ref().and_then(|places| places.get(place));
        let (Some(from), Some(to)) = (from, self.tenant.places.get(place)) else {
            return Err(Error::of(TenantFault::Order { line: self.line }));
        };
        let mut pairs = from.partitions.iter().zip(&to.partitions);
        let moved = pairs.find_map(|(from, to)| from.moved(to, partition_key));
        let moved = moved.ok_or_else(|| Error::of(TenantFault::Outside))?;
        Ok((to, PartitionKey::new(moved)?))
    }

    /// Returns `true` if a place has the same partitions in the exported tenant and in this tenant.
    #[cfg(feature = "blobs")]
    pub(super) fn is_same(&self, place: usize) -> bool {
        let from = self.from.as_ref().and_then(|places| places.get(place));
        let to = self.tenant.places.get(place);
        from.zip(to).is_some_and(|(from, to)| from.partitions == to.partitions)
    }

    /// Parses a row line. Returns the row and the index of the place into which it is imported. Returns `None` for the guard of a row that moves to
    /// another partition. A guard protects against steps, which cannot be imported into another partition.
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
        let incoming = Incoming { table, from, to, row: body.row };
        let row = transfer::moved(place, &incoming).map_err(|error| {
            let key = &incoming.from;
            error.with_table(&line.table).with_key(key.partition_key.as_str(), key.row_key.as_str())
        })?;
        Ok(Some((line.place, Incoming { row, ..incoming })))
    }

    /// Writes imported rows to a table of the place with the index `at`.
    async fn write(&mut self, at: usize, table: &TableName, rows: Vec<Incoming>) -> Result<()> {
        let Some(place) = self.tenant.places.get(at) else { return Ok(()) };
        let opened = (at, table.folded().to_owned());
        if !self.opened.contains(&opened) {
            // IMPORTANT: each type stores its schema while the table is empty. Otherwise, the type's indexes would be considered incomplete.
            for member in &place.members {
                member.open(table).await?;
            }
            self.opened.insert(opened);
        }
        let mut copied = Vec::with_capacity(rows.len());
        for Incoming { to, row, .. } in rows {
            let (to, row) = transfer::resumed(to, row)?;
            if let Some(kind) = Kind::of(to.row_key.as_str())
                && self.registered.insert((kind, table.folded().to_owned(), to.partition_key.clone()))
            {
                kind.register(&place.store, table, &to.partition_key).await?;
            }
            let row = transfer::sealed(place, table, &to, row).await?;
            copied.push(Copied::new(to, row));
        }
        let target = Table::<Copied, _>::new(place.store.clone(), table.clone());
        target.bulk().insert_or_replace_all(&copied).await.map_err(|stopped| stopped.source)?;
        self.imported.rows += u64::try_from(copied.len()).unwrap_or(u64::MAX);
        Ok(())
    }

    /// Writes the remote rows derived from the imported entities, and returns the result of the import. May be called again after an error. An error that
    /// concerns one entity does not affect the remote rows of other entities.
    ///
    /// # Errors
    /// - `InvalidInput` if the export's last line is missing, or if other lines are missing and the import does not [resume](Self::resume) an earlier
    ///   import.
    /// - `EntityMismatch`, with the key, if an imported entity cannot be read; correct the row, and call this function again.
    /// - `ResourceNotFound` if an entity holds copies from a source that is not stored in the target.
    /// - `UniqueViolation` if an entity of another tenant has the same value in a unique remote index.
    /// - Any error from the stores.
    pub async fn finish(&mut self) -> Result<Imported> {
        let exported = self.exported.ok_or_else(|| Error::of(TenantFault::Incomplete))?;
        // An import that resumes an earlier import does not receive the rows before its position.
        if self.pushed < exported && !self.resumes {
            return Err(Error::of(TenantFault::MissingRows { pushed: self.pushed, exported }));
        }
        self.imported.remote_rows = 0;
        let mut failed = None;
        for place in &self.tenant.places {
            self.imported.remote_rows += settle(place, &mut failed).await?;
        }
        failed.map_or(Ok(self.imported), Err)
    }
}

/// Writes the remote rows derived from the stored entities of a place. Returns the number of written rows. Stores the first error that concerns a single
/// entity in `failed`.
///
/// # Errors
/// Any store outage.
async fn settle(place: &Place, failed: &mut Option<Error>) -> Result<u64> {
    if !place.members.iter().any(|member| member.has_elsewhere()) {
        return Ok(0);
    }
    let mut written = 0;
    for table in place.existing().await? {
        for range in place.ranges() {
            let mut from = None;
            while let Some(page) =
                place.page(&table, all_rows(range.clone()), (Select::All, from.as_ref())).await?
            {
                let mut owned = Vec::new();
                for row in page.rows.iter() {
                    let member = place.member(row).filter(|member| member.has_elsewhere());
                    let Some(member) = member else { continue };
                    owned.push((member, EntityKey::new(row.partition_key, row.row_key)?, row.row.to_row()));
                }
                let settled = owned.iter().map(|(member, key, row)| member.settle(key, row).boxed());
                let settled: Vec<_> = requests::all(settled, CONCURRENCY).await;
                for settled in settled {
                    match settled {
                        Ok(rows) => written += rows,
                        Err(error) if Failure::of(&error) == Failure::Lasting => {
                            failed.get_or_insert(error);
                        }
                        Err(error) => return Err(error),
                    }
                }
                from = page.continuation;
                if from.is_none() {
                    break;
                }
            }
        }
    }
    Ok(written)
}

impl fmt::Debug for Import<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Import")
            .field("line", &self.line)
            .field("imported", &self.imported)
            .finish_non_exhaustive()
    }
}

#[cfg(feature = "blobs")]
impl Import<'_> {
    /// Appends the part to its blob.
    async fn blob(&mut self, part: BlobLine) -> Result<()> {
        let line = self.line;
        let bytes = STANDARD.decode(&part.bytes).map_err(|_| Error::of(TenantFault::Order { line }))?;
        let is_open = self.open.as_ref().is_some_and(|open| open.continues_with(&part.name, part.from));
        if !is_open {
            if let Some(from) = part.from.filter(|from| *from > 0) {
                return Err(Error::of(TenantFault::Part { name: part.name, from }));
            }
            let begun = self.begin_blob(&part)?;
            if let Some(earlier) = self.open.replace(begun) {
                earlier.discard().await;
            }
        }
        let Some(open) = &mut self.open else { return Ok(()) };
        self.imported.blobs += u64::from(open.write(part.from, &bytes, part.last).await?);
        Ok(())
    }

    fn begin_blob(&self, part: &BlobLine) -> Result<OpenBlob> {
        let unknown = || Error::of(TenantFault::UnknownBlob(part.name.clone()));
        let place = self.tenant.places.get(part.place).ok_or_else(unknown)?;
        let folder = place.folder_with(&part.name)?.ok_or_else(unknown)?;
        if self.is_same(part.place) {
            return OpenBlob::begin(part.name.clone(), &part.name, folder);
        }
        let partition = folder.partition_of(&part.name).ok_or_else(unknown)?;
        let (_, to) = self.moved(part.place, &partition)?;
        let name = folder.moved(&part.name, (&PartitionKey::new(partition)?, &to))?.ok_or_else(unknown)?;
        OpenBlob::begin(part.name.clone(), &name, folder)
    }
}

#[cfg(not(feature = "blobs"))]
impl Import<'_> {
    /// Returns an error, because this program was built without the `blobs` feature.
    #[expect(clippy::unused_async, reason = "the signature of the feature `blobs`")]
    async fn blob(&mut self, part: BlobLine) -> Result<()> {
        Err(Error::of(TenantFault::UnknownBlob(part.name)))
    }
}
