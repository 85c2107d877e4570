//! Tests effective partition keys against published and measured hashes. Also tests the properties of their order.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::EpkRange;

fn n(number: f64) -> Component<'static> {
    Component::number(number).unwrap()
}

const fn b(value: bool) -> Component<'static> {
    Component::boolean(value)
}

fn t(text: &str) -> Component<'_> {
    Component::text(text)
}

const UNDEFINED: Component<'static> = Component::UNDEFINED;
const NULL: Component<'static> = Component::NULL;

/// Returns keys with their expected effective partition keys. The expected value has one hash per level.
fn vectors() -> Vec<(Vec<Component<'static>>, &'static [&'static str])> {
    vec![
        (vec![t("")], &["32E9366E637A71B4E710384B2F4970A0"]),
        (vec![t("partitionKey")], &["013AEFCF77FA271571CF665A58C933F1"]),
        (vec![Component::text("a".repeat(1024))], &["332BDF5512AE49615F32C7D98C2DB86C"]),
        (vec![NULL], &["378867E4430E67857ACE5C908374FE16"]),
        (vec![UNDEFINED], &["11622DAA78F835834610ABE56EFF5CB5"]),
        (vec![b(true)], &["0E711127C5B5A8E4726AC6DD306A3E59"]),
        (vec![b(false)], &["2FE1BE91E90A3439635E0E9E37361EF2"]),
        (vec![n(5.0)], &["19C08621B135968252FB34B4CF66F811"]),
        (vec![n(-128.0)], &["01DAEDABF913540367FE219B2AD06148"]),
        (vec![n(127.0)], &["0C507ACAC853ECA7977BF4CEFB562A25"]),
        (vec![n(f64::from(i32::MIN))], &["0B1660D5233C3171725B30D4A5F4CC1F"]),
        (vec![n(f64::from(i32::MAX))], &["2D9349D64712AEB5EB1406E2F0BE2725"]),
        (vec![n(5e-324)], &["0E6CBA63A280927DE485DEF865800139"]),
        (vec![n(f64::MAX)], &["31424D996457102634591FF245DBCC4D"]),
        (vec![t("redmond")], &["22E342F38A486A088463DFF7838A5963"]),
        (vec![t("café 東京 🚀")], &["389ED563F219577470F42691A5234A68"]),
        (vec![t("café")], &["1AE97AF2CC0E6E12FBF8B4684778386F"]),
        (vec![n(0.0)], &["155B95BEDAC4B1E9EC1CDC9BB0DDDE58"]),
        (vec![n(-0.0)], &["155B95BEDAC4B1E9EC1CDC9BB0DDDE58"]),
        (vec![n(9_007_199_254_740_992.0)], &["15335910D01122E3D99DA5DE569B065D"]),
        (vec![t("1")], &["3C80B1B7310BB39F29CC4EA05BDD461E"]),
        (vec![n(1.0)], &["20CD98B339BA78A5D0CF6953B87070B0"]),
        (
            vec![t("redmond"), n(5.0)],
            &["22E342F38A486A088463DFF7838A5963", "19C08621B135968252FB34B4CF66F811"],
        ),
        (
            vec![t("redmond"), b(true), NULL],
            &[
                "22E342F38A486A088463DFF7838A5963",
                "0E711127C5B5A8E4726AC6DD306A3E59",
                "378867E4430E67857ACE5C908374FE16",
            ],
        ),
        (vec![t(""), b(true)], &["32E9366E637A71B4E710384B2F4970A0", "0E711127C5B5A8E4726AC6DD306A3E59"]),
        (
            vec![t("partitionKey"), NULL, b(false)],
            &[
                "013AEFCF77FA271571CF665A58C933F1",
                "378867E4430E67857ACE5C908374FE16",
                "2FE1BE91E90A3439635E0E9E37361EF2",
            ],
        ),
        (
            vec![t("/path1"), t("/path2"), t("/path3")],
            &[
                "3499FD5198AE0F1EB6B77F6E428D2FF0",
                "27A1848BD1102A3B65AFF266874D0FF5",
                "2CA5ABC953544CF9BD94776DA5E6EA52",
            ],
        ),
        (
            vec![t("Microsoft"), t("8411f20f-be3e-416a-a3e7-dcd5a3c1f28b"), t("0000-11-0000-1111")],
            &[
                "188C347FDB4ED0ECB72D5C45AC751981",
                "103E721522E4639E24C196F5A69B03EE",
                "02F4E274B4110F68797BC465EE773275",
            ],
        ),
        (
            vec![t("Microsoft"), t("u1"), t("s1")],
            &[
                "188C347FDB4ED0ECB72D5C45AC751981",
                "2A947C94F6E254B945CEBC3196C9897C",
                "2924A879AFFF52A411F93F1A83532751",
            ],
        ),
        (
            vec![t("tenant1"), t("user1"), t("session1")],
            &[
                "0DAE0B8467B011E957BC0B8B0DEB5ACA",
                "236A5BE3329A7AD57D4B998E8602BD7B",
                "3968A88FC4D9F7E8A7CC60434EE850D5",
            ],
        ),
        (
            vec![t("Contoso"), t("Alice")],
            &["23C3EC20CBEA798430F192F7BB985CAE", "2941D3C0AC4EDB313C4223BA2F444A81"],
        ),
        (
            vec![t("tenant1"), UNDEFINED, n(42.0)],
            &[
                "0DAE0B8467B011E957BC0B8B0DEB5ACA",
                "11622DAA78F835834610ABE56EFF5CB5",
                "08E6D561F6FD951DCC25E7E4EA2884B5",
            ],
        ),
        (
            vec![t("USA"), t("CA"), t("SanFrancisco")],
            &[
                "2D145581F5E75BAC6C539649981C9670",
                "2F442D3F30B24D244283F3B36B4CB88B",
                "2885EE042E04E6183AFD6E425E1807E1",
            ],
        ),
    ]
}

#[test]
fn epk_6_7_and_14_keys_have_the_hashes_that_the_vendors_clients_compute() {
    for (key, levels) in vectors() {
        let epk = Epk::of(&key);
        assert_eq!(epk.to_string(), levels.concat(), "{key:?}");
        assert_eq!(epk.to_string().parse::<Epk>().unwrap(), epk);
        assert!(epk.as_bytes().chunks(16).all(|level| level[0] <= 0x3F), "{key:?}");
    }
}

#[test]
fn epk_1_numbers_are_doubles_and_non_finite_ones_are_refused() {
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(Component::number(number), None);
    }
    #[expect(clippy::cast_precision_loss, reason = "the test shows the loss")]
    let wide = 9_007_199_254_740_993_i64 as f64;
    assert_eq!(Epk::of(&[n(wide)]), Epk::of(&[n(9_007_199_254_740_992.0)]));
}

#[test]
fn epk_2_negative_zero_equals_positive_zero() {
    assert_eq!(Epk::of(&[n(-0.0)]), Epk::of(&[n(0.0)]));
}

#[test]
fn epk_3_and_4_types_and_cases_are_distinguished() {
    let keys = [t("1"), n(1.0), t("true"), b(true), NULL, UNDEFINED, t("null"), t("a"), t("A"), t("a ")];
    let distinct: HashSet<Epk> = keys.iter().map(|key| Epk::of(std::slice::from_ref(key))).collect();
    assert_eq!(distinct.len(), keys.len());
}

#[test]
fn epk_11_and_rt_2_a_prefix_is_the_range_observed_on_the_wire() {
    let prefix = EpkRange::of_prefix(&[t("Microsoft")]);
    assert_eq!(prefix.start().to_string(), "188C347FDB4ED0ECB72D5C45AC751981");
    assert_eq!(prefix.end().to_string(), "188C347FDB4ED0ECB72D5C45AC751981FF");
    let two = EpkRange::of_prefix(&[t("Microsoft"), t("u1")]);
    assert_eq!(two.end().to_string(), "188C347FDB4ED0ECB72D5C45AC7519812A947C94F6E254B945CEBC3196C9897CFF");
}

#[test]
fn map_9_a_point_is_written_as_a_window_of_one() {
    let key = [t("Microsoft"), t("u1"), t("s1")];
    let window = EpkRange::of_key(&key);
    assert!(window.start().to_string().ends_with("83532751"));
    assert!(window.end().to_string().ends_with("83532752"), "{window}");
    let greatest = Epk::from_bytes(vec![0xFF; 16]);
    assert_eq!(greatest.successor(1), Epk::END);
    assert_eq!(
        Epk::from_bytes(vec![1, 0xFF]).successor(1),
        Epk::from_bytes({
            let mut bytes = vec![0; 16];
            (bytes[0], bytes[1], bytes[15]) = (1, 0xFF, 1);
            bytes
        })
    );
    assert_eq!(Epk::from_bytes(vec![1; 17]).successor(1), Epk::END);
}

#[test]
fn epk_12_no_level_is_the_start() {
    assert_eq!(Epk::of(&[]), Epk::START);
    assert_eq!(Epk::of(&[]).to_string(), "");
}

#[test]
fn map_6_bounds_of_any_width_are_compared_in_one_way() {
    let widths = [10, 32, 96, 128];
    for from in widths {
        for to in widths {
            let bound = |width: usize| format!("{:0<width$}", "0000000031").parse::<Epk>().unwrap();
            assert_eq!(bound(from).cmp(&bound(to)), Ordering::Equal, "{from} {to}");
        }
    }
    // Comparisons ignore trailing zeros, but not the `FF` at the end of a prefix.
    let prefix = EpkRange::of_prefix(&[t("Microsoft")]);
    assert!(prefix.start() < prefix.end());
    for text in ["0", "0g", "é", "ÿÿ"] {
        assert!(text.parse::<Epk>().is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn map_7_order_equality_and_hash_agree(
        left in prop::collection::vec(0..3_u8, 0..6),
        right in prop::collection::vec(0..3_u8, 0..6),
    ) {
        let (mut padded_left, mut padded_right) = (left.clone(), right.clone());
        padded_left.resize(8, 0);
        padded_right.resize(8, 0);
        let (left, right) = (Epk::from_bytes(left), Epk::from_bytes(right));
        prop_assert_eq!(left.cmp(&right), padded_left.cmp(&padded_right));
        prop_assert_eq!(left == right, padded_left == padded_right);
        let one: HashSet<Epk> = [left.clone(), right.clone()].into();
        prop_assert_eq!(one.len() == 1, left == right);
    }

    #[test]
    fn epk_11_a_prefix_contains_exactly_the_keys_below_it(
        key in prop::collection::vec("[a-c!é]{0,3}", 3),
        other in prop::collection::vec("[a-c!é]{0,3}", 3),
        depth in 1..3_usize,
    ) {
        let components = |key: &[String]| -> Vec<Component<'static>> { key.iter().cloned().map(Component::text).collect() };
        let prefix = EpkRange::of_prefix(&components(&key[..depth]));
        prop_assert!(prefix.contains(&Epk::of(&components(&key))));
        prop_assert_eq!(prefix.contains(&Epk::of(&components(&other))), key[..depth] == other[..depth]);
    }
}

#[test]
fn epk_10_one_level_hashes_as_a_key_of_one_path_and_several_do_not() {
    // A partition key of the `Hash` kind has a single hash for all its values. The hash of these four values is published.
    let of_one_path = |values: &[Component<'_>]| {
        let mut text = Vec::new();
        for value in values {
            value.write(&mut text);
        }
        Epk::from_bytes(component(&text))
    };
    for value in [t("redmond"), t(""), n(5.0), b(true), Component::NULL, Component::UNDEFINED] {
        assert_eq!(Epk::of(std::slice::from_ref(&value)), of_one_path(std::slice::from_ref(&value)));
    }
    let four = [n(5.0), t("redmond"), b(true), Component::NULL];
    assert_eq!(of_one_path(&four).to_string(), "3032DECBE2AB1768D8E0AEDEA35881DF");
    assert_ne!(Epk::of(&four[..2]), of_one_path(&four[..2]));
}

#[test]
fn map_8_the_end_of_a_prefix_keeps_its_last_byte() {
    let tenant = EpkRange::of_prefix(&[t("Microsoft")]);
    let end = tenant.end().to_string();
    assert_eq!(end, "188C347FDB4ED0ECB72D5C45AC751981FF");
    assert_eq!(end.parse::<Epk>().unwrap(), *tenant.end());
    // Appending zeros does not change the end of the range. Without the last byte, the end would equal the start.
    assert_eq!(format!("{end}0000").parse::<Epk>().unwrap(), *tenant.end());
    assert!(*tenant.end() > *tenant.start() && tenant.contains(&Epk::of(&[t("Microsoft"), t("u1")])));
}
