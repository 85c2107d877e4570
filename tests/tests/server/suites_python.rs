//! Tests behaviour that the live tests of `azure-data-tables` 12.7 and `azure-storage-queue` 12.18 for Python expect, with raw requests. Each test cites the
//! original test. None of the original code is copied.

use tests::ask::{Answer, Ask};

use crate::SERVER;

fn create(table: &str) {
    let made = Ask::new("POST", "Tables").json(format!("{{\"TableName\":\"{table}\"}}")).of(&SERVER);
    assert_eq!(made.status, 201, "{}", made.body);
}

/// Checks the status and the error code of a response. Also checks that its message contains the sentence by which the client recognises the cause.
fn refused(answer: &Answer, code: (u16, &str), sentence: &str) {
    assert_eq!(answer.code(), code, "{}", answer.body);
    assert!(answer.body.contains(sentence), "{}", answer.body);
}

/// From `test_client_with_url_ends_with_table_name` in `test_table_client.py`, `test_table_service_properties.py` and
/// `test_table_batch.py`: the endpoint of the client ends with a table name. The client recognises the resulting errors by
/// sentences in their messages, and adds a hint.
#[test]
fn req_5_an_endpoint_that_ends_with_a_table_is_refused_by_the_services_sentences() {
    let missing = "The table specified does not exist.";
    let body = "{\"TableName\":\"BelowTable\"}";
    let create_below = || Ask::new("POST", "BelowTable/Tables").json(body).of(&SERVER);
    let delete_below = || Ask::new("DELETE", "BelowTable/Tables('BelowTable')").of(&SERVER);
    refused(&create_below(), (404, "TableNotFound"), missing);
    refused(&delete_below(), (404, "TableNotFound"), missing);
    create("BelowTable");
    let no_keys = "The values are not specified for all properties in the entity.";
    refused(&create_below(), (400, "PropertiesNeedValue"), no_keys);
    let keys =
        "The number of keys specified in the URI does not match number of key properties for the resource";
    refused(&delete_below(), (400, "InvalidInput"), keys);
    let batch =
        Ask::new("POST", "BelowTable/$batch").body("multipart/mixed; boundary=batch_1", "--batch_1--\r\n");
    let unsupported = "None of the provided media types are supported";
    refused(&batch.of(&SERVER), (415, "MediaTypeNotSupported"), unsupported);
    let parameter = "Value for one of the query parameters specified in the request URI is invalid.";
    for verb in ["GET", "PUT"] {
        let properties = Ask::new(verb, "BelowTable/?restype=service&comp=properties").of(&SERVER);
        refused(&properties, (400, "InvalidQueryParameterValue"), parameter);
    }
    let queues = Ask::queue("GET", "below/?restype=service&comp=properties").of(&SERVER);
    assert_eq!(queues.code(), (400, "InvalidQueryParameterValue"), "{}", queues.body);
    // The table still exists and is empty. Other requests below its URL do not refer to any resource.
    assert_eq!(Ask::new("GET", "BelowTable/Tables").of(&SERVER).code(), (400, "InvalidInput"));
    let entity = "{\"PartitionKey\":\"p\",\"RowKey\":\"r\"}";
    assert_eq!(Ask::new("POST", "BelowTable/Tables").json(entity).of(&SERVER).code(), (400, "InvalidInput"));
    let found = Ask::new("GET", "BelowTable").of(&SERVER);
    assert_eq!(found.body, "{\"value\":[]}", "no entity was written");
}

/// From the same Python tests: an insert without keys into a missing table must report the missing table.
#[test]
fn ins_1_a_missing_table_takes_precedence_over_an_invalid_body() {
    for body in ["{}", "{\"PartitionKey\":\"p\"}", "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"x\":[]}"] {
        let inserted = |table: &'static str| Ask::new("POST", table).json(body).of(&SERVER).status;
        assert_eq!(inserted("NoSuchTable"), 404, "{body}");
    }
}

/// From `test_set_table_acl_too_many_ids` in `test_table.py`: by this error code, the client recognises that a table has too many policies.
#[test]
fn acl_2_more_than_five_policies_are_no_valid_document() {
    create("SixPolicies");
    assert_eq!(Ask::queue("PUT", "sixpolicies").of(&SERVER).status, 201);
    let set = |ask: Ask, count: usize| {
        let one = |number| format!("<SignedIdentifier><Id>id{number}</Id></SignedIdentifier>");
        let all: String = (0..count).map(one).collect();
        let body = format!("<SignedIdentifiers>{all}</SignedIdentifiers>");
        ask.body("application/xml", body).of(&SERVER)
    };
    for ask in [Ask::new("PUT", "SixPolicies?comp=acl"), Ask::queue("PUT", "sixpolicies?comp=acl")] {
        assert_eq!(set(ask.clone(), 5).status, 204);
        assert_eq!(set(ask, 6).code(), (400, "InvalidXmlDocument"));
    }
}

/// From `test_set_table_acl_with_empty_signed_identifier` in `test_table.py`: for a policy without values, the client returns `None`.
#[test]
fn acl_2_a_policy_without_values_has_no_access_policy() {
    create("EmptyPolicy");
    let values = "<AccessPolicy><Start/><Expiry></Expiry><Permission/></AccessPolicy>";
    let list = format!(
        "<SignedIdentifiers><SignedIdentifier><Id>none</Id></SignedIdentifier><SignedIdentifier><Id>empty</Id>{values}\
         </SignedIdentifier><SignedIdentifier><Id>read</Id><AccessPolicy><Permission>r</Permission></AccessPolicy></SignedIdentifier>\
         </SignedIdentifiers>"
    );
    let target = "EmptyPolicy?comp=acl";
    assert_eq!(Ask::new("PUT", target).body("application/xml", list).of(&SERVER).status, 204);
    let found = Ask::new("GET", target).of(&SERVER).body;
    for expected in [
        "<Id>none</Id></SignedIdentifier>",
        "<Id>empty</Id></SignedIdentifier>",
        "<AccessPolicy><Permission>r<",
    ] {
        assert!(found.contains(expected), "{found}");
    }
    assert_eq!(found.matches("<AccessPolicy>").count(), 1, "{found}");
}

/// From `azure-storage-queue`, `test_get_user_delegation_sas` in `test_queue.py`: the service creates a key for an
/// Entra ID token. This server responds that it does not support this.
#[test]
fn a_user_delegation_key_is_not_implemented() {
    let body = "<KeyInfo><Start>2026-11-27T00:00:00Z</Start><Expiry>2026-11-28T00:00:00Z</Expiry></KeyInfo>";
    let target = "?restype=service&comp=userdelegationkey";
    for ask in [Ask::new("POST", target), Ask::queue("POST", target)] {
        let refused = ask.body("application/xml", body).of(&SERVER);
        assert_eq!(refused.code(), (501, "NotImplemented"), "{}", refused.body);
        assert!(refused.body.contains("does not create user delegation keys"), "{}", refused.body);
    }
}

/// From `test_table_client_location_mode` in `test_table_client.py`: the client recognises a write to the secondary by this sentence.
#[test]
fn acc_2_a_write_to_the_secondary_is_refused_by_the_services_sentence() {
    let table = Ask::new("POST", "Tables").secondary().json("{\"TableName\":\"Secondary\"}");
    let code = (403, "WriteOperationNotSupportedOnSecondary");
    refused(&table.of(&SERVER), code, "Write operations are not allowed.");
}
