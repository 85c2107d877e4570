//! Tests that the physical partition model agrees with the Azure SDK's throttled emulator (HPK-9, HPK-12, HPK-14, HPK-16).
//!
//! A container in the emulator divides its throughput evenly among its partitions, and each partition can use its share once per second. A workload is replayed
//! in bursts, one per second. Each burst sends every write that has not been admitted yet. The number of bursts until all writes are admitted, divided by the
//! workload's duration, is the measured utilisation of the hottest partition. The model predicts this value. The emulator throttles only writes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex as SyncMutex};
use std::time::{Duration, Instant};

use serde_json::json;
use table_advice::{Design, Distribution, Draw, Report, Step, Workload};
use table_core::{Entity, TableName};
use table_cosmos::Options;
use table_cosmos::emulator::{DATABASE, Emulator};
use table_hierarchy::{Component, Epk, PartitionMap};
use tokio::sync::Mutex;

use crate::runtime;

/// The duration of each workload in seconds.
const SECONDS: u32 = 4;
/// The number of writes per second in each workload.
const RATE: f64 = 40.0;
/// The throughput of each physical partition, in request units per second.
const SHARE: u32 = 100;
/// The length of the emulator's throttling window.
const WINDOW: Duration = Duration::from_secs(1);
/// The maximum relative difference that is accepted between the model's prediction and the measurement.
const TOLERANCE: f64 = 0.20;

#[derive(Clone, Entity)]
#[entity(table = "Events")]
#[partition_key(tenant, user)]
#[row_key(number)]
struct Event {
    tenant: String,
    user: String,
    #[digits(8)]
    number: u32,
    body: String,
}

#[derive(Clone, Entity)]
#[entity(table = "Readings")]
#[partition_key(bucket)]
#[row_key(number)]
struct Reading {
    bucket: String,
    #[digits(8)]
    number: u32,
    body: String,
}

/// A write: the levels and the id of its item.
type Write = (Vec<String>, u64);

/// A test case: a container and its workload.
struct Case {
    name: &'static str,
    partitions: u32,
    /// The levels at which a partition is split before the workload starts.
    split: Option<[&'static str; 2]>,
    depth: usize,
    levels: fn(&mut Draw<'_>, &Distributions) -> Vec<String>,
}

/// The distributions that the cases sample.
struct Distributions {
    users: Distribution,
    thousands: Distribution,
    mild: Distribution,
    steep: Distribution,
    tenth: Distribution,
}

impl Distributions {
    fn new() -> Self {
        Self {
            users: Distribution::uniform(200).unwrap(),
            thousands: Distribution::uniform(5_000).unwrap(),
            mild: Distribution::zipf(1_000, 0.8).unwrap(),
            steep: Distribution::zipf(1_000, 1.2).unwrap(),
            tenth: Distribution::uniform(10).unwrap(),
        }
    }
}

fn pair(tenant: impl Into<String>, user: u64) -> Vec<String> {
    vec![tenant.into(), format!("u{user:03}")]
}

fn cases() -> Vec<Case> {
    let case = |name, levels| Case { name, partitions: 8, split: None, depth: 2, levels };
    vec![
        case("one tenant", |draw, of| pair("contoso", draw.of(&of.users))),
        case("two tenants, nine to one", |draw, of| {
            let tenant = if draw.of(&of.tenth) == 0 { "fabrikam" } else { "contoso" };
            pair(tenant, draw.of(&of.users))
        }),
        case("five tenants", |draw, of| pair(format!("t{}", draw.of(&of.users) % 5), draw.of(&of.users))),
        case("tenants by Zipf 0.8", |draw, of| pair(format!("t{}", draw.of(&of.mild)), draw.of(&of.users))),
        case("tenants by Zipf 1.2", |draw, of| pair(format!("t{}", draw.of(&of.steep)), draw.of(&of.users))),
        case("a hot user", |draw, of| match draw.of(&of.tenth) {
            0..4 => pair("contoso", 0),
            _ => pair(format!("t{}", draw.of(&of.thousands)), draw.of(&of.users)),
        }),
        case("thousands of tenants", |draw, of| pair(format!("t{}", draw.of(&of.thousands)), 0)),
        Case {
            partitions: 3,
            split: Some(["contoso", "u050"]),
            ..case("a tenant split in two", |draw, of| pair("contoso", draw.of(&of.users)))
        },
        Case {
            partitions: 4,
            split: Some(["contoso", "u120"]),
            ..case("a hot tenant on five partitions", |draw, of| match draw.of(&of.tenth) {
                0..8 => pair("contoso", draw.of(&of.users)),
                _ => pair(format!("t{}", draw.of(&of.thousands)), 0),
            })
        },
        Case {
            depth: 1,
            ..case("sixteen buckets", |draw, of| vec![format!("b{}", draw.of(&of.users) % 16)])
        },
    ]
}

/// Runs a case's workload, and returns its report and its writes.
fn replay(case: &Case) -> (Report, Vec<Write>) {
    let (writes, of) = (Arc::new(SyncMutex::new(Vec::new())), Distributions::new());
    let (levels, sink) = (case.levels, writes.clone());
    let workload = Workload::new(case.name).seconds(SECONDS).pattern("store", RATE, move |draw| {
        let (levels, number) = (levels(draw, &of), draw.number());
        sink.lock().unwrap().push((levels.clone(), number));
        let (number, body) = (u32::try_from(number).unwrap(), "x".repeat(300));
        match levels.as_slice() {
            [bucket] => Step::write(&Reading { bucket: bucket.clone(), number, body }),
            [tenant, user] => {
                Step::write(&Event { tenant: tenant.clone(), user: user.clone(), number, body })
            }
            other => panic!("{other:?}"),
        }
    });
    let report = workload.run().unwrap();
    let writes = std::mem::take(&mut *writes.lock().unwrap());
    (report, writes)
}

fn epk(levels: &[String]) -> Epk {
    Epk::of(&levels.iter().map(|level| Component::text(level.as_str())).collect::<Vec<_>>())
}

/// Creates a case's container in a throttled account, and returns its physical partitions.
async fn container(emulator: &Emulator, case: &Case, table: &TableName) -> (PartitionMap, u32) {
    let count = case.partitions + u32::from(case.split.is_some());
    emulator.create(table, case.depth, case.partitions, Some(u64::from(SHARE * count))).unwrap();
    let store = emulator.open(Options::new().levels(table.as_str(), case.depth)).await.unwrap();
    if let Some(at) = case.split {
        let at = epk(&at.map(str::to_owned));
        let id = store.partitions(table).await.unwrap().locate(&at).id;
        emulator.split(table, id, &at, Duration::ZERO).unwrap();
        emulator.settled().await;
    }
    let map = store.partitions(table).await.unwrap();
    assert_eq!(map.partitions().len(), count as usize);
    (map, SHARE * count)
}

/// Sends a single write, and returns the status of the response.
async fn send(emulator: &Emulator, table: &TableName, (levels, id): &Write) -> u16 {
    let mut item = json!({"id": id.to_string(), "p": {"Body": "x".repeat(300)}, "o": "x"});
    for (name, level) in ["l1", "l2"].iter().zip(levels) {
        item[*name] = level.as_str().into();
    }
    let headers = [("x-ms-documentdb-partitionkey".to_owned(), json!(levels).to_string())];
    let target = format!("/dbs/{DATABASE}/colls/{table}/docs");
    emulator.exchange("POST", &target, headers, item.to_string().into_bytes()).await.unwrap().status
}

/// Returns the number of windows until the emulator has admitted all writes, or `None` if the machine was too slow to send a burst within one window. Only the
/// used fraction of the last window counts.
async fn windows(
    (emulator, table, map): (&Emulator, &TableName, &PartitionMap),
    writes: &[Write],
    turn: &Mutex<()>,
) -> Option<f64> {
    let mut pending: Vec<&Write> = writes.iter().collect();
    // The number of writes admitted by each burst, by partition.
    let mut admitted: HashMap<u32, Vec<f64>> = HashMap::new();
    while !pending.is_empty() {
        tokio::time::sleep(WINDOW + Duration::from_millis(5)).await;
        // Bursts run one at a time, to avoid competing for the processor.
        let alone = turn.lock().await;
        let (start, mut rest, mut burst) = (Instant::now(), Vec::new(), HashMap::<u32, f64>::new());
        for write in pending {
            match send(emulator, table, write).await {
                201 => *burst.entry(map.locate(&epk(&write.0)).id).or_default() += 1.0,
                429 => rest.push(write),
                status => panic!("status {status}"),
            }
        }
        drop(alone);
        if start.elapsed() >= WINDOW {
            return None;
        }
        for (id, count) in burst {
            admitted.entry(id).or_default().push(count);
        }
        pending = rest;
    }
    let used = |bursts: &Vec<f64>| {
        let whole = f64::from(u32::try_from(bursts.len()).unwrap()) - 1.0;
        let full = f64::from(SHARE) / table_hierarchy::write_units(500);
        whole + bursts.last().unwrap() / full
    };
    admitted.values().map(used).reduce(f64::max)
}

/// Returns the measured utilisation of the hottest partition.
async fn measured(case: &Case, writes: &[Write], turn: &Mutex<()>) -> f64 {
    for _ in 0..30 {
        let (emulator, table) = (Emulator::new(true).unwrap(), TableName::new("Events").unwrap());
        let (map, _) = container(&emulator, case, &table).await;
        if let Some(windows) = windows((&emulator, &table, &map), writes, turn).await {
            return windows / f64::from(SECONDS);
        }
    }
    panic!("{}: a burst takes longer than a second", case.name);
}

#[test]
fn hpk_9_12_14_and_16_ten_skewed_workloads_load_the_emulator_like_the_model() {
    runtime().block_on(async {
        let turn = Arc::new(Mutex::new(()));
        let mut running = Vec::new();
        for case in cases() {
            let (report, writes) = replay(&case);
            let emulator = Emulator::new(true).unwrap();
            let (map, throughput) = container(&emulator, &case, &TableName::new("Events").unwrap()).await;
            let design = if case.depth == 1 { Design::of::<Reading>() } else { Design::of::<Event>() };
            let design = design.on(map).throughput(f64::from(throughput)).days(0.0);
            let predicted = report.container(&design).unwrap().before;
            let hottest = predicted.heat().iter().map(|heat| heat.full).fold(0.0, f64::max);
            let turn = turn.clone();
            running.push(tokio::spawn(async move {
                let measured = measured(&case, &writes, &turn).await;
                (case.name, hottest, predicted.slowdown(), measured)
            }));
        }
        assert_eq!(running.len(), 10);
        let mut wrong = Vec::new();
        for case in running {
            let (name, predicted, slowdown, measured) = case.await.unwrap();
            println!("{name}: the hottest partition is used at {predicted:.2} by the model, {measured:.2} by the emulator");
            let off = (predicted - measured).abs() / measured;
            if off > TOLERANCE || (slowdown - measured.max(1.0)).abs() / measured.max(1.0) > TOLERANCE {
                wrong.push((name, predicted, slowdown, measured));
            }
        }
        assert_eq!(wrong, [], "more than 20 % off");
    });
}

/// Tests two regions with many devices. In the recommended order, the device is the first level, and the emulator runs the workload faster in this order.
#[test]
fn hpk_8_and_hpk_16_the_recommended_order_is_the_faster_one() {
    runtime().block_on(async {
        let case = Case {
            name: "two regions",
            partitions: 8,
            split: None,
            depth: 2,
            levels: |draw, of| pair(format!("region{}", draw.of(&of.users) % 2), draw.of(&of.users)),
        };
        let (report, writes) = replay(&case);
        let throughput = f64::from(SHARE * case.partitions);
        let design = Design::of::<Event>().partitions(8).throughput(throughput).days(0.0);
        let container = report.container(&design.question("of a region", &["tenant"])).unwrap();
        let mut seconds = Vec::new();
        for order in &container.orders {
            let reordered = writes
                .iter()
                .map(|(levels, id)| (order.levels.iter().map(|at| levels[*at].clone()).collect(), *id));
            let measured = measured(&case, &reordered.collect::<Vec<Write>>(), &Mutex::new(())).await;
            assert!(
                (order.fullest - measured).abs() / measured <= TOLERANCE,
                "{:?}: {} by the model, {measured} by the emulator",
                order.levels,
                order.fullest
            );
            seconds.push(measured);
        }
        assert_eq!(container.orders[0].levels, [1, 0]);
        assert!(seconds[0] * 2.0 < seconds[1], "{seconds:?}");
    });
}
