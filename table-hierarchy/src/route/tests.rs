//! Tests routes against the documented routing table. Also tests 10,000 random designs against a scan of all keys.

use proptest::prelude::*;

use super::*;
use crate::Epk;

const TENANT: &str = "Microsoft";

fn one(text: &str) -> Fixed<'_> {
    Fixed::To(vec![Component::text(text)])
}

fn count(levels: &[Fixed<'_>], map: &PartitionMap) -> (RouteClass, usize) {
    let route = Route::new(levels, map).unwrap();
    (route.class, route.partitions())
}

/// Returns a map of four partitions of equal width. Also returns the same map after a split between two keys of the tenant.
fn maps() -> [PartitionMap; 2] {
    let four = PartitionMap::even(4);
    let mut five = four.clone();
    let user = Epk::of(&[TENANT, "u1"].map(Component::text));
    five.split(four.locate(&user).id, &user).unwrap();
    [four, five]
}

#[test]
fn hpk_38_rt_1_to_3_and_rt_7_each_query_touches_what_the_vendors_planner_does() {
    use RouteClass::{FanOut, SinglePartition, Targeted};
    let not = || Fixed::Not;
    let tenants = Fixed::To(vec![Component::text(TENANT), Component::text("Contoso")]);
    let rows: [(&str, [Fixed<'_>; 3], RouteClass, [usize; 2]); 9] = [
        ("T U S", [one(TENANT), one("u1"), one("s1")], SinglePartition, [1, 1]),
        ("T U", [one(TENANT), one("u1"), not()], Targeted, [1, 1]),
        ("T", [one(TENANT), not(), not()], Targeted, [1, 2]),
        ("T S", [one(TENANT), not(), one("s1")], Targeted, [1, 2]),
        ("U", [not(), one("u1"), not()], FanOut, [4, 5]),
        ("S", [not(), not(), one("s1")], FanOut, [4, 5]),
        ("U S", [not(), one("u1"), one("s1")], FanOut, [4, 5]),
        ("T in", [tenants, not(), not()], Targeted, [2, 3]),
        ("none", [not(), not(), not()], FanOut, [4, 5]),
    ];
    for (map, at) in maps().iter().zip(0..) {
        for (name, levels, class, counts) in &rows {
            assert_eq!(count(levels, map), (*class, counts[at]), "{name} on {}", map.partitions().len());
        }
    }
}

#[test]
fn rt_8_and_rt_9_a_repeated_value_counts_once() {
    let map = PartitionMap::even(4);
    let repeated = |count| Fixed::To(vec![Component::text(TENANT); count]);
    for times in [2, 300] {
        let route = Route::new(&[repeated(times), repeated(times)], &map).unwrap();
        assert_eq!((route.class, route.depth, route.reasons.len()), (RouteClass::SinglePartition, 2, 0));
    }
}

#[test]
fn hpk_39_one_partition_does_not_hide_a_fan_out() {
    let map = PartitionMap::even(1);
    assert_eq!(count(&[Fixed::Not, one("u1")], &map), (RouteClass::FanOut, 1));
}

#[test]
fn hpk_25_of_a_thousand_partitions_a_tenant_on_five_is_read_from_five() {
    let mut map = PartitionMap::even(996);
    let prefix = EpkRange::of_prefix(&[Component::text(TENANT)]);
    for cut in ["10", "18", "20", "30"] {
        let at: Epk = format!("{}{cut}", prefix.start()).parse().unwrap();
        map.split(map.locate(&at).id, &at).unwrap();
    }
    let route = Route::new(&[one(TENANT), Fixed::Not, Fixed::Not], &map).unwrap();
    assert_eq!((route.touched.len(), route.total), (5, 1000));
}

#[test]
fn rt_4_a_partition_read_as_a_whole_needs_no_bounds() {
    let map = PartitionMap::even(4);
    let all = Route::new(&[Fixed::Not], &map).unwrap();
    assert!(all.touched.iter().all(|touched| touched.whole));
    let tenant = Route::new(&[one(TENANT), Fixed::Not], &map).unwrap();
    assert!(tenant.touched.iter().all(|touched| !touched.whole), "it holds others, too (RT-5)");
}

#[test]
fn rt_9_too_many_values_are_filtered_in_the_response() {
    let map = PartitionMap::even(4);
    let many = |count: u32| Fixed::To((0..count).map(|at| Component::text(at.to_string())).collect());
    let route = Route::new(&[many(20), many(20)], &map).unwrap();
    assert_eq!((route.class, route.depth, route.ranges.len()), (RouteClass::Targeted, 1, 20));
    assert!(route.reasons[0].contains("the values of level 2"), "{:?}", route.reasons);
    let points = Route::new(&[many(10), many(10)], &map).unwrap();
    assert_eq!((points.class, points.ranges.len()), (RouteClass::MultiPoint, 100));
    let none = Route::new(&[one(TENANT), many(0)], &map).unwrap();
    assert_eq!((none.class, none.touched.len()), (RouteClass::Empty, 0));
}

/// A random design of a container with one to three levels: its keys, the bounds between its partitions, and a query.
#[derive(Clone, Debug)]
struct Design {
    depth: usize,
    partitions: u32,
    keys: Vec<[u8; 3]>,
    cuts: Vec<[u8; 3]>,
    asked: [Option<Vec<u8>>; 3],
}

fn design() -> impl Strategy<Value = Design> {
    let keys = || prop::collection::vec([0..6_u8, 0..6_u8, 0..6_u8], 1..24);
    let asked = || prop::option::weighted(0.7, prop::collection::vec(0..7_u8, 1..4));
    (
        1..4_usize,
        1..65_u32,
        keys(),
        prop::collection::vec([0..6_u8, 0..6_u8, 0..6_u8], 0..6),
        [asked(), asked(), asked()],
    )
        .prop_map(|(depth, partitions, keys, cuts, asked)| Design {
            depth,
            partitions,
            keys,
            cuts,
            asked,
        })
}

fn levels(key: [u8; 3], depth: usize) -> Vec<Component<'static>> {
    key.iter().take(depth).map(|value| Component::text(format!("v{value}"))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn hpk_5_and_rt_4_to_6_exactly_the_needed_partitions_are_touched(design in design()) {
        let mut map = PartitionMap::even(design.partitions);
        for cut in &design.cuts {
            let at = Epk::of(&levels(*cut, design.depth));
            let id = map.locate(&at).id;
            let _ = map.split(id, &at); // a split at an existing bound divides nothing
        }
        let asked: Vec<Fixed<'_>> = design.asked.iter().take(design.depth).map(|values| match values {
            None => Fixed::Not,
            Some(values) => Fixed::To(values.iter().map(|value| Component::text(format!("v{value}"))).collect()),
        }).collect();
        let route = Route::new(&asked, &map).unwrap();

        let accepted = |key: &[u8; 3], levels: usize| {
            design.asked.iter().take(levels).zip(key).all(|(asked, value)| asked.as_ref().is_none_or(|asked| asked.contains(value)))
        };
        for key in &design.keys {
            let epk = Epk::of(&levels(*key, design.depth));
            let times = route.touched.iter().filter(|touched| touched.range.contains(&epk)).count();
            // The query reads exactly the keys that match the conditions on the narrowing levels, and reads each of them once.
            prop_assert_eq!(times, usize::from(accepted(key, route.depth)), "{:?}", key);
        }
        for touched in &route.touched {
            let partition = map.partitions().iter().find(|partition| partition.id == touched.id).unwrap();
            let inside = partition.range.intersection(&touched.range);
            prop_assert_eq!(inside.as_ref(), Some(&touched.range));
            prop_assert_eq!(touched.whole, partition.range == touched.range);
        }
        prop_assert!(route.partitions() <= route.total);
        prop_assert_eq!(route.class == RouteClass::FanOut, route.depth == 0);
        if route.class == RouteClass::SinglePartition {
            prop_assert_eq!(route.partitions(), 1);
        }
    }
}

#[test]
fn rt_8_the_longest_fixed_prefix_narrows_and_the_rest_is_filtered() {
    let two = || Fixed::To(vec![Component::text(TENANT), Component::text("Contoso")]);
    for map in maps() {
        let depth = |levels: &[Fixed<'_>]| Route::new(levels, &map).unwrap().depth;
        assert_eq!(depth(&[one(TENANT), one("u1"), one("s1")]), 3);
        assert_eq!(depth(&[two(), one("u1"), Fixed::Not]), 2);
        assert_eq!(depth(&[one(TENANT), Fixed::Not, one("s1")]), 1);
        assert_eq!(depth(&[Fixed::Not, one("u1"), one("s1")]), 0);
        // A query with several values for a level touches every partition that a query with one of these values touches.
        let ranges = Route::new(&[two(), one("u1"), Fixed::Not], &map).unwrap().ranges;
        let each = |tenant| EpkRange::of_prefix(&[Component::text(tenant), Component::text("u1")]);
        let mut expected = vec![each(TENANT), each("Contoso")];
        expected.sort();
        assert_eq!(ranges, expected);
    }
}

#[test]
fn rt_10_alternatives_narrow_only_if_each_of_them_fixes_the_first_level() {
    for map in maps() {
        let total = map.partitions().len();
        let any = |branches: &[Vec<Fixed<'_>>]| Route::any(branches, &map).unwrap();
        let tenant = |text| vec![one(text), Fixed::Not, Fixed::Not];
        let whole = any(&[tenant(TENANT), vec![Fixed::Not, one("u1"), Fixed::Not]]);
        assert_eq!((whole.class, whole.partitions()), (RouteClass::FanOut, total), "T= OR U=");
        let both = any(&[tenant(TENANT), tenant("Contoso"), tenant(TENANT)]);
        let set = Fixed::To(vec![Component::text(TENANT), Component::text("Contoso")]);
        let as_set = Route::new(&[set, Fixed::Not, Fixed::Not], &map).unwrap();
        assert_eq!(
            (both.class, both.ranges, both.touched),
            (RouteClass::Targeted, as_set.ranges, as_set.touched)
        );
        let points = any(&[vec![one("a"), one("b"), one("c")], vec![one("a"), one("b"), one("d")]]);
        assert_eq!((points.class, points.ranges.len()), (RouteClass::MultiPoint, 2));
        // A range that lies inside another requested range is not requested twice.
        let nested = any(&[tenant(TENANT), vec![one(TENANT), one("u1"), one("s1")]]);
        assert_eq!((nested.class, nested.ranges.len()), (RouteClass::Targeted, 1));
        assert_eq!(any(&[]).class, RouteClass::Empty);
        assert_eq!(any(&[vec![Fixed::To(Vec::new())], tenant(TENANT)]).class, RouteClass::Targeted);
    }
}

#[test]
fn rt_12_a_value_of_another_type_is_a_different_key() {
    let map = PartitionMap::even(64);
    let of = |value| Route::new(&[Fixed::To(vec![value])], &map).unwrap();
    let (text, number) = (of(Component::text("1")), of(Component::number(1.0).unwrap()));
    assert_eq!((text.class, number.class), (RouteClass::SinglePartition, RouteClass::SinglePartition));
    assert_ne!(text.touched[0].id, number.touched[0].id);
}
