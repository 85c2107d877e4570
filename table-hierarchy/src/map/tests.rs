//! Tests that a map covers all keys after any sequence of splits and merges. Also tests that a lookup finds the same partition as a scan.

use proptest::prelude::*;

use super::*;
use crate::Component;

/// A split or a merge at a random position.
#[derive(Clone, Debug)]
enum Change {
    Split(String),
    Merge(usize),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        3 => "[a-z]{1,4}".prop_map(Change::Split),
        1 => any::<usize>().prop_map(Change::Merge),
    ]
}

fn epk(key: &str) -> Epk {
    Epk::of(&[Component::text(key.to_owned())])
}

fn changed(count: u32, changes: &[Change]) -> PartitionMap {
    let mut map = PartitionMap::even(count);
    for change in changes {
        match change {
            Change::Split(key) => {
                let id = map.locate(&epk(key)).id;
                // A split at an existing bound is rejected, because one of the halves would be empty.
                let _ = map.split(id, &epk(key));
            }
            Change::Merge(at) => {
                let at = at % map.partitions().len();
                if let [left, right, ..] = &map.partitions()[at..] {
                    let (left, right) = (left.id, right.id);
                    map.merge(left, right).unwrap();
                }
            }
        }
    }
    map
}

#[test]
fn even_partitions_have_the_bounds_of_the_vendors_emulator() {
    let bounds: Vec<String> =
        PartitionMap::even(4).partitions().iter().map(|p| p.range.start().to_string()).collect();
    let zeros = "0".repeat(30);
    assert_eq!(bounds, ["", &format!("10{zeros}"), &format!("20{zeros}"), &format!("30{zeros}")]);
    assert_eq!(PartitionMap::even(0).partitions().len(), 1);
}

#[test]
fn map_1_a_gap_or_an_overlap_is_refused() {
    let range = |from: &str, to: &str| EpkRange::new(from.parse().unwrap(), to.parse().unwrap());
    let tile = |ranges: Vec<EpkRange>| PartitionMap::from_ranges(ranges);
    assert!(tile(vec![range("20", "FF"), range("", "20")]).is_ok());
    // Bounds of different widths can be equal (MAP-6).
    assert!(tile(vec![range("20000000", "FF"), range("", "20")]).is_ok());
    for ranges in [
        vec![],
        vec![range("", "20")],
        vec![range("20", "FF")],
        vec![range("", "20"), range("21", "FF")],
        vec![range("", "21"), range("20", "FF")],
        vec![range("", "FF"), range("FF", "FF")],
    ] {
        assert_eq!(tile(ranges).unwrap_err().rule(), Some("MAP-1"));
    }
}

#[test]
fn map_10_an_empty_range_is_an_error() {
    let map = PartitionMap::even(4);
    let nothing = EpkRange::new("20".parse().unwrap(), "2000".parse().unwrap());
    assert_eq!(map.overlaps(&nothing).unwrap_err().rule(), Some("MAP-10"));
}

#[test]
fn map_11_a_split_may_divide_a_tenant_but_no_user() {
    let user = |user: &str| [Component::text("Microsoft"), Component::text(user.to_owned())];
    let mut map = PartitionMap::even(4);
    let at = Epk::of(&user("u1"));
    let id = map.locate(&at).id;
    let (left, right) = map.split(id, &at).unwrap();
    let holder = |name: &str| map.locate(&Epk::of(&user(name))).id;
    assert_eq!(["u2", "u3", "u1", "u4"].map(holder), [left, left, right, right]);
    assert_eq!(map.overlaps(&EpkRange::of_prefix(&user("u1")[..1])).unwrap().len(), 2);
    for name in ["u1", "u2", "u3", "u4"] {
        assert_eq!(map.overlaps(&EpkRange::of_prefix(&user(name))).unwrap().len(), 1);
    }
}

#[test]
fn map_4_children_know_all_their_ancestors_and_ids_are_not_reused() {
    let mut map = PartitionMap::even(1);
    let (_, right) = map.split(0, &"20".parse().unwrap()).unwrap();
    let (_, last) = map.split(right, &"30".parse().unwrap()).unwrap();
    assert_eq!(map.partitions().last().map(|p| (p.id, p.parents.clone())), Some((last, vec![0, right])));
    assert!(map.split(right, &"28".parse().unwrap()).is_err(), "it was split");
    assert!(map.merge(last, 1).is_err(), "the left one is named first");
    assert!(map.split(last, &"30".parse().unwrap()).is_err(), "the bound is where it begins");
}

proptest! {
    #[test]
    fn map_1_any_splits_and_merges_leave_a_tiling(
        count in 1..9_u32,
        changes in prop::collection::vec(change(), 0..24),
    ) {
        let map = changed(count, &changes);
        let ranges = map.partitions().iter().map(|partition| partition.range.clone());
        prop_assert!(PartitionMap::from_ranges(ranges).is_ok());
        let mut ids: Vec<u32> = map.partitions().iter().map(|partition| partition.id).collect();
        ids.extend(map.partitions().iter().flat_map(|partition| partition.parents.clone()));
        ids.sort_unstable();
        ids.dedup();
        prop_assert!(ids.iter().all(|id| map.position(*id).is_ok() || *id < map.next));
    }

    #[test]
    fn map_5_locating_a_key_agrees_with_checking_every_partition(
        count in 1..9_u32,
        changes in prop::collection::vec(change(), 0..24),
        keys in prop::collection::vec(("[a-d]{0,2}", "[a-d]{0,2}"), 1..20),
    ) {
        let map = changed(count, &changes);
        for (one, two) in &keys {
            let levels = [Component::text(one.as_str()), Component::text(two.as_str())];
            let (key, tenant) = (Epk::of(&levels), EpkRange::of_prefix(&levels[..1]));
            let holders: Vec<u32> =
                map.partitions().iter().filter(|partition| partition.range.contains(&key)).map(|p| p.id).collect();
            prop_assert_eq!(&holders, &[map.locate(&key).id]);
            let touched: Vec<u32> = map.overlaps(&tenant).unwrap().iter().map(|partition| partition.id).collect();
            let overlapping: Vec<u32> = map
                .partitions()
                .iter()
                .filter(|partition| partition.range.intersection(&tenant).is_some())
                .map(|partition| partition.id)
                .collect();
            prop_assert_eq!(touched, overlapping);
            prop_assert_eq!(map.overlaps(&EpkRange::of_key(&levels)).unwrap().len(), 1);
        }
    }
}
