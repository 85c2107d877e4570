//! Tests of batches: round trips, and rejection of invalid bodies.

use proptest::prelude::*;

use super::*;

const TYPE: &str = "multipart/mixed; boundary=batch_7";

/// Returns an insert, a conditional merge tunnelled through `POST`, and a delete.
fn requests() -> Vec<NewRequest<'static>> {
    let path = "/Employee(PartitionKey='Sales',RowKey='1')";
    let insert = NewRequest {
        method: "POST",
        path: "/Employee",
        if_match: None,
        tunnelled: false,
        no_content: true,
        body: Some("{\"PartitionKey\":\"Sales\",\"RowKey\":\"--batch_7\"}"),
    };
    let merge = NewRequest {
        path,
        if_match: Some("W/\"1\""),
        tunnelled: true,
        no_content: false,
        body: Some("{}"),
        ..insert
    };
    let delete = NewRequest { method: "DELETE", if_match: Some("*"), tunnelled: false, body: None, ..merge };
    vec![insert, merge, delete]
}

fn written() -> String {
    write_requests("https://contoso.table.core.windows.net", &requests(), "7")
}

fn change_set(body: &[u8]) -> Vec<RequestPart<'_>> {
    match read_requests(TYPE, body) {
        Ok(Batch::ChangeSet(parts)) => parts,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn refused(content_type: &str, body: &str, rule: &str) {
    let error = read_requests(content_type, body.as_bytes()).unwrap_err();
    assert_eq!((error.code().status(), error.rule()), (400, Some(rule)), "{body}");
}

/// Tests the line endings that the rules define, and deviations that a parser must accept (EGT-24).
#[test]
fn egt_20_to_25_a_written_batch_is_read_back() {
    let lenient = written().replace("--changeset_7--\r\n", "--changeset_7--\r\n\r\n");
    let numbered = written().replace("binary\r\n", "binary\r\nContent-ID: 0\r\nContent-Length: 9\r\n");
    for body in [written(), lenient.trim_end().to_owned(), numbered, written().replace("\r\n", "\n")] {
        let parts = change_set(body.as_bytes());
        assert_eq!(parts.len(), requests().len());
        for (part, request) in parts.iter().zip(requests()) {
            assert_eq!((part.method, part.target()), (request.method, request.path));
            assert_eq!(part.header("if-match"), request.if_match.unwrap_or_default());
            assert_eq!(part.header("x-http-method"), if request.tunnelled { "MERGE" } else { "" });
            assert_eq!(part.header("prefer"), if request.no_content { "return-no-content" } else { "" });
            assert_eq!(part.body, request.body.unwrap_or_default().as_bytes());
        }
    }
}

#[test]
fn egt_22_urls_are_absolute_or_begin_with_a_slash() {
    for (base, target) in [
        ("http://127.0.0.1:10002/devstoreaccount1", "/devstoreaccount1/Employee"),
        ("", "/Employee"),
        ("HTTPS://contoso", ""),
    ] {
        let insert = [NewRequest { body: Some("{}"), ..requests()[0] }];
        let body = write_requests(base, &insert, "7");
        match read_requests(TYPE, body.as_bytes()) {
            Ok(Batch::ChangeSet(parts)) => assert_eq!(parts[0].target(), target),
            other => assert!(target.is_empty(), "{other:?}"),
        }
    }
}

#[test]
fn egt_7_8_and_12_a_batch_is_one_change_set_or_one_query() {
    let get = "--batch_7\r\nContent-Type: application/http\r\n\r\nGET /Employee(PartitionKey='a',RowKey='b') HTTP/1.1\r\n\r\n\r\n--batch_7--";
    let Ok(Batch::Query(query)) = read_requests(TYPE, get.as_bytes()) else { panic!("a query") };
    assert_eq!(query.target(), "/Employee(PartitionKey='a',RowKey='b')");
    refused(TYPE, &get.replace("GET", "DELETE"), "EGT-7");
    refused(TYPE, &written().replace("DELETE", "GET"), "EGT-7");
    let begin = written().replace("--batch_7--\r\n", "");
    refused(TYPE, &format!("{begin}{}", written()), "EGT-8");
    refused(TYPE, &format!("{begin}{get}"), "EGT-8");
    refused(TYPE, "--batch_7--", "EGT-12");
    let empty = write_requests("", &[], "7");
    assert_eq!(read_requests(TYPE, empty.as_bytes()).unwrap(), Batch::ChangeSet(Vec::new()));
}

#[test]
fn egt_20_and_21_a_malformed_batch_is_refused() {
    for content_type in ["application/json", "multipart/mixed", "multipart/mixed; boundary=", ""] {
        refused(content_type, &written(), "EGT-20");
    }
    for line in [
        "POST",
        "POST /Employee",
        "POST /a b HTTP/1.1",
        "post /a HTTP/1.1",
        "POST a HTTP/1.1",
        "POST /a HTTP/2",
        "",
    ] {
        let whole = "POST https://contoso.table.core.windows.net/Employee HTTP/1.1";
        refused(TYPE, &written().replacen(whole, line, 1), "EGT-21");
    }
}

/// Tests that a truncated batch is rejected, because a batch must not be applied partially.
#[test]
fn egt_9_and_21_a_truncated_batch_is_refused() {
    let body = written();
    for cut in 0..body.trim_end().len() {
        assert!(read_requests(TYPE, &body.as_bytes()[..cut]).is_err(), "at {cut}");
    }
    assert!(read_requests(TYPE, body.trim_end().as_bytes()).is_ok());
}

proptest! {
    #[test]
    fn arbitrary_batches_do_not_panic(noise in prop::collection::vec(any::<u8>(), 0..40), at in 0..written().len()) {
        let mut body = written().into_bytes();
        body.splice(at..at, noise);
        let _ = read_requests(TYPE, &body);
    }

    #[test]
    fn egt_30_to_33_responses_are_read_as_they_were_written(
        answers in prop::collection::vec((200_u16..600, "[ -~]{0,20}", "[ -~]{0,30}"), 1..5),
    ) {
        let responses: Vec<_> = answers.iter().map(|(status, etag, body)| NewResponse {
            status: *status,
            headers: vec![("DataServiceVersion", "3.0;".into()), ("ETag", etag.clone().into())],
            body: body.clone(),
        }).collect();
        let body = write_responses("7", &responses);
        let read = read_responses("multipart/mixed; boundary=batchresponse_7", body.as_bytes()).unwrap();
        prop_assert_eq!(read.len(), responses.len());
        for (part, response) in read.iter().zip(&responses) {
            prop_assert_eq!((part.status, part.header("etag")), (response.status, response.headers[1].1.trim()));
            prop_assert_eq!(part.body, response.body.trim().as_bytes());
        }
    }
}
