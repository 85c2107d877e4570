//! Copies rows from one table to another.

use std::collections::VecDeque;

use table_core::{DynTableStore, FromEntity, TableEntity, TableName, TableStoreExt};

use crate::failure::Result;
use crate::progress;
use crate::rows::{Pages, Selected};
use crate::transfer::state::StateFile;
use crate::transfer::writer::{Change, Mode, Writer};

/// The rows to copy, and the table that receives them.
pub struct Copying<'a> {
    /// The source store and table.
    pub source: (&'a DynTableStore, &'a TableName),
    /// The target store and table.
    pub target: (&'a DynTableStore, &'a TableName),
    /// The rows of the source to copy.
    pub selected: Selected,
    /// The function that converts a row of the source to the row to write.
    pub rewrite: &'a (dyn Fn(TableEntity) -> Result<TableEntity> + Sync),
    /// The operation used to write rows.
    pub mode: Mode,
    /// `true` to reject a row that would replace a part of a wide entity with a part from a different write, or rewind a sequence.
    pub guards_parts: bool,
    /// The maximum number of rows written per second.
    pub rate: Option<u32>,
}

impl std::fmt::Debug for Copying<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Copying")
            .field("source", &self.source.1)
            .field("target", &self.target.1)
            .finish_non_exhaustive()
    }
}

impl Copying<'_> {
    /// Copies the rows after the position in `state`. Returns the number of copied rows, including those copied by earlier calls. If the state is already
    /// complete, copies no rows. The caller must mark the state as complete. Afterwards, the state contains the number of rows that the source omitted.
    ///
    /// # Errors
    /// `Refused` if the target rejects a row, or if the target is empty although the state counts written rows. Any error from either store. Another call with
    /// the same state continues the copy.
    pub async fn run(&self, state: &mut StateFile) -> Result<u64> {
        let (store, new) = self.target;
        state.refuse_empty_target(store, new).await?;
        if state.state().is_done {
            return Ok(state.state().records);
        }
        let (done, omitted) = (state.state().records, state.state().omitted);
        let from = state.state().continuation.as_deref().map(str::parse).transpose()?;
        let mut pages = Pages::new(self.source.0, self.source.1, self.selected.clone()).behind(from);
        let mut writer = Writer::new(store.clone(), new.clone(), self.mode, self.rate);
        if self.guards_parts {
            writer = writer.guarding_parts();
        }
        // The ends of pages that have been read but not yet completely written.
        let mut ends: VecDeque<(u64, u64, Option<String>)> = VecDeque::new();
        let (mut read, bar) = (done, progress::rows("copied"));
        let mut is_created = false;
        loop {
            let next = pages.next().await?;
            // The target table is created only after the first read, which fails if the source table is missing.
            if !std::mem::replace(&mut is_created, true) {
                store.create_table_if_missing(new).await?;
            }
            let Some(page) = next else { break };
            for entity in page.rows.iter() {
                read += 1;
                let entity = (self.rewrite)(TableEntity::from_entity(entity)?)?;
                writer.push(read, Change::Write(entity)).await?;
                writer.refuse_rejected("the other store")?;
            }
            ends.push_back((read, omitted + pages.omitted(), pages.continuation().map(ToString::to_string)));
            let settled = done + writer.settled();
            while ends.front().is_some_and(|(end, ..)| *end <= settled) {
                if let Some((end, omitted, continuation @ Some(_))) = ends.pop_front() {
                    state.advance(end, omitted, continuation)?;
                }
            }
            bar.set_position(settled);
        }
        writer.flush().await?;
        bar.finish_and_clear();
        writer.refuse_rejected("the other store")?;
        state.set_omitted(omitted + pages.omitted());
        Ok(read)
    }
}
