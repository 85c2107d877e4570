//! Tests exports with missing blobs. An export must omit and list the missing blobs, and contain everything else.

use object_store::ObjectStoreExt;
use object_store::path::Path;
use pollster::block_on;

use super::kit::{Step, Ticket, World, import, steps_with_file};
use crate::tenant::{ExportPosition, Imported};

/// Returns a store in which one of the two files of `contoso` has been deleted, and the number of that file's ticket.
fn without_file() -> (World, u32) {
    let world = World::after(&steps_with_file(2_500_000));
    let other = Step::Insert { title: 1, topic: 0, agent: None, file: Some(9) };
    block_on(world.act("contoso", &other)).unwrap();
    let tickets = world.tickets_of("contoso");
    let (ticket, _) = tickets.into_iter().find(|(_, file)| *file == Some(2_500_000)).unwrap();
    let path = Path::parse(ticket.file.unwrap().path()).unwrap();
    block_on(world.blobs.delete(&path)).unwrap();
    (world, ticket.number)
}

#[test]
fn an_export_names_missing_blobs_and_continues() {
    let (world, number) = without_file();
    let tenant = world.tenant("contoso");
    for rows in [1, 3, 1_000] {
        let (mut export, mut text) = (tenant.export().page(rows), String::new());
        while let Some(lines) = block_on(export.step()).unwrap() {
            text += &lines;
        }
        let position = export.position();
        assert_eq!((position.missing_blobs(), position.blobs()), (1, 1));
        let missing = &position.missing()[0];
        assert_eq!((missing.table.as_str(), missing.partition_key.as_str()), ("Desk", "contoso"));
        assert_eq!(missing.row_key, format!("ticket_{number:06}"));
        assert!(missing.name.starts_with("files/"), "{}", missing.name);
        assert_eq!(position.to_string().parse::<ExportPosition>().unwrap(), *position);

        let to = World::new();
        let Imported { blobs, missing_blobs, .. } = import(&to.tenant("contoso"), &text).unwrap();
        assert_eq!((blobs, missing_blobs), (1, 1));
        let rows = |world: &World| block_on(world.tickets.query(Ticket::rows("contoso")).collect()).unwrap();
        assert_eq!(rows(&to), rows(&world));
    }
}

/// Tests that a blob also counts as missing if it disappears after its first part has been exported.
#[test]
fn an_export_continues_after_a_blob_disappears_halfway() {
    let world = World::after(&steps_with_file(2_500_000));
    let tenant = world.tenant("contoso");
    let (mut export, mut text) = (tenant.export(), String::new());
    let mut is_deleted = false;
    while let Some(lines) = block_on(export.step()).unwrap() {
        if lines.starts_with("{\"Blob\"") && lines.contains("\"Last\":false") && !is_deleted {
            is_deleted = true;
            let tickets = world.tickets_of("contoso");
            let (ticket, _) = tickets.into_iter().find(|(_, file)| *file == Some(2_500_000)).unwrap();
            let path = Path::parse(ticket.file.unwrap().path()).unwrap();
            block_on(world.blobs.delete(&path)).unwrap();
        }
        text += &lines;
    }
    assert!(is_deleted);
    assert_eq!(export.position().missing_blobs(), 1);
    let imported = import(&World::new().tenant("contoso"), &text).unwrap();
    assert_eq!((imported.missing_blobs, imported.blobs), (1, export.position().blobs()));
}
