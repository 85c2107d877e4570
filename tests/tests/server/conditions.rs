//! Tests headers that change how a request is executed: `If-Match`, `Prefer` and `Accept`. They are tested in every form that HTTP allows or forbids.

use tests::ask::{Answer, Ask};

use crate::SERVER;

/// Creates a table with one entity. Returns the path of the entity.
fn table(name: &str) -> String {
    let made = Ask::new("POST", "Tables").json(format!("{{\"TableName\":\"{name}\"}}")).of(&SERVER);
    assert_eq!(made.status, 201, "{}", made.body);
    let entity = "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"Age\":1,\"Count\":\"5\",\"Count@odata.type\":\"Edm.Int64\"}";
    assert_eq!(Ask::new("POST", name).json(entity).of(&SERVER).status, 201);
    format!("{name}(PartitionKey='p',RowKey='r')")
}

fn read(target: &str) -> Answer {
    Ask::new("GET", target).of(&SERVER)
}

/// Malformed `If-Match` values. If a server ignored one of them, the write would become unconditional.
const MALFORMED: [&str; 16] = [
    "",
    "*, W/\"a\"",
    "W/\"a\", *",
    "W/\"a\", W/\"b\"",
    "**",
    "*;q=1",
    "\"*\"",
    "W/*",
    "\"a\"",
    "a",
    "W/a",
    "W/\"a",
    "W/a\"",
    "W/\"a\"b",
    "W/\"a\"\"",
    "W/\"\u{e9}\"",
];

#[test]
fn ifm_1_and_3_a_malformed_condition_never_becomes_none() {
    let target = table("Malformed");
    let before = read(&target);
    let current = before.header("etag").unwrap().to_owned();
    for verb in ["PUT", "MERGE", "PATCH", "DELETE"] {
        let ask = || Ask::new(verb, target.as_str()).json("{\"Age\":2}");
        for condition in MALFORMED {
            let answer = ask().header("if-match", condition).of(&SERVER);
            assert_eq!(answer.code(), (400, "InvalidInput"), "{verb} {condition}: {}", answer.body);
        }
        // Several `If-Match` headers count as one list.
        for [first, second] in [["*", "*"], ["*", "W/\"a\""], [&current, "*"], ["", "*"], ["*", ""]] {
            let answer = ask().header("if-match", first).also("if-match", second).of(&SERVER);
            assert_eq!(answer.code(), (400, "InvalidInput"), "{verb} {first} {second}: {}", answer.body);
        }
        // A well-formed tag of another version does not match. Neither does a different spelling of the current tag.
        let upper = current.replace("%3A", "%3a");
        for stale in ["W/\"a\"", "W/\"\"", "w/\"a\"", &current.replace("datetime", "DateTime"), &upper] {
            let answer = ask().header("if-match", stale).of(&SERVER);
            assert_eq!(
                answer.code(),
                (412, "UpdateConditionNotSatisfied"),
                "{verb} {stale}: {}",
                answer.body
            );
        }
    }
    assert_eq!(read(&target).body, before.body);
    // Spaces around a value do not belong to it.
    for condition in ["*", " * ", &current, &format!("\t{current} ")] {
        let etag = read(&target).header("etag").unwrap().to_owned();
        let condition = condition.replace(&current, &etag);
        let answer = Ask::new("MERGE", target.as_str()).json("{}").header("if-match", condition).of(&SERVER);
        assert_eq!(answer.status, 204, "{}", answer.body);
    }
}

/// Tests that a header of an operation in a batch has the same effect as in a separate request.
#[test]
fn ifm_1_and_egt_23_a_malformed_condition_in_a_batch_never_becomes_none() {
    let target = table("MalformedInBatch");
    let before = read(&target).body;
    let send = |verb: &str, headers: &str| {
        let body = format!(
            "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\n\
             Content-Transfer-Encoding: binary\r\n\r\n{verb} /contoso/{target} HTTP/1.1\r\nContent-Type: application/json\r\n\
             {headers}\r\n{{\"Age\":2}}\r\n--c--\r\n--b--\r\n"
        );
        Ask::new("POST", "$batch").body("multipart/mixed; boundary=b", body).of(&SERVER)
    };
    for verb in ["PUT", "MERGE", "PATCH", "DELETE"] {
        let conditions = MALFORMED.iter().map(|condition| format!("If-Match: {condition}\r\n"));
        let lists = [
            "If-Match: *\r\nIf-Match: *\r\n",
            "If-Match:\r\nIf-Match: *\r\n",
            "If-Match: *\r\nif-match: W/\"a\"\r\n",
        ];
        for headers in conditions.chain(lists.map(str::to_owned)) {
            let answer = send(verb, &headers);
            let refused = (answer.status, answer.body.matches("HTTP/1.1 400 ").count());
            assert_eq!(refused, (202, 1), "{verb} {headers}: {}", answer.body);
        }
        let stale = send(verb, "If-Match: W/\"a\"\r\n");
        assert!(stale.body.contains("HTTP/1.1 412 "), "{verb}: {}", stale.body);
    }
    // Only a POST can tunnel another method, and only once.
    for (verb, headers) in [
        ("PUT", "X-HTTP-Method: DELETE\r\nIf-Match: *\r\n"),
        ("POST", "X-HTTP-Method: TRACE\r\n"),
        ("POST", "X-HTTP-Method:\r\n"),
        ("POST", "X-HTTP-Method: MERGE\r\nX-HTTP-Method: DELETE\r\nIf-Match: *\r\n"),
    ] {
        let answer = send(verb, headers);
        assert!(answer.body.contains("HTTP/1.1 400 "), "{verb} {headers}: {}", answer.body);
    }
    assert_eq!(read(&target).body, before);
    let merged = send("POST", "X-HTTP-Method: MERGE\r\nIf-Match: *\r\n");
    assert!(merged.body.contains("HTTP/1.1 204 "), "{}", merged.body);
}

/// Tests that `If-None-Match` is rejected as a condition for an update or a delete. If the server ignored the header, a
/// client could overwrite an entity that it wanted to keep.
#[test]
fn ifm_2_if_none_match_is_refused_on_updates_and_deletes() {
    let target = table("NoneMatch");
    let before = read(&target);
    let current = before.header("etag").unwrap().to_owned();
    for verb in ["PUT", "MERGE", "PATCH", "DELETE"] {
        for none_match in ["*", &current, "W/\"a\"", ""] {
            for if_match in [None, Some("*"), Some(current.as_str())] {
                let ask =
                    Ask::new(verb, target.as_str()).json("{\"Age\":2}").header("if-none-match", none_match);
                let ask = if_match.into_iter().fold(ask, |ask, condition| ask.header("if-match", condition));
                let answer = ask.of(&SERVER);
                let sentence = match (if_match, verb) {
                    (Some(_), _) => {
                        "Both If-Match and If-None-Match HTTP headers cannot be specified at the same time."
                    }
                    (None, "DELETE") => {
                        "If-None-Match HTTP header cannot be specified for DELETE operations."
                    }
                    _ => "If-None-Match HTTP header cannot be specified for PUT operations.",
                };
                assert_eq!(
                    answer.code(),
                    (400, "InvalidInput"),
                    "{verb} {none_match} {if_match:?}: {}",
                    answer.body
                );
                assert!(answer.body.contains(sentence), "{verb} {if_match:?}: {}", answer.body);
            }
        }
        let body = format!(
            "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\n\r\n\
             {verb} /contoso/{target} HTTP/1.1\r\nIf-None-Match: *\r\n\r\n{{\"Age\":2}}\r\n--c--\r\n--b--\r\n"
        );
        let answer = Ask::new("POST", "$batch").body("multipart/mixed; boundary=b", body).of(&SERVER);
        assert!(answer.body.contains("HTTP/1.1 400 "), "{verb}: {}", answer.body);
    }
    assert_eq!(read(&target).body, before.body);
    // A missing entity must not be inserted either.
    let missing = target.replace("'r'", "'s'");
    let answer = Ask::new("PUT", missing.as_str()).json("{}").header("if-none-match", "*").of(&SERVER);
    assert_eq!((answer.status, read(&missing).status), (400, 404), "{}", answer.body);
}

/// Tests that a condition is not ignored if its header is not valid UTF-8. This applies to a batch and to a separate request.
#[test]
fn egt_23_a_header_of_a_part_is_utf_8() {
    let target = table("NotText");
    let head = format!(
        "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\n\r\n\
         PUT /contoso/{target} HTTP/1.1\r\nIf-Match: W/\""
    );
    let tail = "\"\r\n\r\n{}\r\n--c--\r\n--b--\r\n";
    let body = [head.as_bytes(), &[0xff], tail.as_bytes()].concat();
    let error = table_wire::batch::read_requests("multipart/mixed; boundary=b", &body).unwrap_err();
    assert_eq!((error.code().status(), error.rule()), (400, Some("EGT-23")));
}

#[test]
fn ins_3_the_first_known_preference_counts() {
    table("Preferences");
    let content = Some("return-content");
    let no_content = Some("return-no-content");
    let cases: [(&[&str], Option<&str>); 16] = [
        (&[], None),
        (&[""], None),
        (&["return-no-content"], no_content),
        (&["Return-No-Content"], no_content),
        (&["return-content"], content),
        (&["return-no-content, return-content"], no_content),
        (&["return-content,return-no-content"], content),
        (&["respond-async, return-no-content"], no_content),
        (&["return-no-content, respond-async"], no_content),
        (&["respond-async", "return-no-content"], no_content),
        (&["return-no-content", "return-content"], no_content),
        (&["wait=10, return-no-content ; a=b"], no_content),
        (&["\"return-no-content\""], None),
        (&["return-no-content=1"], None),
        (&["respond-async"], None),
        (&["return=minimal"], None),
    ];
    for (row, (values, applied)) in cases.into_iter().enumerate() {
        let entity = format!("{{\"PartitionKey\":\"p\",\"RowKey\":\"{row}\"}}");
        let ask = Ask::new("POST", "Preferences").json(entity);
        let answer = values.iter().fold(ask, |ask, value| ask.also("prefer", *value)).of(&SERVER);
        let status = if applied == no_content { 204 } else { 201 };
        assert_eq!((answer.status, answer.header("preference-applied")), (status, applied), "{values:?}");
        assert_eq!(answer.body.is_empty(), status == 204, "{values:?}");
    }
}

#[test]
fn json_1_and_2_the_range_with_the_highest_weight_decides_the_level() {
    let target = table("Negotiated");
    let cases: [(&[&str], Option<&str>); 12] = [
        (&["*/*"], Some("minimalmetadata")),
        (&["text/html, application/xhtml+xml, */*;q=0.8"], Some("minimalmetadata")),
        (&["application/atom+xml,application/json;odata=nometadata"], Some("nometadata")),
        (
            &["application/json;odata=nometadata;q=0.5,application/json;odata=fullmetadata"],
            Some("fullmetadata"),
        ),
        (
            &["application/json;odata=nometadata;q=0.5, application/json;odata=fullmetadata;q=0.4"],
            Some("nometadata"),
        ),
        (&["application/json;odata=other, application/json"], Some("minimalmetadata")),
        (&["text/xml", "application/json;odata=nometadata"], Some("nometadata")),
        (&["application/json;q=0, */*;q=0.1"], Some("minimalmetadata")),
        (&["application/json;q=0"], None),
        (&["application/atom+xml;q=1, text/html"], None),
        (&["application/json;odata=other"], None),
        (&["image/*"], None),
    ];
    for (values, level) in cases {
        let ask = Ask::new("GET", target.as_str()).without("accept");
        let answer = values.iter().fold(ask, |ask, value| ask.also("accept", *value)).of(&SERVER);
        let expected =
            level.map(|level| format!("application/json;odata={level};streaming=true;charset=utf-8"));
        match expected {
            Some(expected) => {
                assert_eq!(answer.header("content-type"), Some(expected.as_str()), "{values:?}");
            }
            None => assert_eq!(answer.code(), (415, "AtomFormatNotSupported"), "{values:?}"),
        }
    }
}
