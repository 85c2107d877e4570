//! The load on the server. It has 32 connections, each with a separate thread. Eight of them use queues, and the others write rows.

use std::sync::mpsc::{Sender, channel};
use std::thread;

use pollster::FutureExt;
use table_azure::{AzureQueues, AzureTables, Options, RetryPolicy};
use table_core::{QueueStore, Result};

use super::child::{Fallible, Served};
use super::messages::{self, Tally};
use crate::crash::{Acknowledged, Evidence, Writer};

/// The number of connections that write rows.
const WRITERS: usize = 24;
/// The number of connections that put, receive and delete messages.
const HANDS: usize = 8;

/// The acknowledgements received in all rounds with the same folder.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub(super) rows: Evidence,
    pub(super) queues: [Tally; HANDS],
}

/// A report from the thread of a connection to the main thread.
enum Report {
    Row(Acknowledged),
    Message,
    /// The error that ended the connection. It is the last report of the connection.
    Failed(table_core::Error),
}

/// Puts load on the server, and kills it after `kill_after` acknowledgements. Returns the number of acknowledgements received.
///
/// # Errors
/// An error if a connection fails before the kill.
pub(super) fn run_and_kill(served: &mut Served, kill_after: u64, ledger: &mut Ledger) -> Fallible<u64> {
    // If a request in progress at the kill were retried, it would only wait for a dead server.
    let options = || Options::new().retry(RetryPolicy::NONE);
    let tables = AzureTables::from_connection_string_with(&served.connection_string, options())?;
    let queues = AzureQueues::from_connection_string_with(&served.connection_string, options())?;
    Writer::create_table(&tables).block_on()?;
    for hand in 0..HANDS {
        queues.create_queue(&messages::queue(hand)?).block_on()?;
    }
    let (reports, reported) = channel();
    let Ledger { rows, queues: tallies } = ledger;
    thread::scope(|scope| {
        for number in 0..WRITERS {
            let (reports, tables) = (reports.clone(), &tables);
            scope.spawn(move || fail(&reports, write(tables, number, &reports)));
        }
        for (hand, tally) in tallies.iter_mut().enumerate() {
            let (reports, queues) = (reports.clone(), &queues);
            scope.spawn(move || fail(&reports, work(queues, hand, tally, &reports)));
        }
        drop(reports);
        let (mut acknowledged, mut early) = (0, None);
        if kill_after == 0 {
            served.kill()?;
        }
        // This reads the reports of all connections, including those that were sent just before the kill.
        for report in reported {
            match report {
                Report::Row(row) => rows.record(row),
                Report::Message => {}
                Report::Failed(error) => {
                    if acknowledged < kill_after {
                        early.get_or_insert(error);
                        served.kill()?;
                    }
                    continue;
                }
            }
            acknowledged += 1;
            if acknowledged == kill_after {
                served.kill()?;
            }
        }
        match early {
            Some(error) => Err(format!("a connection failed before the kill: {error:?}").into()),
            None => Ok(acknowledged),
        }
    })
}

/// Reports the error that ended a connection. The main thread receives reports as long as a connection is open.
fn fail(reports: &Sender<Report>, end: Result<()>) {
    if let Err(error) = end {
        drop(reports.send(Report::Failed(error)));
    }
}

fn write(tables: &AzureTables, number: usize, reports: &Sender<Report>) -> Result<()> {
    let mut writer = Writer::resume(tables, number).block_on()?;
    while reports.send(Report::Row(writer.step(tables).block_on()?)).is_ok() {}
    Ok(())
}

fn work(queues: &AzureQueues, hand: usize, tally: &mut Tally, reports: &Sender<Report>) -> Result<()> {
    loop {
        messages::step(queues, hand, tally).block_on()?;
        if reports.send(Report::Message).is_err() {
            return Ok(());
        }
    }
}
