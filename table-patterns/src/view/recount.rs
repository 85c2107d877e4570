//! Recounts the sums in one partition of a view from the entities' records, while other processes change the sums and the records.
//!
//! If sums agree with the records and do not change while both are read, they are correct and are skipped. For all other sums, a *recount* marks the row that
//! contains them. A writer that changes a marked row stores the entity's earlier contributions to this row in its record, once per mark. This way, the records
//! determine the correct sums at the time of the mark, regardless of how long it takes to read the records. The difference between the correct and the stored
//! sums at that time is then added to the current sums.

use std::collections::{BTreeMap, BTreeSet};

use table_core::entity::Entity;
use table_core::etag::{ETag, IfMatch};
use table_core::key::{PartitionKey, RowKey};
use table_core::operation::OperationKind;
use table_core::query::{EntityRef, KeyRange, Query, TextRange};
use table_core::row::{Property, Row, RowView, RowWriter};
use table_core::store::{StoredRow, TableStore};
use table_core::{EdmType, Error, Result, ValueRef};
use uuid::Uuid;

use crate::paging::Pages;
use crate::view::View;
use crate::view::fault::ViewFault;
use crate::view::operations::sum_in;
use crate::view::record::{self, Amounts, BY, RECOUNT, Share};
use crate::view::table::ViewTable;

/// The name that conflict errors use for the sums.
const RACE: &str = "the sums";

/// The totals of the records that contribute to a row, by property name. They are wider than an `Int64`, because an intermediate sum may overflow although the
/// total does not.
type Totals = BTreeMap<String, i128>;

/// The totals of the records in one partition.
#[derive(Debug, Default)]
struct Records {
    /// The totals by row and property.
    sums: BTreeMap<String, Totals>,
    /// The keys of the rows put by entities. Such rows contain no sums.
    put: BTreeSet<String>,
    /// The number of records that cannot be read, including those that the store cannot represent.
    omitted: u64,
}

impl Records {
    /// Returns `true` if the sums in a row equal the totals of the records.
    fn sums_match(&self, row: &str, stored: &Amounts) -> bool {
        let sums = self.sums.get(row);
        self.put.contains(row) || without_zeros(sums) == without_zeros(Some(&totals(stored)))
    }
}

/// A row of the view, as read.
#[derive(Debug)]
struct Stored {
    amounts: Amounts,
    /// `true` if a recount has marked the row.
    is_recounted: bool,
    etag: ETag,
}

/// Returns the keys of the rows that were rewritten between two reads. Ignores rows that only one of the reads found.
fn changed<'a>(
    earlier: &'a BTreeMap<String, Stored>,
    later: &'a BTreeMap<String, Stored>,
) -> impl Iterator<Item = &'a String> {
    let is_written = |(row, was): &(&String, &Stored)| later.get(*row).is_some_and(|is| is.etag != was.etag);
    earlier.iter().filter(is_written).map(|(row, _)| row)
}

/// Returns the nonzero totals.
fn without_zeros(amounts: Option<&Totals>) -> BTreeMap<&String, i128> {
    let amounts = amounts.into_iter().flatten().map(|(name, amount)| (name, *amount));
    amounts.filter(|(_, amount)| *amount != 0).collect()
}

fn totals(amounts: &Amounts) -> Totals {
    amounts.iter().map(|(name, amount)| (name.clone(), i128::from(*amount))).collect()
}

impl<V: View, S: TableStore> ViewTable<V, S> {
    /// Corrects the sums in one partition of the view. If no record contributes to a row, its sums become 0. Returns the number of corrected rows. Changes
    /// nothing if one of the records cannot be read.
    pub(super) async fn recount(&self, place: &PartitionKey) -> Result<usize> {
        let (mut corrected, mut race) = (0, self.retry.start(RACE));
        loop {
            let stored = self.sums_of(place).await?;
            let records = self.records(place, None).await?;
            if records.omitted > 0 {
                // The sums would lose the contributions of these records.
                return Ok(corrected);
            }
            let nothing = Amounts::new();
            let absent = records.sums.keys().filter(|row| !stored.contains_key(*row));
            let absent = absent.filter(|row| !records.sums_match(row, &nothing));
            let wrong = stored
                .iter()
                .filter(|(row, stored)| stored.is_recounted || !records.sums_match(row, &stored.amounts));
            let mut rows: BTreeSet<_> = wrong.map(|(row, _)| row.clone()).chain(absent.cloned()).collect();
            if stored.keys().any(|row| !records.put.contains(row)) {
                // IMPORTANT: a change between reading the sums and reading the records can hide a wrong sum, because the change may add exactly the missing
                // amount to the records. For this reason, sums that have changed are recounted.
                let later = self.sums_of(place).await?;
                let changed = changed(&stored, &later).filter(|row| !records.put.contains(*row));
                rows.extend(changed.cloned());
            }
            if rows.is_empty() || self.recount_rows(place, (&rows, &records), &mut corrected).await? {
                return Ok(corrected);
            }
            race.retry(None).await?;
        }
    }

    /// Recounts the sums in the given rows. `found_by` contains the totals that the rows were compared with. Returns `false` if another recount has marked one
    /// of the rows in the meantime, or if a row of sums was deleted. In these cases, the caller must restart.
    async fn recount_rows(
        &self,
        place: &PartitionKey,
        (rows, found_by): (&BTreeSet<String>, &Records),
        corrected: &mut usize,
    ) -> Result<bool> {
        let id = Uuid::new_v4().simple().to_string();
        let mut began = BTreeMap::new();
        for row in rows {
            let is_summed = found_by.sums.contains_key(row);
            if let Some(amounts) = self.begin((place, row), &id, is_summed).await? {
                began.insert(row, amounts);
            }
        }
        let records = self.records(place, Some(&id)).await?;
        if records.omitted > 0 {
            // The rows remain marked, so a later recount corrects them.
            return Ok(true);
        }
        let (mut is_whole, nothing) = (true, Totals::new());
        for (row, began) in &began {
            // IMPORTANT: a row of sums may have become a put row in the meantime. The entity that puts the row may have left the partition, and then returned.
            let (began, counted) = match records.sums.get(*row) {
                _ if records.put.contains(*row) => (&nothing, &nothing),
                counted => (began, counted.unwrap_or(&nothing)),
            };
            match self.end((place, row), &id, (began, counted)).await? {
                Some(is_corrected) => *corrected += usize::from(is_corrected),
                None => is_whole = false,
            }
        }
        Ok(is_whole)
    }

    /// Marks a row for a recount. Returns the sums in the row at that time; `None` if the row does not exist and no record contributes to it.
    async fn begin(
        &self,
        (place, row): (&PartitionKey, &str),
        id: &str,
        is_summed: bool,
    ) -> Result<Option<Totals>> {
        let (key, mut race) = (record::row_key(place, row)?, self.retry.start(RACE));
        loop {
            let found = self.stored(&key).await?;
            let mark = record::one_text(RECOUNT, id);
            let (amounts, write) = match found {
                Some(StoredRow { row, etag }) => {
                    (amounts::<V::Row>(row.view())?, OperationKind::Merge(mark, IfMatch::ETag(etag)))
                }
                None if !is_summed => return Ok(None),
                None => (Amounts::new(), OperationKind::Insert(with_zeros::<V::Row>(mark.view())?)),
            };
            if self.submit(place, vec![(key.row_key.clone(), write)]).await? {
                return Ok(Some(totals(&amounts)));
            }
            race.retry(None).await.map_err(|error| self.at(error, &key))?;
        }
    }

    /// Removes the mark from a row, and adds the difference between the counted sums and the sums at the time of the mark. Returns `true` if a difference was
    /// found. Returns `None` if this recount's mark is missing although records contribute to the row.
    async fn end(
        &self,
        (place, row): (&PartitionKey, &str),
        id: &str,
        (began, counted): (&Totals, &Totals),
    ) -> Result<Option<bool>> {
        let (key, mut race) = (record::row_key(place, row)?, self.retry.start(RACE));
        let number = |amounts: &Totals, name: &String| amounts.get(name).copied().unwrap_or(0);
        loop {
            let found = self.stored(&key).await?;
            let of = found.as_ref().map(|found| record::recount_of(found.row.view())).transpose()?.flatten();
            let StoredRow { row, etag } = match (found, of) {
                (Some(found), Some(of)) if of == id => found,
                (_, Some(_)) => return Ok(None),
                _ => return Ok(counted.is_empty().then_some(false)),
            };
            let mut sums = amounts::<V::Row>(row.view())?;
            let mut is_wrong = false;
            for name in began.keys().chain(counted.keys()).collect::<BTreeSet<_>>() {
                let stored = i128::from(sums.get(name).copied().unwrap_or(0));
                let sum = i64::try_from(stored + number(counted, name) - number(began, name));
                let sum = sum.map_err(|_| self.at(Error::of(ViewFault::RecordedSum), &key))?;
                is_wrong |= number(counted, name) != number(began, name);
                sums.insert(name.clone(), sum);
            }
            let write = OperationKind::Replace(with_sums(row.view(), &sums)?, IfMatch::ETag(etag));
            if self.submit(place, vec![(key.row_key.clone(), write)]).await? {
                return Ok(Some(is_wrong));
            }
            race.retry(None).await.map_err(|error| self.at(error, &key))?;
        }
    }

    /// Returns the sums of all rows in one partition of the view.
    async fn sums_of(&self, place: &PartitionKey) -> Result<BTreeMap<String, Stored>> {
        let query = Query::new(KeyRange::rows(place.as_str(), TextRange::ALL));
        let mut rows = BTreeMap::new();
        self.each(&query, |entity| {
            if !RowKey::new(entity.row_key)?.is_reserved() {
                let is_recounted = record::recount_of(entity.row)?.is_some();
                let (amounts, etag) = (amounts::<V::Row>(entity.row)?, entity.etag());
                rows.insert(entity.row_key.to_owned(), Stored { amounts, is_recounted, etag });
            }
            Ok(())
        })
        .await?;
        Ok(rows)
    }

    /// Returns the totals of the records in one partition: the current totals or, if `recount` is given, the totals at the start of that recount. Counts
    /// unreadable records as omitted. An entity with such a record is set aside when it is applied.
    async fn records(&self, place: &PartitionKey, recount: Option<&String>) -> Result<Records> {
        let query = Query::new(KeyRange::rows(place.as_str(), TextRange::prefix(BY)));
        let (mut records, mut damaged) = (Records::default(), 0);
        let omitted = self.each(&query, |entity| {
            let Ok(Share { rows, mut sums, cuts }) = Share::read(entity.row) else {
                damaged += 1;
                return Ok(());
            };
            records.put.extend(rows);
            let cuts = cuts.into_iter().filter(|(_, cut)| Some(&cut.id) == recount);
            sums.extend(cuts.map(|(row, cut)| (row, cut.amounts)));
            for (row, amounts) in sums {
                let of_row = records.sums.entry(row).or_default();
                for (name, amount) in amounts {
                    *of_row.entry(name).or_default() += i128::from(amount);
                }
            }
            Ok(())
        });
        records.omitted = omitted.await? + damaged;
        Ok(records)
    }

    /// Calls a function with each row of the view's table found by a query. Returns the number of rows that the store cannot represent.
    async fn each(
        &self,
        query: &Query,
        mut take: impl FnMut(EntityRef<'_>) -> Result<()> + Send,
    ) -> Result<u64> {
        let mut pages = Pages::new(self.rows.store(), self.rows.name()?, query);
        let mut omitted = 0;
        while let Some(page) = pages.next().await? {
            for row in page.rows.iter() {
                take(row).map_err(|error| error.with_key(row.partition_key, row.row_key))?;
            }
            omitted += page.skipped;
        }
        Ok(omitted)
    }
}

/// Returns the nonzero sums in a row.
fn amounts<R: Entity>(row: RowView<'_>) -> Result<Amounts> {
    let mut amounts = Amounts::new();
    for property in R::SCHEMA.properties {
        if property.edm == EdmType::Int64 && !property.optional {
            let amount = sum_in(row, property.name)?;
            if amount != 0 {
                amounts.insert(property.name.to_owned(), amount);
            }
        }
    }
    Ok(amounts)
}

/// Returns the row with all sum columns set to 0. Its other properties are unchanged.
fn with_zeros<R: Entity>(row: RowView<'_>) -> Result<Row> {
    let mut writer = RowWriter::new();
    for property in row.properties() {
        let Property { name, value } = property?;
        writer.property(name, value);
    }
    for property in R::SCHEMA.properties {
        if property.edm == EdmType::Int64 && !property.optional {
            writer.property(property.name, ValueRef::Int64(0));
        }
    }
    Ok(writer.finish())
}

/// Returns the row with the given sums, and without the mark of a recount.
fn with_sums(row: RowView<'_>, sums: &Amounts) -> Result<Row> {
    let mut writer = RowWriter::new();
    for property in row.properties() {
        let Property { name, value } = property?;
        if name != RECOUNT && !sums.contains_key(name) {
            writer.property(name, value);
        }
    }
    for (name, sum) in sums {
        writer.property(name, ValueRef::Int64(*sum));
    }
    Ok(writer.finish())
}
