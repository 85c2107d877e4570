//! Applies single writes to the latest state. The frame of each accepted write is added to the group.

use table_store::Result;
use table_store::name::TableName;
use table_store::store::Committed;

use super::Committer;
use crate::apply::{self, Writes};
use crate::decision::{Decided, Decision, Ground};
use crate::journal::frame::{Change, Record};
use crate::key;
use crate::request::{Answer, Write};
use crate::timestamps::Reading;

impl Committer {
    /// Applies one write to the working state, and adds its frame to the group.
    pub(super) fn apply(&mut self, write: Write, reading: Reading) -> Answer {
        if let Err(error) = self.check_writable(write.frees()) {
            return write.refuse(error);
        }
        match write {
            Write::Submit { table, writes, answer } => {
                let outcome =
                    self.submit(&table, writes, reading).map_err(|error| error.with_table(table.as_str()));
                Answer::Committed(answer, outcome)
            }
            Write::Decide { table, mut decision } => {
                let decided = self.decide(&table, &mut *decision, reading);
                decided.unwrap_or_else(|error| decision.refuse(error));
                Answer::Decided(decision)
            }
            Write::Renew { table, answer } => Answer::Done(answer, self.renew_table(&table, reading)),
            Write::Create { table, answer } => Answer::Done(answer, self.create_table(&table, reading)),
            Write::Drop { table, answer } => Answer::Done(answer, self.drop_table(&table, reading)),
        }
    }

    fn submit(&mut self, table: &TableName, mut writes: Writes, reading: Reading) -> Result<Committed> {
        let id = self.state.catalog.find(table, || self.steady.at(reading))?.id;
        for (key, _) in &mut writes.operations {
            key::set_table(key, id);
        }
        let ticks = self.timestamps.next(reading)?;
        let (changes, committed) = apply::changes(&self.state, &self.limits, writes, ticks)?;
        // A transaction that contains only checks writes nothing.
        if !changes.is_empty() {
            self.change(|own| own.write(ticks, changes));
        }
        Ok(committed)
    }

    /// Runs a decision on the latest state, and applies its writes.
    fn decide(&mut self, table: &TableName, decision: &mut dyn Decision, reading: Reading) -> Result<()> {
        let now = self.steady.at(reading);
        let id = self.state.catalog.find(table, || now)?.id;
        let times = (now, self.timestamps.next_from(reading, now)?);
        let mut ground = Ground::new(&self.state, id, times, self.refusal.as_ref());
        decision.decide(&mut ground)?;
        let Decided { ticks, changes, positions, gap } = ground.into_decided();
        if let Some(gap) = gap {
            self.state.gaps.add(gap, &self.written);
        }
        // If a decision changes nothing, the published state stays in place. An example is a receive from an empty queue.
        if positions == self.state.positions(id) && changes.is_empty() {
            return Ok(());
        }
        self.change(|own| {
            if positions != own.state.positions(id) {
                own.state.positions.insert(id, positions);
            }
            own.state.decided = now;
            if !changes.is_empty() {
                own.write(ticks, changes);
            }
        });
        Ok(())
    }

    fn write(&mut self, ticks: u64, changes: Vec<Change>) {
        let record = Record::Write { ticks, changes };
        self.record(&record);
        if let Record::Write { changes, .. } = record {
            let deleted = || changes.iter().filter(|change| change.row.is_none()).map(|change| &change.key);
            let (first, deletions) = (deleted().min().cloned(), deleted().count());
            for Change { key, row } in changes {
                // An in-memory engine needs no tombstones, because it has no base with older rows to hide.
                match (row, &self.disk) {
                    (None, None) => self.state.memtable.remove(&key),
                    (row, None) => self.state.memtable.set(key, row),
                    (row, Some(_)) => self.state.set(key, row, &mut self.written),
                }
            }
            // Disk errors are ignored. The gap may then be too short, which only slows down scans.
            if let Some(first) = first {
                let _ = self.state.extend_gap(&first, deletions);
            }
        }
    }

    fn renew_table(&mut self, table: &TableName, reading: Reading) -> Result<()> {
        let entry = self.state.catalog.prepare_renew(table, self.steady.at(reading))?;
        self.record(&Record::Create { entry: entry.clone() });
        self.change(|own| {
            let replaced = own.state.catalog.add(entry);
            if let Some(id) = replaced {
                own.state.positions.remove(&id);
                own.dropped.push(id);
            }
        });
        Ok(())
    }

    fn create_table(&mut self, table: &TableName, reading: Reading) -> Result<()> {
        table.require_creatable()?;
        let entry = self.state.catalog.prepare_create(
            table,
            self.steady.at(reading),
            self.timestamps.next(reading)?,
        )?;
        self.record(&Record::Create { entry: entry.clone() });
        self.change(|own| {
            own.state.catalog.add(entry);
        });
        Ok(())
    }

    fn drop_table(&mut self, table: &TableName, reading: Reading) -> Result<()> {
        let ticks = self.timestamps.next(reading)?;
        let now = self.steady.at(reading);
        let id = self.state.catalog.prepare_drop(table, now)?;
        self.record(&Record::Drop { ticks, id });
        let delay = u64::try_from(self.table_delete_delay.as_nanos() / 100).unwrap_or(u64::MAX);
        self.change(|own| {
            own.state.catalog.remove_slowly(id, now, now.saturating_add(delay));
            own.state.positions.remove(&id);
            own.dropped.push(id);
        });
        Ok(())
    }
}
