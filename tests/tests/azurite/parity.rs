//! Tests that the Azurite column in the tables of `docs/server.md` is correct for a pinned version of Azurite.

mod account;
mod tables;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tests::ask::{Answer, Ask};

/// Returns Azurite's response to a request, or `None` if Azurite is not available.
fn ask(asked: &Ask) -> Option<Answer> {
    Some(asked.of(&crate::azurite()?))
}

/// The test files whose tests also run on Azurite, and therefore count as evidence. Scenarios listed in `deviations.rs` must fail there.
const SUITES: &[&str] = &["behaviour.rs", "queues.rs", "signatures.rs", "blobs.rs", "deviations.rs"];

/// The evidence for a row in a table of `docs/server.md`.
#[derive(Clone, Copy, Debug)]
enum Evidence {
    /// Tests in this module or in [`SUITES`]. A name that ends in `_` refers to all tests with this prefix.
    By(&'static [&'static str]),
    /// No test verifies the row, for the given reason.
    Not(&'static str),
}
use Evidence::{By, Not};

/// Each row of the tables: its name, the content of its Azurite column, and the tests that verify it.
const ROWS: &[(&str, &str, Evidence)] = &[
    (
        "create, list, delete; case-insensitive names",
        "entities found only under the original case",
        By(&["opt_1_and_2_a_table_is_created_once", "tbl_2_names_are_compared_without_case"]),
    ),
    ("a deleted table's name", "available immediately", By(&["opt_4_and_6_a_deleted_table_is_gone_at_once"])),
    ("an invalid name", "400 without a code", By(&["azurite_answers_an_illegal_name_without_a_code"])),
    (
        "listing tables with a filter, in pages",
        "yes",
        By(&["opt_5_and_page_12_a_listing_is_ordered_and_paged_by_prefix"]),
    ),
    ("stored policies of a table", "yes", By(&["acl_1_2_and_4_"])),
    ("insert, replace, merge, both upserts, delete", "yes", By(&["ins_", "upd_", "mrg_", "ups_", "del_"])),
    ("`Prefer`, `Preference-Applied`", "always", By(&["azurite_always_says_which_preference_it_applied"])),
    ("`ETag` and `If-Match`", "yes", By(&["ifm_", "etag_"])),
    ("`X-HTTP-Method`", "yes", By(&["azurite_accepts_a_method_in_a_header"])),
    ("every type, ticks, NaN and infinities", "yes", By(&["type_"])),
    (
        "whole Doubles and `-0.0`",
        "`3.0` is sent as `3`, `-0.0` as `0`",
        By(&["azurite_sends_whole_doubles_as_integers", "eng_19_nan_and_the_sign_of_zero_survive"]),
    ),
    (
        "keys in the body that differ from the URL",
        "ignored",
        Not("no client here sends keys that differ from the URL (UPD-5)"),
    ),
    (
        "limits on names, values, properties, entities",
        "most are not checked",
        By(&["azurite_checks_neither_the_count_of_properties_nor_the_length_of_names"]),
    ),
    ("keys with any legal characters", "yes", By(&["key_"])),
    ("keys above 512 code units", "refused", By(&["azurite_refuses_keys_above_512_units"])),
    (
        "`$filter` on every type, with the service's comparisons",
        "JavaScript's comparisons, `not not` refused, instants with millisecond precision",
        By(&["fil_2_and_10_precedence_and_logic", "fil_14_binary_guid_and_datetime", "fil_15_and_16_int64"]),
    ),
    (
        "`$select` of a missing property",
        "omitted",
        By(&["azurite_omits_selected_properties_that_are_missing"]),
    ),
    ("`$top` above 1,000", "1,000", By(&["azurite_accepts_any_top_and_ends_an_empty_page_with_a_token"])),
    ("continuation", "two tokens", By(&["azurite_continues_with_two_tokens_that_are_keys_in_base64"])),
    (
        "pages that end early (after 5 s, at a partition boundary)",
        "no",
        By(&["azurite_reads_several_partitions_in_one_page"]),
    ),
    (
        "`+` in a query value",
        "a space",
        Not("the web framework of Azurite decodes queries; no client here sends a raw `+` (LIT-5)"),
    ),
    (
        "three levels of metadata, `$format`",
        "yes",
        By(&["azurite_has_three_levels_of_metadata_and_names_another_table"]),
    ),
    ("Atom", "refused", By(&["azurite_refuses_atom"])),
    (
        "100 operations on one partition, all or none",
        "partitions may differ; more than 100 break the response",
        By(&["azurite_accepts_a_transaction_over_two_partitions_and_fails_at_101", "egt_9_"]),
    ),
    ("invalid transactions are rejected with the service's error codes", "mostly", By(&["egt_"])),
    ("a batch of one query", "yes", By(&["azurite_answers_a_batch_of_one_query"])),
    ("shared key, shared key lite", "yes", By(&["azurite_accepts_both_forms_of_a_shared_key"])),
    ("a date more than 15 minutes off, or none", "not checked", By(&["azurite_accepts_any_date"])),
    (
        "a wrong or missing signature",
        "403 `AuthorizationFailure`",
        By(&["azurite_refuses_unsigned_requests_with_another_code"]),
    ),
    ("table, queue and account signatures", "yes", By(&["sas_2_5_and_11_", "asas_2_and_4_"])),
    ("key ranges in signatures", "not applied", By(&["azurite_does_not_apply_ranges_of_keys"])),
    ("more than five stored policies", "400 `InvalidXmlDocument`", By(&["azurite_refuses_six_policies"])),
    (
        "Entra ID (`Bearer`)",
        "if configured; token signatures are not checked",
        By(&["azurite_refuses_a_bearer_token_if_none_is_configured"]),
    ),
    ("create, list with prefix and metadata, delete", "yes", By(&["que_3_"])),
    ("put, receive, peek, update, delete, clear", "yes", By(&["que_5_", "que_10_", "que_12_", "que_13_"])),
    (
        "concurrent receivers get different messages",
        "yes, but a receive may miss an existing message",
        By(&["que_14_concurrent_receivers_share_no_message"]),
    ),
    ("time to live and visibility timeout, including their allowed ranges", "yes", By(&["que_7_", "que_8_"])),
    ("metadata", "names are not checked", By(&["azurite_does_not_check_names_of_metadata"])),
    ("stored policies", "yes", Not("the scenarios of signatures ask for those of tables alone")),
    ("properties of both services", "yes", By(&["azurite_has_properties_and_statistics"])),
    ("secondary statistics", "yes", By(&["azurite_has_properties_and_statistics"])),
    (
        "account name in the path or in the host",
        "both",
        Not("its host style needs a name that the system resolves"),
    ),
    (
        "several accounts",
        "through an environment variable, all in one store",
        Not("the server of these tests has one account"),
    ),
    ("CORS: preflight and response headers", "yes", By(&["azurite_answers_a_preflight_by_its_rules"])),
    ("blobs", "yes", By(&["ex_28_", "blb_"])),
    ("settings after a restart", "yes", Not("the server of these tests is in memory")),
    ("HTTP/1.1", "yes", By(&["azurite_accepts_both_forms_of_a_shared_key"])),
    ("HTTP/2", "no", By(&["azurite_does_not_speak_http_2"])),
    ("TLS", "yes, by certificate and key", Not("the server of these tests has no certificate")),
    ("`x-ms-version`", "always Azurite's newest version", By(&["azurite_returns_its_own_version"])),
    (
        "error bodies in JSON and XML, with codes",
        "some codes are empty",
        By(&["azurite_has_error_bodies_in_both_forms", "azurite_answers_an_illegal_name_without_a_code"]),
    ),
    (
        "a body above 4 MiB",
        "the connection is closed, or 413",
        By(&["azurite_refuses_a_body_above_four_mebibytes"]),
    ),
    ("floods of unsigned requests or HTTP/2 frames alongside a client", "not known", Not("not known")),
    ("an HTTP/2 host that differs from `:authority`", "no HTTP/2", By(&["azurite_does_not_speak_http_2"])),
    (
        "acknowledged writes survive a kill",
        "no: data is written periodically",
        Not("the server of these tests is in memory"),
    ),
    ("throttling at the published targets", "no", Not("its own rate is below the targets")),
    (
        "health, readiness, metrics, scans in the log, reset",
        "no",
        By(&["azurite_has_no_health_metrics_or_reset"]),
    ),
    (
        "the public key is accepted only on this machine",
        "no such check",
        Not("it would listen to other machines"),
    ),
    ("Microsoft's clients for Python and JavaScript", "yes", Not("they are the vendor's own tests")),
];

/// Returns the names of all tests that can serve as evidence, and the names of their files.
fn known() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<_> = SUITES.iter().map(|file| root.join("tests/azurite").join(file)).collect();
    for folder in ["tests/azurite/parity", "src/suite", "src/suite/queues"] {
        let entries = fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        files.extend(entries.filter(|path| path.extension().is_some_and(|end| end == "rs")));
    }
    let text: String = files.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let name = |line: &str| Some(line.split_once("fn ")?.1.split(['(', '<']).next()?.to_owned());
    text.lines().filter_map(name).collect()
}

#[test]
fn each_azurite_cell_is_verified_or_explained() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/server.md")).unwrap();
    let (_, table) = text.split_once("| | the service | Azurite |").unwrap();
    let mut cells = BTreeMap::new();
    for line in table.lines().skip(2).take_while(|line| line.starts_with('|')) {
        let row: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        if !row[0].starts_with("**") {
            cells.insert(row[0], row[2]);
        }
    }
    let known = known();
    for (row, cell, evidence) in ROWS {
        assert_eq!(cells.remove(row), Some(*cell), "{row}");
        let tests = match evidence {
            By(tests) => *tests,
            Not(why) => {
                assert!(!why.is_empty(), "{row}");
                continue;
            }
        };
        for test in tests {
            let is_it = |name: &String| name == test || test.ends_with('_') && name.starts_with(test);
            assert!(known.iter().any(is_it), "{row}: `{test}` is not there");
        }
    }
    assert_eq!(cells, BTreeMap::new(), "rows that are not asked");
}
