//! Steps. A step consists of the requests of one operation in a workload, and the partitions that they touch.

use table_core::Result;
use table_core::entity::Entity;
use table_core::limits::PAGE_ENTITIES;
use table_core::query::{QueryClass, TextRange};
use table_core::row::entity_bytes;
use table_core::schema::IndexKind;
use table_core::selection::{Class, Selection, Source};

use crate::meter::Recorded;

/// The requests of one operation. A pattern creates one step per operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// The query class of a read, or `None` for a write.
    pub(super) class: Option<QueryClass>,
    pub(super) reads: u64,
    pub(super) writes: u64,
    /// The number of entities written or examined.
    pub(super) entities: u64,
    pub(super) bytes: u64,
    /// The partitions that receive requests. Each has a load: the number of entities written or pages read.
    pub(super) touches: Vec<(String, u64)>,
    /// The table and the PartitionKey range of each read that spans several partitions.
    pub(super) ranges: Vec<(String, TextRange)>,
}

impl Step {
    /// Creates a step that inserts an entity with its index rows. It assumes the highest cost stated in the documentation of `table_patterns::index`.
    ///
    /// Index rows in the same partition are written in the same transaction (PAT-INTRA-4, PAT-INTRA-8). A list is read before it is written. If index rows are
    /// in other partitions, the transaction contains an additional record. Each of these index rows then takes three reads, one write, and one request to
    /// remove the record.
    ///
    /// ```
    /// use table_core::Entity;
    /// use table_advice::{Step, Workload};
    ///
    /// #[derive(Entity)]
    /// #[partition_key(department)]
    /// #[row_key("empid_", id)]
    /// #[index(ByEmail, unique, row_key("email_", email))]
    /// struct Employee { department: String, id: u32, email: String }
    ///
    /// let workload = Workload::new("personnel").pattern("hire", 5.0, |draw| {
    ///     let id = u32::try_from(draw.number()).unwrap_or_default();
    ///     Step::write(&Employee { department: "Sales".into(), id, email: format!("{id}@contoso.com") })
    /// });
    /// let report = workload.run()?;
    /// let hire = report.pattern("hire")?;
    /// assert_eq!((hire.max_requests, hire.entities / hire.operations), (1, 2)); // the entity and its copy
    /// # Ok::<(), table_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `KeyEncoding` if the entity has a value that its key cannot contain. Any error from [`Entity::to_row`].
    pub fn write<E: Entity>(entity: &E) -> Result<Self> {
        let (key, row) = (entity.key_of()?, entity.to_row()?);
        let (partition_key, row_key) = (key.partition_key.as_str(), key.row_key.as_str());
        let table = E::SCHEMA.table;
        let mut bytes = entity_bytes(partition_key, row_key, Some(&row));
        // The load on the entity's partition, the number of lists in that partition, and the index rows in other partitions.
        let (mut load, mut lists, mut elsewhere) = (1, 0, Vec::new());
        for index in E::INDEXES {
            let Some(entry) = index.entry(entity)? else { continue };
            let copy_key = entry.key.partition_key.as_str();
            bytes += entity_bytes(copy_key, entry.key.row_key.as_str(), Some(&entry.row));
            if index.schema().is_same_partition() {
                let list = u64::from(index.schema().kind == IndexKind::List);
                lists += list;
                load += 1 + list;
            } else {
                // A list is read before it is written, so it counts as two entities.
                elsewhere.push((partition_of(index.schema().table.unwrap_or(table), copy_key), 2));
                load += 2;
            }
        }
        let settled = elsewhere.len() as u64;
        // The record for index rows in other partitions is written once. It counts as removed once per index row.
        load += u64::from(settled > 0) + settled;
        let mut touches = vec![(partition_of(table, partition_key), load)];
        touches.append(&mut elsewhere);
        let entities = touches.iter().map(|(_, load)| load).sum();
        let (reads, writes) = (lists + 3 * settled, 1 + 2 * settled);
        Ok(Self { class: None, reads, writes, entities, bytes: bytes as u64, touches, ranges: Vec::new() })
    }

    /// Creates a step that reads a selection. `entities` and `bytes` are the approximate totals of the result. For a table scan, pass the totals of the table,
    /// because the scan examines the entire table.
    ///
    /// # Errors
    /// `KeyEncoding` if the selection has a value that the key cannot contain.
    pub fn read<E: Entity, C: Class, F: Source>(
        selection: &Selection<E, C, F>,
        entities: u64,
        bytes: u64,
    ) -> Result<Self> {
        let table = F::INDEX.and_then(|index| index.table).unwrap_or(E::SCHEMA.table);
        let ranges = selection.ranges()?;
        let each = entities.div_ceil(ranges.len().max(1) as u64);
        let single = |key: &str| (partition_of(table, key), load(pages(each)));
        let touches = ranges.iter().filter_map(|range| range.partition_key.single().map(single)).collect();
        let reads = pages(each).saturating_mul(ranges.len() as u64);
        let several =
            ranges.iter().map(|range| &range.partition_key).filter(|range| range.single().is_none());
        let ranges = several.map(|range| (table.to_owned(), range.clone())).collect();
        Ok(Self { class: Some(selection.class()), reads, writes: 0, entities, bytes, touches, ranges })
    }

    pub(super) const fn requests(&self) -> u64 {
        self.reads.saturating_add(self.writes)
    }

    pub(super) fn recorded(recorded: &Recorded) -> Self {
        let (entities, bytes) = (recorded.entities, recorded.bytes);
        let named = recorded.partition_key.as_deref();
        let writes = u64::from(recorded.class.is_none());
        let load = if writes == 1 { entities } else { 1 };
        let touches = named.map(|key| (partition_of(&recorded.table, key), load)).into_iter().collect();
        let ranges = recorded.range.iter().map(|range| (recorded.table.clone(), range.clone())).collect();
        Self { class: recorded.class, reads: 1 - writes, writes, entities, bytes, touches, ranges }
    }
}

/// The number of consecutive pages that one read fetches per second. Pages after the first second do not count towards the load.
const PAGES_A_SECOND: u64 = 20;

/// Returns the load of a read with `pages` pages. It is the number of pages that the read fetches in its first second.
pub(super) const fn load(pages: u64) -> u64 {
    if pages > PAGES_A_SECOND { PAGES_A_SECOND } else { pages }
}

/// Returns the number of requests needed to read `entities` entities.
pub(super) const fn pages(entities: u64) -> u64 {
    let pages = entities.div_ceil(PAGE_ENTITIES as u64);
    if pages == 0 { 1 } else { pages }
}

pub(super) fn partition_of(table: &str, partition_key: &str) -> String {
    format!("{table}/{partition_key}")
}
