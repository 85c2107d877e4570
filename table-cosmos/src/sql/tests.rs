use std::ops::Bound;

use proptest::prelude::*;
use table_core::query::KeyRange;

use super::*;

fn sql(scope: &Scope, rows: TextRange, filter: &str) -> String {
    let mut query = Query::new(KeyRange { partition_key: TextRange::ALL, row_key: rows });
    query.filter = Filter::parse(filter).unwrap();
    Sql::of(&query, scope, &Mapping::standard(2)).text
}

#[test]
fn rt_13_levels_stay_in_the_text_as_bound_parameters() {
    let scope = Scope::Prefix(vec!["a'b".to_owned(), "u".to_owned()]);
    let query = Query::new(KeyRange::ALL);
    let sql = Sql::of(&query, &scope, &Mapping::standard(3));
    assert_eq!(sql.text, "SELECT * FROM c WHERE c.l1 = @p0 AND c.l2 = @p1");
    assert_eq!(sql.parameters, ["a'b", "u"].map(Json::from));
    let key = Scope::Key(vec!["a".to_owned()]);
    let first = Sql::of(&query, &key, &Mapping::standard(1));
    assert_eq!(first.text, "SELECT * FROM c WHERE c.l1 = @p0 ORDER BY c.id");
    let later = first.after("r");
    assert_eq!(later.text, "SELECT * FROM c WHERE c.l1 = @p0 AND c.id > @p1 ORDER BY c.id");
    assert_eq!(later.parameters, ["a", "r"].map(Json::from));
    let all = Sql::of(&query, &Scope::All, &Mapping::standard(1));
    assert_eq!(all.after("r").text, "SELECT * FROM c WHERE c.id > @p0");
}

#[test]
fn rt_11_a_range_over_the_next_level_is_sent() {
    let of = |lower: &str, upper: &str, depth: usize| {
        let (lower, upper) = (Bound::Included(lower.to_owned()), Bound::Excluded(upper.to_owned()));
        let range = TextRange { lower, upper };
        let scope = Scope::of(&range, depth);
        let sql = Sql::of(
            &Query::new(KeyRange { partition_key: range, row_key: TextRange::ALL }),
            &scope,
            &Mapping::standard(depth),
        );
        let text = sql.text.split_once(" WHERE ").map_or(String::new(), |(_, text)| text.to_owned());
        (text, sql.parameters)
    };
    let (text, parameters) = of("t!2024-01-01!", "t!2024-01-11!", 2);
    assert_eq!(text, "c.l1 = @p0 AND c.l2 >= @p1 AND c.l2 < @p2");
    assert_eq!(parameters, ["t", "2024-01-01", "2024-01-11!"].map(Json::from));
    assert_eq!(of("2024", "2025", 1).0, "c.l1 >= @p0 AND c.l1 < @p1");
    assert_eq!(of("a!", "c!", 3).0, "c.l1 >= @p0 AND c.l1 < @p1");
    assert_eq!(of("t!a b!", "t!c d!", 2).1, ["t", "a", "c d!"].map(Json::from));
}

/// Tests a filter that is too long for the service. The service limits query text to 512 KB and a request to 2 MB. Without the filter, the query selects a
/// superset.
#[test]
fn a_filter_that_is_too_long_for_the_service_is_not_sent() {
    let of = |values: usize, length: usize| {
        let equal = |number: usize| format!("A eq '{number:0length$}'");
        let filter: Vec<String> = (0..values).map(equal).collect();
        let mut query = Query::new(KeyRange::ALL);
        query.keys.row_key = TextRange::prefix("r");
        query.filter = Filter::parse(&filter.join(" or ")).unwrap();
        Sql::of(&query, &Scope::Key(vec!["p".to_owned()]), &Mapping::standard(1))
    };
    let plain = "SELECT * FROM c WHERE c.l1 = @p0 AND c.id >= @p1 AND c.id < @p2";
    for (values, length) in [(20_000, 6), (100, 10_000)] {
        let sql = of(values, length);
        assert_eq!(sql.text, format!("{plain} ORDER BY c.id"));
        assert!(sql.narrowed && !sql.filtered);
        assert_eq!(sql.parameters.len(), 3);
        // The parameter added for a later page gets the next free number.
        let later = sql.after(&format!("{:0length$}", 7));
        assert_eq!(later.text, format!("{plain} AND c.id > @p3 ORDER BY c.id"));
        assert_eq!(later.parameters.len(), 4);
    }
    for (values, length) in [(1_000, 6), (10, 10_000)] {
        let sql = of(values, length);
        assert!(sql.filtered && sql.parameters.len() == 3 + values, "{values} values of {length} bytes");
    }
}

#[test]
fn fil_10_to_18_comparisons_are_sent_as_supersets() {
    let where_of = |filter: &str| {
        let text = sql(&Scope::All, TextRange::ALL, filter);
        text.split_once(" WHERE ").map_or(String::new(), |(_, condition)| condition.to_owned())
    };
    assert_eq!(where_of("A eq 'x' and B eq true"), "(c.p['A'] = @p0 AND c.p['B'] = @p1)");
    let large = "(IS_STRING(c.p['A']) AND (c.t['A'] = 'Int64' OR c.t['A'] = 'Special'))";
    assert_eq!(where_of("A gt 5"), format!("(c.p['A'] > @p0 OR {large})"));
    assert_eq!(where_of("A gt 5L"), format!("(c.p['A'] > @p0 OR {large})"));
    assert_eq!(where_of("A lt 5"), "(IS_DEFINED(c.p['A']) AND (c.p['A'] < @p0 OR NOT IS_NUMBER(c.p['A'])))");
    assert_eq!(where_of("not (A eq 'x')").matches("NOT IS_DEFINED(c.p['A'])").count(), 1);
    assert_eq!(where_of("RowKey ge 'r'"), "c.id >= @p0");
    assert_eq!(where_of("RowKey ge 'r' or RowKey eq 'a'"), "(c.id >= @p0 OR c.id = @p1)");
    assert_eq!(where_of("Timestamp gt datetime'2020-01-01T00:00:00Z'"), "c._ts >= @p0");
    assert_eq!(
        where_of("PartitionKey eq 'x!y!' or PartitionKey eq 'z'"),
        "(c.l1 = @p0 AND c.l2 = @p1)",
        "`z` has one level"
    );
    let many = (0..50).map(|at| format!("A eq '{at}'")).collect::<Vec<_>>().join(" or ");
    assert_eq!(where_of(&many).matches('(').count(), 1);
    assert_eq!(where_of("Flag"), "c.p['Flag'] = @p0");
    assert_eq!(where_of("not not (A eq 'x')"), "c.p['A'] = @p0");
    assert_eq!(where_of("not (RowKey eq 'a' or not (RowKey gt 'b'))"), "(c.id != @p0 AND c.id > @p1)");
    assert_eq!(
        where_of("RowKey eq 'a' and (RowKey eq 'b' or RowKey eq 'c') and RowKey eq 'd'"),
        "(c.id = @p0 AND (c.id = @p1 OR c.id = @p2) AND c.id = @p3)"
    );
}

/// Tests that a long filter is converted in about linear time. A quadratic conversion would take minutes.
#[test]
fn a_long_filter_of_any_shape_is_converted() {
    const COUNT: usize = 20_000;
    let one = |at: usize| Filter::compare("A", Comparison::Eq, format!("{at}"));
    let left = (0..COUNT).map(one).reduce(Filter::or).unwrap();
    let chain = |text: &dyn Fn(usize) -> &'static str, end: &str| {
        let filters: Vec<_> = (0..COUNT).map(|at| format!("A eq '{at}' {}(", text(at))).collect();
        Filter::parse(&format!("{}{end}{}", filters.concat(), ")".repeat(COUNT))).unwrap().unwrap()
    };
    let right = chain(&|_| "or ", "B");
    let mixed = chain(&|at| if at % 2 == 0 { "or " } else { "and " }, "B");
    let negated = chain(&|_| "and not ", "B");
    for (filter, constants) in [(left, COUNT), (right, COUNT + 1), (mixed, COUNT + 1), (negated, COUNT + 1)] {
        let mut sql = Sql::default();
        let text = sql.filter(&filter, &Mapping::standard(1)).text().unwrap();
        assert_eq!(sql.parameters.len(), constants);
        assert_eq!(text.matches('(').count(), text.matches(')').count());
    }
}

#[test]
fn ord_1_bounds_beyond_the_surrogates_are_left_to_the_matcher() {
    assert_eq!(
        sql(&Scope::All, TextRange::prefix("é"), "A eq 'x'"),
        "SELECT * FROM c WHERE c.id >= @p0 AND c.id < @p1 AND c.p['A'] = @p2"
    );
    assert_eq!(
        sql(&Scope::All, TextRange::prefix("\u{FFFC}feed_"), "A eq 'x'"),
        "SELECT * FROM c WHERE c.id >= @p0 AND STARTSWITH(c.id, @p1) AND c.p['A'] = @p2"
    );
    assert!(!sql(&Scope::All, TextRange::prefix("🚀"), "A eq 'x'").contains("c.id >="));
    assert!(sql(&Scope::All, TextRange::exactly("🚀"), "A eq 'x'").contains("c.id = @p0"));
}

/// Returns `true` if a text satisfies all conditions of a range in the service's order, by code points.
fn satisfies(sql: &Sql, conditions: &str, text: &str) -> bool {
    conditions.split(" AND ").all(|condition| {
        let (begin, number) = condition.trim_end_matches(')').rsplit_once("@p").unwrap();
        let value = sql.parameters[number.parse::<usize>().unwrap()].as_str().unwrap();
        match begin.split(' ').nth(1).unwrap() {
            "=" => text == value,
            ">=" => text >= value,
            ">" => text > value,
            "<=" => text <= value,
            "<" => text < value,
            _ if begin.starts_with("STARTSWITH(") => text.starts_with(value),
            other => panic!("{other}"),
        }
    })
}

proptest! {
    #[test]
    fn ord_1_no_row_key_of_a_range_is_outside_the_sent_bounds(
        row_key in "[!a_\u{D7FF}\u{E000}\u{FFFC}\u{FFFD}🚀🚁]{0,4}",
        lower in "[!a_\u{D7FF}\u{E000}\u{FFFC}\u{FFFD}🚀🚁]{0,4}",
        upper in "[!a_\u{D7FF}\u{E000}\u{FFFC}\u{FFFD}🚀🚁]{0,4}",
        prefix in "[a\u{FFFC}🚀]{0,2}",
        kinds in (0..3_u8, 0..3_u8),
    ) {
        let bound = |kind: u8, text: String| match kind {
            0 => Bound::Unbounded,
            1 => Bound::Included(prefix.clone() + &text),
            _ => Bound::Excluded(prefix.clone() + &text),
        };
        let row_key = prefix.clone() + &row_key;
        let range = TextRange { lower: bound(kinds.0, lower), upper: bound(kinds.1, upper) };
        let mut sql = Sql::default();
        let conditions = sql.ids(&range);
        if range.contains(&row_key) && let Some(conditions) = conditions {
            prop_assert!(satisfies(&sql, &conditions, &key::id(&row_key)), "{:?}: {}", range, conditions);
        }
    }

    /// Tests that every key in a range satisfies the conditions for the next level.
    #[test]
    fn rt_5_no_key_of_a_range_is_outside_the_sent_bounds(
        first in "[ab \"]{1,3}",
        second in "[ab \"]{1,3}",
        lower in "[ab! \"\u{1}]{0,5}",
        upper in "[ab! \"\u{1}]{0,5}",
        kinds in (0..3_u8, 0..3_u8),
        depth in 1..3_usize,
    ) {
        let bound = |kind: u8, text: String| match kind {
            0 => Bound::Unbounded,
            1 => Bound::Included(text),
            _ => Bound::Excluded(text),
        };
        let range = TextRange { lower: bound(kinds.0, lower), upper: bound(kinds.1, upper) };
        let key = format!("{first}!{second}!");
        let scope = Scope::of(&range, depth);
        if !range.contains(&key) || matches!(scope, Scope::Key(_)) {
            return Ok(());
        }
        let levels = if depth == 1 { vec![key.clone()] } else { vec![first, second] };
        let at = scope.levels().len();
        let mut sql = Sql::default();
        let Some(text) = sql.next_level(&Mapping::standard(depth), &range, scope.levels()) else { return Ok(()) };
        for condition in text.split(" AND ") {
            let mut words = condition.split(' ').skip(1);
            let operator = words.next().unwrap();
            let number: usize = words.next().unwrap().trim_start_matches("@p").parse().unwrap();
            let (level, value) = (levels[at].as_str(), sql.parameters[number].as_str().unwrap());
            let holds = match operator {
                ">=" => level >= value,
                ">" => level > value,
                "<=" => level <= value,
                _ => level < value,
            };
            prop_assert!(holds, "{key:?} of {range:?}: {level:?} {operator} {value:?}");
        }
    }
}
