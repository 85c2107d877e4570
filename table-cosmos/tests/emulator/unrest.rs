//! Disturbs scenarios: splits and merges partitions between and during requests, or responds to requests with 429.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use azure_core::http::StatusCode;
use azure_data_cosmos_driver::fault_injection::{
    CustomResponseBuilder, FaultInjectionResultBuilder, FaultInjectionRule, FaultInjectionRuleBuilder,
    FaultOperationType,
};
use table_core::{Result, TableName};
use table_cosmos::emulator::Emulator;
use table_hierarchy::{Epk, EpkRange, PartitionMap};
use tokio::runtime::Handle;
use tokio::sync::Mutex;

use crate::{doubts, recorded};

/// The time for which a partition is unavailable during a split or merge.
const LOCKED: Duration = Duration::from_millis(2);
/// The bounds at which partitions are split, given by the first byte of an effective partition key.
const CUTS: [u8; 5] = [0x20, 0x10, 0x30, 0x08, 0x28];
/// The maximum number of throttling disturbances of each kind in one scenario.
const MOST: u32 = 24;
/// The number of times that one rule throttles a request. The request still succeeds, because the client retries it nine times, and at most four threads
/// throttle it at the same time.
const THROTTLED: u32 = 2;

/// The kind of disturbance applied to a scenario's requests.
pub(crate) enum Unrest {
    /// Splits and merges each table's partitions. The emulator's tasks need a runtime, which the scenarios' own threads lack.
    Moves { calls: AtomicU32, maps: Mutex<HashMap<String, PartitionMap>>, runtime: Handle },
    /// One rule at a time responds to requests with 429 before they reach the emulator. The emulator's own throttling is not used, because its budget is per
    /// second of real time. Readers in a loop would exhaust the budget, and the scenario's writer would never succeed.
    Throttles { calls: AtomicU32, rules: Vec<Arc<FaultInjectionRule>> },
}

/// Returns `true` if the call with the given number causes a disturbance. Each of the first calls does, and later calls do so with decreasing frequency.
const fn is_due(call: u32) -> bool {
    call < 12 || call.is_power_of_two()
}

/// Returns the fault injection rules for throttling, which are disabled until a call enables them.
pub(crate) fn throttling() -> Vec<Arc<FaultInjectionRule>> {
    let rule = |number: u32| {
        let answer = CustomResponseBuilder::new(StatusCode::TooManyRequests)
            .with_sub_status(3200)
            .with_header("x-ms-retry-after-ms", "1")
            .with_body(r#"{"code":"429","message":"Request rate is large"}"#);
        let result = FaultInjectionResultBuilder::new().with_custom_response(answer.build()).build();
        let rule = FaultInjectionRuleBuilder::new(format!("throttled {number}"), result);
        let rule = Arc::new(rule.with_hit_limit(THROTTLED).build());
        rule.disable();
        rule
    };
    // A batch can also be throttled by the status of one of its operations.
    let part = |_| doubts::rule(FaultOperationType::BatchItem, recorded::rolled_back(429, 3200), THROTTLED);
    (0..MOST).map(rule).chain((0..MOST).map(part)).collect()
}

impl Unrest {
    /// Creates a disturbance that splits and merges partitions. The splits and merges are tasks on the current runtime.
    pub(crate) fn moves() -> Self {
        Self::Moves { calls: AtomicU32::new(0), maps: Mutex::default(), runtime: Handle::current() }
    }

    /// Returns the number of disturbances so far.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Moves { calls, .. } => {
                (0..calls.load(Ordering::SeqCst)).filter(|call| is_due(*call)).count()
            }
            Self::Throttles { rules, .. } => rules.iter().filter(|rule| rule.hit_count() > 0).count(),
        }
    }

    /// Records that a table with the given number of partitions was created.
    pub(crate) async fn created(&self, table: &TableName, partitions: u32) {
        if let Self::Moves { maps, .. } = self {
            maps.lock().await.insert(table.folded().to_owned(), PartitionMap::even(partitions));
        }
    }

    /// Records that a table is being deleted, and waits for its splits and merges.
    pub(crate) async fn deleting(&self, emulator: &Emulator, table: &TableName) {
        if let Self::Moves { maps, .. } = self {
            maps.lock().await.remove(table.folded());
            emulator.settled().await;
        }
    }

    /// Returns the ranges that the table's partitions should currently have.
    pub(crate) async fn ranges(&self, table: &TableName) -> Vec<EpkRange> {
        let Self::Moves { maps, .. } = self else { return Vec::new() };
        let maps = maps.lock().await;
        let partitions = maps.get(table.folded()).map(PartitionMap::partitions).unwrap_or_default();
        partitions.iter().map(|partition| partition.range.clone()).collect()
    }

    /// Disturbs the emulator before a request, if a disturbance is due.
    pub(crate) async fn disturb(&self, emulator: &Emulator, table: &TableName) -> Result<()> {
        let (Self::Moves { calls, .. } | Self::Throttles { calls, .. }) = self;
        let call = calls.fetch_add(1, Ordering::SeqCst);
        if !is_due(call) {
            return Ok(());
        }
        match self {
            Self::Moves { maps, runtime, .. } => {
                let mut maps = maps.lock().await;
                let Some(map) = maps.get_mut(table.folded()) else { return Ok(()) };
                // The previous change must be complete, because the partition numbers in the model must equal those in the emulator.
                emulator.settled().await;
                let _entered = runtime.enter();
                shift(map, emulator, table, call)
            }
            Self::Throttles { rules, .. } => {
                // One rule of each kind is enabled at a time. Otherwise, calls without requests would accumulate more throttling than the client tolerates.
                let is_left = |rule: &&Arc<FaultInjectionRule>| rule.hit_count() < THROTTLED;
                let (wholes, parts) = rules.split_at(MOST as usize);
                for rules in [wholes, parts] {
                    if let Some(rule) = rules.iter().find(is_left) {
                        rule.enable();
                    }
                }
                Ok(())
            }
        }
    }
}

/// Starts a split at a bound, or a merge if the bound already exists.
fn shift(map: &mut PartitionMap, emulator: &Emulator, table: &TableName, call: u32) -> Result<()> {
    let mut bytes = vec![0; 16];
    bytes[0] = CUTS[call as usize % CUTS.len()];
    let at = Epk::from_bytes(bytes);
    let right = map.locate(&at).clone();
    let left = map.partitions().iter().find(|partition| *partition.range.end() == at).map(|left| left.id);
    if let Some(left) = left {
        emulator.merge(table, left, right.id, LOCKED);
        map.merge(left, right.id)?;
    } else {
        emulator.split(table, right.id, &at, LOCKED)?;
        map.split(right.id, &at)?;
    }
    Ok(())
}

impl fmt::Debug for Unrest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Moves { .. } => "Moves",
            Self::Throttles { .. } => "Throttles",
        })
    }
}
