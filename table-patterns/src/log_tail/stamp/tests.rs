use proptest::prelude::*;
use table_core::key::codec::laws;

use table_core::ErrorCode;

use super::*;

fn stamp() -> impl Strategy<Value = LogStamp> {
    let near = 635_442_654_321_234_560_u64..635_442_654_321_234_570;
    let ticks = prop_oneof![0..=ticks::MAX, near, Just(0), Just(ticks::MAX)];
    let tie = prop_oneof![any::<u64>(), 0_u64..4, Just(u64::MAX)];
    (ticks, tie).prop_map(|(ticks, tie)| LogStamp::from_ticks(ticks, tie))
}

proptest! {
    #[test]
    fn pat_log_1_2_4_the_codec_satisfies_its_laws(stamps in prop::collection::vec(stamp(), 2..12)) {
        prop_assert_eq!(laws::check::<Inverted, LogStamp>(&stamps), Ok(()));
    }

    #[test]
    fn the_midpoint_is_strictly_between(a in stamp(), b in stamp()) {
        match LogStamp::between(a, b) {
            Some(middle) => prop_assert!(a < middle && middle < b),
            None => prop_assert!(b <= a || b.number() - a.number() == 1),
        }
    }
}

#[test]
fn pat_log_1_vectors_t6_and_t12() {
    let stamp = LogStamp::new("2014-08-22T00:50:32.1234567Z".parse().unwrap(), u64::MAX).unwrap();
    assert_eq!(stamp.to_string(), "2519936321678765432_0000000000000000");
    assert_eq!(LogStamp::LAST.to_string(), "0000000000000000000_0000000000000000");
    assert_eq!(LogStamp::FIRST.to_string(), "3155378975999999999_ffffffffffffffff");
}

#[test]
fn texts_that_no_stamp_writes_are_refused() {
    for text in [
        "",
        "2519936321678765432",
        "2519936321678765432_FFFFFFFFFFFFFFFF",
        "3155378976000000000_0000000000000000",
        "+519936321678765432_0000000000000000",
        "2519936321678765432_+000000000000000",
        "2519936321678765432-0000000000000000",
    ] {
        assert_eq!(text.parse::<LogStamp>().unwrap_err().code(), ErrorCode::EntityMismatch, "{text}");
    }
}
