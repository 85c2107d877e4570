//! Tests with requests that client libraries cannot send, or with responses that they do not show. The requests are written byte by byte.

use chrono::{TimeDelta, Utc};
use table_wire::auth::{Scheme, print_http_date};
use tests::ask::{Answer, Ask, JSON};

use crate::SERVER;

trait Served {
    /// Sends the request to the server shared by all tests in this binary. Returns the response.
    fn send(self) -> Answer;
}

impl Served for Ask {
    fn send(self) -> Answer {
        self.of(&SERVER)
    }
}

/// Creates the table `name` with one entity, whose keys are `Sales` and `1`. Returns the path of the entity.
fn table(name: &str) -> String {
    let made = Ask::new("POST", "Tables").json(format!("{{\"TableName\":\"{name}\"}}")).send();
    assert_eq!(made.status, 201, "{}", made.body);
    let entity = "{\"PartitionKey\":\"Sales\",\"RowKey\":\"1\",\"Age\":34,\"Sequence\":\"5\",\"Sequence@odata.type\":\"Edm.Int64\"}";
    assert_eq!(Ask::new("POST", name).json(entity).send().status, 201);
    format!("{name}(PartitionKey='Sales',RowKey='1')")
}

#[test]
fn auth_1_an_unsigned_request_is_refused() {
    assert_eq!(Ask::new("GET", "Tables").signed(None).send().code(), (403, "AuthenticationFailed"));
    assert_eq!(Ask::queue("GET", "?comp=list").signed(None).send().code(), (403, "AuthenticationFailed"));
}

#[test]
fn auth_9_an_old_date_is_refused() {
    let old = print_http_date(Utc::now() - TimeDelta::minutes(20));
    let asked = Ask::new("GET", "Tables").header("x-ms-date", old);
    assert_eq!(asked.send().code(), (403, "AuthenticationFailed"));
}

#[test]
fn auth_2_and_24_each_service_takes_its_short_form() {
    assert_eq!(Ask::new("GET", "Tables").signed(Some(Scheme::TableLite)).send().status, 200);
    assert_eq!(Ask::queue("GET", "?comp=list").signed(Some(Scheme::StorageLite)).send().status, 200);
    let wrong = Ask::queue("GET", "?comp=list").signed(Some(Scheme::TableLite));
    assert_eq!(wrong.send().code(), (403, "AuthenticationFailed"));
}

#[test]
fn json_2_and_3_each_level_of_metadata_has_its_own_members() {
    let entity = table("Levels");
    let levels =
        [("nometadata", [false; 3]), ("minimalmetadata", [true, true, false]), ("fullmetadata", [true; 3])];
    for (level, expected) in levels {
        let accepted = Ask::new("GET", &*entity).header("accept", format!("application/json;odata={level}"));
        let asked = Ask::new("GET", format!("{entity}?$format=application/json;odata={level}"));
        for answer in [accepted.send(), asked.header("accept", "*/*").send()] {
            assert_eq!(answer.status, 200, "{}", answer.body);
            let has = |text: &str| answer.body.contains(text);
            let found = [
                has("\"odata.metadata\":"),
                has("\"Sequence@odata.type\":\"Edm.Int64\""),
                has("\"odata.editLink\":"),
            ];
            assert_eq!(found, expected, "{level}: {}", answer.body);
            assert_eq!(
                answer.header("content-type"),
                Some(format!("application/json;odata={level};streaming=true;charset=utf-8").as_str())
            );
        }
    }
}

#[test]
fn json_1_atom_is_refused() {
    let asked = Ask::new("GET", "Tables").header("accept", "application/atom+xml");
    assert_eq!(asked.send().code(), (415, "AtomFormatNotSupported"));
}

#[test]
fn ins_4_prefer_decides_whether_an_insert_returns_the_entity() {
    table("Prefers");
    for (prefer, status, applied) in [
        (None, 201, None),
        (Some("return-content"), 201, Some("return-content")),
        (Some("return-no-content"), 204, Some("return-no-content")),
    ] {
        let row = prefer.unwrap_or("none");
        let entity = format!("{{\"PartitionKey\":\"Sales\",\"RowKey\":\"{row}\"}}");
        let asked = Ask::new("POST", "Prefers").json(entity);
        let answer = match prefer {
            Some(prefer) => asked.header("prefer", prefer).send(),
            None => asked.send(),
        };
        assert_eq!((answer.status, answer.header("preference-applied")), (status, applied), "{prefer:?}");
        assert!(answer.header("etag").is_some() && answer.header("location").is_some());
        assert_eq!(answer.header("dataserviceid").is_some(), status == 204);
    }
}

#[test]
fn req_2_a_post_may_name_another_method() {
    let entity = table("Tunnelled");
    let tunnelled =
        |method: &'static str, verb: &str| Ask::new(method, &*entity).header("x-http-method", verb);
    let merged = tunnelled("POST", "MERGE").header("if-match", "*").json("{\"Grade\":1}").send();
    assert_eq!(merged.status, 204, "{}", merged.body);
    assert!(Ask::new("GET", &*entity).send().body.contains("\"Age\":34"));
    assert_eq!(tunnelled("PUT", "MERGE").json("{}").send().code(), (400, "XMethodNotUsingPost"));
    assert_eq!(tunnelled("POST", "TRACE").json("{}").send().code(), (400, "XMethodIncorrectValue"));
    assert_eq!(tunnelled("POST", "DELETE").header("if-match", "*").send().status, 204);
}

#[test]
fn req_4_the_version_is_returned_and_identifiers_are_echoed() {
    for version in ["2013-08-15", "2019-02-02", "2026-02-06"] {
        let asked = Ask::new("GET", "Tables").header("x-ms-version", version);
        let answer = asked.header("x-ms-client-request-id", "my-own-7").send();
        assert_eq!((answer.status, answer.header("x-ms-version")), (200, Some("2026-06-06")));
        assert_eq!(answer.header("x-ms-client-request-id"), Some("my-own-7"));
        assert_eq!(answer.header("x-ms-request-id").map(str::len), Some(36));
    }
    for version in ["invalid", "2019-13-01", "2019-2-2", ""] {
        let answer = Ask::new("GET", "Tables").header("x-ms-version", version).send();
        assert_eq!(answer.code(), (400, "InvalidHeaderValue"), "{version}");
    }
}

#[test]
fn ups_5_and_del_1_a_condition_that_is_missing_or_empty_is_refused() {
    let entity = table("Conditions");
    assert_eq!(Ask::new("DELETE", &*entity).send().code(), (400, "MissingRequiredHeader"));
    let empty = Ask::new("PUT", &*entity).header("if-match", "").json("{}");
    assert_eq!(empty.send().code(), (400, "InvalidInput"));
}

#[test]
fn page_2_and_8_tokens_are_keys_in_the_form_of_the_service() {
    table("Tokens");
    let more = "{\"PartitionKey\":\"Sales\",\"RowKey\":\"2\"}";
    assert_eq!(Ask::new("POST", "Tokens").json(more).send().status, 201);
    let first = Ask::new("GET", "Tokens()?$top=1").send();
    let token = first.header("x-ms-continuation-nextpartitionkey").expect("more entities");
    let row = first.header("x-ms-continuation-nextrowkey").expect("the key of the next entity");
    assert_eq!((token, row), ("1!8!U2FsZXM-", "1!4!Mg--"));
    let next = format!("$top=1&NextPartitionKey={token}&NextRowKey={row}");
    // The token is valid with a different filter or selection as well.
    for query in ["", "&$select=RowKey", "&$filter=RowKey%20ge%20'0'"] {
        let rest = Ask::new("GET", format!("Tokens()?{next}{query}")).send();
        assert!(rest.body.contains("\"RowKey\":\"2\""), "{}", rest.body);
    }
    let rest = Ask::new("GET", format!("Tokens()?{next}")).send();
    assert!(rest.body.contains("\"RowKey\":\"2\""), "{}", rest.body);
    assert_eq!(rest.header("x-ms-continuation-nextpartitionkey"), None);
    let odd = Ask::new("GET", "Tokens()?NextPartitionKey=odd").send();
    assert_eq!(odd.status, 400, "{}", odd.body);
}

#[test]
fn top_2_and_3_more_than_a_page_is_refused() {
    table("Tops");
    for top in ["0", "1001", "-1", "many"] {
        let expected = if top == "0" { 200 } else { 400 };
        let answer = Ask::new("GET", format!("Tops()?$top={top}")).send();
        assert_eq!(answer.status, expected, "{top}");
        assert_eq!(answer.header("x-ms-continuation-nextpartitionkey"), None, "{top}");
        let answer = Ask::new("GET", format!("Tables()?$top={top}")).send();
        assert_eq!(answer.status, expected, "{top}");
        assert_eq!(answer.header("x-ms-continuation-nexttablename"), None, "{top}");
    }
}

#[test]
fn sel_3_a_selected_property_that_is_missing_is_null() {
    table("Selected");
    let answer = Ask::new("GET", "Selected()?$select=Age,Missing").send();
    assert!(answer.body.contains("{\"Age\":34,\"Missing\":null}"), "{}", answer.body);
}

#[test]
fn sel_1_the_names_of_an_entity_and_of_a_page_have_the_same_limits() {
    let entity = table("Chosen");
    let names = |count: usize| (0..count).map(|n| format!("P{n}")).collect::<Vec<_>>().join(",");
    for (names, status) in [
        ("First-Name".to_owned(), 400),
        ("odata.etag".to_owned(), 400),
        (names(256), 400),
        (vec!["Age"; 16_000].join(","), 400),
        (names(255), 200),
        ("Age,Age".to_owned(), 200),
        (" Age ,, Timestamp".to_owned(), 200),
    ] {
        let names = names.replace(' ', "%20");
        let page = Ask::new("GET", format!("Chosen()?$select={names}")).send();
        let point = Ask::new("GET", format!("{entity}?$select={names}")).send();
        assert_eq!((page.status, point.status), (status, status), "{}", &names[..names.len().min(40)]);
    }
}

#[test]
fn egt_7_a_batch_may_be_one_query() {
    let entity = table("Queried");
    let host = SERVER.split("TableEndpoint=").nth(1).unwrap().split(';').next().unwrap();
    let batch = |entity: &str| {
        let part = format!("GET {host}/{entity} HTTP/1.1\r\nAccept: {JSON}\r\n\r\n");
        let body = format!(
            "--batch_1\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n{part}\r\n--batch_1--\r\n"
        );
        Ask::new("POST", "$batch").body("multipart/mixed; boundary=batch_1", body).send()
    };
    let answer = batch(&entity);
    assert_eq!(answer.status, 202, "{}", answer.body);
    assert!(answer.body.contains("HTTP/1.1 200 OK") && answer.body.contains("\"Age\":34"), "{}", answer.body);
    let missing = batch(&entity.replace("'1'", "'2'"));
    assert!(
        missing.body.contains("HTTP/1.1 404") && missing.body.contains("ResourceNotFound"),
        "{}",
        missing.body
    );
}

#[test]
fn req_7_a_body_above_four_mebibytes_is_refused() {
    let answer = Ask::new("POST", "Tables").json(" ".repeat((4 << 20) + 1)).send();
    assert_eq!(answer.code(), (413, "RequestBodyTooLarge"));
}

#[test]
fn err_1_and_que_1_errors_have_the_form_of_their_service() {
    let name = Ask::new("GET", "Missing()").send();
    assert!(name.body.starts_with("{\"odata.error\":{\"code\":\"TableNotFound\""), "{}", name.body);
    assert!(name.body.contains("\\nRequestId:") && name.body.contains("\\nTime:"), "{}", name.body);
    let name = Ask::queue("GET", "missing/messages").send();
    assert!(name.body.contains("<Error><Code>QueueNotFound</Code>"), "{}", name.body);
    // A request without an `Accept` header receives JSON as well.
    assert_eq!(Ask::new("GET", "Missing()").without("accept").send().code(), (404, "TableNotFound"));
}

#[test]
fn json_5_the_metadata_of_a_page_name_its_table() {
    table("Named");
    let page = Ask::new("GET", "Named()").header("accept", "application/json;odata=minimalmetadata").send();
    assert!(page.body.contains("/$metadata#Named\""), "{}", page.body);
}

#[test]
fn responses_state_their_length_and_every_error_its_code() {
    table("Lengths");
    for asked in [Ask::new("GET", "Lengths()"), Ask::new("GET", "Missing()"), Ask::queue("GET", "missing")] {
        let answer = asked.send();
        let length = answer.body.len().to_string();
        assert_eq!(answer.header("content-length"), Some(length.as_str()), "{}", answer.head);
        assert_eq!(answer.header("transfer-encoding"), None);
        assert_eq!(answer.status >= 400, answer.header("x-ms-error-code").is_some(), "{}", answer.head);
    }
}

#[test]
fn que_15_the_name_of_a_deleted_queue_is_free_at_once() {
    for _ in 0..2 {
        let made = Ask::queue("PUT", "freed").header("x-ms-meta-owner", "Sales").send();
        assert_eq!(made.status, 201, "{}", made.body);
        assert_eq!(Ask::queue("DELETE", "freed").send().status, 204);
    }
}

#[test]
fn metadata_names_of_a_queue_are_returned_in_lower_case() {
    assert_eq!(Ask::queue("PUT", "cased").header("x-ms-meta-Owner", "Sales").send().status, 201);
    let answer = Ask::queue("GET", "cased?comp=metadata").send();
    assert!(answer.head.contains("\r\nx-ms-meta-owner: Sales"), "{}", answer.head);
}
