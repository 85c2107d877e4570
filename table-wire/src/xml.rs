//! XML for the storage services: a strict document parser, and text escaping.

use quick_xml::Reader;
use quick_xml::escape::{escape, resolve_predefined_entity};
use quick_xml::events::{BytesRef, BytesStart, Event};

/// The maximum nesting depth of elements. The protocol's documents have at most six levels.
const DEPTH: usize = 32;
/// The maximum number of elements in a request body. Five policies or five CORS rules contain fewer than a hundred.
const REQUEST_ELEMENTS: usize = 1_000;

/// An XML element: a name, and either text or child elements.
///
/// ```
/// use table_wire::xml::Element;
///
/// let list = Element::read("<List><M><Id>a &amp; b</Id></M><M><Id/></M></List>").unwrap();
/// let ids: Vec<_> = list.each("M").filter_map(|message| message.text_of("Id")).collect();
/// assert_eq!((list.name(), ids), ("List", vec!["a & b", ""]));
/// assert_eq!(Element::read("<M>&own;</M>"), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Element {
    name: String,
    text: String,
    children: Vec<Self>,
}

impl Element {
    /// Parses a document. Namespace prefixes, attributes and comments are discarded.
    ///
    /// Returns `None` if the text is not well-formed XML 1.0, or contains an illegal character, a document type declaration, or an entity other than the five
    /// predefined ones.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        Self::parse(text, usize::MAX)
    }

    /// Parses a request body like [`read`](Self::read), but also returns `None` if it has far more elements than a valid request. This bounds the memory use,
    /// because an element occupies much more memory than its text.
    pub(crate) fn of_request(text: &str) -> Option<Self> {
        Self::parse(text, REQUEST_ELEMENTS)
    }

    /// Parses a document with at most `elements` elements.
    fn parse(text: &str, elements: usize) -> Option<Self> {
        let text = text.trim_start_matches('\u{feff}');
        if first_illegal(text).is_some() {
            return None;
        }
        let mut reader = Reader::from_str(text);
        // The open elements. The first is an artificial root for the document element.
        let mut open = vec![Self::default()];
        let mut count = 0;
        loop {
            let event = reader.read_event().ok()?;
            if matches!(event, Event::Start(_) | Event::Empty(_)) {
                count += 1;
                if count > elements {
                    return None;
                }
            }
            match event {
                Event::Start(start) if open.len() <= DEPTH => open.push(Self::begin(&start)?),
                Event::Empty(start) => open.last_mut()?.children.push(Self::begin(&start)?),
                Event::End(_) => {
                    let done = open.pop()?;
                    open.last_mut()?.children.push(done);
                }
                Event::Text(piece) => {
                    let text = piece.xml10_content();
                    // `]]>` ends a CDATA section and is not allowed in ordinary text.
                    if text.contains("]]>") {
                        return None;
                    }
                    open.last_mut()?.text.push_str(&text);
                }
                Event::CData(piece) => open.last_mut()?.text.push_str(&piece.xml10_content()),
                Event::GeneralRef(reference) => open.last_mut()?.text.push_str(&resolve(&reference)?),
                Event::Decl(_) | Event::Comment(_) | Event::PI(_) => {}
                Event::Start(_) | Event::DocType(_) => return None,
                Event::Eof => break,
            }
        }
        let [document] = &mut *open else { return None };
        if document.children.len() > 1 || !document.text.trim().is_empty() {
            return None;
        }
        document.children.pop()
    }

    fn begin(start: &BytesStart<'_>) -> Option<Self> {
        let name = start.name();
        let name: &str = name.as_ref();
        let name = name.rsplit(':').next().unwrap_or(name);
        let is_sound = !name.is_empty() && start.attributes().all(|attribute| attribute.is_ok());
        is_sound.then(|| Self { name: name.to_owned(), ..Self::default() })
    }

    /// Returns the element name without its namespace prefix.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the text, or `None` if the element has child elements.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.children.is_empty().then_some(self.text.as_str())
    }

    /// Returns the child elements.
    #[must_use]
    pub fn children(&self) -> &[Self] {
        &self.children
    }

    /// Returns the child elements with the given name.
    pub fn each<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// Returns the first child element with the given name.
    #[must_use]
    pub fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    /// Returns the text of the first child element with the given name. Returns `None` if that element is missing or has child elements.
    #[must_use]
    pub fn text_of(&self, name: &str) -> Option<&str> {
        self.child(name)?.text()
    }
}

/// Resolves a character or entity reference. Returns `None` for an unknown entity or an illegal character.
fn resolve(reference: &BytesRef<'_>) -> Option<String> {
    let text = match reference.resolve_char_ref().ok()? {
        Some(character) => character.to_string(),
        None => resolve_predefined_entity(&reference.xml10_content())?.to_owned(),
    };
    first_illegal(&text).is_none().then_some(text)
}

/// Escapes text for element content. The result is always legal XML, because illegal characters become U+FFFD. A carriage return becomes a character reference.
/// Otherwise, parsers would convert it to a line feed.
///
/// ```
/// use table_wire::xml;
///
/// assert_eq!(xml::content("a < b\r\u{1}"), "a &lt; b&#13;\u{fffd}");
/// ```
#[must_use]
pub fn content(text: &str) -> String {
    let escaped = escape(text).replace('\r', "&#13;");
    if first_illegal(&escaped).is_none() {
        return escaped;
    }
    escaped.replace(is_illegal, "\u{fffd}")
}

/// Returns the first character that is illegal in XML 1.0, if any.
///
/// ```
/// use table_wire::xml;
///
/// assert_eq!(xml::first_illegal("a\u{1}"), Some('\u{1}'));
/// ```
#[must_use]
pub fn first_illegal(text: &str) -> Option<char> {
    text.chars().find(|character| is_illegal(*character))
}

const fn is_illegal(character: char) -> bool {
    matches!(
        character,
        '\0'..='\u{8}' | '\u{B}' | '\u{C}' | '\u{E}'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}'
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_body_of_many_elements_is_refused_in_requests_and_read_in_responses() {
        for (children, is_read) in [(REQUEST_ELEMENTS - 1, true), (REQUEST_ELEMENTS, false)] {
            for child in ["<a/>", "<a></a>", "<a>t</a>"] {
                let body = format!("<M>{}</M>", child.repeat(children));
                assert_eq!(Element::of_request(&body).is_some(), is_read, "{child} {children}");
                assert_eq!(Element::read(&body).unwrap().children().len(), children);
            }
        }
    }

    proptest! {
        /// Tests that any string becomes a document accepted by a strict parser, and that legal text is preserved.
        #[test]
        fn any_text_is_written_as_legal_xml(text in any::<String>()) {
            let document = Element::read(&format!("<M><T>{}</T><Other/></M>", content(&text))).unwrap();
            let expected = text.replace(is_illegal, "\u{fffd}");
            prop_assert_eq!((document.text_of("T"), document.text_of("Other")), (Some(expected.as_str()), Some("")));
        }

        #[test]
        fn any_text_is_read_or_refused(text in any::<String>(), odd in "[<>/&;#!\\[\\]CDATAM?x1\"' ]{0,60}") {
            for text in [&text, &odd, &format!("<M>{odd}</M>")] {
                if let Some(element) = Element::read(text) {
                    prop_assert!(!element.name().is_empty());
                }
            }
        }
    }

    #[test]
    fn elements_are_read_by_level() {
        let xml = "\u{feff}<?xml version=\"1.0\"?>\n<L a=\"1\">\n <P> <Id>a</Id>\n<A><S>1</S><E/></A></P><x:P><Id><![CDATA[<b>]]></Id></x:P></L>";
        let list = Element::read(xml).unwrap();
        let [first, second] = list.children() else { panic!("two records") };
        assert_eq!((first.text_of("Id"), first.text_of("A"), first.text()), (Some("a"), None, None));
        let inner = first.child("A").unwrap();
        assert_eq!((inner.text_of("S"), inner.text_of("E")), (Some("1"), Some("")));
        assert_eq!((second.name(), second.text_of("Id")), ("P", Some("<b>")));
        assert_eq!(Element::read("<L></L>").unwrap().children(), []);
    }

    #[test]
    fn other_text_is_refused() {
        let deep = format!("{}{}", "<a>".repeat(100_000), "</a>".repeat(100_000));
        for text in [
            "",
            " ",
            "<",
            "text",
            "<L>",
            "<L><P></L>",
            "<L/><L/>",
            "<L/>text",
            "<L a=/>",
            "<L>&own;</L>",
            "<L>&#x0;</L>",
            "<L>&#1;</L>",
            "<L>a]]>b</L>",
            "<L>\u{1}</L>",
            "<L>\u{FFFE}</L>",
            "<!DOCTYPE L [<!ENTITY x 'y'>]><L/>",
            &deep,
        ] {
            assert_eq!(Element::read(text), None, "{}", text.get(..60).unwrap_or(text));
        }
    }
}
