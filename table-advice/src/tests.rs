//! Tests of workloads: distributions, heat, targets and costs. Workload files are tested separately.

mod files;

use chrono::{DateTime, Utc};
use proptest::prelude::*;
use table_core::Entity;
use table_core::query::QueryClass;

use super::{Distribution, Prices, Report, Step, Workload};

#[derive(Entity)]
#[entity(table = "Event")]
#[partition_key(department, "_", employee)]
#[row_key(at)]
struct Event {
    #[without('_')]
    department: String,
    #[digits(6)]
    employee: u32,
    at: DateTime<Utc>,
}

/// Creates a workload with one pattern, which writes events. The employees of the events follow the given distribution.
fn events(name: &str, per_second: f64, employees: &Distribution) -> Workload {
    let employees = employees.clone();
    Workload::new(name).seconds(4).pattern("log in", per_second, move |draw| {
        let employee = u32::try_from(draw.of(&employees)).unwrap();
        Step::write(&Event { department: "Sales".into(), employee, at: draw.instant() })
    })
}

#[test]
fn scl_1_a_partition_is_throttled_above_2000_entities_a_second() {
    let one = Distribution::constant(7);
    events("at the target", 2_000.0, &one).run().unwrap().require_no_throttling().unwrap();
    let report = events("over it", 2_500.0, &one).run().unwrap();
    let found = report.throttling();
    assert_eq!((found.refused_load, found.refused_requests, found.hottest_second), (2_000, 0, 2_500));
    insta::assert_snapshot!(report.require_no_throttling().unwrap_err(), @"OverBudget: partition `Event/Sales_000007` gets 2500 entities and pages in one second, 2000 is its target; spread them over more partitions, keep fewer copies in it, or write less often (rule SCL-1)");
    insta::assert_snapshot!(report.require_max_partition_share(0.05).unwrap_err(), @"OverBudget: partition `Event/Sales_000007` takes 100.0 % of the requests at one moment, at most 5.0 % are allowed; start the PartitionKey with a value that differs between concurrent requests, such as a user or a device, and move time and sequences to the RowKey, or spread it with `bucket(…, n)` (rule PAT-ANTI-1)");
    assert!(
        report.require_max_partition_share(1.0).is_ok()
            && report.require_max_partition_share(f64::NAN).is_err()
    );
}

#[test]
fn scl_1_an_account_is_throttled_above_20000_requests_a_second() {
    let points = |per_second| {
        let users = Distribution::uniform(1_000).unwrap();
        let read = Workload::new("points").seconds(1).pattern("one", per_second, move |draw| {
            let employee = u32::try_from(draw.of(&users)).unwrap();
            Step::read(&Event::key("Sales", employee, DateTime::UNIX_EPOCH), 1, 100)
        });
        read.run().unwrap()
    };
    points(20_000.0).require_no_throttling().unwrap();
    let report = points(21_000.0);
    assert_eq!((report.throttling().refused_load, report.throttling().refused_requests), (0, 1_000));
    assert!(
        report.require_no_throttling().unwrap_err().to_string().contains("the account gets 21000 requests")
    );
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(ByEmail, unique, row_key("email_", email))]
#[index(Directory, table = "Directory", partition_key(email), row_key("of_", id, "_", department))]
struct Employee {
    department: String,
    #[digits(6)]
    id: u32,
    email: String,
}

#[test]
fn pat_intra_8_copies_count_against_their_partitions() {
    let hire = |_: &mut super::Draw<'_>| {
        Step::write(&Employee { department: "Sales".into(), id: 1, email: "a@contoso.com".into() })
    };
    let report = Workload::new("hires").seconds(10).pattern("hire", 1.0, hire).run().unwrap();
    let cost = report.pattern("hire").unwrap();
    // The counted requests are the transaction with the entity, three reads, the write of the remote copy, and the removal of the record.
    assert_eq!((cost.max_requests, cost.reads, cost.writes, cost.operations), (6, 30, 30, 10));
    // The counted entities are the entity, its copy in the same partition, the record (written and removed), two reads, and the remote copy (read and written).
    assert_eq!(cost.entities, 10 * 8);
    let rows = &report.heat_map().rows;
    let cells: Vec<_> = rows.iter().map(|(name, cells)| (name.as_str(), cells[0])).collect();
    assert_eq!(cells, [("Directory/a@contoso.com", 2.0), ("Employee/Sales", 6.0)]);
    let error = report.require_max_requests("hire", 2).unwrap_err();
    insta::assert_snapshot!(error, @"OverBudget: pattern `hire` is a write of 6 requests, at most 2 are allowed; keep fewer copies in other partitions, or move them to the partition of the entity (rule CLS-1)");
}

#[test]
fn cls_1_reads_have_the_class_and_pages_of_their_selection() {
    let workload = Workload::new("reads")
        .seconds(2)
        .pattern("point", 1.0, |_| Step::read(&Event::key("Sales", 1, DateTime::UNIX_EPOCH), 1, 9))
        .pattern("partition", 1.0, |_| Step::read(&Event::partition("Sales", 1), 2_500, 9))
        .pattern("index", 1.0, |_| Step::read(&Employee::directory("a@contoso.com"), 0, 9))
        .pattern("table", 1.0, |_| Step::read(&Event::scan("a count"), 1_000_000, 9));
    let report = workload.run().unwrap();
    let costs: Vec<_> =
        report.patterns().iter().map(|cost| (cost.class.unwrap(), cost.max_requests)).collect();
    let expected = [
        (QueryClass::Point, 1),
        (QueryClass::PartitionScan, 3),
        (QueryClass::Range, 1),
        (QueryClass::TableScan, 1_000),
    ];
    assert_eq!(costs, expected);
    // A table scan adds no heat to any partition.
    assert_eq!(report.heat().partitions(), 2);
    for (pattern, remedy) in [("partition", "start the RowKey"), ("table", "start the PartitionKey")] {
        assert!(
            report.require_max_requests(pattern, 1).unwrap_err().to_string().contains(remedy),
            "{pattern}"
        );
    }
    assert!(
        report.requests("nothing").unwrap_err().to_string().contains("its patterns are `point`, `partition`")
    );
}

#[test]
fn the_price_is_a_month_of_requests_at_the_given_rates() {
    let prices =
        Prices { currency: "EUR".into(), per_10k_reads: 0.1, per_10k_writes: 0.2, per_gib_read: 0.0 };
    let report = events("paid", 10.0, &Distribution::constant(1)).prices(prices).run().unwrap();
    let writes_a_month = 10.0 * 86_400.0 * 30.0;
    assert!((report.price().unwrap() - writes_a_month / 10_000.0 * 0.2).abs() < 1e-6);
    assert!(report.to_string().contains("total 518.40 EUR a month"), "{report}");
}

/// Tests patterns that are too rare to occur in the run. The closure of each pattern is evaluated, and its requests are checked and priced.
#[test]
fn a_pattern_that_is_rarer_than_the_run_is_priced_and_checked() {
    let scan = |_: &mut super::Draw<'_>| Step::read(&Event::scan("nightly"), 3_000_000, 9);
    let once_a_day = 1.0 / 86_400.0;
    let prices =
        Prices { currency: "EUR".into(), per_10k_reads: 0.1, per_10k_writes: 0.0, per_gib_read: 0.0 };
    let rare = || events("rare", 1.0, &Distribution::constant(1)).prices(prices.clone());
    let report = rare().pattern("nightly", once_a_day, scan).pattern("never", 0.0, scan).run().unwrap();
    assert!(report.require_max_requests("nightly", 2_999).is_err());
    report.require_max_requests("nightly", 3_000).unwrap();
    report.require_max_requests("never", 0).unwrap();
    assert!((report.price().unwrap() - 30.0 * 3_000.0 / 10_000.0 * 0.1).abs() < 1e-6, "{report}");
    let nightly = report.pattern("nightly").unwrap();
    assert_eq!((nightly.operations, nightly.class), (0, Some(QueryClass::TableScan)));
    let broken = |_: &mut super::Draw<'_>| Step::read(&Event::key("a_b", 1, DateTime::UNIX_EPOCH), 1, 1);
    assert_eq!(rare().pattern("broken", once_a_day, broken).run().unwrap_err().rule(), Some("PAT-CK-2"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Tests that the price and the maximum number of requests of a pattern do not depend on whether it occurs in the run. All its operations are the same.
    #[test]
    fn the_price_and_the_requests_of_a_pattern_do_not_depend_on_its_rate(
        exponents in prop::collection::vec(-6.0..1.0_f64, 1..4),
        pages in 1_u64..50,
        seconds in 1_u32..100,
    ) {
        let prices = Prices { currency: "EUR".into(), per_10k_reads: 1.0, per_10k_writes: 0.0, per_gib_read: 0.0 };
        let rates: Vec<f64> = exponents.iter().map(|exponent| 10_f64.powf(*exponent)).collect();
        let workload = events("rates", 10.0, &Distribution::constant(1)).seconds(seconds).prices(prices);
        let workload = rates.iter().enumerate().fold(workload, |workload, (at, rate)| {
            workload.pattern(at.to_string(), *rate, move |_| Step::read(&Event::scan("all"), pages * 1_000, 9))
        });
        let report = workload.run().unwrap();
        let requests = f64::from(u32::try_from(pages).unwrap());
        let expected: f64 = rates.iter().map(|rate| rate * 30.0 * 86_400.0 * requests / 10_000.0).sum();
        prop_assert!((report.price().unwrap() - expected).abs() <= expected * 1e-9);
        for at in 0..rates.len() {
            prop_assert!(report.require_max_requests(&at.to_string(), pages - 1).is_err());
            prop_assert!(report.require_max_requests(&at.to_string(), pages).is_ok());
        }
    }
}

#[test]
fn an_invalid_workload_is_refused() {
    let one = Distribution::constant(1);
    let step = |_: &mut super::Draw<'_>| Ok(Step::default());
    for (workload, expected) in [
        (Workload::new("none"), "no operations"),
        (events("still", 0.0, &one), "no operations"),
        (events("negative", -1.0, &one), "a rate must be a number of at least 0, but it is -1"),
        (events("no number", f64::NAN, &one), "a rate must be a number"),
        (events("endless", f64::INFINITY, &one), "a rate must be a number"),
        (events("twice", 1.0, &one).pattern("log in", 1.0, step), "two patterns are named `log in`"),
        (events("much", 1e6, &one), "at most 2000000 are run"),
        (events("long", 1e-3, &one).seconds(u32::MAX), "at most 2592000 seconds"),
        (events("nothing recorded", 1.0, &one).replay("again", 1.0, Vec::new()), "the recording is empty"),
    ] {
        let error = workload.run().unwrap_err();
        assert_eq!(error.code(), table_core::ErrorCode::InvalidWorkload);
        assert!(error.to_string().contains(expected), "{error}");
    }
    for (values, exponent) in [(0, 1.0), (1_000_001, 1.0), (5, -1.0), (5, f64::NAN)] {
        assert!(Distribution::zipf(values, exponent).is_err(), "{values} {exponent}");
    }
    assert!(Distribution::uniform(0).is_err());
}

fn run(seed: u64, per_second: f64, employees: &Distribution) -> Report {
    events("drawn", per_second, employees).seed(seed).run().unwrap()
}

fn distribution() -> impl Strategy<Value = Distribution> {
    prop_oneof![
        (1_u64..500).prop_map(|values| Distribution::uniform(values).unwrap()),
        (1_u64..500, 0.0..3.0_f64)
            .prop_map(|(values, exponent)| Distribution::zipf(values, exponent).unwrap()),
        (0_u64..500).prop_map(Distribution::constant),
        Just(Distribution::sequence()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn shares_add_up_to_one(seed: u64, per_second in 1.0..300.0_f64, employees in distribution()) {
        let report = run(seed, per_second, &employees);
        let sum: f64 = report.shares().map(|(_, share)| share).sum();
        prop_assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        prop_assert!(report.shares().is_sorted_by(|left, right| left.1 >= right.1));
        let cost = report.pattern("log in").unwrap();
        prop_assert_eq!((cost.operations, report.heat().writes()), (cost.writes, cost.operations));
        prop_assert!((f64::from(u32::try_from(cost.operations).unwrap()) - 4.0 * per_second).abs() <= 0.51);
    }

    /// Tests that the same seed always produces the same report, even if a pattern is added. Each pattern uses a separate sequence.
    #[test]
    fn the_same_seed_gives_the_same_report(seed: u64, employees in distribution()) {
        let (once, again) = (run(seed, 200.0, &employees), run(seed, 200.0, &employees));
        prop_assert_eq!(once.to_string(), again.to_string());
        prop_assert_eq!(once.svg(), again.svg());
        let more = events("drawn", 200.0, &employees).seed(seed).pattern("scan", 3.0, |_| {
            Step::read(&Event::scan("beside"), 1, 1)
        });
        let more = more.run().unwrap();
        prop_assert_eq!(more.heat_map(), once.heat_map());
    }

    /// Tests that the frequencies of values match their probabilities.
    ///
    /// The tolerance is six standard deviations, plus a constant for rare values. The test is therefore very unlikely to fail by chance.
    #[test]
    fn zipf_draws_follow_the_probability_mass(seed: u64, values in 1_u64..200, exponent in 0.0..2.5_f64) {
        let zipf = Distribution::zipf(values, exponent).unwrap();
        let sum: f64 = (0..=values).map(|value| zipf.mass(value)).sum();
        prop_assert!((sum - 1.0).abs() < 1e-9);
        let mut random = super::random::Random::new(seed, "zipf");
        let (draws, mut counts) = (20_000_u32, vec![0_u32; usize::try_from(values).unwrap()]);
        for number in 0..draws {
            counts[usize::try_from(zipf.draw(&mut random, number.into())).unwrap()] += 1;
        }
        for (value, count) in counts.iter().enumerate() {
            let mass = zipf.mass(value as u64);
            let expected = f64::from(draws) * mass;
            let deviation = (expected * (1.0 - mass)).sqrt();
            prop_assert!((f64::from(*count) - expected).abs() <= 6.0 * deviation + 6.0, "{value}: {count} of {expected}");
        }
    }
}

#[test]
fn other_seeds_give_other_keys() {
    let uniform = Distribution::uniform(50).unwrap();
    assert_ne!(run(1, 200.0, &uniform).heat_map(), run(2, 200.0, &uniform).heat_map());
}
