//! The scenarios of the behaviour suite that fail on Azurite, and the rule that describes each difference.

/// Distinguishes scenarios that always fail on Azurite from scenarios that fail at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fails {
    /// The scenario always fails. The test runs it and checks that it fails.
    Always,
    /// The scenario fails at random. The test does not run it.
    Sometimes,
}
use Fails::{Always, Sometimes};

/// Each entry contains the scenario, the kind of failure, the rules, and the difference. If no AZ rule describes the difference, the entry names the rule that
/// Azurite violates.
pub(crate) const DEVIATIONS: &[(&str, Fails, &str, &str)] = &[
    ("etag::etag_1_and_2_the_etag_is_the_timestamp_in_the_services_form", Sometimes, "AZ-5", SEVEN_DIGITS),
    (
        "etag::etag_5_6_and_con_10_every_write_of_an_entity_gives_a_later_etag",
        Sometimes,
        "AZ-5",
        SEVEN_DIGITS,
    ),
    ("filters::fil_11_and_12_absent", Always, "AZ-14", "JavaScript compares a number with a text"),
    ("filters::fil_14_and_16_string", Always, "AZ-14", "JavaScript compares a text with a number"),
    ("filters::fil_13_and_14_boolean", Always, "AZ-14", "a text is true"),
    ("filters::fil_15_and_16_int64", Always, "AZ-14", "an Int32 literal does not match an Int64"),
    ("filters::fil_14_binary_guid_and_datetime", Always, "AZ-14", "instants are compared by milliseconds"),
    ("filters::fil_2_and_10_precedence_and_logic", Always, "AZ-14", "`not not` is refused"),
    ("filters::fil_15_double", Always, "AZ-14", "an Int64 literal against another number is answered by 500"),
    (
        "filters::fil_3_15_and_16_int32",
        Always,
        "AZ-14",
        "an Int64 literal against an Int32 is answered by 500",
    ),
    ("limits::size_6_the_limits_of_a_merge_are_those_of_its_result", Always, "AZ-9", "sizes are not checked"),
    ("properties::eng_19_nan_and_the_sign_of_zero_survive", Always, "AZ-4", "-0.0 is read as 0"),
    (
        "tables::tbl_2_names_are_compared_without_case",
        Always,
        "TBL-2, not among the AZ rules",
        "entities are found only under the case that the table was created with",
    ),
    (
        "transactions::egt_3_a_transaction_has_at_most_four_mebibytes",
        Always,
        "ENG-17",
        "no deviation of Azurite: the client measures the real body, where base64 is longer than what it holds",
    ),
];

const SEVEN_DIGITS: &str =
    "an ETag keeps the zeros at the end of its seven digits, and is then no canonical one";
