//! Reads one page of a query from a state of the engine.

use std::ops::{Bound, ControlFlow};

use table_store::filter::Matcher;
use table_store::limits::PAGE_ENTITIES;
use table_store::name::TableName;
use table_store::query::{Continuation, EntityRef, Gather, Page, Position, Query, QueryClass, Select};
use table_store::row::RowView;
use table_store::store::StoredRow;
use table_store::{Error, Result};

use crate::fault::EngineFault;
use crate::gaps::FoundGap;
use crate::key::{self, KeyReader, Span, SplitKey};
use crate::state::State;

/// The number of rows from which the size of a page is estimated.
const SAMPLE: usize = 8;
/// The number of filter comparisons that take about as long as visiting one entry.
const COMPARISONS: u64 = 16;

/// The JSON overhead in bytes of a property name with a null value: `"":null,`.
const NULL: usize = 8;

/// Limits on a page in addition to `$top`. They correspond to the service's limit of five seconds (PAGE-1, PAGE-11).
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageBounds {
    /// The maximum number of entities returned.
    pub(crate) entities: usize,
    /// The maximum total size in bytes of the entities returned. This includes the keys of each entity and the names in `$select`, which count once per entity.
    pub(crate) bytes: usize,
    /// The maximum number of entries examined, including tombstones. An entry counts as more than one if the filter has many comparisons.
    pub(crate) examined: u64,
    /// The maximum total size in bytes of entries examined.
    pub(crate) examined_bytes: usize,
    /// `true` if each page is limited to entities in one partition.
    pub(crate) partition: bool,
}

impl PageBounds {
    /// The default bounds: about ten milliseconds of work and 4 MiB of results.
    pub(crate) const DEFAULT: Self = Self {
        entities: PAGE_ENTITIES,
        bytes: 4 << 20,
        examined: 20_000,
        examined_bytes: 16 << 20,
        partition: false,
    };
}

/// Returns one entity from a table, with the requested properties.
pub(crate) fn get(
    state: &State,
    table: u32,
    partition_key: &str,
    row_key: &str,
    select: &Select,
) -> Result<Option<StoredRow>> {
    let mut bytes = Vec::new();
    key::encode(table, partition_key, row_key, &mut bytes);
    let Some(row) = state.get(&bytes)? else { return Ok(None) };
    row.view().check_version()?;
    let etag = row.view().etag();
    Ok(Some(StoredRow { row: select.project(row)?, etag }))
}

/// Returns the maximum number of entities on a page, given the query's `$top`.
///
/// # Errors
/// `InvalidInput` if `top` is above 1,000 (TOP-2).
pub(crate) fn check_top(top: Option<usize>) -> Result<usize> {
    match top {
        Some(top) if top > PAGE_ENTITIES => Err(Error::of(EngineFault::Top { top, most: PAGE_ENTITIES })),
        Some(top) => Ok(top),
        None => Ok(PAGE_ENTITIES),
    }
}

/// Returns one page, and the longest gap that the scan has found. A gap is a key range without rows. Later scans can skip it.
pub(crate) fn read(
    state: &State,
    table: (u32, &TableName),
    query: &Query,
    from: Option<&Continuation>,
    bounds: PageBounds,
) -> Result<(Page, Option<FoundGap>)> {
    let (id, name) = table;
    query.check(PAGE_ENTITIES)?;
    let top = query.top.unwrap_or(PAGE_ENTITIES).min(bounds.entities);
    let position = from.map(|continuation| {
        continuation.check_incarnation(name, id)?;
        continuation.position(name, query)
    });
    let position = position.transpose()?;
    let mut span = Span::of(id, &query.keys);
    if let Some(position) = position {
        span = span.from(id, position);
    }
    if top == 0 {
        return Ok((Page { rows_read: Some(0), ..Page::default() }, None)); // ENG-5
    }
    let mut pager = Pager::new(query, top, bounds);
    let gap = state.scan(&span, |key, row| pager.visit(key, row))?;
    let point = query.keys.partition_key.single().is_some() && query.keys.row_key.single().is_some();
    // A point query never returns a continuation token (PAGE-10).
    let next = pager.next.filter(|_| !point);
    let page = Page {
        rows: pager.rows.finish()?,
        continuation: next.map(|position| Continuation::new(name, query, position).in_incarnation(id)),
        rows_read: Some(pager.rows_read),
        skipped: 0,
    };
    Ok((page, gap))
}

/// Returns an empty page with a token that leads back to the start of the page (ENG-14). Returns `None` if the page must not have a token (PAGE-10, ENG-5), or
/// if no token can represent its start.
pub(crate) fn empty_page(
    (id, name): (u32, &TableName),
    query: &Query,
    from: Option<&Continuation>,
) -> Option<Page> {
    if query.keys.class() == QueryClass::Point || query.top == Some(0) {
        return None;
    }
    let beginning = || Position { partition_key: lowest(&query.keys.partition_key.lower), row_key: None };
    let continuation =
        from.cloned().unwrap_or_else(|| Continuation::new(name, query, beginning()).in_incarnation(id));
    continuation.check(name, query).ok()?;
    Some(Page { continuation: Some(continuation), rows_read: Some(0), ..Page::default() })
}

/// Returns the number of bytes that the names in `$select` can add to each entity in a response. If an entity lacks a selected property, a server writes the
/// property as `null` (SEL-3).
fn select_bytes(select: &Select) -> usize {
    match select {
        Select::All => 0,
        Select::Names(names) => names.iter().map(|name| name.len() + NULL).sum(),
    }
}

fn lowest(bound: &Bound<String>) -> String {
    match bound {
        Bound::Included(text) | Bound::Excluded(text) => text.clone(),
        Bound::Unbounded => String::new(),
    }
}

/// A page of a query while it is being filled.
struct Pager<'q> {
    query: &'q Query,
    matcher: Option<Matcher>,
    /// `true` if the range includes several partitions and restricts row keys, so each entity's `RowKey` must be checked.
    check_row_key: bool,
    /// `true` if a condition of the filter compares a key.
    looks_at_keys: bool,
    top: usize,
    bounds: PageBounds,
    reader: KeyReader,
    /// A buffer for complete keys.
    key: Vec<u8>,
    /// `true` if the current entry has the same partition, property names and types as the last row of the page. This requires two conditions. All entries in
    /// between have the same key prefix, property names and types, and the prefix determines the partition.
    is_alike: bool,
    partition_key: Option<String>,
    rows: Gather,
    bytes: usize,
    /// The number of bytes that the names in `$select` can add to each returned entity.
    select_bytes: usize,
    rows_read: u64,
    /// The amount added to `examined` for each examined entry.
    weight: u64,
    examined: u64,
    examined_bytes: usize,
    next: Option<Position>,
}

impl<'q> Pager<'q> {
    fn new(query: &'q Query, top: usize, bounds: PageBounds) -> Self {
        let several = query.keys.partition_key.single().is_none();
        let matcher = query.filter.as_ref().map(Matcher::new);
        let check_row_key = several && !query.keys.row_key.is_all();
        Self {
            query,
            looks_at_keys: check_row_key || matcher.as_ref().is_some_and(Matcher::looks_at_keys),
            matcher,
            check_row_key,
            top,
            bounds,
            reader: KeyReader::default(),
            key: Vec::new(),
            is_alike: false,
            partition_key: None,
            rows: Gather::default(),
            bytes: 0,
            select_bytes: select_bytes(&query.select),
            rows_read: 0,
            // A group of `COMPARISONS` comparisons counts as one additional entry. This limits the time of a page even if a filter exceeds the documented
            // maximum of 15 comparisons (FIL-7).
            weight: query.filter.as_ref().map_or(1, |filter| 1 + filter.comparisons() as u64 / COMPARISONS),
            examined: 0,
            examined_bytes: 0,
            next: None,
        }
    }

    #[inline]
    fn visit(&mut self, key: SplitKey<'_>, row: Option<RowView<'_>>) -> Result<ControlFlow<()>> {
        self.is_alike &= key.is_alike;
        let mut stop =
            self.examined >= self.bounds.examined || self.examined_bytes >= self.bounds.examined_bytes;
        if self.bounds.partition {
            let (partition_key, _) = self.reader.split(key.join(&mut self.key))?;
            stop |= self.partition_key.as_ref().is_some_and(|earlier| earlier != partition_key);
            self.partition_key.get_or_insert_with(|| partition_key.to_owned());
        }
        if !stop {
            self.examined += self.weight;
            self.examined_bytes += key.len() + row.map_or(0, |row| row.bytes());
            let Some(row) = row else { return Ok(ControlFlow::Continue(())) };
            if !self.wants(key, row)? {
                self.rows_read += 1;
                return Ok(ControlFlow::Continue(()));
            }
            // When the page is full, the scan continues to the next match. If it finds one, the match's key becomes the token (PAGE-6). Otherwise, this is the
            // last page, which must not have a token (PAGE-5).
            let bytes = key.len() + row.bytes() + self.select_bytes;
            let full = self.rows.len() >= self.top
                || (!self.rows.is_empty() && self.bytes + bytes > self.bounds.bytes);
            if !full {
                self.rows_read += 1;
                if self.rows.len() == SAMPLE {
                    // The capacity is reserved in one step, because a large buffer that grows in small steps would be copied repeatedly.
                    let likely = if self.matcher.is_some() { self.top.min(SAMPLE * 8) } else { self.top };
                    self.rows.reserve(likely.saturating_sub(SAMPLE), self.bounds.bytes);
                }
                let (partition_key, row_key) = if self.is_alike {
                    self.reader.again(key.rejoin(&mut self.key))
                } else {
                    self.reader.split(key.join(&mut self.key))?
                };
                self.rows.push(partition_key, row_key, row, &self.query.select, self.is_alike)?;
                self.is_alike = self.reader.prefix() <= key.front();
                self.bytes += bytes;
                return Ok(ControlFlow::Continue(()));
            }
        }
        let (partition_key, row_key) = self.reader.read(key.join(&mut self.key))?;
        self.next =
            Some(Position { partition_key: partition_key.to_owned(), row_key: Some(row_key.to_owned()) });
        Ok(ControlFlow::Break(()))
    }

    /// Returns `true` if an entity satisfies the query. The key is converted to strings only if a comparison needs them. Most filters do not compare keys, and
    /// this conversion would take a quarter of their time.
    #[inline]
    fn wants(&mut self, key: SplitKey<'_>, row: RowView<'_>) -> Result<bool> {
        let (partition_key, row_key) =
            if self.looks_at_keys { self.reader.read(key.join(&mut self.key))? } else { ("", "") };
        if self.check_row_key && !self.query.keys.row_key.contains(row_key) {
            return Ok(false);
        }
        match &mut self.matcher {
            Some(matcher) => matcher.matches(EntityRef::new(partition_key, row_key, row)),
            None => Ok(true),
        }
    }
}
