//! Tests of batch requests and of recorded batch responses. Each response is tested complete, and cut off at every position.

use proptest::prelude::*;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use table_core::etag::IfMatch;
use table_core::row::RowWriter;
use table_core::{OperationKind, PartitionKey, RowKey, Transaction, ValueRef};
use uuid::Uuid;

use super::*;
use crate::Target;
use table_wire::batch::{Split, split};

const TYPE: &str = "multipart/mixed; boundary=batchresponse_A";

/// The service's response to two inserts and a delete (EX-17, EX-21).
const SUCCESS: &str = "--batchresponse_A
Content-Type: multipart/mixed; boundary=changesetresponse_B

--changesetresponse_B
Content-Type: application/http
Content-Transfer-Encoding: binary

HTTP/1.1 204 No Content
X-Content-Type-Options: nosniff
Cache-Control: no-cache
DataServiceVersion: 3.0;
Location: http://127.0.0.1:10002/devstoreaccount1/Employee(PartitionKey='HR',RowKey='1')
ETag: W/\"datetime'2026-11-20T08%3A14%3A48.1935155Z'\"


--changesetresponse_B
Content-Type: application/http
Content-Transfer-Encoding: binary

HTTP/1.1 204 No Content
DataServiceVersion: 1.0;
ETag: W/\"datetime'2026-11-20T08%3A14%3A48.1935156Z'\"


--changesetresponse_B
Content-Type: application/http
Content-Transfer-Encoding: binary

HTTP/1.1 204 No Content
DataServiceVersion: 1.0;


--changesetresponse_B--
--batchresponse_A--
";

fn failure(message: &str) -> String {
    format!(
        "--batchresponse_A\r\nContent-Type: multipart/mixed; boundary=changesetresponse_B\r\n\r\n--changesetresponse_B\r\n\
         Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nHTTP/1.1 409 Conflict\r\n\
         X-Content-Type-Options: nosniff\r\nPreference-Applied: return-no-content\r\nDataServiceVersion: 3.0;\r\n\
         Content-Type: application/json;odata=minimalmetadata;streaming=true;charset=utf-8\r\n\r\n\
         {{\"odata.error\":{{\"code\":\"EntityAlreadyExists\",\"message\":{{\"lang\":\"en-US\",\"value\":\"{message}\\nRequestId:r\\nTime:t\"}}}}}}\
         \r\n--changesetresponse_B--\r\n--batchresponse_A--\r\n"
    )
}

fn answer(content_type: &str, body: &str) -> Answer {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_str(content_type).unwrap());
    headers.insert("x-ms-request-id", HeaderValue::from_static("c0ffee"));
    Answer { status: 202, headers, body: body.as_bytes().to_vec() }
}

#[test]
fn egt_30_to_32_and_39_a_success_has_either_line_ending() {
    for body in [SUCCESS.to_owned(), SUCCESS.replace('\n', "\r\n")] {
        let committed = outcome(&answer(TYPE, &body), 3).unwrap();
        let etags: Vec<_> = committed.iter().map(|etag| etag.as_ref().map(ToString::to_string)).collect();
        let etag = |tick: u8| Some(format!("W/\"datetime'2026-11-20T08%3A14%3A48.193515{tick}Z'\""));
        assert_eq!(etags, [etag(5), etag(6), None]);
    }
}

#[test]
fn egt_33_to_36_the_index_of_a_failure() {
    for (message, operations, index) in [
        ("3:The specified entity already exists.", 4, Some(3)),
        ("0:The specified entity already exists.", 1, Some(0)),
        ("The specified entity already exists.", 1, Some(0)), // EGT-35
        ("The specified entity already exists.", 4, None),
        ("99:Too many.", 4, None), // EGT-36
    ] {
        let error = outcome(&answer(TYPE, &failure(message)), operations).unwrap_err().error;
        assert_eq!((error.code(), error.operation()), (ErrorCode::EntityAlreadyExists, index), "{message}");
        assert!(
            error.to_string().contains("[request c0ffee]") && !error.to_string().contains("RequestId"),
            "{error}"
        );
    }
}

/// Tests bodies with both CRLF and LF line endings, as Cosmos DB sends them (COS-11). The error messages of Cosmos DB also start with the operation's index.
#[test]
fn egt_39_and_cos_11_line_endings_may_be_mixed() {
    let mut crlf = false;
    let mixed: String = SUCCESS
        .split_inclusive('\n')
        .map(|line| {
            crlf = !crlf;
            if crlf { line.replace('\n', "\r\n") } else { line.to_owned() }
        })
        .collect();
    let outcome_of = |body: &str, operations| outcome(&answer(TYPE, body), operations);
    assert_eq!(outcome_of(&mixed, 3).unwrap(), outcome_of(SUCCESS, 3).unwrap());
    let refused = failure("3:The specified entity already exists.").replacen("\r\n", "\n", 5);
    assert_eq!(outcome_of(&refused, 4).unwrap_err().error.operation(), Some(3));
}

/// Tests two deviations of Azurite:
/// - Its response to an insert lacks the entity even if the request asks for it.
/// - Its response to a batch with too many operations ends with a stray boundary.
#[test]
fn az_3_a_created_part_needs_no_body_and_a_stray_boundary_is_not_a_success() {
    let created = SUCCESS.replacen("204 No Content", "201 Created", 1);
    assert_eq!(outcome(&answer(TYPE, &created), 3).unwrap().len(), 3);
    let stray = failure("0:The batch request operation exceeds the maximum 100 changes per change set.")
        .replace("\r\n--changesetresponse_B--", "\r\n--changesetresponse_B\r\n--changesetresponse_B--");
    assert!(outcome(&answer(TYPE, &stray), 2).is_err());
}

/// Tests that a part's `Content-ID` is not used as its index. This client never sends a `Content-ID`, and Azurite numbers the parts differently (AZ-2).
#[test]
fn egt_11_and_az_2_a_content_id_has_no_effect() {
    for id in ["0", "1", "2", "7", "x"] {
        let head = format!("Content-Transfer-Encoding: binary\r\nContent-ID: {id}\r\n");
        let body = failure("1:The specified entity already exists.")
            .replace("Content-Transfer-Encoding: binary\r\n", &head)
            .replace("409 Conflict\r\n", &format!("409 Conflict\r\nContent-ID: {id}\r\n"));
        let error = outcome(&answer(TYPE, &body), 3).unwrap_err().error;
        assert_eq!(error.operation(), Some(1), "{id}");
        let success = SUCCESS.replace("binary\n", &format!("binary\nContent-ID: {id}\n"));
        assert_eq!(outcome(&answer(TYPE, &success), 3).unwrap().len(), 3);
    }
}

#[test]
fn egt_37_fewer_parts_are_not_a_success() {
    assert!(outcome(&answer(TYPE, SUCCESS), 4).unwrap_err().into_ambiguous);
}

#[test]
fn wrong_content_types_and_bodies_are_ambiguous() {
    for (content_type, body) in [
        ("text/html", "<html>"),
        ("multipart/mixed", SUCCESS),
        ("multipart/mixed; boundary=other", SUCCESS),
        (TYPE, ""),
        (TYPE, "--batchresponse_A\r\n\r\nno status\r\n--batchresponse_A--"),
    ] {
        assert!(outcome(&answer(content_type, body), 3).unwrap_err().into_ambiguous, "{content_type}");
    }
}

#[test]
fn a_truncated_response_is_never_a_success() {
    let end = SUCCESS.find("--changesetresponse_B--").unwrap() + "--changesetresponse_B--".len();
    for cut in 0..end {
        assert!(outcome(&answer(TYPE, &SUCCESS[..cut]), 3).unwrap_err().into_ambiguous, "at {cut}");
    }
    assert!(outcome(&answer(TYPE, &SUCCESS[..end]), 3).is_ok()); // EGT-24
}

/// Tests that a failed part is as ambiguous as a separate response with the same status (CON-11).
#[test]
fn con_11_a_part_that_timed_out_is_ambiguous_and_a_refused_part_is_not() {
    for (status, into_ambiguous) in [("500 X", true), ("409 Conflict", false), ("412 X", false)] {
        let body = failure("0:No.").replace("409 Conflict", status);
        assert_eq!(outcome(&answer(TYPE, &body), 2).unwrap_err().into_ambiguous, into_ambiguous, "{status}");
    }
}

proptest! {
    #[test]
    fn arbitrary_batch_responses_do_not_panic(noise in prop::collection::vec(any::<u8>(), 0..40), at in 0..SUCCESS.len()) {
        let mut answer = answer(TYPE, SUCCESS);
        answer.body.splice(at..at, noise);
        let _ = outcome(&answer, 3);
    }
}

/// Splits a body line by line, as the rules describe the format (EGT-30, EGT-39). The tests compare the production parser, which works differently, with this
/// function.
fn split_by_lines<'a>(body: &'a [u8], boundary: &str) -> Split<'a> {
    let (mut parts, mut start, mut at) = (Vec::new(), None, 0);
    for line in body.split_inclusive(|byte| *byte == b'\n') {
        let text = line.trim_ascii_end();
        let closing = text == format!("--{boundary}--").as_bytes();
        if closing || text == format!("--{boundary}").as_bytes() {
            parts.extend(start.map(|start: usize| &body[start..at]));
            start = Some(at + line.len());
        }
        at += line.len();
        if closing {
            return Split { parts, closed: true };
        }
    }
    parts.extend(start.map(|start| &body[start..]));
    Split { parts, closed: false }
}

proptest! {
    #[test]
    fn egt_30_and_39_parts_are_the_text_between_boundary_lines(
        pieces in prop::collection::vec("--|--b|b|-|a| |\r|\r\n|\n|\n--b|\n--b\n|\n--b--|\n--bb\n", 0..24),
    ) {
        let body = pieces.concat();
        for boundary in ["b", "bb", "b-"] {
            prop_assert_eq!(split(body.as_bytes(), boundary), split_by_lines(body.as_bytes(), boundary));
        }
    }
}

/// Tests that a batch has the same form as the requests in examples EX-17 and EX-21.
#[test]
fn egt_20_to_25_a_batch_as_it_is_sent() {
    let mut row = RowWriter::new();
    row.property("N", ValueRef::Int32(1));
    let row = row.finish();
    let requests: Vec<_> = [
        ("1", OperationKind::Insert(row.clone())),
        ("2", OperationKind::InsertOrReplace(row.clone())),
        ("3", OperationKind::Delete(IfMatch::Any)),
    ]
    .into_iter()
    .map(|(row_key, kind)| {
        let operation = Operation { row_key: RowKey::new(row_key).unwrap(), kind };
        WriteRequest::new(&TableName::new("Employee").unwrap(), "HR", &operation).unwrap()
    })
    .collect();
    let base = "http://127.0.0.1:10002/devstoreaccount1";
    let body = write_batch(base, &requests, Uuid::nil());
    let id = Uuid::nil();
    let part =
        format!("--changeset_{id}\nContent-Type: application/http\nContent-Transfer-Encoding: binary\n\n");
    let headers = "Accept: application/json;odata=minimalmetadata\nDataServiceVersion: 3.0\n";
    let expected = format!(
        "--batch_{id}\nContent-Type: multipart/mixed; boundary=changeset_{id}\n\n\
         {part}POST {base}/Employee HTTP/1.1\n{headers}Prefer: return-no-content\nContent-Type: application/json\n\n\
         {{\"PartitionKey\":\"HR\",\"RowKey\":\"1\",\"N\":1}}\n\
         {part}PUT {base}/Employee(PartitionKey='HR',RowKey='2') HTTP/1.1\n{headers}Content-Type: application/json\n\n{{\"N\":1}}\n\
         {part}DELETE {base}/Employee(PartitionKey='HR',RowKey='3') HTTP/1.1\n{headers}If-Match: *\n\n\n\
         --changeset_{id}--\n--batch_{id}--\n"
    );
    assert_eq!(body, expected.replace('\n', "\r\n"));
}

#[test]
fn req_2_a_merge_is_tunnelled_inside_a_batch_too() {
    let kind = OperationKind::InsertOrMerge(RowWriter::new().finish());
    let operation = Operation { row_key: RowKey::new("1").unwrap(), kind };
    let request = WriteRequest::new(&TableName::new("Employee").unwrap(), "HR", &operation).unwrap();
    let body = write_batch("http://x", &[request.to(Target::Cosmos)], Uuid::nil());
    assert!(body.contains("\r\nPOST http://x/Employee(PartitionKey='HR',RowKey='1') HTTP/1.1\r\n"), "{body}");
    assert!(body.contains("\r\nX-HTTP-Method: MERGE\r\n"), "{body}");
}

/// Tests that the size of a transaction is the size of its UTF-8 request body, as in the service.
///
/// For example, 100 entities with 40,000 ASCII characters each are accepted, although they would occupy 8 MB in UTF-16.
#[test]
fn egt_3_a_transaction_is_measured_by_its_body() {
    for (target, character, fits) in [
        (Target::Service, "a", true),
        (Target::Cosmos, "a", false),
        (Target::Emulator, "a", true),
        (Target::Service, "é", false),
        (Target::Emulator, "é", false),
    ] {
        let mut row = RowWriter::new();
        for name in ["A", "B"] {
            row.property(name, ValueRef::String(&character.repeat(20_000)));
        }
        let row = row.finish();
        let base = "https://contoso.table.core.windows.net";
        let limits = target.capabilities(base.len()).limits;
        let mut transaction = Transaction::new(PartitionKey::new("p").unwrap(), limits).unwrap();
        let pushed = (0..100).try_for_each(|number| {
            let kind = OperationKind::Insert(row.clone());
            transaction.push(Operation { row_key: RowKey::new(number.to_string())?, kind })
        });
        assert_eq!(pushed.is_ok(), fits, "{target:?} {character}");
        // The measured size is at least the body size, and at most 1% larger.
        let table = TableName::new("Employee").unwrap();
        let requests: Vec<_> = transaction
            .operations()
            .iter()
            .map(|operation| WriteRequest::new(&table, "p", operation).unwrap().to(target))
            .collect();
        let body = write_batch(base, &requests, Uuid::nil()).len();
        let measured = transaction.bytes();
        assert!(
            (body..body + body / 100).contains(&measured),
            "{target:?} {character}: {measured} for {body}"
        );
    }
}
