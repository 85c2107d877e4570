//! Tests requests that the service rejects. They come from public bug reports. Each test cites its reports, and expects the error code of the service.

use std::time::Duration;

use chrono::Utc;
use table_core::{QueueName, TableName};
use table_wire::auth::AccountKey;
use table_wire::sas::{
    AccessPolicy, AccountPermissions, AccountSas, Lifetime, QueuePermissions, QueueToken, ResourceTypes,
    Services, TablePermissions, TableSas,
};
use tests::ask::{Answer, Ask};

use crate::{ACCOUNT, KEY, SERVER};

fn create(table: &str) {
    let made = Ask::new("POST", "Tables").json(format!("{{\"TableName\":\"{table}\"}}")).of(&SERVER);
    assert_eq!(made.status, 201, "{}", made.body);
}

/// Sends a batch of the given operations, each with its headers and body. If `is_query` is `false`, they form a change set.
fn batch(operations: &[String], is_query: bool) -> Answer {
    let begin = if is_query { "--b\r\n" } else { "--c\r\n" };
    let part = |operation: &String| format!("{begin}Content-Type: application/http\r\n\r\n{operation}\r\n");
    let parts = operations.iter().map(part).collect::<Vec<_>>().concat();
    let body = if is_query {
        format!("{parts}--b--\r\n")
    } else {
        format!("--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n{parts}--c--\r\n--b--\r\n")
    };
    Ask::new("POST", "$batch").body("multipart/mixed; boundary=b", body).of(&SERVER)
}

/// Returns the status of the only response in a batch.
fn inner(answer: &Answer) -> &str {
    assert_eq!(answer.status, 202, "{}", answer.body);
    let (_, inner) = answer.body.split_once("HTTP/1.1 ").unwrap();
    inner.get(..3).unwrap()
}

/// azure-sdk-for-js 20913, Storage Explorer 5407, 5434, 5579 and 5584: a client without a token sent an empty parameter
/// instead.
#[test]
fn page_2_and_9_an_empty_token_is_refused() {
    create("EmptyTokens");
    for key in ["a", "b"] {
        let entity = format!("{{\"PartitionKey\":\"{key}\",\"RowKey\":\"\"}}");
        assert_eq!(Ask::new("POST", "EmptyTokens").json(entity).of(&SERVER).status, 201);
    }
    let first = Ask::new("GET", "EmptyTokens()?$top=1").of(&SERVER);
    let [partition, row] = ["nextpartitionkey", "nextrowkey"]
        .map(|name| first.header(&format!("x-ms-continuation-{name}")).unwrap().to_owned());
    for (query, expected) in [
        // The token for an empty key is not empty.
        (format!("NextPartitionKey={partition}&NextRowKey={row}"), (200, "")),
        (format!("NextPartitionKey={partition}"), (200, "")),
        (format!("NextPartitionKey={partition}&NextRowKey="), (400, "InvalidInput")),
        ("NextPartitionKey=&NextRowKey=".to_owned(), (400, "InvalidInput")),
        ("NextRowKey=".to_owned(), (400, "InvalidInput")),
    ] {
        let answer = Ask::new("GET", format!("EmptyTokens()?{query}")).of(&SERVER);
        if expected.0 == 200 {
            assert_eq!(answer.body.matches("\"RowKey\"").count(), 1, "{query}: {}", answer.body);
        } else {
            assert_eq!(answer.code(), expected, "{query}: {}", answer.body);
        }
    }
}

/// Azurite 942: Azure's diagnostics agent sends batches whose parts are in Atom format.
#[test]
fn json_1_a_part_in_atom_is_refused() {
    create("AtomParts");
    let part = |media_type: &str, body: &str| {
        format!(
            "POST http://127.0.0.1/{ACCOUNT}/AtomParts HTTP/1.1\r\nPrefer: return-no-content\r\nContent-Type: {media_type}\r\n\
             x-ms-date: Thu, 22 Jul 2021 22:45:47 GMT\r\nContent-ID: 1\r\n\r\n{body}"
        )
    };
    let json =
        |row: &str| part("application/json", &format!("{{\"PartitionKey\":\"p\",\"RowKey\":\"{row}\"}}"));
    let atom = part("application/atom+xml; type=entry", "<entry xmlns=\"http://www.w3.org/2005/Atom\"/>");
    let answer = batch(&[json("1"), atom], false);
    assert_eq!(inner(&answer), "415", "{}", answer.body);
    assert!(
        answer.body.contains("\"AtomFormatNotSupported\"") && answer.body.contains("\"1:Atom format"),
        "{}",
        answer.body
    );
    let found = Ask::new("GET", "AtomParts()").of(&SERVER);
    assert_eq!(found.body, "{\"value\":[]}");
    assert_eq!(inner(&batch(&[json("1"), json("2")], false)), "204");
}

/// Azurite 1216: a client puts `$format` into the URLs in a batch. Other options in these URLs are accepted or rejected as they are outside a batch.
#[test]
fn qry_1_and_2_options_of_a_part_are_known_or_refused() {
    create("PartOptions");
    let target = format!("http://127.0.0.1/{ACCOUNT}/PartOptions(PartitionKey='p',RowKey='r')");
    for (query, write, read) in [
        ("$format=application%2Fjson%3Bodata%3Dminimalmetadata", "204", "200"),
        ("timeout=30", "204", "200"),
        ("$select=A", "204", "200"),
        ("$orderby=A", "501", "501"),
        ("$expand=A", "501", "501"),
        ("$Select=A", "400", "400"),
        ("$select=A&$select=B", "400", "400"),
        ("$select=%FF", "400", "400"),
    ] {
        let put =
            format!("PUT {target}?{query} HTTP/1.1\r\nContent-Type: application/json\r\n\r\n{{\"A\":1}}");
        assert_eq!(inner(&batch(&[put], false)), write, "{query}");
        let get = format!("GET {target}?{query} HTTP/1.1\r\nAccept: application/json\r\n\r\n");
        assert_eq!(inner(&batch(&[get], true)), read, "{query}");
    }
}

/// Azurite 1829 and 2013, azure-storage-net 904: a malformed ETag is rejected with the documented message.
#[test]
fn ifm_1_and_3_a_malformed_etag_is_refused_by_the_services_sentence() {
    create("Etags");
    let target = "Etags(PartitionKey='p',RowKey='r')";
    assert_eq!(Ask::new("PUT", target).json("{}").of(&SERVER).status, 204);
    for etag in ["MalformedETag", "\"0\"", "0", "W/\"a\", W/\"b\""] {
        let sentence = format!(
            "The etag value '{}' specified in one of the request headers is not valid. Please make sure only one etag value is specified and is valid.",
            etag.replace('"', "\\\"")
        );
        let delete = Ask::new("DELETE", target).header("if-match", etag).of(&SERVER);
        assert_eq!(delete.code(), (400, "InvalidInput"), "{}", delete.body);
        assert!(delete.body.contains(&format!("\"value\":\"{sentence}\\n")), "{}", delete.body);
        let part = format!("DELETE http://127.0.0.1/{ACCOUNT}/{target} HTTP/1.1\r\nIf-Match: {etag}\r\n\r\n");
        let answer = batch(&[part], false);
        assert_eq!(inner(&answer), "400");
        assert!(answer.body.contains(&format!("\"value\":\"0:{sentence}\\n")), "{}", answer.body);
    }
}

/// azure-functions-host 8728, serilog-sinks-azuretablestorage 44: a batch with more than 100 operations is rejected with the
/// documented message.
#[test]
fn egt_2_a_hundred_and_first_operation_is_refused_by_the_services_sentence() {
    create("Many");
    let operations: Vec<String> = (0..101)
        .map(|row| {
            format!(
                "PUT http://127.0.0.1/{ACCOUNT}/Many(PartitionKey='p',RowKey='{row}') HTTP/1.1\r\nContent-Type: application/json\r\n\r\n{{}}"
            )
        })
        .collect();
    let answer = batch(&operations, false);
    assert_eq!(inner(&answer), "400");
    let sentence = ":The batch request operation exceeds the maximum 100 changes per change set.\\n";
    assert!(answer.body.contains("\"InvalidInput\"") && answer.body.contains(sentence), "{}", answer.body);
    assert_eq!(inner(&batch(&operations[..100], false)), "204");
}

/// Found by a comparison with Azurite: if a resource does not support a method, the table service and the queue service return different error codes.
#[test]
fn err_3_a_method_that_a_resource_does_not_support_has_the_code_of_its_service() {
    create("Methods");
    for (verb, target) in [
        ("GET", "$batch"),
        ("PUT", "Tables"),
        ("PATCH", "Methods"),
        ("POST", "Methods(PartitionKey='p',RowKey='r')"),
        ("DELETE", "Methods?comp=acl"),
    ] {
        let answer = Ask::new(verb, target).json("{}").of(&SERVER);
        assert_eq!(answer.code(), (405, "MethodNotAllowed"), "{verb} {target}: {}", answer.body);
    }
    assert_eq!(Ask::queue("PUT", "methods").of(&SERVER).status, 201);
    for target in
        ["methods", "methods?comp=metadata", "methods/messages/00000000-0000-0000-0000-000000000000"]
    {
        let answer = Ask::queue("PATCH", target).of(&SERVER);
        assert_eq!(answer.code(), (405, "UnsupportedHttpVerb"), "{target}: {}", answer.body);
    }
}

/// sling-cli 635, Azurite 662: a SAS for a single table or queue never permits these operations, whatever permissions it has.
#[test]
fn sas_5_a_signature_of_one_table_or_queue_never_permits_operations_on_the_account() {
    create("Signed");
    assert_eq!(Ask::queue("PUT", "signed").of(&SERVER).status, 201);
    let key = AccountKey::new(ACCOUNT, KEY).unwrap();
    let hour = Duration::from_secs(60 * 60);
    let every = TablePermissions::READ
        .and(TablePermissions::ADD)
        .and(TablePermissions::UPDATE)
        .and(TablePermissions::DELETE);
    let lifetime = Lifetime::valid_for(Utc::now(), hour);
    let table = TableSas::table(TableName::new("Signed").unwrap())
        .allow(every)
        .lifetime(lifetime)
        .sign(&key)
        .unwrap()
        .query_string();
    let expected = (403, "AuthorizationFailure");
    for (verb, target) in
        [("GET", "Tables"), ("DELETE", "Tables('Signed')"), ("GET", "?restype=service&comp=properties")]
    {
        let separator = if target.contains('?') { "&" } else { "?" };
        let answer = Ask::new(verb, format!("{target}{separator}{table}")).signed(None).of(&SERVER);
        assert_eq!(answer.code(), expected, "{verb} {target}: {}", answer.body);
    }
    let policy = |permissions| AccessPolicy {
        start: None,
        expiry: Some(Utc::now() + hour),
        permissions: Some(permissions),
    };
    let queue = |permissions| {
        QueueToken::sign(&key, &QueueName::new("signed").unwrap(), policy(permissions), None)
            .unwrap()
            .query_string()
    };
    let every = QueuePermissions::READ
        .and(QueuePermissions::ADD)
        .and(QueuePermissions::UPDATE)
        .and(QueuePermissions::PROCESS);
    for (verb, target) in [("PUT", "signed"), ("DELETE", "signed"), ("DELETE", "signed/messages")] {
        let answer = Ask::queue(verb, format!("{target}?{}", queue(every))).signed(None).of(&SERVER);
        assert_eq!(answer.code(), expected, "{verb} {target}: {}", answer.body);
    }
    // The error code differs if only a permission is missing.
    let peek = format!("signed/messages?peekonly=true&{}", queue(QueuePermissions::ADD));
    assert_eq!(
        Ask::queue("GET", peek).signed(None).of(&SERVER).code(),
        (403, "AuthorizationPermissionMismatch")
    );
}

/// azure-storage-python 301, azure-storage-cpp 157: a client appended `?` and a token that already started with `?`.
#[test]
fn sas_1_a_signature_after_a_second_question_mark_has_no_version() {
    let types = ResourceTypes::SERVICE.and(ResourceTypes::CONTAINER).and(ResourceTypes::OBJECT);
    let permissions = AccountPermissions::READ.and(AccountPermissions::LIST);
    let key = AccountKey::new(ACCOUNT, KEY).unwrap();
    for services in [Services::TABLE, Services::QUEUE] {
        let lifetime = Lifetime::valid_for(Utc::now(), Duration::from_secs(60 * 60));
        let token =
            AccountSas::new(services, types, permissions, lifetime).sign(&key).unwrap().query_string();
        let list = |query: &str| {
            let ask = if services == Services::TABLE {
                Ask::new("GET", format!("Tables?{query}"))
            } else {
                Ask::queue("GET", format!("?{query}&comp=list"))
            };
            ask.signed(None).of(&SERVER)
        };
        assert_eq!(list(&token).status, 200);
        // Parameters may be in any order. Any of them may therefore follow the `?`.
        let mut pairs: Vec<&str> = token.split('&').collect();
        for _ in 0..pairs.len() {
            pairs.rotate_left(1);
            let rotated = pairs.join("&");
            assert_eq!(list(&rotated).status, 200, "{rotated}");
            for mark in ["?", "%3F"] {
                let answer = list(&format!("{mark}{rotated}"));
                assert_eq!(answer.code(), (403, "AuthenticationFailed"), "{mark}{rotated}: {}", answer.body);
            }
        }
    }
}

/// MicrosoftDocs/feedback 2842, waz-storage 1: the `+` in a receipt was not escaped and therefore became a space. The
/// service's response is recorded in the tests of `@azure/storage-queue` (`delete message negative`).
#[test]
fn que_13_and_16_text_that_is_no_receipt_is_not_taken_for_an_outdated_one() {
    assert_eq!(Ask::queue("PUT", "formats").of(&SERVER).status, 201);
    let message = "<QueueMessage><MessageText>a</MessageText></QueueMessage>";
    let put = Ask::queue("POST", "formats/messages").body("application/xml", message).of(&SERVER);
    let id = put.body.split("<MessageId>").nth(1).unwrap().split('<').next().unwrap();
    for (receipt, code) in [
        ("AgAAAAMAAAAAAAAAYUMWAIg+1gE=", "InvalidQueryParameterValue"),
        ("AgAAAAMAAAAAAAAAYUMWAIg%201gE=", "InvalidQueryParameterValue"),
        ("invalid", "InvalidQueryParameterValue"),
        ("AgAAAAMAAAAAAAAAYUMWAIg%2B1gE%3D", "PopReceiptMismatch"),
        ("0000", "PopReceiptMismatch"),
    ] {
        for verb in ["DELETE", "PUT"] {
            let target = format!("formats/messages/{id}?popreceipt={receipt}&visibilitytimeout=1");
            assert_eq!(Ask::queue(verb, target).of(&SERVER).code(), (400, code), "{verb} {receipt}");
        }
    }
}

/// azure-cli 13232: the table service does not support version 2.0 of the logging settings.
#[test]
fn a_wrong_version_of_logging_is_no_valid_document() {
    let properties = |version: &str| {
        let body = format!(
            "<StorageServiceProperties><Logging><Version>{version}</Version><Delete>true</Delete><Read>true</Read><Write>true</Write>\
             <RetentionPolicy><Enabled>true</Enabled><Days>120</Days></RetentionPolicy></Logging></StorageServiceProperties>"
        );
        Ask::new("PUT", "?restype=service&comp=properties").body("application/xml", body).of(&SERVER)
    };
    let refused = properties("2.0");
    assert_eq!(refused.code(), (400, "InvalidXmlDocument"), "{}", refused.body);
}
