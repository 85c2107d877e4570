//! Tests attacks with batch bodies: boundaries, line ends, nesting, limits and partitions. A rejected batch must not have any effect.

use tests::ask::{Answer, Ask};

use crate::{ACCOUNT, SERVER};

fn create(table: &str) {
    let made = Ask::new("POST", "Tables").json(format!("{{\"TableName\":\"{table}\"}}")).of(&SERVER);
    assert_eq!(made.status, 201, "{}", made.body);
}

fn rows(table: &str) -> usize {
    let answer = Ask::new("GET", format!("{table}()?$select=RowKey")).of(&SERVER);
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.body.matches("\"RowKey\"").count()
}

/// Returns an insert as a part of a change set.
fn insert(table: &str, partition: &str, row: &str) -> String {
    format!(
        "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nPOST http://127.0.0.1/{ACCOUNT}/{table} HTTP/1.1\r\n\
         Content-Type: application/json\r\nPrefer: return-no-content\r\n\r\n{{\"PartitionKey\":\"{partition}\",\"RowKey\":\"{row}\"}}\r\n"
    )
}

/// Returns the body of a batch with the given boundaries for the batch and for its change set.
fn body(outer: &str, inner: &str, parts: &[String]) -> String {
    let parts = parts.iter().map(|part| format!("--{inner}\r\n{part}")).collect::<Vec<_>>().concat();
    format!(
        "--{outer}\r\nContent-Type: multipart/mixed; boundary=\"{inner}\"\r\n\r\n{parts}--{inner}--\r\n--{outer}--\r\n"
    )
}

fn send(content_type: &str, body: impl Into<String>) -> Answer {
    Ask::new("POST", "$batch").body(content_type, body).of(&SERVER)
}

const TYPE: &str = "multipart/mixed; boundary=b";

#[test]
fn egt_20_boundaries_may_be_quoted_and_follow_other_parameters() {
    create("Boundaries");
    let row = |row: usize| insert("Boundaries", "p", &row.to_string());
    for (number, (content_type, boundary)) in [
        ("multipart/mixed; boundary=b", "b"),
        ("multipart/mixed;boundary=b", "b"),
        ("Multipart/Mixed; Boundary=B", "B"),
        ("multipart/mixed; boundary=\"b\"", "b"),
        ("multipart/mixed; boundary=\"b c\"", "b c"),
        ("multipart/mixed; boundary=\"b;c\"", "b;c"),
        ("multipart/mixed; boundary=\"b=c\"", "b=c"),
        ("multipart/mixed; boundary=\"b;boundary=c\"", "b;boundary=c"),
        ("multipart/mixed; charset=utf-8; boundary=b", "b"),
        ("multipart/mixed; charset=\"a;boundary=x\"; boundary=b", "b"),
        ("multipart/mixed; flag; boundary=b", "b"),
        ("multipart/mixed; boundary = b", "b"),
        ("multipart/mixed; boundary=b; charset=utf-8", "b"),
        ("multipart/mixed; boundary=b'()+_,-./:=?", "b'()+_,-./:=?"),
        (
            "multipart/mixed; boundary=batch_0123456789-0123456789-0123456789-0123456789-0123456789-012345",
            "batch_0123456789-0123456789-0123456789-0123456789-0123456789-012345",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let inner = format!("{boundary} inner");
        let answer = send(content_type, body(boundary, &inner, &[row(number)]));
        assert_eq!(
            (answer.status, answer.body.matches("HTTP/1.1 204").count()),
            (202, 1),
            "{content_type}: {}",
            answer.body
        );
        assert_eq!(rows("Boundaries"), number + 1, "{content_type}");
    }
}

#[test]
fn egt_24_text_around_the_parts_and_single_line_feeds_are_accepted() {
    create("Around");
    let whole = |row: &str| body("b", "c", &[insert("Around", "p", row)]);
    for (number, text) in [
        format!("This is a preamble.\r\n\r\n{}", whole("0")),
        format!("{}This is an epilogue.\r\n--b\r\n--c\r\n", whole("1")),
        whole("2").replace("\r\n", "\n"),
        whole("3").trim_end().to_owned(),
        whole("4").replace("--b\r\n", "--b  \t\r\n"),
        whole("5").replace("--c--\r\n", "--c--\r\n\r\n\r\n"),
        whole("6").replace("\r\n--c--", "\r\n\r\n\r\n--c--"),
        format!("\r\n{}", whole("7")),
        whole("8").replace("\"p\"", "\"p\",\"Text\":\"--b\",\"More\":\"--c--\""),
        whole("9").replace("\"p\"", "\"p\",\"Text\":\"\\r\\n--c\\r\\n\""),
    ]
    .into_iter()
    .enumerate()
    {
        let answer = send(TYPE, text);
        assert_eq!(
            (answer.status, answer.body.matches("HTTP/1.1 204").count()),
            (202, 1),
            "{number}: {}",
            answer.body
        );
        assert_eq!(rows("Around"), number + 1, "{number}");
    }
}

#[test]
fn egt_8_9_and_21_a_malformed_batch_changes_nothing() {
    create("Malformed2");
    let part = |row: &str| insert("Malformed2", "p", row);
    let whole = body("b", "c", &[part("1"), part("2")]);
    let entity =
        format!("GET http://127.0.0.1/{ACCOUNT}/Malformed2(PartitionKey='p',RowKey='1') HTTP/1.1\r\n\r\n");
    let read = format!("Content-Type: application/http\r\n\r\n{entity}");
    let nested = body(
        "b",
        "c",
        &[format!("Content-Type: multipart/mixed; boundary=d\r\n\r\n--d\r\n{}--d--\r\n", part("1"))],
    );
    let twice = whole.replace("--b--\r\n", "") + &whole;
    for (name, text) in [
        ("no closing boundary of the batch", whole.replace("--b--\r\n", "")),
        ("no closing boundary of the change set", whole.replace("--c--\r\n", "")),
        ("a change set in a change set", nested),
        ("two change sets", twice),
        ("a read in a change set", body("b", "c", &[part("1"), read.clone()])),
        ("a read beside a change set", whole.replacen("--b\r\n", &format!("--b\r\n{read}--b\r\n"), 1)),
        ("two reads", format!("--b\r\n{read}--b\r\n{read}--b--\r\n")),
        ("a write outside a change set", format!("--b\r\n{}--b--\r\n", part("1"))),
        ("equal boundaries", body("b", "b", &[part("1")])),
        (
            "a part without a request",
            body("b", "c", &[part("1"), "Content-Type: application/http\r\n\r\n".to_owned()]),
        ),
        ("a part of the batch endpoint", whole.replace("/Malformed2 ", "/$batch ")),
        ("a part that creates a table", whole.replace("/Malformed2 ", "/Tables ")),
        ("a part of another account", whole.replace(ACCOUNT, "other")),
        ("a part without its account", whole.replace(&format!("/{ACCOUNT}/"), "/x/y/")),
        ("a part above the root", whole.replace(&format!("/{ACCOUNT}/"), &format!("/{ACCOUNT}/../"))),
        ("another version", whole.replace("HTTP/1.1", "HTTP/2")),
        ("an invalid second part", whole.replace("\"RowKey\":\"2\"", "\"RowKey\":2")),
        ("the same key twice", whole.replace("\"RowKey\":\"2\"", "\"RowKey\":\"1\"")),
        ("another partition", body("b", "c", &[part("1"), insert("Malformed2", "q", "2")])),
        ("another table", body("b", "c", &[part("1"), insert("Boundaries2", "p", "2")])),
        ("a missing key", whole.replace(",\"RowKey\":\"2\"", "")),
        ("no part", "--b--\r\n".to_owned()),
        ("nothing", String::new()),
        ("only a preamble", "Hello".to_owned()),
    ] {
        let answer = send(TYPE, text);
        let refused =
            answer.status == 400 || (answer.status == 202 && answer.body.matches("HTTP/1.1 4").count() == 1);
        assert!(refused && !answer.body.contains("HTTP/1.1 2"), "{name}: {} {}", answer.status, answer.body);
        assert_eq!(rows("Malformed2"), 0, "{name}");
    }
    for content_type in [
        "application/json",
        "multipart/mixed",
        "multipart/mixed; boundary=\"b",
        "multipart/mixed; boundary=\"\"",
        "multipart/mixed; boundary=other",
    ] {
        let answer = send(content_type, whole.as_str());
        assert_eq!((answer.status, rows("Malformed2")), (400, 0), "{content_type}: {}", answer.body);
    }
    // A batch is rejected wherever it is cut off.
    for cut in (0..whole.trim_end().len()).step_by(7) {
        let answer = send(TYPE, &whole[..cut]);
        assert_eq!((answer.status, rows("Malformed2")), (400, 0), "{cut}: {}", answer.body);
    }
    assert_eq!(send(TYPE, whole).status, 202);
    assert_eq!(rows("Malformed2"), 2);
}

#[test]
fn egt_2_a_batch_has_at_most_a_hundred_operations() {
    create("Hundred");
    let parts: Vec<_> = (0..101).map(|row| insert("Hundred", "p", &row.to_string())).collect();
    let answer = send(TYPE, body("b", "c", &parts));
    assert!(answer.body.contains("HTTP/1.1 400") && answer.body.contains("InvalidInput"), "{}", answer.body);
    assert_eq!(rows("Hundred"), 0);
    let answer = send(TYPE, body("b", "c", &parts[..100]));
    assert_eq!((answer.body.matches("HTTP/1.1 204").count(), rows("Hundred")), (100, 100));
}

#[test]
fn egt_3_and_req_7_a_batch_has_at_most_four_mebibytes() {
    create("Mebibytes");
    let whole = body("b", "c", &[insert("Mebibytes", "p", "1")]);
    let padded = |bytes: usize| format!("{whole}{}", " ".repeat(bytes - whole.len()));
    let answer = send(TYPE, padded((4 << 20) + 1));
    assert_eq!((answer.code(), rows("Mebibytes")), ((413, "RequestBodyTooLarge"), 0));
    let answer = send(TYPE, padded(4 << 20));
    assert_eq!((answer.status, rows("Mebibytes")), (202, 1), "{}", answer.body);
}

/// Tests a change set whose parts have a wrong boundary. It must not be taken for an empty change set, which would succeed without writing anything.
#[test]
fn egt_21_a_change_set_with_text_has_parts() {
    create("WrongBoundary");
    let part = insert("WrongBoundary", "p", "1");
    for (outer, inner) in [("b", "--cc"), ("b", "--C"), ("b", "-- c"), ("b", "c"), ("b", "--c1")] {
        let body = format!(
            "--{outer}\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n{inner}\r\n{part}--c--\r\n--{outer}--\r\n"
        );
        let answer = send(TYPE, body);
        assert_eq!(answer.code(), (400, "InvalidInput"), "{inner}: {}", answer.body);
    }
    assert_eq!(rows("WrongBoundary"), 0);
}

#[test]
fn egt_20_a_batch_is_multipart_mixed() {
    create("OtherTypes");
    let parts = [insert("OtherTypes", "p", "1")];
    for content_type in
        ["multipart/form-data; boundary=b", "multipart/related; boundary=b", "multipart/; boundary=b"]
    {
        let answer = send(content_type, body("b", "c", &parts));
        assert_eq!(answer.code(), (400, "InvalidInput"), "{content_type}: {}", answer.body);
    }
    let form = body("b", "c", &parts).replace("multipart/mixed", "multipart/form-data");
    assert_eq!(send(TYPE, form).code(), (400, "InvalidInput"));
    assert_eq!(rows("OtherTypes"), 0);
}

/// Tests that the error message contains the index of the failed operation, because clients parse it.
#[test]
fn egt_34_and_35_a_missing_table_is_the_fault_of_the_first_operation() {
    for count in [1, 3] {
        let parts: Vec<_> =
            (0..count).map(|row: usize| insert("MissingInBatch", "p", &row.to_string())).collect();
        let answer = send(TYPE, body("b", "c", &parts));
        assert!(answer.body.contains("HTTP/1.1 404 "), "{}", answer.body);
        assert!(answer.body.contains("\"value\":\"0:The table specified does not exist."), "{}", answer.body);
    }
}
