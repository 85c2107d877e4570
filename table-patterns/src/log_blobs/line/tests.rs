use proptest::prelude::*;

use table_core::ErrorCode;

use super::*;

fn line(fields: Vec<String>) -> LogLine {
    let at = "2014-07-31T18:21:46.1234567Z".parse().unwrap();
    LogLine { at, kind: LogKind::Write, id: "0000002a-7".into(), fields }
}

proptest! {
    #[test]
    fn log_6_any_fields_round_trip(
        fields in prop::collection::vec(prop_oneof![any::<String>(), "[;\"&<>a\n\r#1]{0,9}"], 0..5),
    ) {
        let (line, mut text) = (line(fields), String::new());
        line.write(&mut text);
        prop_assert_eq!(text.matches('\n').count(), 1);
        prop_assert_eq!(LogLine::parse(text.trim_end_matches('\n')).unwrap(), line);
    }

    #[test]
    fn no_line_makes_the_reader_panic(text in "[1.0;\"&amp;#a-z]{0,40}") {
        let _ = LogLine::parse(&text);
    }
}

#[test]
fn log_6_a_line_can_be_read_by_people() {
    let mut text = String::new();
    line(vec!["PutMessage".into(), "a;b <\"c\">".into(), String::new()]).write(&mut text);
    insta::assert_snapshot!(
        text,
        @r#"1.0;2014-07-31T18:21:46.1234567Z;write;0000002a-7;PutMessage;"a;b &lt;&quot;c&quot;&gt;";"#
    );
    for broken in ["", "2.0;x", "1.0;2014-07-31T18:21:46Z;burn;1", "1.0;2014-07-31T18:21:46Z;read;1;\"a"] {
        assert_eq!(LogLine::parse(broken).unwrap_err().code(), ErrorCode::Corrupted, "{broken}");
    }
}
