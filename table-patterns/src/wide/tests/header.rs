//! Tests a release whose header declares a property that an earlier release has stored in a part.

use super::*;

/// The earlier release, which stores the office in the second part.
#[derive(Wide, Clone, Debug)]
#[entity(table = "Offices")]
#[partition_key(employee)]
#[row_key(year)]
struct Earlier {
    employee: u32,
    year: u16,
    a: Option<i32>,
    #[part(2)]
    office: Option<String>,
    b: Option<i32>,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Offices")]
#[partition_key(employee)]
#[row_key(year)]
struct Header {
    employee: u32,
    year: u16,
    office: Option<String>,
}

#[derive(Debug, PartialEq)]
struct Later {
    header: Header,
    a: Option<i32>,
    b: Option<i32>,
}

impl Wide for Later {
    type Header = Header;
    const PARTS: &'static [&'static [&'static str]] = &[&["A"], &["B"]];

    fn header(&self) -> Header {
        self.header.clone()
    }

    fn write(&self, out: &mut WideWriter) -> Result<()> {
        out.set("A", &self.a)?;
        out.set("B", &self.b)
    }

    fn read(header: Header, properties: &WideReader<'_>) -> Result<Self> {
        Ok(Self { header, a: properties.get("A")?, b: properties.get("B")? })
    }
}

/// Stores an entity with the earlier release. Returns the handles of both releases.
fn stored() -> (WideTable<Earlier, Engine>, WideTable<Later, Engine>) {
    let store = Engine::in_memory();
    let earlier = block_on(store.wide::<Earlier>().create_if_missing()).unwrap();
    let whole = Earlier { employee: 1, year: 2014, a: Some(1), office: Some("Oslo".into()), b: Some(2) };
    block_on(earlier.insert(&whole)).unwrap();
    (earlier, store.wide::<Later>())
}

fn office(later: &WideTable<Later, Engine>) -> Result<Option<String>> {
    Ok(block_on(later.get(Header::key(1, 2014)))?.unwrap().0.header.office)
}

#[test]
fn pat_wide_4_a_property_that_was_moved_from_a_part_to_the_header_is_found() {
    let (_, later) = stored();
    assert_eq!(office(&later).unwrap().as_deref(), Some("Oslo"));
    block_on(later.update(Header::key(1, 2014), |whole| whole.a = Some(3))).unwrap();
    assert_eq!(office(&later).unwrap().as_deref(), Some("Oslo"));
    assert!(!block_on(later.resize(Header::key(1, 2014), 2)).unwrap(), "the update has moved the property");
}

#[test]
fn pat_wide_4_a_resize_moves_a_property_from_a_part_to_the_header() {
    let (earlier, later) = stored();
    let key = || Header::key(1, 2014);
    assert!(block_on(later.resize(key(), 2)).unwrap());
    assert!(!block_on(later.resize(key(), 2)).unwrap());
    assert_eq!(office(&later).unwrap().as_deref(), Some("Oslo"));
    block_on(earlier.set(Earlier::key(1, 2014), Earlier::OFFICE, "Rome".to_owned())).unwrap();
    let error = office(&later).unwrap_err();
    assert_eq!((error.code(), error.rule()), (ErrorCode::EntityMismatch, Some("PAT-WIDE-4")));
    assert!(error.message().contains("parts 01 and 02") && error.to_string().contains("Office"), "{error}");
    assert!(block_on(later.resize(key(), 2)).unwrap());
    assert_eq!(office(&later).unwrap().as_deref(), Some("Oslo"));
}
