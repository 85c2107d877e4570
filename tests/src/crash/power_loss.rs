//! Runs writers on a simulated disk until the power fails. Then checks the data on the disk.

use std::sync::{Arc, Mutex, PoisonError};

use pollster::FutureExt;
use table_core::embedded::{Engine, EngineOptions};

use crate::crash::{Evidence, Writer, check};
use simulation::power::SimulatedDisk;

/// Opens an engine on the simulated disk. Its options cause frequent checkpoints and frequent journal rotations.
///
/// # Errors
/// Any error from opening the engine.
pub fn open(disk: &SimulatedDisk) -> table_core::Result<Engine> {
    EngineOptions::new()
        .disk(Arc::new(disk.clone()))
        .checkpoint_bytes(24 * 1024)
        .memtable_bytes(96 * 1024)
        .open("/simulated")
}

/// Runs `writers` concurrent writers until each has made `steps` transactions, or until the disk fails.
///
/// Returns the acknowledged writes, and the first error, if any.
#[must_use]
pub fn write(
    disk: &SimulatedDisk,
    evidence: Evidence,
    writers: usize,
    steps: usize,
) -> (Evidence, Option<table_core::Error>) {
    let evidence = Mutex::new(evidence);
    let outcome = open(disk).and_then(|engine| {
        Writer::create_table(&engine).block_on()?;
        std::thread::scope(|scope| {
            let (engine, evidence) = (&engine, &evidence);
            let work = |number: usize| -> table_core::Result<()> {
                let mut writer = Writer::resume(engine, number).block_on()?;
                for _ in 0..steps {
                    let acknowledged = writer.step(engine).block_on()?;
                    evidence.lock().unwrap_or_else(PoisonError::into_inner).record(acknowledged);
                }
                Ok(())
            };
            let threads: Vec<_> = (0..writers).map(|number| scope.spawn(move || work(number))).collect();
            threads.into_iter().try_for_each(|thread| thread.join().unwrap_or(Ok(())))
        })
    });
    (evidence.into_inner().unwrap_or_else(PoisonError::into_inner), outcome.err())
}

/// Returns the defects on a disk after a power loss. `evidence` contains the writes that were acknowledged before it.
#[must_use]
pub fn findings(disk: &SimulatedDisk, evidence: &Evidence) -> Vec<String> {
    match open(disk).and_then(|engine| check(&engine, evidence).block_on()) {
        Ok(wrong) => wrong,
        Err(error) => vec![format!("the engine does not come back: {error}")],
    }
}
