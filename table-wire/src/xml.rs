//! XML as services use it for messages, policies and settings: records of named texts, read and written.

use std::collections::BTreeMap;

use quick_xml::Reader;
use quick_xml::escape::{escape, resolve_predefined_entity};
use quick_xml::events::{BytesRef, Event};

/// The texts of one record by the names of the elements that hold them, however deep.
pub type Record = BTreeMap<String, String>;

/// The records of this name; `None` if the text is not XML, or uses entities of its own.
///
/// ```
/// use table_wire::xml::{self, Record};
///
/// let records: Vec<Record> = xml::read("<List><M><Id>a &amp; b</Id></M><M><Id/></M></List>", "M").unwrap();
/// assert_eq!((records[0]["Id"].as_str(), records[1]["Id"].as_str()), ("a & b", ""));
/// assert_eq!(xml::read("<M>&own;</M>", "M"), None);
/// ```
#[must_use]
pub fn read(text: &str, record: &str) -> Option<Vec<Record>> {
    let mut reader = Reader::from_str(text.trim_start_matches('\u{feff}'));
    let (mut records, mut open, mut text) = (Vec::new(), None::<Record>, String::new());
    let name = |name: &str| name.rsplit(':').next().unwrap_or(name).to_owned();
    loop {
        match reader.read_event().ok()? {
            Event::Start(element) => {
                if name(element.name().as_ref()) == record {
                    open = Some(Record::new());
                }
                text.clear();
            }
            Event::Text(piece) => text.push_str(&piece.xml10_content()),
            Event::CData(piece) => text.push_str(&piece.xml10_content()),
            Event::GeneralRef(reference) => text.push_str(&resolve(&reference)?),
            Event::End(element) => {
                let name = name(element.name().as_ref());
                if name == record {
                    records.extend(open.take());
                } else if let Some(record) = &mut open {
                    record.entry(name).or_insert_with(|| std::mem::take(&mut text));
                }
                text.clear();
            }
            Event::Empty(element) => {
                let name = name(element.name().as_ref());
                if name == record {
                    records.push(Record::new());
                } else if let Some(record) = &mut open {
                    record.entry(name).or_default();
                }
            }
            Event::Eof => return Some(records),
            Event::Decl(_) | Event::Comment(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
}

fn resolve(reference: &BytesRef<'_>) -> Option<String> {
    match reference.resolve_char_ref().ok()? {
        Some(character) => Some(character.to_string()),
        None => resolve_predefined_entity(&reference.xml10_content()).map(str::to_owned),
    }
}

/// The text as the content of an element. A carriage return is named by its number: readers take a bare one for a line feed.
///
/// ```
/// use table_wire::xml;
///
/// assert_eq!(xml::content("a < b\r"), "a &lt; b&#13;");
/// ```
#[must_use]
pub fn content(text: &str) -> String {
    escape(text).replace('\r', "&#13;")
}

/// The first character that XML cannot hold in any way.
///
/// ```
/// use table_wire::xml;
///
/// assert_eq!(xml::first_illegal("a\u{1}"), Some('\u{1}'));
/// ```
#[must_use]
pub fn first_illegal(text: &str) -> Option<char> {
    text.chars().find(
        |c| matches!(c, '\0'..='\u{8}' | '\u{B}' | '\u{C}' | '\u{E}'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}'),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(text in any::<String>()) {
            prop_assume!(first_illegal(&text).is_none());
            let xml = format!("<L><M><T>{}</T><Other/></M></L>", content(&text));
            let records = read(&xml, "M").unwrap();
            prop_assert_eq!(records.len(), 1);
            prop_assert_eq!((&records[0]["T"], records[0]["Other"].as_str()), (&text, ""));
        }

        #[test]
        fn no_text_is_too_strange(text in any::<String>(), odd in "[<>/&;#!\\[\\]CDATAM?x1\"' ]{0,60}") {
            for text in [&text, &odd, &format!("<M>{odd}</M>")] {
                let _ = read(text, "M");
            }
        }
    }

    #[test]
    fn records_may_hold_elements_in_elements() {
        let xml = "\u{feff}<?xml version=\"1.0\"?>\n<L>\n <P> <Id>a</Id>\n<A><S>1</S><E/></A></P><P><Id><![CDATA[<b>]]></Id></P></L>";
        let records = read(xml, "P").unwrap();
        assert_eq!(
            (records[0]["Id"].as_str(), records[0]["S"].as_str(), records[0]["E"].as_str()),
            ("a", "1", "")
        );
        assert_eq!(records[1]["Id"], "<b>");
        assert_eq!(read("<L></L>", "P"), Some(Vec::new()));
        assert_eq!(read("<L><P/></L>", "P"), Some(vec![Record::new()]));
    }

    #[test]
    fn what_is_no_xml_is_refused() {
        for text in ["<L><P></L>", "<L>&own;</L>", "<L>&#x0;</L>", "<L a=>", "<"] {
            assert!(read(text, "P").is_none_or(|records| records.is_empty()), "{text}");
        }
        assert_eq!(read("<P><T>&own;</T></P>", "P"), None);
    }
}
