//! The callers' transactions: their tables, partitions and operations.

use std::collections::BTreeSet;

use rand::RngExt;
use table_core::embedded::Engine;
use table_core::limits::Limits;
use table_core::{IfMatch, OperationKind, Result, TableStore, Transaction};

use super::History;
use super::asks::Told;
use crate::sim::model::{Condition, Operation, Place, State, Verb, Write};
use crate::sim::plan::Work;
use crate::sim::rows;

impl History {
    pub(super) fn ask_transaction(&mut self, engine: &Engine) {
        if !self.model.has_room(self.life.callers) {
            return;
        }
        let states = self.model.states();
        let Some(state) = states.get(self.random.random_range(0..states.len().max(1))) else { return };
        let all: Vec<u8> = state.tables.keys().copied().collect();
        let table = match all.as_slice() {
            [] => return self.ask_table(engine),
            _ if self.random.random_ratio(1, 30) => self.random.random_range(0..self.shape.tables),
            some => some[self.random.random_range(0..some.len())],
        };
        let partition = self.random.random_range(0..self.shape.partitions);
        let operations = self.operations(state, table, partition);
        if !operations.is_empty() {
            self.ask_operations(engine, table, partition, &operations);
        }
    }

    /// Requests a transaction of the given operations.
    pub(super) fn ask_operations(
        &mut self,
        engine: &Engine,
        table: u8,
        partition: u8,
        operations: &[Operation],
    ) {
        let write = Write::Submit { table, partition, operations: operations.to_vec() };
        let transaction = self.transaction(partition, operations);
        let (Ok(transaction), Ok(name)) = (transaction, rows::table(table)) else { return };
        let engine = engine.clone();
        let future = async move { engine.submit(&name, transaction).await.map(Told::Committed) };
        self.ask(Some(write), Box::pin(future));
    }

    /// Chooses the operations of a transaction. One in four transactions writes a few random rows. The others do the work that is planned for the life.
    fn operations(&mut self, state: &State, table: u8, partition: u8) -> Vec<Operation> {
        let work = if self.random.random_ratio(1, 4) { Work::Scattered } else { self.life.work };
        let rows = self.shape.rows;
        let (start, count) = (self.random.random_range(0..rows), self.random.random_range(1..=100));
        let stored = state.tables.get(&table).map(|table| table.rows());
        let stored = |from: u16| {
            let rows = stored.into_iter().flat_map(move |rows| rows.range((partition, from)..));
            rows.map(|((of, row), _)| (*of, *row)).take_while(move |(of, _)| *of == partition)
        };
        let delete = |from: u16| -> Vec<(u16, Verb)> {
            stored(from).take(count).map(|(_, row)| (row, Verb::Delete(Condition::Any))).collect()
        };
        let upsert = |from: u16| -> Vec<(u16, Verb)> {
            (from..rows).take(count).map(|row| (row, Verb::Upsert)).collect()
        };
        let chosen = match work {
            Work::Delete if self.random.random_ratio(2, 3) => delete(start),
            Work::Load | Work::Delete => upsert(start),
            Work::Queue if self.random.random() => delete(0),
            Work::Queue => {
                let behind = stored(0).last().map_or(0, |(_, row)| row + 1);
                upsert(if behind < rows { behind } else { 0 })
            }
            Work::Scattered | Work::Trickle => {
                let count =
                    if work == Work::Trickle { 1 } else { [1, 1, 2, 5][self.random.random_range(0..4)] };
                let chosen: BTreeSet<u16> = (0..count).map(|_| self.random.random_range(0..rows)).collect();
                chosen.into_iter().map(|row| (row, self.verb(state, table, (partition, row)))).collect()
            }
        };
        // This range contains more numbers than any transaction needs.
        let numbers = self.next..;
        let with_number = |((row, verb), number)| Operation { row, verb, number };
        chosen.into_iter().zip(numbers).map(with_number).collect()
    }

    fn verb(&mut self, state: &State, table: u8, place: Place) -> Verb {
        let there = state.tables.get(&table).and_then(|table| table.rows().get(&place)).copied();
        let newest = || self.etags.keys().next_back().copied();
        let version = if self.random.random_ratio(9, 10) { there } else { newest() };
        let known = version.filter(|number| self.etags.contains_key(number));
        let condition = known.filter(|_| self.random.random()).map_or(Condition::Any, Condition::Version);
        match (there, self.random.random_range(0..10)) {
            (None, 0..=6) | (Some(_), 0) => Verb::Insert,
            (None, 7..=8) | (Some(_), 1..=3) => Verb::Upsert,
            (Some(_), 4..=5) => Verb::Delete(condition),
            _ => Verb::Update(condition),
        }
    }

    fn transaction(&mut self, partition: u8, operations: &[Operation]) -> Result<Transaction> {
        let mut transaction = Transaction::new(self.shape.partition(partition)?, Limits::PORTABLE)?;
        for Operation { row, verb, number } in operations {
            let if_match = |condition: &Condition| match condition {
                Condition::Any => IfMatch::Any,
                Condition::Version(number) => {
                    self.etags.get(number).cloned().map_or(IfMatch::Any, IfMatch::ETag)
                }
            };
            let content = self.shape.row(*number);
            let one = number.is_multiple_of(2);
            let kind = match verb {
                Verb::Insert => OperationKind::Insert(content),
                Verb::Update(condition) if one => OperationKind::Replace(content, if_match(condition)),
                Verb::Update(condition) => OperationKind::Merge(content, if_match(condition)),
                Verb::Upsert if one => OperationKind::InsertOrReplace(content),
                Verb::Upsert => OperationKind::InsertOrMerge(content),
                Verb::Delete(condition) => OperationKind::Delete(if_match(condition)),
            };
            transaction.push(table_core::Operation { row_key: rows::row_key(*row)?, kind })?;
        }
        Ok(transaction)
    }
}
