//! Tests splits with the documented examples of the service, and the properties of the load of partitions under random loads.

use proptest::prelude::*;

use super::*;
use crate::{Fixed, Route};

fn load(levels: &[&str], gigabytes: f64, ru: f64) -> KeyLoad {
    KeyLoad {
        levels: levels.iter().map(|level| (*level).to_owned()).collect(),
        bytes: gigabytes * GB,
        growth: 0.0,
        ru,
    }
}

fn tenants(count: usize, users: usize, gigabytes: f64, ru: f64) -> Vec<KeyLoad> {
    let key =
        move |tenant: usize, user: usize| load(&[&format!("t{tenant}"), &format!("u{user}")], gigabytes, ru);
    (0..count).flat_map(|tenant| (0..users).map(move |user| key(tenant, user))).collect()
}

#[test]
fn hpk_24_and_hpk_4_a_tenant_beyond_both_bounds_is_spread_by_splits() {
    // One tenant has 120 GB and needs 15,000 RU/s. None of its users is near a limit.
    let mut load = Load::new(PartitionMap::even(1), tenants(1, 1000, 0.12, 15.0), Bounds::SERVICE);
    let made = load.settle().unwrap();
    assert!(made.len() >= 2 && load.map().partitions().len() == made.len() + 1);
    assert_eq!(made[0].cause, Cause::Storage);
    assert!(load.heat().iter().all(|heat| heat.full <= 1.0));
    assert!(load.near(0.1).is_empty());
    let tenant = Route::new(&[Fixed::To(vec![Component::text("t0")]), Fixed::Not], load.map()).unwrap();
    assert_eq!(tenant.partitions(), load.map().partitions().len());
}

#[test]
fn hpk_17_and_lim_11_no_split_divides_a_full_key() {
    let mut load = Load::new(PartitionMap::even(1), vec![load(&["Microsoft"], 60.0, 1.0)], Bounds::SERVICE);
    let next = load.next_split().unwrap();
    assert_eq!((next.cause, next.seconds, next.at), (Cause::Storage, 0.0, None));
    assert_eq!(load.settle().unwrap(), []);
    let near = load.near(0.8);
    assert_eq!((near.len(), near[0].1), (1, 3.0), "60 of 20 GB");
}

#[test]
fn hpk_9_and_hpk_12_few_first_values_leave_most_partitions_idle() {
    let heat = Load::new(PartitionMap::even(64), tenants(5, 200, 0.01, 10.0), Bounds::SERVICE).heat();
    let busy = heat.iter().filter(|heat| heat.keys > 0).count();
    assert!(busy <= 5, "{busy} of 64 partitions take all writes");
    let many = Load::new(PartitionMap::even(64), tenants(5000, 1, 0.01, 10.0), Bounds::SERVICE).heat();
    assert!(many.iter().all(|heat| heat.keys > 0), "HPK-16: thousands of values reach every partition");
}

#[test]
fn hpk_14_one_hot_user_is_one_hot_partition() {
    let mut keys = tenants(50, 50, 0.001, 1.0);
    keys.push(load(&["t1", "u1"], 0.0, 9_000.0));
    let load = Load::new(PartitionMap::even(8), keys, Bounds::SERVICE);
    assert_eq!(load.heat().iter().filter(|heat| heat.full > 0.8).count(), 1);
    assert_eq!(load.near(0.8)[0].0.levels, ["t1", "u1"]);
}

#[test]
fn a_growing_partition_splits_when_its_storage_is_used_up() {
    let mut keys = tenants(10, 10, 0.25, 1.0);
    for key in &mut keys {
        key.growth = 2.5e6;
    }
    let load = Load::new(PartitionMap::even(1), keys, Bounds::SERVICE);
    let next = load.next_split().unwrap();
    assert!((next.seconds - 100.0).abs() < 1e-6, "25 GB left at 250 MB a second: {}", next.seconds);
    assert!(next.at.is_some());
    let idle = Load::new(PartitionMap::even(1), tenants(2, 2, 1.0, 1.0), Bounds::SERVICE);
    assert_eq!(idle.next_split(), None);
}

#[test]
fn hpk_12_and_lim_2_requested_throughput_splits_and_load_does_not() {
    let keys = || tenants(30, 10, 0.001, 50.0);
    let mut hot = Load::new(PartitionMap::even(1), keys(), Bounds::SERVICE).with_throughput(10_000.0);
    assert_eq!(hot.settle().unwrap(), []);
    assert!((hot.slowdown() - 1.5).abs() < 1e-9, "15,000 of 10,000: {}", hot.slowdown());
    let mut more = Load::new(PartitionMap::even(1), keys(), Bounds::SERVICE).with_throughput(40_000.0);
    let made = more.settle().unwrap();
    assert!(made.len() == 3 && made.iter().all(|split| split.cause == Cause::Throughput), "{made:?}");
    assert!((more.share() - 10_000.0).abs() < 1e-9);
}

#[test]
fn lim_2_and_lim_13_splits_by_throughput_leave_an_even_load() {
    // Each of four partitions has 10,000 RU/s. There are 4,000 keys with a demand of 9 RU/s each. The test runs with and without stored bytes.
    for gigabytes in [0.001, 0.0] {
        let keys = tenants(4_000, 1, gigabytes, 9.0);
        let mut load = Load::new(PartitionMap::even(1), keys, Bounds::SERVICE).with_throughput(40_000.0);
        assert_eq!(load.settle().unwrap().len(), 3);
        assert!(load.slowdown() < 1.05, "{}", load.slowdown());
    }
}

#[test]
fn hpk_12_and_lim_2_throughput_splits_partitions_without_two_keys() {
    let one = |ru| vec![load(&["t0"], 0.0, ru)];
    for keys in [Vec::new(), one(9_000.0)] {
        let mut load = Load::new(PartitionMap::even(1), keys, Bounds::SERVICE).with_throughput(75_000.0);
        assert_eq!(load.settle().unwrap().len(), 7);
        let widths = load.heat().into_iter().map(|heat| heat.range.width());
        assert!(widths.into_iter().all(|width| (width - 0.125).abs() < 1e-12), "{:?}", load.map());
    }
    let mut hot = Load::new(PartitionMap::even(1), one(9_000.0), Bounds::SERVICE).with_throughput(12_000.0);
    hot.settle().unwrap();
    assert!((hot.slowdown() - 1.5).abs() < 1e-9, "9,000 of 6,000: {}", hot.slowdown());
}

/// Tests that a tenant in one partition gets at most that partition's share. The throughput is divided evenly between partitions.
#[test]
fn hpk_9_and_hpk_12_one_tenant_has_the_share_of_one_partition() {
    let one =
        Load::new(PartitionMap::even(8), tenants(1, 200, 0.0, 5.0), Bounds::SERVICE).with_throughput(3_200.0);
    assert!((one.share() - 400.0).abs() < 1e-9);
    assert!((one.slowdown() - 2.5).abs() < 1e-9, "1,000 of 400: {}", one.slowdown());
    assert!((one.ceiling() - 400.0).abs() < 1e-9, "HPK-12: one partition");
    let many = Load::new(PartitionMap::even(8), tenants(8_000, 1, 0.0, 1.0), Bounds::SERVICE)
        .with_throughput(3_200.0);
    assert!(
        many.ceiling() > 2_700.0,
        "HPK-16: thousands of values reach every partition: {}",
        many.ceiling()
    );
}

#[test]
fn hpk_8_and_hpk_9_an_order_with_few_first_values_is_not_recommended() {
    // Each of two regions has many devices, and every query fixes the region.
    let load = Load::new(PartitionMap::even(8), tenants(2, 500, 0.01, 1.0), Bounds::SERVICE)
        .with_throughput(1_600.0);
    let orders = load.orders(&[vec![true, false]]).unwrap();
    assert_eq!((orders[0].levels.clone(), orders[1].first_values), (vec![1, 0], 2));
    assert!(orders[0].fullest < 1.0 && orders[1].fullest > 2.0, "{orders:?}");
}

#[test]
fn hpk_15_the_order_of_levels_follows_the_queries() {
    let load = Load::new(PartitionMap::even(16), tenants(40, 40, 0.01, 1.0), Bounds::SERVICE);
    let (by_tenant, by_user) = (vec![true, false], vec![false, true]);
    let orders = load.orders(std::slice::from_ref(&by_tenant)).unwrap();
    assert_eq!((orders[0].levels.clone(), orders[0].touched.clone()), (vec![0, 1], vec![1.0]));
    assert_eq!(orders[1].touched, [16.0]);
    let other = load.orders(&[by_user.clone(), by_user, by_tenant]).unwrap();
    assert_eq!(other[0].levels, [1, 0]);
    assert_eq!(other[0].first_values, 40);
}

/// Tests that `orders` fails if the current order needs few splits but another order needs too many.
///
/// One tenant has many users. If the user is the first level, the data is spread over the partitions. If the tenant is the first level, the data must be split
/// for each user.
#[test]
fn hpk_9_orders_fail_if_one_of_them_needs_too_many_splits() {
    const USERS: usize = 1_050;
    let key = |user| load(&[&format!("u{user}"), "t"], 40.0, 1.0);
    let load = Load::new(PartitionMap::even(1_050), (0..USERS).map(key).collect(), Bounds::SERVICE);
    assert!(load.clone().settle().is_ok());
    let error = load.orders(&[]).unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidInput, "{error}");
    assert!(error.to_string().contains("physical partitions"), "{error}");
}

proptest! {
    #[test]
    fn hpk_13_splits_lose_no_key_and_leave_only_what_no_split_divides(
        loads in prop::collection::vec(("[a-d]", "[a-z]{1,2}", 0.0..30.0_f64, 0.0..12_000.0_f64), 1..60),
        count in 1..9_u32,
        throughput in prop::option::of(400.0..200_000.0_f64),
    ) {
        let keys: Vec<KeyLoad> = loads.iter().map(|(one, two, gigabytes, ru)| load(&[one, two], *gigabytes, *ru)).collect();
        let (bytes, ru) = keys.iter().fold((0.0, 0.0), |(bytes, ru), key| (bytes + key.bytes, ru + key.ru));
        let mut load = Load::new(PartitionMap::even(count), keys, Bounds::SERVICE);
        load.throughput = throughput;
        load.settle().unwrap();
        prop_assert!(!load.needs_partitions());
        let heat = load.heat();
        prop_assert!((heat.iter().map(|heat| heat.bytes).sum::<f64>() - bytes).abs() < 1.0);
        prop_assert!((heat.iter().map(|heat| heat.ru).sum::<f64>() - ru).abs() < 1e-3);
        prop_assert_eq!(heat.iter().map(|heat| heat.keys).sum::<usize>(), load.keys.len());
        for heat in heat.iter().filter(|heat| heat.bytes > 50.0 * GB) {
            let indivisible = load.split_of(heat).unwrap();
            prop_assert_eq!(indivisible.at, None);
        }
    }
}

#[test]
fn hpk_12_a_throughput_beyond_all_containers_is_refused() {
    let of = |ru: f64| {
        Load::new(PartitionMap::even(1), tenants(5, 5, 0.01, 10.0), Bounds::SERVICE)
            .with_throughput(ru)
            .settle()
    };
    for ru in [1e9, f64::INFINITY, f64::NAN] {
        assert_eq!(of(ru).unwrap_err().code(), ErrorCode::InvalidInput, "{ru}");
    }
    assert_eq!(of(10_000_000.0).unwrap().len(), 999);
    assert_eq!(of(0.0).unwrap(), []);
}
