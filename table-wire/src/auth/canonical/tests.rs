//! Tests of the signature vectors in the rules: strings to sign and their signatures.

use http::header::{HeaderMap, HeaderName, HeaderValue};

use super::*;
use crate::auth::{AccountKey, EMULATOR_KEY};

const ACCOUNT: &str = "devstoreaccount1";
const DATE: &str = "Fri, 20 Nov 2026 08:00:00 GMT";
const BASE: &str = "http://127.0.0.1:10002/devstoreaccount1";

struct Case {
    method: &'static str,
    url: String,
    headers: HeaderMap,
    length: usize,
}

fn case(method: &'static str, url: &str, headers: &[(&'static str, &'static str)]) -> Case {
    let headers = headers
        .iter()
        .chain(&[("x-ms-date", DATE)])
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
        .collect();
    Case { method, url: url.to_owned(), headers, length: 0 }
}

impl Case {
    /// Returns the string to sign for the request, and its signature.
    fn sign(&self, text: fn(SignedParts<'_>, &str) -> String) -> (String, String) {
        let (url, query) = self.url.split_once('?').unwrap_or((&self.url, ""));
        let path = url.splitn(4, '/').nth(3).unwrap();
        let (path, headers) = (format!("/{path}"), &self.headers);
        let parts = SignedParts { method: self.method, path: &path, query, headers, length: self.length };
        let text = text(parts, ACCOUNT);
        let signature = AccountKey::new(ACCOUNT, EMULATOR_KEY).unwrap().sign(&text);
        (text.replace(DATE, "D"), signature)
    }
}

/// Tests each string to sign and its HMAC-SHA256 (AUTH-1).
///
/// The string has two lines and no final line feed (AUTH-2, AUTH-5). It contains the path as sent, and only `comp` from the query (AUTH-6). If the path
/// contains the account, the string contains it twice (AUTH-7).
#[test]
fn sig_1_to_6_shared_key_lite_of_tables() {
    for (url, text, signature) in [
        (
            format!("{BASE}/Tables"),
            "D\n/devstoreaccount1/devstoreaccount1/Tables",
            "FTCJvY+1twrItutY+JQYdCapDMtqH/KlVN2H53JchGA=",
        ),
        (
            format!("{BASE}/Employee(PartitionKey='Sales',RowKey='00001')"),
            "D\n/devstoreaccount1/devstoreaccount1/Employee(PartitionKey='Sales',RowKey='00001')",
            "gdfGBYFr1pNvCh7D2zRYNNtwdOpJpq7mFB/8tgvSdjw=",
        ),
        (
            format!("{BASE}/Employee(PartitionKey=%27Sales%27,RowKey=%2700001%27)"),
            "D\n/devstoreaccount1/devstoreaccount1/Employee(PartitionKey=%27Sales%27,RowKey=%2700001%27)",
            "7gqeRcBSauScNY0Salg2e7t0asMvf7e+0s0miWHf68w=",
        ),
        (
            format!("{BASE}/Employee?comp=acl"),
            "D\n/devstoreaccount1/devstoreaccount1/Employee?comp=acl",
            "H0hClgYWwSAQDEcWN5gitC9VvHxE/hNM6V0DftNsULA=",
        ),
        (
            format!("{BASE}/Employee()?$filter=Age%20gt%201&$top=1"),
            "D\n/devstoreaccount1/devstoreaccount1/Employee()",
            "x5tp8x3eXCjga11NhYGZtPQQI22deB7fL0VW0X9TrZk=",
        ),
        (
            "https://devstoreaccount1.table.core.windows.net/Employee()".to_owned(),
            "D\n/devstoreaccount1/Employee()",
            "nXxWk7lpNTTIzOyrX42BBLeSHKdeNPfMhkURge0rMGE=",
        ),
    ] {
        let found = case("GET", &url, &[]).sign(shared_key_table_lite);
        assert_eq!(found, (text.to_owned(), signature.to_owned()), "{url}");
    }
}

/// Tests that the string to sign has five lines and no final line feed (AUTH-5). Lines of missing headers are empty (AUTH-3).
///
/// The signature of a batch covers the content type with its boundary, and the `$` in the path as sent (AUTH-10).
#[test]
fn sig_7_to_9_shared_key_of_tables() {
    let found = case("GET", &format!("{BASE}/Tables"), &[]).sign(shared_key_table);
    assert_eq!(found.0, "GET\n\n\nD\n/devstoreaccount1/devstoreaccount1/Tables");
    assert_eq!(found.1, "W/qBTtuUYxZGRU0Ww19ipYxCgzW1NwLT5jDEnIeYS70=");

    let headers = [("content-type", "application/json")];
    let found = case("POST", &format!("{BASE}/Employee"), &headers).sign(shared_key_table);
    assert_eq!(found.0, "POST\n\napplication/json\nD\n/devstoreaccount1/devstoreaccount1/Employee");
    assert_eq!(found.1, "W7WtE0K7veWkPsYprO6MK/btyf/8fTGVpcnc4Qbepgg=");

    let headers = [("content-type", "multipart/mixed; boundary=batch_1a1a")];
    let found = case("POST", &format!("{BASE}/$batch"), &headers).sign(shared_key_table);
    let text = "POST\n\nmultipart/mixed; boundary=batch_1a1a\nD\n/devstoreaccount1/devstoreaccount1/$batch";
    assert_eq!(found.0, text);
    assert_eq!(found.1, "KDuj8if3bCfJh6dpxTOQxAIEq+ajdZfhsbTrXcOEoFA=");
}

/// Tests the twelve lines of the string to sign. The length line is empty if the request has no body. The date line is empty if the request has an `x-ms-date`
/// header (AUTH-20).
///
/// Headers are sorted by name (AUTH-21). In path-style URLs, the account appears twice (AUTH-23).
#[test]
fn sig_15_and_16_shared_key_of_blobs_and_queues() {
    let headers =
        [("content-type", "text/plain"), ("x-ms-version", "2021-12-02"), ("x-ms-blob-type", "BlockBlob")];
    let put = case("PUT", "http://127.0.0.1:10000/devstoreaccount1/docs/a.txt", &headers);
    let found = Case { length: 11, ..put }.sign(shared_key);
    let text = "PUT\n\n\n11\n\ntext/plain\n\n\n\n\n\n\nx-ms-blob-type:BlockBlob\nx-ms-date:D\n\
                x-ms-version:2021-12-02\n/devstoreaccount1/devstoreaccount1/docs/a.txt";
    assert_eq!(found, (text.to_owned(), "pXIkSafBss/MrEPrwqjIgTbav7UWAfTwBwQaZgCTC7U=".to_owned()));

    let url = "http://127.0.0.1:10001/devstoreaccount1/myqueue/messages?peekonly=true&numofmessages=1";
    let found = case("GET", url, &[("x-ms-version", "2021-12-02")]).sign(shared_key);
    let text = "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:D\nx-ms-version:2021-12-02\n\
                /devstoreaccount1/devstoreaccount1/myqueue/messages\nnumofmessages:1\npeekonly:true";
    assert_eq!(found, (text.to_owned(), "tMWCId3833Ijbf0UF/9crFOlk1VkJlcbzw0KmTqJbtg=".to_owned()));
}

#[test]
fn auth_4_date_replaces_a_missing_x_ms_date() {
    let mut without = case("GET", &format!("{BASE}/Tables"), &[]);
    without.headers.remove("x-ms-date");
    without.headers.insert("date", HeaderValue::from_static(DATE));
    assert_eq!(without.sign(shared_key_table_lite).1, "FTCJvY+1twrItutY+JQYdCapDMtqH/KlVN2H53JchGA=");
    assert!(without.sign(shared_key).0.starts_with("GET\n\n\n\n\n\nD\n"));
}

#[test]
fn auth_22_decoded_values_of_one_name_are_joined() {
    let url = "http://127.0.0.1:10001/devstoreaccount1/q?Comp=b&comp=a&popreceipt=A%2B%2F%3D";
    let (text, _) = case("GET", url, &[]).sign(shared_key);
    assert!(text.ends_with("/devstoreaccount1/devstoreaccount1/q\ncomp:a,b\npopreceipt:A+/="), "{text}");
}

/// Tests that the values of the conditional, encoding and range headers are on the correct lines of the string to sign.
#[test]
fn auth_20_each_of_the_twelve_lines_has_its_position() {
    let names = [
        "content-encoding",
        "content-language",
        "content-md5",
        "content-type",
        "if-modified-since",
        "if-match",
        "if-none-match",
        "if-unmodified-since",
        "range",
    ];
    let headers = names.map(|name| (name, name));
    let url = "http://127.0.0.1:10000/devstoreaccount1/docs/a.txt";
    let (text, _) = Case { length: 7, ..case("PUT", url, &headers) }.sign(shared_key);
    let lines: Vec<_> = text.lines().take(12).collect();
    let [encoding, language, md5, kind, since, matches, none, unmodified, range] = names;
    let expected = ["PUT", encoding, language, "7", md5, kind, "", since, matches, none, unmodified, range];
    assert_eq!(lines, expected);
}

#[test]
fn auth_21_headers_are_sorted_merged_and_trimmed_and_others_omitted() {
    let mut case = case("GET", "http://127.0.0.1:10001/devstoreaccount1/q", &[("accept", "x")]);
    for value in ["  b ", "a"] {
        case.headers.append("x-ms-meta-z", HeaderValue::from_static(value));
    }
    case.headers.append("x-ms-meta-a", HeaderValue::from_static("1"));
    case.headers.append("x-msn", HeaderValue::from_static("no"));
    let (text, _) = case.sign(shared_key);
    let block: Vec<_> = text.lines().filter(|line| line.starts_with("x-")).collect();
    assert_eq!(block, ["x-ms-date:D", "x-ms-meta-a:1", "x-ms-meta-z:b,a"]);
}

#[test]
fn auth_6_the_path_is_signed_as_it_is_sent() {
    // The vectors SIG-2 and SIG-3 sign requests for the same entity. Their paths are encoded differently.
    let sign = |quote: &str| {
        let path = format!("Employee(PartitionKey={quote}Sales{quote},RowKey={quote}00001{quote})");
        case("GET", &format!("{BASE}/{path}"), &[]).sign(shared_key_table_lite).1
    };
    assert_ne!(sign("'"), sign("%27"));
}

/// Tests that the signature covers the date that the server checks. Otherwise, a request could be replayed later with a different date.
#[test]
fn auth_4_and_9_a_change_of_the_verified_date_changes_the_string_to_sign() {
    let dates: [&[u8]; 5] = [b"", b" ", b"\xe9", DATE.as_bytes(), b"Fri, 20 Nov 2026 09:00:00 GMT"];
    let mut requests = Vec::new();
    for own in dates.iter().map(Some).chain([None]) {
        for date in dates.iter().map(Some).chain([None]) {
            let mut headers = HeaderMap::new();
            for (name, value) in [(X_MS_DATE, own), (header::DATE, date)] {
                headers.extend(value.map(|value| (name, HeaderValue::from_bytes(value).unwrap())));
            }
            requests.push(headers);
        }
    }
    for text in [shared_key_table_lite, shared_key_table, shared_key, shared_key_lite] {
        let signed: Vec<_> = requests
            .iter()
            .map(|headers| {
                let parts = SignedParts { method: "GET", path: "/", query: "", headers, length: 0 };
                (text(parts, ACCOUNT), parts.date())
            })
            .collect();
        for (one, date) in &signed {
            for (other, other_date) in &signed {
                assert!(
                    one != other || date.trim() == other_date.trim(),
                    "{one:?}: {date:?}, {other_date:?}"
                );
            }
        }
    }
}
