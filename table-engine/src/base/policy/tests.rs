//! Tests each rule of the merge policy. Tests with random merges also check that merging ends and stays within its bounds.

use proptest::prelude::*;

use super::*;

fn layer(bytes: u64) -> Weight {
    Weight { bytes, entries: bytes / 10, deletions: 0 }
}

fn segment(layers: &[u64]) -> Figures {
    Figures { layers: layers.iter().map(|bytes| layer(*bytes)).collect(), ..Figures::default() }
}

fn chosen(segments: &[Figures]) -> Option<(Range<usize>, usize)> {
    choose(segments, 1_000, Turn::Flushes).map(|(choice, _)| {
        let layers = segments.get(choice.segments.start).map_or(0, |first| first.layers.len());
        let is_one = choice.segments.len() == 1;
        (choice.segments, if is_one { choice.layers.min(layers) } else { choice.layers })
    })
}

#[test]
fn each_rule_selects_a_merge_and_a_settled_base_is_not_merged() {
    let settled = segment(&[900]);
    let base = |one: Figures| vec![settled.clone(), settled.clone(), one];
    assert_eq!(chosen(&vec![settled.clone(); 20]), None);
    // Some waste is allowed.
    assert_eq!(chosen(&base(segment(&[300, 900]))), None);
    let required = Figures { condition: Condition::Required, ..segment(&[10, 900]) };
    assert_eq!(chosen(&base(required)), Some((2..3, 2)));
    let deep: Vec<u64> = std::iter::repeat_n(10, 11).chain([9_000]).collect();
    assert_eq!(chosen(&base(segment(&deep))), Some((2..3, 11)), "without the oldest layer");
    let apart = |newer| Figures { condition: Condition::SetApart { newer }, ..segment(&deep) };
    assert_eq!(chosen(&base(apart(1))), None, "sealed layers are left alone");
    assert_eq!(chosen(&base(apart(5))), Some((2..3, 5)), "and the layers above them merged");
    let mut deleted = segment(&[9_000, 9_000]);
    (deleted.layers[0].entries, deleted.layers[0].deletions) = (300, 300);
    deleted.layers[1].entries = 600;
    assert_eq!(chosen(&base(deleted)), Some((2..3, 2)));
    let wasteful = [segment(&[600, 5_000]), segment(&[1_700, 9_000]), segment(&[2_500, 2_000])];
    assert_eq!(chosen(&wasteful), Some((2..3, 2)), "the largest share");
    let small = vec![segment(&[120]); 9];
    assert_eq!(chosen(&small), Some((0..8, usize::MAX)));
    let with_a_large_one = [vec![segment(&[900])], vec![segment(&[10]); 7]].concat();
    assert_eq!(chosen(&with_a_large_one), None);
}

#[test]
fn merges_for_waiting_flushes_alternate_with_required_merges() {
    let required = Figures { condition: Condition::Required, ..segment(&[10, 900]) };
    let full = segment(&std::iter::repeat_n(10, 15).chain([9_000]).collect::<Vec<_>>());
    let next = |segments: &[Figures], turn| {
        choose(segments, 1_000, turn).map(|(choice, turn)| (choice.segments.start, turn))
    };
    let both = [required.clone(), full];
    assert_eq!(urgency(&both, 1_000), Debt::Much);
    assert_eq!(next(&both, Turn::Flushes), Some((1, Turn::Required)));
    assert_eq!(next(&both, Turn::Required), Some((0, Turn::Flushes)));
    let wasteful = [required.clone(), segment(&[9_000, 9_000])];
    assert_eq!(urgency(&wasteful, 1_000), Debt::Much);
    assert_eq!(next(&wasteful, Turn::Flushes), Some((1, Turn::Required)));
    let deep = [required, segment(&[10; 15])];
    assert_eq!(urgency(&deep, 1_000), Debt::Some);
    assert_eq!(next(&deep, Turn::Flushes), Some((0, Turn::Flushes)), "no flush waits");
}

#[test]
fn top_layers_are_merged_down_to_one_larger_than_all_above_it() {
    assert_eq!(segment(&[5, 5, 10, 20, 41, 1_000]).top(), 4);
    assert_eq!(segment(&[5, 50, 1_000]).top(), 2);
    assert_eq!(segment(&[100, 50, 200]).top(), 3);
}

/// Returns a measure of the remaining work, which each merge must decrease.
fn measure(segments: &[Figures]) -> (u64, usize) {
    let unsettled = segments.iter().filter(|segment| !segment.is_settled());
    let entries = unsettled.map(|segment| segment.total().entries * segment.layers.len() as u64).sum();
    (entries, segments.iter().map(|segment| segment.layers.len() + 1).sum())
}

/// Performs a merge in the model. `kept` is the percentage of rows that remain.
fn merge(segments: &mut Vec<Figures>, Choice { segments: range, layers }: Choice, kept: u64) {
    let all = range.len() > 1 || layers >= segments[range.start].layers.len();
    let of = |segment: &Figures| -> Weight { segment.layers.iter().take(layers).copied().sum() };
    let merged: Weight = segments[range.clone()].iter().map(of).sum();
    let deletions = if all { 0 } else { merged.deletions };
    let rows = (merged.entries - merged.deletions) * kept / 100;
    let bytes = merged.bytes * kept / 100;
    let below = segments[range.start].layers.iter().skip(layers).copied().collect::<Vec<_>>();
    let condition = match segments[range.start].condition {
        Condition::SetApart { newer } if !all => {
            Condition::SetApart { newer: (newer.max(layers) - layers) + 1 }
        }
        Condition::Required if !all => Condition::Required,
        _ => Condition::Usual,
    };
    let result = Weight { bytes, entries: rows + deletions, deletions };
    let below = if all { Vec::new() } else { below };
    let layers = std::iter::once(result).filter(|result| result.entries > 0).chain(below).collect();
    segments.splice(range, [Figures { layers, condition }]);
}

fn weights() -> impl Strategy<Value = Weight> {
    (1..400_u64, 0..100_u64, prop_oneof![3 => Just(10_u64), 1 => 1..2_000_u64]).prop_map(
        |(entries, deleted, size)| Weight {
            bytes: entries * size,
            entries,
            deletions: if deleted < 60 { 0 } else { entries * (deleted - 59) / 40 },
        },
    )
}

fn figures() -> impl Strategy<Value = Figures> {
    let condition = prop_oneof![
        8 => Just(Condition::Usual),
        1 => Just(Condition::Required),
        1 => (0..20_usize).prop_map(|newer| Condition::SetApart { newer }),
    ];
    (prop::collection::vec(weights(), 0..20), condition).prop_map(|(layers, condition)| {
        let figures = Figures { layers, condition };
        // A settled segment never needs a merge, so its condition is neither required nor set apart.
        let condition = if figures.is_settled() { Condition::Usual } else { condition };
        Figures { condition, ..figures }
    })
}

/// Generates segments that do not stall a flush.
fn resting() -> impl Strategy<Value = Figures> {
    let condition = prop_oneof![Just(Condition::Usual), Just(Condition::Required)];
    (prop::collection::vec(weights(), 1..4), condition).prop_map(|(mut layers, condition)| {
        layers.push(Weight { bytes: 10_000_000, entries: 100_000, deletions: 0 });
        Figures { layers, condition }
    })
}

proptest! {
    #[test]
    fn each_merge_reduces_the_measure_and_the_bounds_hold_at_rest(
        segments in prop::collection::vec(figures(), 1..40),
        run_bytes in prop_oneof![Just(100_u64), Just(3_000), Just(100_000)],
        kept in 0..=100_u64,
        turn in prop_oneof![Just(Turn::Flushes), Just(Turn::Required)],
    ) {
        let (mut segments, mut turn) = (segments, turn);
        while let Some((choice, next)) = choose(&segments, run_bytes, turn) {
            turn = next;
            let before = measure(&segments);
            merge(&mut segments, choice.clone(), kept);
            prop_assert!(measure(&segments) < before, "{:?}", choice);
        }
        prop_assert!(segments.iter().all(|segment| segment.depth() <= LAYERS));
        prop_assert!(readable(&segments).all(|(_, segment)| !segment.is_mostly_deleted()));
        let (waste, allowed) = waste(&segments, run_bytes);
        prop_assert!(waste <= allowed);
    }

    #[test]
    fn required_merges_at_most_double_the_merges_for_which_a_flush_waits(
        resting in prop::collection::vec(resting(), 1..40),
        others in prop::collection::vec(figures(), 1..4),
        run_bytes in prop_oneof![Just(100_u64), Just(3_000), Just(100_000)],
        turn in prop_oneof![Just(Turn::Flushes), Just(Turn::Required)],
    ) {
        let segments = [resting, others].concat();
        let waited = |segments: &[Figures]| {
            let (mut segments, mut turn, mut count) = (segments.to_vec(), turn, 0);
            while urgency(&segments, run_bytes) == Debt::Much
                && let Some((choice, next)) = choose(&segments, run_bytes, turn)
            {
                turn = next;
                merge(&mut segments, choice, 100);
                count += 1;
            }
            count
        };
        let usual = |segment: &Figures| match segment.condition {
            Condition::Required => Figures { condition: Condition::Usual, ..segment.clone() },
            _ => segment.clone(),
        };
        let without = waited(&segments.iter().map(usual).collect::<Vec<_>>());
        let with = waited(&segments);
        prop_assert!(with <= 2 * without + 1, "{} instead of {}", with, without);
    }
}
