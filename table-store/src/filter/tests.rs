//! Tests of the grammar: accepted filters, errors with suggestions, and printed filters that parse to the same filter.

use proptest::prelude::*;

use crate::error::ErrorCode;
use crate::filter::{Comparison, Filter, arbitrary};
use crate::value::Value;

fn canonical(text: &str) -> String {
    Filter::parse(text).unwrap().unwrap().to_string()
}

#[test]
fn fil_2_precedence() {
    for (text, same) in [
        ("A or B and C", "A or (B and C)"),
        ("not A eq 1 and B eq 2", "(not (A eq 1)) and (B eq 2)"),
        ("not not A or B", "(not (not A)) or B"),
        ("not (A or B) and C", "(not (A or B)) and C"),
        ("A and B and C or D or E", "(((A and B) and C) or D) or E"),
        ("(PartitionKey eq 'Sales') and (RowKey eq '2')", "PartitionKey eq 'Sales' and RowKey eq '2'"),
    ] {
        assert_eq!(Filter::parse(text).unwrap(), Filter::parse(same).unwrap(), "{text}");
    }
    assert_eq!(canonical("(((A) and ((B))))"), "A and B");
    assert_eq!(canonical("(A or B) and not (C and D)"), "(A or B) and not (C and D)");
    assert_eq!(canonical("A and (B and C)"), "A and (B and C)");
}

#[test]
fn fil_3_a_constant_on_the_left_is_moved_to_the_right() {
    for (text, same) in [
        ("30 lt Age", "Age gt 30"),
        ("30 le Age", "Age ge 30"),
        ("30 gt Age", "Age lt 30"),
        ("30 ge Age", "Age le 30"),
        ("30 eq Age", "Age eq 30"),
        ("30 ne Age", "Age ne 30"),
    ] {
        assert_eq!(canonical(text), same);
    }
}

#[test]
fn fil_6_a_blank_text_is_an_absent_filter() {
    for text in ["", " ", " \t\r\n "] {
        assert_eq!(Filter::parse(text).unwrap(), None);
    }
}

#[test]
fn fil_7_many_comparisons_are_read_and_counted() {
    let text = vec!["Age eq 1"; 51].join(" or ");
    assert_eq!(Filter::parse(&text).unwrap().unwrap().comparisons(), 51);
}

#[test]
fn lit_1_constants_of_every_type() {
    for (literal, printed) in [
        ("'O''Neil'", "'O''Neil'"),
        ("''", "''"),
        ("''''", "''''"),
        ("'a\\'", "'a\\'"), // no backslash escapes
        ("34", "34"),
        ("-2147483648", "-2147483648"),
        ("123L", "123L"),
        ("-9223372036854775808L", "-9223372036854775808L"),
        ("2.5", "2.5"),
        ("-2.5", "-2.5"),
        ("3.4e1", "34.0"),
        ("1e+300", "1e300"),
        ("3D", "3.0"),
        ("-3e-2D", "-0.03"),
        ("true", "true"),
        ("false", "false"),
        ("datetime'2014-08-22T00:50:32.1234567Z'", "datetime'2014-08-22T00:50:32.1234567Z'"),
        ("datetime'2014-08-22T00:50:32.10Z'", "datetime'2014-08-22T00:50:32.1Z'"),
        ("datetime'0001-01-01T00:00:00Z'", "datetime'0001-01-01T00:00:00Z'"),
        ("datetime'2014-08-22'", "datetime'2014-08-22T00:00:00Z'"),
        ("datetime'2014-08-22T00:50Z'", "datetime'2014-08-22T00:50:00Z'"),
        ("datetime'2014-08-22T00:50:32'", "datetime'2014-08-22T00:50:32Z'"),
        ("datetime'2014-08-22T00:50:32+01:00'", "datetime'2014-08-21T23:50:32Z'"),
        ("datetime'2014-08-22T00:50:32.12345678Z'", "datetime'2014-08-22T00:50:32.1234567Z'"),
        ("True", "true"),
        ("FALSE", "false"),
        ("guid'C9DA6455-213d-42c9-9a79-3e9149a57833'", "guid'c9da6455-213d-42c9-9a79-3e9149a57833'"),
        ("X'01fF'", "X'01ff'"),
        ("x'01ff'", "X'01ff'"),
        ("binary''", "X''"),
    ] {
        assert_eq!(canonical(&format!("P eq {literal}")), format!("P eq {printed}"));
        assert_eq!(canonical(&format!("({literal} eq P)")), format!("P eq {printed}"));
    }
}

#[test]
fn invalid_filters_are_refused_with_code_rule_position_and_advice() {
    use ErrorCode::{InvalidInput, NotImplemented};
    for (text, code, rule, character, advice) in [
        ("Age EQ 5", InvalidInput, "FIL-1", 5, "write `eq`"),
        ("Age eq 5 AND B", InvalidInput, "FIL-1", 10, "write `and`"),
        ("Age eq 5and B", InvalidInput, "FIL-5", 8, "not a number"),
        ("Age eq 'x'and B", InvalidInput, "FIL-1", 11, "space"),
        ("Age eq'x'", InvalidInput, "LIT-1", 5, "space before the quote"),
        ("A eq B", NotImplemented, "FIL-4", 1, "single quotes"),
        ("true eq false", NotImplemented, "FIL-4", 1, "one side must be a property"),
        ("1 eq 2", NotImplemented, "FIL-4", 1, "one side must be a property"),
        ("5", InvalidInput, "FIL-5", 1, "compare a property"),
        ("'true'", InvalidInput, "FIL-5", 1, "compare a property"),
        ("Age = 5", InvalidInput, "FIL-5", 5, "`eq`"),
        ("Age eq \"5\"", InvalidInput, "FIL-5", 8, "single quotes"),
        ("Age eq", InvalidInput, "FIL-5", 7, "found the end"),
        ("Age eq 5 B", InvalidInput, "FIL-5", 10, "expected `and`, `or` or the end, found `B`"),
        ("(Age) eq 5", InvalidInput, "FIL-5", 7, "found `eq`"),
        ("é eq 'ü' or )", InvalidInput, "FIL-5", 13, "found `)`"),
        ("(A or (B and C)", InvalidInput, "FIL-5", 1, "not closed"),
        ("A or B)", InvalidInput, "FIL-5", 7, "unmatched"),
        ("P eq 'open", InvalidInput, "FIL-5", 6, "unterminated"),
        ("()", InvalidInput, "FIL-5", 2, "expected a condition"),
        ("not", InvalidInput, "FIL-5", 4, "expected a condition"),
        ("P eq null", InvalidInput, "LIT-3", 6, "FIL-12"),
        ("null lt P", InvalidInput, "LIT-3", 1, "FIL-12"),
        ("P eq 2147483648", InvalidInput, "LIT-2", 6, "2147483648L"),
        ("P eq 9223372036854775808L", InvalidInput, "LIT-2", 6, "Edm.Int64"),
        ("P eq 1e999", InvalidInput, "FIL-5", 6, "Edm.Double"),
        ("P eq 5l", InvalidInput, "FIL-5", 6, "34L"),
        ("P eq .5", InvalidInput, "FIL-5", 6, "unexpected"),
        ("P eq 5.", InvalidInput, "FIL-5", 6, "not a number"),
        ("P eq -Q", NotImplemented, "QRY-2", 6, "arithmetic"),
        ("Age add 1 eq 5", NotImplemented, "QRY-2", 5, "arithmetic"),
        ("5 eq Age mod 2", NotImplemented, "QRY-2", 10, "arithmetic"),
        ("startswith(RowKey, 'a')", NotImplemented, "QRY-2", 1, "FIL-19"),
        ("5 eq length (Name)", NotImplemented, "QRY-2", 6, "functions"),
        ("P eq datetime'2014-08-22 00:50:32'", InvalidInput, "FIL-5", 6, "write an instant"),
        ("P eq datetime'2014-02-30T00:50:32Z'", InvalidInput, "FIL-5", 6, "write an instant"),
        ("P eq datetime'2016-12-31T23:59:60Z'", InvalidInput, "FIL-5", 6, "write an instant"),
        ("P eq guid'c9da6455213d42c99a793e9149a57833'", InvalidInput, "FIL-5", 6, "guid'c9da"),
        ("P eq X'01f'", InvalidInput, "FIL-5", 6, "even number"),
        ("P eq X'+1'", InvalidInput, "FIL-5", 6, "hexadecimal"),
        ("P eq DateTime'2014-08-22T00:50:32Z'", InvalidInput, "LIT-1", 6, "datetime'"),
    ] {
        let error = Filter::parse(text).unwrap_err();
        assert_eq!((error.code(), error.rule()), (code, Some(rule)), "{text}: {error}");
        let message = error.to_string();
        assert!(message.contains(&format!("character {character}:")), "{text}: {message}");
        assert!(message.contains(advice), "{text}: {message}");
    }
}

#[test]
fn a_boolean_constant_is_a_condition() {
    for (text, printed) in [
        ("true", "PartitionKey ge ''"),
        ("True", "PartitionKey ge ''"),
        ("false", "PartitionKey lt ''"),
        ("not false", "not (PartitionKey lt '')"),
        ("Age eq 5 and (true)", "Age eq 5 and PartitionKey ge ''"),
        ("FALSE or Active", "PartitionKey lt '' or Active"),
    ] {
        assert_eq!(canonical(text), printed, "{text}");
    }
}

#[test]
fn names_that_filters_cannot_contain_are_refused() {
    for name in ["", "a b", "2nd", "eq", "not", "null", "true", "False", "a'b"] {
        let error = Filter::compare(name.to_owned(), Comparison::Eq, 1).check().unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::InvalidInput, Some("FIL-1")), "{name}");
        assert!(Filter::flag(name.to_owned()).check().is_err());
    }
    let long = format!("{} eq 1", "x".repeat(256));
    assert_eq!(Filter::parse(&long).unwrap_err().code(), ErrorCode::InvalidInput);
    assert!(Filter::compare("Timestamp", Comparison::Eq, 1).check().is_ok());
}

#[test]
fn fil_17_non_finite_numbers_are_refused_and_never_misread() {
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let filter = Filter::compare("P", Comparison::Eq, number);
        assert_eq!(filter.check().unwrap_err().rule(), Some("FIL-17"));
        assert!(Filter::parse(&filter.to_string()).is_err(), "{filter}");
    }
}

#[test]
fn deeply_nested_filters_are_read_printed_compared_and_dropped() {
    let depth = 200_000;
    let text = format!("{}A{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(canonical(&text), "A");
    let text = format!("{}A", "not ".repeat(depth));
    assert_eq!(canonical(&text), text);
    let text = format!("{}A{}", "A or (".repeat(depth), ")".repeat(depth));
    assert_eq!(canonical(&text).len(), text.len() - 2);
    assert!(Filter::parse(&"(".repeat(depth)).is_err());
}

#[test]
fn only_top_level_conjuncts_are_returned() {
    let filter = Filter::parse("A and (B and not (C and D)) and (E or F and G)").unwrap().unwrap();
    let conjuncts: Vec<String> = filter.into_conjuncts().iter().map(Filter::to_string).collect();
    assert_eq!(conjuncts, ["A", "B", "not (C and D)", "E or F and G"]);
    assert_eq!(Filter::flag("A").into_conjuncts(), [Filter::flag("A")]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn parse_reads_back_what_display_printed(filter in arbitrary::filter()) {
        prop_assert!(filter.check().is_ok());
        let text = filter.to_string();
        prop_assert_eq!(Filter::parse(&text).unwrap(), Some(filter), "{}", text);
    }

    #[test]
    fn fil_5_random_text_never_panics(text in any::<String>()) {
        let _ = Filter::parse(&text);
    }

    /// Tests filters of random tokens, which exercise most of the parser. If a filter is accepted, its printed text must parse to the same filter.
    #[test]
    fn fil_5_random_pieces_never_panic_and_print_stably(pieces in prop::collection::vec(prop::sample::select(vec![
        "A", "B", " ", " ", "(", ")", " and ", " or ", "not ", " eq ", " lt ", "null", "true", "'", "''", "'a'", "5", "-",
        "5L", "5D", "2.5", "e1", "datetime'", "guid'", "X'01'", "2014-08-22T00:50:32Z", "é", "\u{0}", "add", "EQ",
    ]), 0..12)) {
        if let Ok(Some(filter)) = Filter::parse(&pieces.concat()) {
            let text = filter.to_string();
            prop_assert_eq!(Filter::parse(&text).unwrap().unwrap().to_string(), text);
        }
    }

    #[test]
    fn lit_2_every_integer_is_read_as_its_type(small in any::<i32>(), large in any::<i64>()) {
        let text = format!("P eq {small} and P eq {large}L");
        let expected = Filter::compare("P", Comparison::Eq, Value::Int32(small))
            .and(Filter::compare("P", Comparison::Eq, Value::Int64(large)));
        prop_assert_eq!(Filter::parse(&text).unwrap(), Some(expected));
    }
}
