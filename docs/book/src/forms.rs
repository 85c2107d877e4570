//! Tests that the page about keys states the stored forms correctly, and that the page about custom codecs states a codec law correctly.

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use table_patterns::key::codec::{Alphabet, Form, KeyCodec, laws};
use table_patterns::{Entity, Error, ErrorCode, Result};

use crate::pages::read;

/// Returns the `RowKey` of an entity whose row key consists of one field in the given form.
macro_rules! row_key {
    ($value:ident: $type:ty = $given:expr, $($form:tt)*) => {{
        #[derive(Entity)]
        #[partition_key(partition)]
        #[row_key($($form)*)]
        struct Row {
            partition: String,
            $value: $type,
        }
        Row::key("p", $given).key().unwrap().row_key.as_str().to_owned()
    }};
}

#[test]
fn the_page_of_keys_states_the_stored_forms() {
    let day = NaiveDate::from_ymd_opt(2014, 4, 23).unwrap();
    let monday = NaiveDate::from_ymd_opt(2014, 4, 21).unwrap();
    let at: DateTime<Utc> = "2014-04-23T09:05:00Z".parse().unwrap();
    let fine: DateTime<Utc> = "2014-04-28T09:05:07.250Z".parse().unwrap();
    let millis: DateTime<Utc> = DateTime::from_timestamp_millis(1_398_243_600_250).unwrap();
    let hour: DateTime<Utc> = "2014-04-23T09:00:00Z".parse().unwrap();
    let address: std::net::Ipv4Addr = "192.168.0.1".parse().unwrap();
    let ulid = 0x0156_3E3A_B5D3_D676_4C61_EFB9_9302_BD5B_u128;
    let rows = [
        ("`#[digits(6)]`", row_key!(id: u32 = 42, digits(6, id))),
        ("`#[digits(6, nonnegative)]`", row_key!(id: i64 = 42, digits(6, nonnegative, id))),
        ("`#[digits(6, signed)]`", row_key!(id: i64 = -5, digits(6, signed, id))),
        ("`#[digits(6, signed)]`", row_key!(id: i64 = 5, digits(6, signed, id))),
        ("| `-5_i32` |", row_key!(id: i32 = -5, id)),
        ("| `-5_i32` |", row_key!(id: i32 = 5, id)),
        ("| `42_u32` | a plain field |", row_key!(id: u32 = 42, id)),
        ("| a `NaiveDate` | a plain field |", row_key!(day: NaiveDate = day, day)),
        (
            "| a `NaiveTime` | a plain field |",
            row_key!(time: NaiveTime = NaiveTime::from_hms_opt(9, 5, 0).unwrap(), time),
        ),
        ("`Ipv4Addr`", row_key!(address: std::net::Ipv4Addr = address, address)),
        ("`hex(8, id)`", row_key!(id: u32 = 42, hex(8, id))),
        ("`hex(16, upper, id)`", row_key!(id: u64 = 42, hex(16, upper, id))),
        ("`unpadded(id)`", row_key!(id: u32 = 42, unpadded(id))),
        ("`ulid(id)`", row_key!(id: u128 = ulid, ulid(id))),
        ("| an instant on the hour", row_key!(at: DateTime<Utc> = hour, hour(at))),
        (
            "`pattern(\"yyyy-MM-ddTHH:mm\", at)`",
            row_key!(at: DateTime<Utc> = at, pattern("yyyy-MM-ddTHH:mm", at)),
        ),
        ("| time since the Unix epoch |", row_key!(at: DateTime<Utc> = millis, unix(millis, at))),
        (
            "`inverted(",
            row_key!(at: DateTime<Utc> = millis, inverted(9_223_372_036_854_775_807, unix(millis, at))),
        ),
        (
            "`desc(pattern(\"yyyyMMdd\", day))`",
            row_key!(day: NaiveDate = day, desc(pattern("yyyyMMdd", day))),
        ),
        ("`caret(name)`", row_key!(name: String = "order/7", caret(name))),
        ("`percent(url)`", row_key!(url: String = "a b/", percent(url))),
        ("`base64(name)`", row_key!(name: String = "é?", base64(name))),
        ("`bars(name)`", row_key!(name: String = "teams/7", bars(name))),
        (
            "`hash(crc32, 6, base64url, user)`",
            row_key!(user: String = "abc", hash(crc32, 6, base64url, user)),
        ),
        ("`hash(crc32, 7, base32, user)`", row_key!(user: String = "abc", hash(crc32, 7, base32, user))),
        ("| a Monday,", row_key!(day: NaiveDate = monday, week(day))),
        ("`truncate(hour(at))`", row_key!(at: DateTime<Utc> = at, truncate(hour(at)))),
        (
            "`truncate(pattern(\"dd HH:mm:ss.fff\", at))`",
            row_key!(at: DateTime<Utc> = fine, truncate(pattern("dd HH:mm:ss.fff", at))),
        ),
        ("`hash(crc32, 8, user)`", row_key!(user: String = "abc", hash(crc32, 8, user))),
        ("`folded(lower, email)`", row_key!(email: String = "Ada@Contoso.com", folded(lower, email))),
        ("`first(3, name)`", row_key!(name: String = "Jones", first(3, name))),
        ("`replaced('/', '_', path)`", row_key!(path: String = "a/b", replaced('/', '_', path))),
    ];
    let page = read("book/keys.md");
    let lacks = |(row, text): &(&str, String)| {
        // A `|` in a table cell is escaped.
        let stated = format!("`{}`", text.replace('|', "\\|"));
        !page.lines().any(|line| line.contains(row) && line.contains(&stated))
    };
    let missing: Vec<_> = rows.iter().filter(|row| lacks(row)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The codec on the page about custom codecs, but without the check of the characters.
enum Unchecked {}

impl KeyCodec<u64> for Unchecked {
    const NAME: &'static str = "unchecked";
    const FORM: Form = Form::fixed(13, true, Alphabet::of("0123456789abcdefghijklmnopqrstuvwxyz"));

    fn encode(value: &u64, out: &mut String) -> Result<()> {
        let digit = |place: u32| char::from_digit(u32::try_from(value / 36_u64.pow(place) % 36).ok()?, 36);
        out.extend((0..13).rev().filter_map(digit));
        Ok(())
    }

    fn decode(text: &str) -> Result<u64> {
        let number =
            Some(text).filter(|text| text.len() == 13).and_then(|text| u64::from_str_radix(text, 36).ok());
        number.ok_or_else(|| Error::new(ErrorCode::EntityMismatch, "not a number in base 36"))
    }
}

#[test]
fn the_laws_find_a_codec_that_reads_capitals() {
    let fault = laws::check::<Unchecked, u64>(&[0, 1, 35, 36, 1_295, u64::MAX]).unwrap_err();
    let sentence = format!("Without the check of the characters, `laws::check` fails: `{fault}`.");
    assert!(read("book/own-codecs.md").contains(&sentence), "{sentence}");
}
