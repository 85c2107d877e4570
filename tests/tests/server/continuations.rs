//! Tests attacks with continuation tokens. The tokens are altered, truncated, encoded differently, or taken from other tables, queries or accounts.
//!
//! A token contains only a key, which is not secret. For any token, the server must either reject the request or return a page of the requested query.

use table_wire::auth::{EMULATOR_ACCOUNT, EMULATOR_KEY};
use tests::ask::{Answer, Ask};

use crate::{ACCOUNT, KEY, SERVER};

const NEXT: [&str; 2] = ["x-ms-continuation-nextpartitionkey", "x-ms-continuation-nextrowkey"];

/// Creates a table with the partitions `p1` to `p3`. Each of them contains the rows 1 to 3.
fn create(table: &str, connection: &str) {
    let made = Ask::new("POST", "Tables").json(format!("{{\"TableName\":\"{table}\"}}")).of(connection);
    assert_eq!(made.status, 201, "{}", made.body);
    for (partition, row) in KEYS {
        let target = format!("{table}(PartitionKey='{partition}',RowKey='{row}')");
        let put = Ask::new("PUT", target).json(format!("{{\"Of\":\"{table}\"}}"));
        assert_eq!(put.of(connection).status, 204);
    }
}

const KEYS: [(&str, &str); 9] = [
    ("p1", "1"),
    ("p1", "2"),
    ("p1", "3"),
    ("p2", "1"),
    ("p2", "2"),
    ("p2", "3"),
    ("p3", "1"),
    ("p3", "2"),
    ("p3", "3"),
];

/// Returns the keys of the entities on a page.
fn keys(answer: &Answer) -> Vec<(String, String)> {
    let page: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
    let text = |row: &serde_json::Value, name: &str| row[name].as_str().unwrap().to_owned();
    let rows = page["value"].as_array().unwrap().iter();
    rows.map(|row| (text(row, "PartitionKey"), text(row, "RowKey"))).collect()
}

/// Returns the continuation token in a response, as query options.
fn next(answer: &Answer) -> Option<String> {
    let [partition, row] = NEXT.map(|name| answer.header(name));
    Some(format!("NextPartitionKey={}&NextRowKey={}", partition?, row?))
}

fn page(query: &str, connection: &str) -> Answer {
    Ask::new("GET", format!("{query}&$top=2")).of(connection)
}

#[test]
fn page_3_every_token_of_a_query_continues_it() {
    create("Pages", &SERVER);
    for filter in
        ["", "&$filter=RowKey%20ge%20'2'", "&$filter=PartitionKey%20gt%20'p1'", "&$filter=Of%20eq%20'none'"]
    {
        let (mut found, mut token) = (Vec::new(), String::new());
        loop {
            let answer = page(&format!("Pages()?{token}{filter}"), &SERVER);
            found.extend(keys(&answer));
            let Some(next) = next(&answer) else { break };
            token = next;
        }
        let whole = keys(&Ask::new("GET", format!("Pages()?{}", filter.trim_start_matches('&'))).of(&SERVER));
        assert_eq!(found, whole, "{filter}");
    }
}

/// Checks that a response is either a rejection, or a page of the query in key order.
fn judge(answer: &Answer, is_of_query: impl Fn(&(String, String)) -> bool, context: &str) {
    if answer.status != 200 {
        assert_eq!(answer.code(), (400, "InvalidInput"), "{context}: {}", answer.body);
        return;
    }
    let found = keys(answer);
    assert!(found.is_sorted() && found.iter().all(is_of_query), "{context}: {found:?}");
    assert!(!answer.body.contains("\"Of\":\"Other\""), "{context}: {}", answer.body);
}

#[test]
fn page_9_an_altered_token_is_refused_or_names_another_key() {
    create("AlteredTokens", &SERVER);
    let first = page("AlteredTokens()?", &SERVER);
    let token = next(&first).unwrap();
    let (partition, row) = token.split_once('&').unwrap();
    let filter = "$filter=PartitionKey%20ge%20'p1'%20and%20PartitionKey%20lt%20'p3'";
    let is_of_query = |(partition, _): &(String, String)| partition == "p1" || partition == "p2";
    for (whole, option) in [(partition, "NextPartitionKey="), (row, "NextRowKey=")] {
        let value = whole.strip_prefix(option).unwrap();
        let mut forms =
            vec![String::new(), format!("{value}{value}"), format!("{value}%20"), format!("%20{value}")];
        for at in 0..=value.len() {
            let (before, after) = value.split_at(at);
            forms.push(before.to_owned());
            forms.push(after.to_owned());
            for inserted in ["0", "!", "A", "%00", "%FF", "-", "%2B", "%F0%9F%98%80"] {
                forms.push(format!("{before}{inserted}{after}"));
                forms.push(format!("{before}{inserted}{}", after.get(1..).unwrap_or_default()));
            }
        }
        for form in forms {
            let altered = token.replacen(whole, &format!("{option}{form}"), 1);
            let answer = page(&format!("AlteredTokens()?{altered}&{filter}"), &SERVER);
            judge(&answer, is_of_query, &altered);
        }
    }
    // These tokens use URL-safe or standard Base64, reorder, omit or repeat the options, or contain malformed numbers.
    for form in [
        "NextPartitionKey=1%214%21cDE-&NextRowKey=1%214%21Mw--",
        "NextPartitionKey=1!4!cDE%3D&NextRowKey=1!4!Mw%3D%3D",
        "NextRowKey=1!4!Mw--&NextPartitionKey=1!4!cDE-",
        "NextRowKey=1!4!Mw--",
        "NextPartitionKey=1!4!cDE-",
        "NextPartitionKey=&NextRowKey=1!4!Mw--",
        "NextPartitionKey=1!4!cDE-&NextPartitionKey=1!4!cDI-",
        "nextpartitionkey=1!4!cDE-&nextrowkey=1!4!Mw--",
        "NextTableName=AlteredTokens",
        "NextPartitionKey=1!4!_____&NextRowKey=1!4!Mw--",
        "NextPartitionKey=1!99999999999999999999999!cDE-",
        "NextPartitionKey=1!-4!cDE-",
        "NextPartitionKey=1!+4!cDE-",
        "NextPartitionKey=1!04!cDE-",
        "NextPartitionKey=2!4!cDE-",
    ] {
        judge(&page(&format!("AlteredTokens()?{form}&{filter}"), &SERVER), is_of_query, form);
    }
    // This key is longer than any stored key.
    let long = format!("1!133332!{}", "eHh4".repeat(33_333));
    let answer = page(&format!("AlteredTokens()?NextPartitionKey={long}&{filter}"), &SERVER);
    assert!(matches!(answer.status, 200 | 400 | 414 | 431), "{}", answer.status);
}

/// Tests that a token continues any query at the key that it contains (PAGE-7). It must never return rows from the table or account for which it was issued.
#[test]
fn page_7_a_token_of_another_table_query_or_account_shows_nothing_of_it() {
    let emulator = SERVER.replace(ACCOUNT, EMULATOR_ACCOUNT).replace(KEY, EMULATOR_KEY);
    for (name, connection) in [("Own", SERVER.as_str()), ("Other", &SERVER), ("Own", &emulator)] {
        create(name, connection);
    }
    let foreign = [
        next(&page("Other()?", &SERVER)).unwrap(),
        next(&page("Own()?", &emulator)).unwrap(),
        next(&page("Own()?$filter=PartitionKey%20gt%20'p1'", &SERVER)).unwrap(),
        // These are the empty key, and U+10FFFF followed by U+0000.
        "NextPartitionKey=1!0!&NextRowKey=1!0!".to_owned(),
        "NextPartitionKey=1!8!9I*_vw--&NextRowKey=1!4!AA--".to_owned(),
    ];
    for token in foreign {
        for (filter, expected) in [
            ("", None),
            ("&$filter=PartitionKey%20eq%20'p2'", Some("p2")),
            ("&$filter=PartitionKey%20eq%20'p2'%20and%20RowKey%20eq%20'2'", Some("p2")),
            ("&$filter=PartitionKey%20lt%20'p2'", Some("p1")),
        ] {
            let answer = page(&format!("Own()?{token}{filter}"), &SERVER);
            judge(&answer, |(partition, _)| expected.is_none_or(|expected| partition == expected), &token);
            assert_eq!(answer.status, 200, "{token}{filter}: {}", answer.body);
        }
        assert_eq!(page(&format!("NoTable()?{token}"), &SERVER).code(), (404, "TableNotFound"));
    }
}

/// Tests tokens for the list of tables. Such a token is the name of a table. Any other string is accepted as well. The list then continues after the names that
/// sort before it.
#[test]
fn page_12_the_token_of_a_list_of_tables_is_any_name() {
    create("Listed1", &SERVER);
    create("Listed2", &SERVER);
    let filter = "$filter=TableName%20ge%20'Listed'%20and%20TableName%20lt%20'Listee'";
    let list = |token: &str| {
        let answer = Ask::new("GET", format!("Tables?$top=1&NextTableName={token}&{filter}")).of(&SERVER);
        assert!(matches!(answer.status, 200 | 400), "{token}: {}", answer.body);
        let names =
            ["Listed1", "Listed2"].into_iter().filter(|name| answer.body.contains(&format!("\"{name}\"")));
        (names.collect::<Vec<_>>(), answer.header("x-ms-continuation-nexttablename").map(str::to_owned))
    };
    let (first, token) = list("");
    assert_eq!((first, token.as_deref()), (vec!["Listed1"], Some("Listed2")));
    assert_eq!(list("Listed2"), (vec!["Listed2"], None));
    assert_eq!(list("listed2"), (vec!["Listed2"], None));
    assert_eq!(list("Listed3"), (vec![], None));
    for token in ["%00", "%FF", "1!4!cDE-", "'", "a%20b", "Listed1%00", "%F0%9F%98%80", &"x".repeat(10_000)] {
        let (names, _) = list(token);
        assert!(names.len() <= 1, "{token}: {names:?}");
    }
}
