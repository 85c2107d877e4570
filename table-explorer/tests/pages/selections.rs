//! Tests that the links and forms on a query page select the same rows as the page. A link that loses a condition would select other rows.

use table_core::{Engine, Entity, TableEntity, TableStoreExt};

use crate::browser::{Browser, fields, links};

/// Strings that have a special meaning in key ranges, URLs or forms.
const ODD: [&str; 10] = ["", "Ada", "..", "a..b", "a*", "*", "=", "=a*", " a", "5%&x=1+1"];
const PERSON: &str = "schema 1\nentity Person\ntable People\nPartitionKey team text 0..512 ordered legal\n\
    RowKey \"person_\"\nRowKey name text 0..512 ordered legal\nproperty Note Edm.String\n";
const ROOM: &str = "schema 1\nentity Room\ntable People\nPartitionKey team text 0..512 ordered legal\n\
    RowKey \"room_\"\nRowKey number digits(3) 3 ordered [0-9]\n";

type Pairs = Vec<(String, String)>;

/// Returns an engine with a table `Plain` without a schema and a table `People` with two schemas. In both tables, each odd string is the key of a partition
/// with ten rows.
async fn engine() -> Engine {
    let engine = Engine::in_memory();
    let schemas = engine.untyped(table_core::table::LAYOUTS).unwrap().create_if_missing().await.unwrap();
    for (entity, text) in [("Person", PERSON), ("Room", ROOM)] {
        schemas.insert(&TableEntity::new("people", entity).unwrap().with("Schema", text)).await.unwrap();
    }
    for table in ["Plain", "People"] {
        let table = engine.untyped(table).unwrap().create_if_missing().await.unwrap();
        for team in ODD {
            for (nth, note) in (0..).zip(ODD) {
                let row = TableEntity::new(team, format!("person_{note}")).unwrap();
                table.insert(&row.with("Note", note).with("Nth", nth)).await.unwrap();
            }
        }
    }
    engine
}

fn query(pairs: &[(&str, &str)]) -> Pairs {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Returns the URL of the page for a query.
fn address(table: &str, pairs: &Pairs, more: &[(&str, &str)]) -> String {
    let start = format!("/t/{table}/q?");
    let length = start.len();
    let mut text = form_urlencoded::Serializer::for_suffix(start, length);
    text.extend_pairs(pairs).extend_pairs(more);
    text.finish()
}

/// Returns queries with odd strings in each field, in the form in which a browser submits them.
fn queries() -> Vec<Pairs> {
    let mut all = Vec::new();
    for odd in ODD {
        all.extend([
            query(&[("property", "Note"), ("is", "eq"), ("value", odd)]),
            query(&[
                ("partition", "Ada"),
                ("property", "Note"),
                ("is", "ge"),
                ("value", odd),
                ("property", ""),
                ("is", "eq"),
                ("value", ""),
            ]),
            query(&[
                ("property", ""),
                ("is", "eq"),
                ("value", ""),
                ("property", "Nth"),
                ("is", "ge"),
                ("value", "3"),
                ("property", "Note"),
                ("is", "ne"),
                ("value", odd),
            ]),
            query(&[
                ("property", "Note"),
                ("is", "ne"),
                ("value", odd),
                ("property", "Nth"),
                ("is", "lt"),
                ("value", "7"),
                ("top", "3"),
            ]),
            query(&[("partition", odd), ("top", "4")]),
            query(&[("partition", &format!("={odd}")), ("row", &format!("=person_{odd}"))]),
            query(&[("row", odd), ("select", "Note"), ("filter", "Nth lt 9")]),
            query(&[("entity", "Person"), ("part.team", odd), ("top", "7")]),
            query(&[("part.team", "Ada"), ("part.name", &format!("={odd}"))]),
            query(&[("part.team", "Ada"), ("row", odd), ("filter", "RowKey ge 'person_a'")]),
            query(&[("part.group", odd)]),
            query(&[("entity", odd)]),
            query(&[
                ("property", "RowKey"),
                ("is", "ge"),
                ("value", odd),
                ("property", "PartitionKey"),
                ("is", "eq"),
                ("value", "Ada"),
            ]),
            query(&[("property", ""), ("is", "eq"), ("value", odd)]),
        ]);
    }
    all
}

/// Returns the plan shown on a page, which contains either the class of the query and its filter, or the reason why the query is refused.
fn plan(page: &str) -> &str {
    page.split("id=\"plan\"").nth(1).unwrap().split("</div>").next().unwrap()
}

/// Returns the number of rows on a result page.
fn rows(page: &str) -> usize {
    page.matches("<a class=\"key\"").count()
}

#[tokio::test]
async fn every_link_and_form_of_a_query_selects_the_rows_of_its_page() {
    let browser = Browser::reading(&engine().await).await;
    for table in ["Plain", "People"] {
        for query in queries() {
            let first = address(table, &query, &[("run", "1")]);
            let page = browser.page(&first).await;
            let expected = plan(&page).to_owned();
            for condition in
                query.windows(3).filter(|fields| fields[0].0 == "property" && !fields[0].1.is_empty())
            {
                let is_shown = expected.contains(&condition[0].1) || expected.contains("not a query");
                assert!(is_shown, "{first}: {expected}");
            }
            let mut resent = fields(&page, "id=\"query\"");
            resent.push(("run".to_owned(), "1".to_owned()));
            let mut same = vec![address(table, &resent, &[])];
            if page.contains("Save the query") {
                let saved = fields(&page, "aria-label=\"Save the query\"");
                let (_, text) = saved.iter().find(|(name, _)| name == "query").unwrap();
                same.push(format!("/t/{table}/q?{text}"));
            }
            let of_table = |link: &String| link.starts_with(&format!("/t/{table}/q?"));
            same.extend(links(&page).into_iter().filter(of_table));
            for link in same {
                assert_eq!(plan(&browser.page(&link).await), expected, "{first} leads to {link}");
            }
            if expected.contains("not a query") {
                continue;
            }
            let (mut at, mut found) = (Some(address(table, &query, &[("run", "1"), ("scan", "1")])), 0);
            while let Some(link) = at {
                let page = browser.page(&link).await;
                assert_eq!(plan(&page), expected, "{first} leads to {link}");
                found += rows(&page);
                let next = page.split("data-next href=\"").nth(1).and_then(|rest| rest.split('"').next());
                at = next.map(|next| next.replace("&amp;", "&"));
            }
            let exports: Vec<_> = links(&page).into_iter().filter(|link| link.contains("as=jsonl")).collect();
            assert_eq!(exports.len(), 1, "{first}");
            assert_eq!(
                browser.page(&exports[0]).await.lines().count(),
                found,
                "{first} exports {}",
                exports[0]
            );
        }
    }
}

#[tokio::test]
async fn the_query_of_a_partition_selects_its_rows_alone() {
    let browser = Browser::reading(&engine().await).await;
    for table in ["Plain", "People"] {
        for team in ODD {
            let key: String = form_urlencoded::byte_serialize(team.as_bytes()).collect();
            let page = browser.page(&format!("/t/{table}/p?pk={key}")).await;
            let queries: Vec<_> =
                links(&page).into_iter().filter(|link| link.starts_with(&format!("/t/{table}/q?"))).collect();
            assert_eq!(queries.len(), 1, "{team:?}: {queries:?}");
            let page = browser.page(&format!("{}&run=1", queries[0])).await;
            assert!(page.contains("Whole partition"), "{team:?}: {}", plan(&page));
            assert_eq!(rows(&page), 10, "{team:?}: {}", queries[0]);
        }
    }
}

#[tokio::test]
async fn a_part_that_no_schema_has_is_refused() {
    let browser = Browser::reading(&engine().await).await;
    for (query, reason) in [
        ("Plain/q?run=1&part.department=Sales", "no schema with a part `department`"),
        ("People/q?run=1&part.department=Sales", "the key of Person has no part `department`"),
        ("People/q?run=1&part.team=Ada&entity=Old", "no schema of `Old`; it stores Person, Room"),
        ("People/q?run=1&part.team=Ada&part.team=a", "has two conditions"),
        ("Plain/q?run=1&is=eq&value=Ada", "a condition has the value `Ada` and no property"),
    ] {
        let page = browser.page(&format!("/t/{query}")).await;
        assert!(
            plan(&page).contains("not a query") && plan(&page).contains(reason),
            "{query}: {}",
            plan(&page)
        );
        assert_eq!(rows(&page), 0, "{query}");
    }
}

#[tokio::test]
async fn a_query_saved_by_an_earlier_release_keeps_its_conditions() {
    let browser = Browser::reading(&engine().await).await;
    // Earlier releases omitted the empty fields of a query when they saved it.
    for (saved, filter) in [
        ("property=Note&is=eq", "Note eq &#39;&#39;"),
        ("property=Note&is=ne&property=Nth&is=ge&value=3", "Note ne &#39;&#39; and Nth ge 3"),
        ("is=eq&property=Nth&is=ge&value=3", "Nth ge 3"),
    ] {
        let page = browser.page(&format!("/t/Plain/q?{saved}")).await;
        let plan = plan(&page).replace('\'', "&#39;");
        assert!(plan.contains(filter), "{saved}: {plan}");
    }
}

#[tokio::test]
async fn a_copied_command_has_all_conditions() {
    let browser = Browser::reading(&engine().await).await;
    for (query, command) in [
        ("part.team=Ada", "tables query People team=Ada --entity Person"),
        (
            "part.team=Ada&filter=RowKey ge 'person_b'",
            "--filter 'PartitionKey eq '\\''Ada'\\'' and RowKey ge '\\''person_b'\\''",
        ),
        (
            "part.team=Ada&row=person_Ada",
            "--filter 'PartitionKey eq '\\''Ada'\\'' and RowKey eq '\\''person_Ada'\\'''",
        ),
        ("property=PartitionKey&is=eq&value=12", "--filter 'PartitionKey eq '\\''12'\\'''"),
    ] {
        let page = browser.page(&format!("/t/People/q?{}", query.replace(' ', "%20"))).await;
        assert!(page.replace("&#39;", "'").contains(command), "{query}: {page}");
    }
}

#[tokio::test]
async fn selected_properties_do_not_change_the_kinds_of_rows() {
    let engine = Engine::in_memory();
    let schemas = engine.untyped(table_core::table::LAYOUTS).unwrap().create_if_missing().await.unwrap();
    let text = PERSON.replace("table People\n", "table People\nkind Person\n");
    schemas.insert(&TableEntity::new("people", "Person").unwrap().with("Schema", text)).await.unwrap();
    let table = engine.untyped("People").unwrap().create_if_missing().await.unwrap();
    let row = TableEntity::new("Ada", "person_a").unwrap().with("Note", "x").with("EntityType", "Person");
    table.insert(&row).await.unwrap();
    let page = Browser::reading(&engine).await.page("/t/People/q?run=1&partition=Ada&select=Note").await;
    assert!(page.contains("<b class=\"p2\">"), "{page}");
    assert!(!page.contains("<bdi>EntityType</bdi>") && page.contains("--select Note"), "{page}");
}

/// A visit. Its partition key contains a bucket number computed from the user, but not the user.
#[derive(Entity)]
#[entity(table = "Visits")]
#[partition_key("b", bucket(user, 16))]
#[row_key(digits(2, id))]
struct Visit {
    user: i64,
    id: u32,
}

#[tokio::test]
async fn the_form_names_a_bucket_by_its_label_and_not_by_the_field_that_it_loses() {
    let engine = Engine::in_memory();
    let visits = engine.table::<Visit>().create_if_missing().await.unwrap();
    for (user, id) in (0..40).zip(1..) {
        visits.insert(&Visit { user, id }).await.unwrap();
    }
    let browser = Browser::reading(&engine).await;
    let page = browser.page("/t/Visits/q").await;
    let parts: Vec<_> = fields(&page, "id=\"query\"").into_iter().map(|(name, _)| name).collect();
    let parts: Vec<_> = parts.iter().filter(|name| name.starts_with("part.")).collect();
    assert_eq!(parts, ["part.User@bucket", "part.id"]);

    let first = visits.scan("a test").max_rows(100).collect().await.unwrap();
    let bucket =
        |row: &Visit| Visit::key(row.user, row.id).key().unwrap().partition_key.as_str()[1..].to_owned();
    let chosen = bucket(&first[0]);
    let expected = first.iter().filter(|row| bucket(row) == chosen).count();
    let page = browser.page(&format!("/t/Visits/q?run=1&part.user%40bucket={chosen}")).await;
    assert_eq!(rows(&page), expected, "{}", plan(&page));
    let page = browser.page("/t/Visits/q?run=1&part.user=12").await;
    assert!(plan(&page).contains("not a query"), "{}", plan(&page));
}

/// An employee. The row keys of [`Review`] begin with the row key of an employee.
#[derive(Entity)]
#[entity(table = "Staff")]
#[partition_key(department)]
#[row_key("empid_", digits(3, id))]
struct Employee {
    department: String,
    id: u32,
    age: i32,
}

/// An employee's review for one year.
#[derive(Entity)]
#[entity(table = "Staff")]
#[partition_key(department)]
#[row_key("empid_", digits(3, id), "_review_", digits(4, year))]
struct Review {
    department: String,
    id: u32,
    year: u32,
    rating: i32,
}

/// A member. The row keys do not sort in the order of the names, because `_` sorts before letters.
#[derive(Entity)]
#[entity(table = "Staff")]
#[partition_key(department)]
#[row_key("m_", without('_', name), "_", digits(2, number))]
struct Member {
    department: String,
    name: String,
    number: u32,
    age: i32,
}

#[tokio::test]
async fn conditions_on_key_parts_select_the_rows_of_the_entity_type_that_satisfy_them() {
    let engine = Engine::in_memory();
    let employees = engine.table::<Employee>().create_if_missing().await.unwrap();
    let reviews = engine.table::<Review>().create_if_missing().await.unwrap();
    let members = engine.table::<Member>().create_if_missing().await.unwrap();
    let department = || "Sales".to_owned();
    for id in [99, 100, 150, 199, 200] {
        employees.insert(&Employee { department: department(), id, age: 30 }).await.unwrap();
        reviews.insert(&Review { department: department(), id, year: 2026, rating: 5 }).await.unwrap();
    }
    for name in ["Ada", "a", "a!", "b", "b!", "zoe"] {
        let name = name.to_owned();
        members.insert(&Member { department: department(), name, number: 1, age: 30 }).await.unwrap();
    }
    let browser = Browser::reading(&engine).await;
    for (query, expected) in [
        (
            "entity=Employee&part.department=Sales&part.id=100..199",
            &["empid_100", "empid_150", "empid_199"][..],
        ),
        (
            "entity=Employee&part.department=Sales&part.id=100..199&select=Age",
            &["empid_100", "empid_150", "empid_199"],
        ),
        (
            "entity=Employee&part.department=Sales&top=1000",
            &["empid_099", "empid_100", "empid_150", "empid_199", "empid_200"],
        ),
        ("entity=Member&part.department=Sales&part.name=a..b", &["m_a!_01", "m_a_01", "m_b_01"]),
        ("entity=Employee", &["empid_099", "empid_100", "empid_150", "empid_199", "empid_200"]),
        ("entity=Employee&partition=Sales&row=empid_1*", &["empid_100", "empid_150", "empid_199"]),
        ("entity=Member&filter=Age+ge+30&row=m_b*", &["m_b!_01", "m_b_01"]),
    ] {
        let page = browser.page(&format!("/t/Staff/q?run=1&scan=1&{query}")).await;
        assert_eq!(rows(&page), expected.len(), "{query}: {page}");
        let entity = query.split(['=', '&']).nth(1).unwrap();
        assert!(page.contains(&format!("--entity {entity}")), "{query}: {page}");
        let lines = browser.page(&format!("/t/Staff/export?as=jsonl&{query}")).await;
        let keys: Vec<String> = lines
            .lines()
            .map(|line| serde_json::from_str::<TableEntity>(line).unwrap().key().row_key.as_str().to_owned())
            .collect();
        assert_eq!(keys, expected, "{query}");
        let csv = browser.page(&format!("/t/Staff/export?as=csv&{query}")).await;
        assert!(csv.lines().count() == expected.len() + 1 && !csv.contains("Rating"), "{query}: {csv}");
    }
}
