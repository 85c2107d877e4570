//! Tests behaviour that the test suites of other projects expect, with raw requests. Each test cites its suite and the original tests.
//!
//! The suites are those of Azurite 3.36 (`tests/table`, `tests/queue`) and of `azure-cosmosdb-table` 1.0.6 for Python.
//! None of their code is copied.

use std::sync::LazyLock;
use std::time::Duration;

use chrono::{TimeDelta, Utc};
use table_wire::auth::{AccountKey, EMULATOR_ACCOUNT, EMULATOR_KEY, Scheme, print_http_date};
use table_wire::sas::{AccountPermissions, AccountSas, Lifetime, ResourceTypes, Services};
use tests::ask::{Answer, Ask};

use crate::{ACCOUNT, KEY, SERVER};

/// The connection string of the server for the emulator account. All tests in this binary share the server.
static EMULATOR: LazyLock<String> =
    LazyLock::new(|| SERVER.replace(ACCOUNT, EMULATOR_ACCOUNT).replace(KEY, EMULATOR_KEY));

fn create(table: &str) {
    let made = Ask::new("POST", "Tables").json(format!("{{\"TableName\":\"{table}\"}}")).of(&EMULATOR);
    assert_eq!(made.status, 201, "{}", made.body);
}

/// Sends a batch that contains one operation, either in a change set or outside one.
fn batch(target: &str, operation: &str, in_change_set: bool) -> Answer {
    let part = |boundary: &str| {
        format!(
            "--{boundary}\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n{operation}"
        )
    };
    let body = if in_change_set {
        format!(
            "--batch_1\r\nContent-Type: multipart/mixed; boundary=changeset_1\r\n\r\n{}\r\n--changeset_1--\r\n\r\n--batch_1--\r\n",
            part("changeset_1")
        )
    } else {
        format!("{}--batch_1--\r\n", part("batch_1"))
    };
    Ask::new("POST", target).body("multipart/mixed; boundary=batch_1", body).of(&EMULATOR)
}

/// From Azurite's `table.entity.rest.test.ts`, whose requests have no date. The server accepts this only with the well-known key of the emulator.
#[test]
fn auth_9_and_30_requests_with_the_public_key_need_no_date() {
    let undated = |ask: Ask| ask.without("x-ms-date");
    for scheme in [Scheme::Table, Scheme::TableLite] {
        let asked = undated(Ask::new("GET", "Tables")).signed(Some(scheme));
        assert_eq!(asked.of(&EMULATOR).status, 200);
        assert_eq!(asked.of(&SERVER).code(), (403, "AuthenticationFailed"));
    }
    let asked = undated(Ask::queue("GET", "?comp=list"));
    assert_eq!(asked.of(&EMULATOR).status, 200);
    assert_eq!(asked.of(&SERVER).code(), (403, "AuthenticationFailed"));
    // A date in a request must be correct, whatever the key.
    for date in [print_http_date(Utc::now() - TimeDelta::minutes(20)), "yesterday".to_owned()] {
        let asked = Ask::new("GET", "Tables").header("x-ms-date", date);
        assert_eq!(asked.of(&EMULATOR).code(), (403, "AuthenticationFailed"));
    }
}

/// From Azurite's `table.entity.apostrophe.*.test.ts` and all of its tests with raw requests. They both sign and send the path with `%27`.
#[test]
fn auth_6_the_path_is_signed_in_the_spelling_that_is_sent() {
    create("Spelling");
    let entity = "{\"PartitionKey\":\"O'Neil\",\"RowKey\":\"a b\"}";
    assert_eq!(Ask::new("POST", "Spelling").json(entity).of(&EMULATOR).status, 201);
    let spellings = [
        "Spelling(PartitionKey='O''Neil',RowKey='a%20b')",
        "Spelling(PartitionKey=%27O%27%27Neil%27,RowKey=%27a%20b%27)",
        "Spelling(PartitionKey%3D%27O%27%27Neil%27%2CRowKey%3D%27a%20b%27)",
        "Spelling%28PartitionKey%3d%27O%27%27Neil%27%2cRowKey%3d%27a%20b%27%29",
    ];
    for scheme in [Scheme::Table, Scheme::TableLite] {
        for sent in spellings {
            for signed in spellings {
                let asked = Ask::new("GET", sent).signed(Some(scheme)).signed_as(signed);
                let expected = if sent == signed { 200 } else { 403 };
                assert_eq!(asked.of(&EMULATOR).status, expected, "{signed} {sent}");
            }
        }
    }
}

/// From Azurite's `table.entity.rest.test.ts`, whose batches are sent to `$batch/` but signed for `$batch`.
#[test]
fn auth_6_a_slash_at_the_end_may_be_added_after_signing() {
    assert_eq!(Ask::new("GET", "Tables/").signed_as("Tables").of(&EMULATOR).status, 200);
    for (sent, signed) in [("Tables", "Tables/"), ("Tables//", "Tables"), ("Tables/", "Table")] {
        let asked = Ask::new("GET", sent).signed_as(signed);
        assert_eq!(asked.of(&EMULATOR).code(), (403, "AuthenticationFailed"), "{signed} {sent}");
    }
}

/// From Azurite's `table.entity.rest.test.ts`, whose raw requests contain both an account SAS in the query and an
/// `Authorization` header. One of the two may be invalid.
#[test]
fn asas_3_one_valid_proof_is_enough_and_its_permissions_count() {
    let types = ResourceTypes::SERVICE.and(ResourceTypes::CONTAINER).and(ResourceTypes::OBJECT);
    let reads = AccountPermissions::READ.and(AccountPermissions::LIST);
    let lifetime = Lifetime::valid_for(Utc::now(), Duration::from_secs(60 * 60));
    let key = AccountKey::new(EMULATOR_ACCOUNT, EMULATOR_KEY).unwrap();
    let sas = AccountSas::new(Services::TABLE, types, reads, lifetime).sign(&key).unwrap();
    let query = sas.query_string();
    let body = "{\"TableName\":\"Proofs\"}";
    let list = |header: &str, query: &str| {
        Ask::new("GET", format!("Tables?{query}")).signed(None).header("authorization", header).of(&EMULATOR)
    };
    // A request with an invalid header and a valid SAS has the permissions of the SAS.
    for wrong in ["SharedKeyLite devstoreaccount1:AAAA", "SharedKey other:AAAA", "Basic x"] {
        assert_eq!(list(wrong, &query).status, 200, "{wrong}");
        let written = Ask::new("POST", format!("Tables?{query}")).signed(None);
        let written = written.header("authorization", wrong).json(body).of(&EMULATOR);
        assert_eq!(written.status, 403, "{}", written.body);
    }
    // A request with a valid header and an altered SAS has the permissions of the account key.
    let altered = query.replacen("sig=", "sig=A", 1);
    assert_eq!(Ask::new("POST", format!("Tables?{altered}")).json(body).of(&EMULATOR).status, 201);
    assert_eq!(list("SharedKeyLite devstoreaccount1:AAAA", &altered).status, 403);
}

/// From Azurite's `table.entity.rest.test.ts`: "patch verb in a batch", "upsert with wrong etag", "legacy batch request format" (issue 1798).
#[test]
fn egt_33_a_condition_inside_a_batch_is_refused_as_outside() {
    create("Conditional");
    let entity = |row: &str| format!("{{\"PartitionKey\":\"p\",\"RowKey\":\"{row}\"}}");
    assert_eq!(Ask::new("POST", "Conditional").json(entity("r")).of(&EMULATOR).status, 201);
    // This fraction of a second has six digits and not seven.
    let stale = "W/\"datetime'2023-01-23T19%3A39%3A54.978799Z'\"";
    for (method, row, status) in [
        ("PATCH", "r", "412 Precondition Failed"),
        ("PUT", "r", "412 Precondition Failed"),
        ("PATCH", "missing", "404 Not Found"),
        ("PUT", "missing_0%25fs3%25fs0", "404 Not Found"),
    ] {
        let url =
            format!("http://127.0.0.1:10002/{EMULATOR_ACCOUNT}/Conditional(PartitionKey='p',RowKey='{row}')");
        let entity = entity(&row.replace("%25", "%"));
        let operation = format!(
            "{method} {url}?$format=application%2Fjson%3Bodata%3Dminimalmetadata HTTP/1.1\r\nHost: 127.0.0.1\r\n\
             x-ms-version: 2019-02-02\r\nDataServiceVersion: 3.0;\r\nIf-Match: {stale}\r\nContent-Type: application/json\r\n\r\n{entity}"
        );
        for target in ["$batch", "$batch/"] {
            let answer = batch(target, &operation, true);
            assert_eq!(answer.status, 202, "{}", answer.body);
            assert_eq!(
                answer.body.matches(&format!("HTTP/1.1 {status}")).count(),
                1,
                "{method}: {}",
                answer.body
            );
        }
    }
}

/// From Azurite's `table.entity.rest.test.ts`: "query based on partition and row key in a batch", "query entities in a batch".
#[test]
fn egt_7_and_34_a_query_in_a_batch_is_refused_with_its_position() {
    create("InBatch");
    for end in ["", "?"] {
        let url =
            format!("http://127.0.0.1:10002/{EMULATOR_ACCOUNT}/InBatch(PartitionKey='p',RowKey='2'){end}");
        let operation = format!("GET {url} HTTP/1.1\r\nAccept: application/json;odata=minimalmetadata\r\n");
        let answer = batch("$batch", &operation, false);
        assert_eq!(answer.status, 202, "{}", answer.body);
        let found = ["HTTP/1.1 404 Not Found", "0:The specified resource does not exist."]
            .map(|text| answer.body.matches(text).count());
        assert_eq!(found, [1, 1], "{}", answer.body);
    }
}

/// From Azurite's `table.entity.rest.test.ts`: "Should not receive any results when querying with filter and top = 0".
/// Storage Explorer sends queries of this kind.
#[test]
fn top_1_an_empty_page_can_be_requested() {
    create("EmptyPage");
    let entity = "{\"PartitionKey\":\"0\",\"RowKey\":\"r\"}";
    assert_eq!(Ask::new("POST", "EmptyPage").json(entity).of(&EMULATOR).status, 201);
    let query = "?%24select=&%24filter=PartitionKey%20eq%20%270%27&%24top=0";
    for path in ["EmptyPage", "EmptyPage()"] {
        let answer = Ask::new("GET", format!("{path}{query}")).of(&EMULATOR);
        assert_eq!((answer.status, answer.body.as_str()), (200, "{\"value\":[]}"));
    }
}

/// From Azurite's `queueSpecialnaming.test.ts` and `table.validation.rest.test.ts`: too short and too long names.
#[test]
fn que_2_and_tbl_4_a_wrong_name_length_is_refused_with_the_services_message() {
    let sentence = "The specified resource name length is not within the permissible limits.";
    for name in ["a".repeat(64), "aa".to_owned()] {
        let queue = Ask::queue("PUT", name.clone()).of(&EMULATOR);
        assert_eq!(queue.code(), (400, "OutOfRangeInput"), "{}", queue.body);
        let table = Ask::new("POST", "Tables").json(format!("{{\"TableName\":\"{name}\"}}")).of(&EMULATOR);
        assert_eq!(table.code(), (400, "OutOfRangeInput"), "{}", table.body);
        assert!(
            queue.body.contains(sentence) && table.body.contains(sentence),
            "{} {}",
            queue.body,
            table.body
        );
    }
    for name in ["Queue", "-queue123", "queue123-", "queue--123"] {
        let queue = Ask::queue("PUT", name).of(&EMULATOR);
        assert_eq!(queue.code(), (400, "InvalidResourceName"), "{}", queue.body);
        assert!(
            queue.body.contains("The specified resource name contains invalid characters."),
            "{}",
            queue.body
        );
    }
}

/// From Azurite's `table.entity.test.ts`, tests 03 and 38. JavaScript writes an invalid date, `NaN` and `Infinity` as
/// `null`. Azurite rejects `null` for every type. `azure-data-tables` 12.5 for Python
/// (`test_encoder_create_entity_tuple`) and `azure-storage` for Android (`testNulls`) write `null` for all types except
/// Double, and the service returns these entities without the properties. All services reject text that is invalid for
/// the type of its property.
#[test]
fn ent_3_a_null_is_not_stored_except_that_a_null_double_and_text_of_another_type_are_refused() {
    create("Nulls");
    let insert = |row: &str, edm: &str, value: &str| {
        let body = format!(
            "{{\"PartitionKey\":\"p\",\"RowKey\":\"{row}\",\"x\":{value},\"x@odata.type\":\"Edm.{edm}\"}}"
        );
        Ask::new("POST", "Nulls").json(body).of(&EMULATOR)
    };
    for edm in ["DateTime", "Int64", "Guid", "Binary", "Boolean", "Int32", "String"] {
        let answer = insert(edm, edm, "null");
        assert_eq!(answer.status, 201, "{}", answer.body);
        assert!(!answer.body.contains("\"x\""), "{}", answer.body);
    }
    let untyped = Ask::new("POST", "Nulls").json(r#"{"PartitionKey":"p","RowKey":"none","x":null}"#);
    assert_eq!(untyped.of(&EMULATOR).status, 201);
    for (edm, value) in [
        ("DateTime", "\"\""),
        ("DateTime", "\"Invalid Date\""),
        ("Double", "\"1.797693134862316e+308\""),
        ("Double", "1.797693134862316e+308"),
        ("Double", "\"\""),
        ("Double", "null"),
        ("Guid", "\"\""),
        ("Boolean", "\"yes\""),
        ("Int64", "\"9223372036854775808\""),
    ] {
        assert_eq!(insert("refused", edm, value).code(), (400, "InvalidInput"), "{edm} {value}");
    }
}

/// From `azure-cosmosdb-table`, `test_query_zero_entities`: a client commits an empty batch.
#[test]
fn egt_12_an_empty_change_set_changes_nothing() {
    let body = "--batch_1\r\nContent-Type: multipart/mixed; boundary=changeset_1\r\n\r\n--changeset_1--\r\n--batch_1--\r\n";
    let send =
        |body: &str| Ask::new("POST", "$batch").body("multipart/mixed; boundary=batch_1", body).of(&EMULATOR);
    let answer = send(body);
    assert_eq!((answer.status, answer.body.contains("HTTP/1.1")), (202, false), "{}", answer.body);
    // A batch without a change set is rejected.
    assert_eq!(send("--batch_1--\r\n").code(), (400, "InvalidInput"));
}

/// From `azure-storage` 2.10 for JavaScript, "setTableACL and getTableACL should work". This client cannot parse times without a fraction.
#[test]
fn acl_2_instants_of_policies_have_seven_digits() {
    create("Policies");
    let policies = "<SignedIdentifiers><SignedIdentifier><Id>a</Id><AccessPolicy><Expiry>2030-01-01T12:10Z</Expiry>\
                    <Permission>r</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>";
    assert_eq!(Ask::queue("PUT", "policies").of(&EMULATOR).status, 201);
    let target = "policies?comp=acl";
    for [set, get] in [
        ["PUT", "GET"].map(|verb| Ask::new(verb, target)),
        ["PUT", "GET"].map(|verb| Ask::queue(verb, target)),
    ] {
        let set = set.body("application/xml", policies).of(&EMULATOR);
        assert_eq!(set.status, 204, "{}", set.body);
        let found = get.of(&EMULATOR);
        assert!(found.body.contains("<Expiry>2030-01-01T12:10:00.0000000Z</Expiry>"), "{}", found.body);
    }
}

/// From Azurite's `queueSpecialnaming.test.ts`, "non-production secondary url". The test creates a queue on the secondary, which the service rejects.
#[test]
fn acc_2_the_secondary_of_tables_is_read_only() {
    let expected = (403, "WriteOperationNotSupportedOnSecondary");
    assert_eq!(Ask::queue("PUT", "on-the-copy").secondary().of(&EMULATOR).status, 201);
    assert_eq!(Ask::queue("DELETE", "on-the-copy").of(&EMULATOR).status, 204);
    let table = Ask::new("POST", "Tables").secondary().json("{\"TableName\":\"OnTheCopy\"}");
    assert_eq!(table.of(&EMULATOR).code(), expected);
    assert_eq!(Ask::new("GET", "Tables").secondary().of(&EMULATOR).status, 200);
}

/// Tests that the limit applies to the bytes in the body of a transaction. It does not apply to the sum of the entity sizes in UTF-16. A hundred entities of
/// 40,000 characters are accepted.
#[test]
fn egt_3_a_transaction_is_bounded_by_the_bytes_of_its_body() {
    create("Large");
    let send = |characters: usize| {
        let text = "x".repeat(characters);
        let parts: Vec<String> = (0..100)
            .map(|row| {
                format!(
                    "--changeset_1\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n\
                     POST http://127.0.0.1:10002/{EMULATOR_ACCOUNT}/Large HTTP/1.1\r\nContent-Type: application/json\r\n\
                     Prefer: return-no-content\r\n\r\n\
                     {{\"PartitionKey\":\"{characters}\",\"RowKey\":\"{row}\",\"Text\":\"{text}\",\"More\":\"{text}\"}}\r\n"
                )
            })
            .collect();
        let parts = parts.concat();
        let body = format!(
            "--batch_1\r\nContent-Type: multipart/mixed; boundary=changeset_1\r\n\r\n{parts}--changeset_1--\r\n--batch_1--\r\n"
        );
        Ask::new("POST", "$batch").body("multipart/mixed; boundary=batch_1", body).of(&EMULATOR)
    };
    for characters in [8_000, 12_500, 20_000] {
        let answer = send(characters);
        assert_eq!((answer.status, answer.body.matches("HTTP/1.1 204").count()), (202, 100), "{characters}");
    }
    assert_eq!(send(21_000).code(), (413, "RequestBodyTooLarge"));
}
