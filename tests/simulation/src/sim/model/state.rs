//! One state of the model, and the effect of a write on it.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use table_core::ErrorCode;

/// The position of a row: the number of its partition, and the number of the row.
pub(in crate::sim) type Place = (u8, u16);
/// The number of the operation that wrote a row.
///
/// A transaction numbers its operations consecutively, starting at a multiple of [`NUMBERS`]. The rows that it writes have the same version.
pub(in crate::sim) type Number = u32;

/// The number of operation numbers that are reserved for one transaction. No transaction has more operations.
pub(in crate::sim) const NUMBERS: Number = 128;

/// A table: the number of the operation that created it, and its rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::sim) struct Table {
    pub(in crate::sim) made: Number,
    /// The sum of the operation numbers of all rows. It differs between nearly all states, so it is used as a hash.
    sum: Number,
    rows: BTreeMap<Place, Number>,
}

impl Table {
    fn new(made: Number) -> Self {
        Self { made, ..Self::default() }
    }

    pub(in crate::sim) fn rows(&self) -> &BTreeMap<Place, Number> {
        &self.rows
    }

    /// Sets the number of the operation that wrote a row. `None` removes the row.
    fn set(&mut self, place: Place, number: Option<Number>) {
        let old = match number {
            Some(number) => self.rows.insert(place, number),
            None => self.rows.remove(&place),
        };
        self.sum = self.sum.wrapping_sub(old.unwrap_or_default()).wrapping_add(number.unwrap_or_default());
    }
}

impl Hash for Table {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (self.made, self.rows.len(), self.sum).hash(hasher);
    }
}

/// A message in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::sim) struct Message {
    /// The operation that put the message.
    pub(in crate::sim) number: Number,
    /// The operation that returned the receipt that is currently valid.
    pub(in crate::sim) receipt: Number,
    /// `true` if the message can be received. A hidden message stays hidden until the history ends.
    pub(in crate::sim) shows: bool,
}

/// All tables, by number, and a queue. States share the tables that they have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(in crate::sim) struct State {
    pub(in crate::sim) tables: BTreeMap<u8, Arc<Table>>,
    /// The messages, in the order they became visible.
    pub(in crate::sim) queue: Option<Vec<Message>>,
    /// The tables being deleted. A deletion lasts until the engine ends.
    pub(in crate::sim) leaving: BTreeSet<u8>,
}

/// The change that an operation makes to its row, and the condition for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sim) enum Verb {
    Insert,
    /// A replace or a merge. Both write all properties, so the model does not distinguish them.
    Update(Condition),
    Upsert,
    Delete(Condition),
}

/// The condition on the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sim) enum Condition {
    Any,
    /// The row has the version that this operation wrote.
    Version(Number),
}

/// One operation of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sim) struct Operation {
    pub(in crate::sim) row: u16,
    pub(in crate::sim) verb: Verb,
    pub(in crate::sim) number: Number,
}

/// A write requested by a caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::sim) enum Write {
    Create {
        table: u8,
        number: Number,
    },
    /// Drops a table. If drops are slow, requests with the name of the table are refused until the engine ends.
    Drop {
        table: u8,
        is_slow: bool,
    },
    Submit {
        table: u8,
        partition: u8,
        operations: Vec<Operation>,
    },
    CreateQueue,
    Put {
        number: Number,
    },
    /// Receives the first visible message and hides it.
    Receive {
        number: Number,
    },
    /// Hides a message, or makes it visible. The receipt is the one that an earlier operation returned.
    Update {
        message: Number,
        receipt: Number,
        shows: bool,
        number: Number,
    },
    Delete {
        message: Number,
        receipt: Number,
    },
}

/// The reason why a write was refused: the error code, and the position of the refused operation.
pub(in crate::sim) type Refusal = (ErrorCode, Option<usize>);

/// The known outcome of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::sim) enum Outcome {
    /// The write took effect. The value is the number of the received message, if any.
    Done(Option<Number>),
    Refused(Refusal),
    /// The write was not attempted, so it had no effect.
    NotDone,
}

fn missing(code: ErrorCode) -> Refusal {
    (code, None)
}

impl State {
    /// Returns the state after a write, and the message that the write received. If the write is refused, returns the reason.
    pub(super) fn after(&self, write: &Write) -> Result<(Self, Option<Number>), Refusal> {
        let mut state = self.clone();
        let mut received = None;
        match write {
            Write::Create { table, number } => {
                state.check_leaving(*table)?;
                if state.tables.contains_key(table) {
                    return Err(missing(ErrorCode::TableAlreadyExists));
                }
                state.tables.insert(*table, Arc::new(Table::new(*number)));
            }
            Write::Drop { table, is_slow } => {
                state.check_leaving(*table)?;
                state.tables.remove(table).ok_or(missing(ErrorCode::ResourceNotFound))?;
                if *is_slow {
                    state.leaving.insert(*table);
                }
            }
            Write::Submit { table, partition, operations } => {
                state.check_leaving(*table)?;
                let table = state.tables.get_mut(table).ok_or(missing(ErrorCode::TableNotFound))?;
                let table = Arc::make_mut(table);
                for (index, operation) in operations.iter().enumerate() {
                    let place = (*partition, operation.row);
                    let refuse = |code| Err((code, Some(index)));
                    let there = table.rows.get(&place).copied();
                    match (operation.verb, there) {
                        (Verb::Insert, Some(_)) => return refuse(ErrorCode::EntityAlreadyExists),
                        (Verb::Update(_) | Verb::Delete(_), None) => {
                            return refuse(ErrorCode::ResourceNotFound);
                        }
                        (
                            Verb::Update(Condition::Version(wanted))
                            | Verb::Delete(Condition::Version(wanted)),
                            Some(number),
                        ) if wanted / NUMBERS != number / NUMBERS => {
                            return refuse(ErrorCode::UpdateConditionNotSatisfied);
                        }
                        (Verb::Delete(_), _) => table.set(place, None),
                        _ => table.set(place, Some(operation.number)),
                    }
                }
            }
            // Creating a queue that already exists succeeds.
            Write::CreateQueue => drop(state.queue.get_or_insert_default()),
            Write::Put { number } => {
                state.messages()?.push(Message { number: *number, receipt: *number, shows: true });
            }
            Write::Receive { number } => {
                if let Some(message) = state.messages()?.iter_mut().find(|message| message.shows) {
                    (message.receipt, message.shows) = (*number, false);
                    received = Some(message.number);
                }
            }
            Write::Update { message, receipt, shows, number } => {
                let taken = state.take(*message, *receipt)?;
                state.messages()?.push(Message { receipt: *number, shows: *shows, ..taken });
            }
            Write::Delete { message, receipt } => drop(state.take(*message, *receipt)?),
        }
        Ok((state, received))
    }

    /// Returns the error code for requests for a table that does not exist. Returns `None` if the table exists.
    pub(in crate::sim) fn missing(&self, table: u8) -> Option<ErrorCode> {
        if self.leaving.contains(&table) {
            return Some(ErrorCode::TableBeingDeleted);
        }
        (!self.tables.contains_key(&table)).then_some(ErrorCode::TableNotFound)
    }

    fn check_leaving(&self, table: u8) -> Result<(), Refusal> {
        if self.leaving.contains(&table) { Err(missing(ErrorCode::TableBeingDeleted)) } else { Ok(()) }
    }

    pub(super) fn messages(&mut self) -> Result<&mut Vec<Message>, Refusal> {
        self.queue.as_mut().ok_or(missing(ErrorCode::QueueNotFound))
    }

    /// Removes a message if the given receipt for it is valid.
    pub(super) fn take(&mut self, message: Number, receipt: Number) -> Result<Message, Refusal> {
        let messages = self.messages()?;
        let place = messages.iter().position(|there| there.number == message);
        let place = place.ok_or(missing(ErrorCode::MessageNotFound))?;
        if messages[place].receipt != receipt {
            return Err(missing(ErrorCode::PopReceiptMismatch));
        }
        Ok(messages.remove(place))
    }
}
