//! The scenarios of the behaviour suite that fail on Cosmos DB, each with the rules that explain the failure.

/// The failing scenarios, each with its rules and a description of the difference.
pub(crate) const DEVIATIONS: &[(&str, &str, &str)] = &[
    ("etag::etag_1_and_2_the_etag_is_the_timestamp_in_the_services_form", "ETAG-2", ETAG),
    ("etag::etag_5_6_and_con_10_every_write_of_an_entity_gives_a_later_etag", "ETAG-2", ETAG),
    ("keys::key_2_and_6_unusual_but_legal_keys_are_kept_unchanged", "LIM-5", ID),
    ("keys::key_6_keys_are_case_sensitive_and_not_trimmed", "LIM-5", ID),
    ("keys::ord_1_to_4_rows_come_in_utf16_order", "LIM-5", ID),
    ("keys::ord_5_ranges_and_tokens_use_the_same_order", "LIM-5", ID),
    ("limits::key_7_and_8_keys_are_limited_in_utf16_code_units", "LIM-5", ID),
    (
        "transactions::egt_3_a_transaction_has_at_most_four_mebibytes",
        "LIM-10",
        "a batch has 2 MiB, which the capabilities say",
    ),
];

const ETAG: &str = "Timestamps are whole seconds, and an ETag is none of them";
const ID: &str = "an id does not end in a blank, and has 1,023 bytes";
