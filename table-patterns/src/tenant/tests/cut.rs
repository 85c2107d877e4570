//! Tests exports of rows that contain addresses of truncated blobs, or text that only looks like an address.

use object_store::ObjectStoreExt;
use object_store::path::Path;
use pollster::block_on;
use table_core::embedded::Engine;
use table_core::{Entity, ErrorCode};

use super::kit::{Ticket, World, export, import, steps_with_file};
use crate::EntityStore;
use crate::tenant::Tenant;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Docs")]
#[partition_key(tenant)]
#[row_key("doc_", number)]
struct Doc {
    tenant: String,
    #[digits(6)]
    number: u32,
    title: String,
}

/// The length of the file before it is truncated.
const LENGTH: u32 = 2_500_000;

#[test]
fn an_export_names_blobs_that_were_cut_and_continues() {
    for cut in [0, 1, 1 << 20, (1 << 20) + 1, 2 << 20, 2_499_999] {
        let world = World::after(&steps_with_file(LENGTH));
        let tickets = world.tickets_of("contoso");
        let (ticket, _) = tickets.into_iter().find(|(_, file)| *file == Some(2_500_000)).unwrap();
        let path = Path::parse(ticket.file.unwrap().path()).unwrap();
        block_on(world.blobs.put(&path, vec![7; cut].into())).unwrap();
        let tenant = world.tenant("contoso");
        let (mut export, mut text) = (tenant.export(), String::new());
        while let Some(lines) = block_on(export.step()).unwrap() {
            text += &lines;
        }
        let position = export.position();
        assert_eq!((position.missing_blobs(), position.missing().len()), (1, 1), "{cut}");
        assert_eq!(position.missing()[0].name, path.as_ref());
        assert!(!text.contains(&format!("\"Name\":\"{path}\"")), "{cut}");
        let imported = import(&World::new().tenant("contoso"), &text).unwrap();
        assert_eq!((imported.missing_blobs, imported.blobs), (1, position.blobs()));
    }
}

/// Tests that an outage of the blob store is reported as an error and not as a missing blob.
#[test]
fn an_outage_of_the_blob_store_stops_an_export() {
    let world = World::after(&steps_with_file(LENGTH));
    let tenant = world.tenant("contoso");
    let whole = export(&tenant);
    for number in 0.. {
        let (mut export, mut text, mut failed) = (tenant.export(), String::new(), 0);
        world.blobs.fail_at(number, false);
        loop {
            match block_on(export.step()) {
                Ok(Some(lines)) => text += &lines,
                Ok(None) => break,
                Err(_) => failed += 1,
            }
        }
        assert_eq!((export.position().missing_blobs(), &text), (0, &whole));
        assert!(failed < 2);
        if failed == 0 {
            assert!(number > 2, "{number} requests");
            world.blobs.heal();
            return;
        }
    }
}

/// Tests an address with the maximum length that was not written by an upload.
#[test]
fn an_address_with_a_huge_length_is_one_missing_blob() {
    let world = World::after(&steps_with_file(100));
    let text = format!("files/blobs/desk/contoso/ticket_000002/x {} 00000000", u64::MAX);
    let update = world.tickets.update(Ticket::key("contoso", 2), |ticket| {
        ticket.file = Some(text.parse().unwrap());
    });
    block_on(update).unwrap();
    let tenant = world.tenant("contoso");
    let mut export = tenant.export();
    while block_on(export.step()).unwrap().is_some() {}
    assert_eq!(export.position().missing_blobs(), 1);
}

#[test]
fn a_text_that_resembles_an_address_is_exported_from_a_table_without_blobs() {
    let docs = block_on(Engine::in_memory().entities::<Doc>().create_if_missing()).unwrap();
    let name = "0635338512000000000_864000000000_0123456789abcdef0123456789abcdef";
    let texts = [
        "a/contoso/doc_000001/b 3 0000002a".to_owned(),
        format!("a/contoso/doc_000001/{name} 3 0000002a"),
        format!("a/blobs/others/contoso/doc_000001/{name} 3 0000002a"),
        format!("a/values/docs/contoso/doc_000001/{name} 3 0000002a"),
        format!("a/blobs/docs/contoso/doc_000001/{name}/x 3 0000002a"),
    ];
    let tenant = Tenant::new().with_entities(&docs, Doc::partition("contoso")).unwrap();
    for title in texts {
        let doc = Doc { tenant: "contoso".into(), number: 1, title };
        block_on(docs.insert_or_replace(&doc)).unwrap();
        let to = block_on(Engine::in_memory().entities::<Doc>().create_if_missing()).unwrap();
        import(&Tenant::new().with_entities(&to, Doc::partition("contoso")).unwrap(), &export(&tenant))
            .unwrap();
        assert_eq!(block_on(to.query(Doc::rows("contoso")).collect()).unwrap(), [doc]);
    }
    // The address of an upload is refused, because its blob would be lost.
    for title in [
        format!("a/blobs/docs/contoso/doc_000001/{name} 3 0000002a"),
        format!("lists/docs/contoso/doc_000001/{name} 3 0000002a"),
    ] {
        let doc = Doc { tenant: "contoso".into(), number: 1, title };
        block_on(docs.insert_or_replace(&doc)).unwrap();
        let mut export = tenant.export();
        block_on(export.step()).unwrap();
        let error = block_on(export.step()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidInput);
    }
}
