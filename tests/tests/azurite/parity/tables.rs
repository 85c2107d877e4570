//! Tests Azurite's responses to requests about tables and entities.

use std::fmt::Write;

use tests::ask::{Answer, Ask, JSON};

use super::ask;

/// Creates the table `name` with one entity, whose keys are `Sales` and `1`. Returns the path of the entity.
fn table(name: &str) -> Option<String> {
    let made = ask(&Ask::new("POST", "Tables").json(format!("{{\"TableName\":\"{name}\"}}")))?;
    assert_eq!(made.status, 201, "{}", made.body);
    let inserted = insert(name, "Sales", "1", ",\"Age\":34,\"Id\":\"5\",\"Id@odata.type\":\"Edm.Int64\"")?;
    assert_eq!(inserted.status, 201, "{}", inserted.body);
    Some(format!("{name}(PartitionKey='Sales',RowKey='1')"))
}

fn insert(table: &str, partition: &str, row: &str, more: &str) -> Option<Answer> {
    let entity = format!("{{\"PartitionKey\":\"{partition}\",\"RowKey\":\"{row}\"{more}}}");
    ask(&Ask::new("POST", table).json(entity))
}

#[test]
fn azurite_answers_an_illegal_name_without_a_code() {
    let Some(answer) = ask(&Ask::new("POST", "Tables").json("{\"TableName\":\"1a\"}")) else { return };
    assert_eq!(answer.code(), (400, ""), "{}", answer.head);
}

#[test]
fn azurite_always_says_which_preference_it_applied() {
    if table("ParityPrefer").is_none() {
        return;
    }
    let Some(answer) = insert("ParityPrefer", "Sales", "2", "") else { return };
    assert_eq!(answer.header("preference-applied"), Some("return-content"), "{}", answer.head);
}

#[test]
fn azurite_accepts_a_method_in_a_header() {
    let Some(entity) = table("ParityTunnelled") else { return };
    let merge = Ask::new("POST", &*entity).header("x-http-method", "MERGE").header("if-match", "*");
    let Some(answer) = ask(&merge.json("{\"Grade\":1}")) else { return };
    assert_eq!(answer.status, 204, "{}", answer.body);
}

#[test]
fn azurite_sends_whole_doubles_as_integers() {
    if table("ParityDoubles").is_none() {
        return;
    }
    insert("ParityDoubles", "Doubles", "1", ",\"Whole\":3.0,\"Negative\":-0.0");
    let Some(answer) = ask(&Ask::new("GET", "ParityDoubles(PartitionKey='Doubles',RowKey='1')")) else {
        return;
    };
    // The text `3.0` alone could also occur in a Timestamp.
    assert!(answer.body.contains("\"Whole\":3") && !answer.body.contains("\"Whole\":3."), "{}", answer.body);
    assert!(answer.body.contains("\"Negative\":0"), "{}", answer.body);
}

#[test]
fn azurite_checks_neither_the_count_of_properties_nor_the_length_of_names() {
    if table("ParityLimits").is_none() {
        return;
    }
    let many = (0..253).fold(String::new(), |all, number| all + &format!(",\"P{number}\":1"));
    let long = format!(",\"{}\":1", "n".repeat(256));
    for (row, more) in [("many", many), ("long", long)] {
        let Some(answer) = insert("ParityLimits", "Sales", row, &more) else { return };
        assert_eq!(answer.status, 201, "{row}: {}", answer.body);
    }
}

#[test]
fn azurite_refuses_keys_above_512_units() {
    if table("ParityKeys").is_none() {
        return;
    }
    for (length, is_taken) in [(512, true), (513, false)] {
        let Some(answer) = insert("ParityKeys", "Sales", &"k".repeat(length), "") else { return };
        assert_eq!(answer.status == 201, is_taken, "{length}: {}", answer.body);
    }
}

#[test]
fn azurite_omits_selected_properties_that_are_missing() {
    if table("ParitySelect").is_none() {
        return;
    }
    let Some(answer) = ask(&Ask::new("GET", "ParitySelect()?$select=Age,Missing")) else { return };
    assert!(answer.body.contains("\"Age\":34") && !answer.body.contains("Missing"), "{}", answer.body);
}

#[test]
fn azurite_accepts_any_top_and_ends_an_empty_page_with_a_token() {
    if table("ParityTop").is_none() {
        return;
    }
    let Some(more) = ask(&Ask::new("GET", "ParityTop()?$top=1001")) else { return };
    assert_eq!(more.status, 200, "{}", more.body);
    let Some(none) = ask(&Ask::new("GET", "ParityTop()?$top=0")) else { return };
    assert_eq!(none.status, 200, "{}", none.body);
    assert!(none.header("x-ms-continuation-nextpartitionkey").is_some(), "{}", none.head);
}

#[test]
fn azurite_continues_with_two_tokens_that_are_keys_in_base64() {
    if table("ParityTokens").is_none() {
        return;
    }
    insert("ParityTokens", "Sales", "2", "");
    let Some(answer) = ask(&Ask::new("GET", "ParityTokens()?$top=1")) else { return };
    let token = answer.header("x-ms-continuation-nextpartitionkey").unwrap();
    assert!(token.contains("U2FsZXM"), "{token}");
    assert!(answer.header("x-ms-continuation-nextrowkey").is_some(), "{}", answer.head);
}

#[test]
fn azurite_reads_several_partitions_in_one_page() {
    if table("ParityPages").is_none() {
        return;
    }
    for partition in ["Research", "Marketing"] {
        insert("ParityPages", partition, "1", "");
    }
    let Some(answer) = ask(&Ask::new("GET", "ParityPages()")) else { return };
    assert_eq!(answer.body.matches("\"RowKey\"").count(), 3, "{}", answer.body);
    assert_eq!(answer.header("x-ms-continuation-nextpartitionkey"), None);
}

#[test]
fn azurite_has_three_levels_of_metadata_and_names_another_table() {
    let Some(entity) = table("ParityLevels") else { return };
    for (level, has_metadata, has_link) in
        [("nometadata", false, false), ("minimalmetadata", true, false), ("fullmetadata", true, true)]
    {
        let asked = Ask::new("GET", &*entity).header("accept", format!("application/json;odata={level}"));
        let Some(answer) = ask(&asked) else { return };
        assert_eq!(answer.body.contains("\"odata.metadata\""), has_metadata, "{level}: {}", answer.body);
        assert_eq!(answer.body.contains("\"odata.editLink\""), has_link, "{level}: {}", answer.body);
    }
    let page = Ask::new("GET", "ParityLevels()").header("accept", "application/json;odata=minimalmetadata");
    let Some(page) = ask(&page) else { return };
    assert!(page.body.contains("/$metadata#Tables"), "{}", page.body);
}

#[test]
fn azurite_refuses_atom() {
    for accepted in [Some("application/atom+xml"), None] {
        let asked = Ask::new("GET", "Tables");
        let asked = match accepted {
            Some(accepted) => asked.header("accept", accepted),
            None => asked.without("accept"),
        };
        let Some(answer) = ask(&asked) else { return };
        assert_eq!(answer.status, 415, "{accepted:?}: {}", answer.body);
    }
}

#[test]
fn azurite_refuses_conditions_in_its_own_way() {
    let Some(entity) = table("ParityConditions") else { return };
    let Some(missing) = ask(&Ask::new("DELETE", &*entity)) else { return };
    assert_eq!((missing.status, missing.body.trim()), (400, ""), "{}", missing.head);
    let Some(empty) = ask(&Ask::new("PUT", &*entity).header("if-match", "").json("{}")) else { return };
    assert_eq!(empty.status, 412, "{}", empty.body);
}

/// Sends a batch to `table` that inserts an entity at each of the given keys. Returns the response.
fn batch(table: &str, keys: &[(String, String)]) -> Option<Answer> {
    let base = crate::azurite()?;
    let base = base.split("TableEndpoint=").nth(1)?.split(';').next()?.to_owned();
    let mut body = "--batch_1\r\nContent-Type: multipart/mixed; boundary=changeset_1\r\n\r\n".to_owned();
    for (partition, row) in keys {
        write!(
            body,
            "--changeset_1\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n\
             POST {base}/{table} HTTP/1.1\r\nAccept: {JSON}\r\nContent-Type: application/json\r\n\
             Prefer: return-no-content\r\nDataServiceVersion: 3.0\r\n\r\n\
             {{\"PartitionKey\":\"{partition}\",\"RowKey\":\"{row}\"}}\r\n"
        )
        .unwrap();
    }
    body += "--changeset_1--\r\n--batch_1--\r\n";
    ask(&Ask::new("POST", "$batch").body("multipart/mixed; boundary=batch_1", body))
}

#[test]
fn azurite_accepts_a_transaction_over_two_partitions_and_fails_at_101() {
    if table("ParityBatches").is_none() {
        return;
    }
    let keys = |partitions: usize, count: usize| -> Vec<_> {
        (0..count).map(|number| (format!("p{}", number % partitions), format!("r{count}-{number}"))).collect()
    };
    let Some(apart) = batch("ParityBatches", &keys(2, 2)) else { return };
    assert_eq!(apart.body.matches("HTTP/1.1 204").count(), 2, "{}", apart.body);
    let Some(whole) = batch("ParityBatches", &keys(1, 100)) else { return };
    assert_eq!(whole.body.matches("HTTP/1.1 204").count(), 100, "{}", whole.body);
    let Some(more) = batch("ParityBatches", &keys(1, 101)) else { return };
    assert!(!more.body.contains("HTTP/1.1 204"), "{} {}", more.head, more.body);
}

#[test]
fn azurite_answers_a_batch_of_one_query() {
    let Some(entity) = table("ParityQueried") else { return };
    let Some(base) = crate::azurite() else { return };
    let base = base.split("TableEndpoint=").nth(1).unwrap().split(';').next().unwrap();
    let body = format!(
        "--batch_1\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n\
         GET {base}/{entity} HTTP/1.1\r\nAccept: {JSON}\r\n\r\n\r\n--batch_1--\r\n"
    );
    let Some(answer) = ask(&Ask::new("POST", "$batch").body("multipart/mixed; boundary=batch_1", body))
    else {
        return;
    };
    assert!(answer.body.contains("HTTP/1.1 200") && answer.body.contains("\"Age\":34"), "{}", answer.body);
}
