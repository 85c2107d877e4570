//! Tests that layers can be written, resumed and read back, and that a change of any bit is detected.

use super::*;
use crate::backup::storage::Folder;
use crate::failure::Result;

fn rows() -> Vec<Record> {
    (0..12)
        .map(|row| {
            let entity = TableEntity::new("p", format!("{row:02}")).unwrap().with("Text", "é\n\"");
            if row % 3 == 2 { Record::Delete(entity.key().clone()) } else { Record::Put(entity) }
        })
        .collect()
}

fn read(storage: &Folder, end: &Mark) -> Result<Vec<Record>> {
    let mut reader = LayerReader::open(storage, "a.rows", end.clone())?;
    let mut found = Vec::new();
    while let Some(record) = reader.next_record()? {
        found.push(record);
    }
    Ok(found)
}

#[test]
fn a_layer_is_read_back_and_continued_at_its_last_mark() {
    let folder = tempfile::tempdir().unwrap();
    let storage = Folder::new(folder.path());
    let mut writer = LayerWriter::create(&storage, "a.rows").unwrap();
    rows().iter().take(5).for_each(|record| writer.push(record).unwrap());
    let mark = writer.sync().unwrap();
    rows().iter().skip(7).for_each(|record| writer.push(record).unwrap());
    let _lost = writer.sync().unwrap();
    let mut writer = LayerWriter::resume(&storage, "a.rows", mark).unwrap();
    rows().iter().skip(5).for_each(|record| writer.push(record).unwrap());
    let end = writer.sync().unwrap();
    assert_eq!(read(&storage, &end).unwrap(), rows());
}

#[test]
fn every_flipped_bit_and_every_lost_byte_is_detected() {
    let folder = tempfile::tempdir().unwrap();
    let (path, storage) = (folder.path().join("a.rows"), Folder::new(folder.path()));
    let mut writer = LayerWriter::create(&storage, "a.rows").unwrap();
    for record in rows() {
        writer.push(&record).unwrap();
        writer.sync().unwrap();
    }
    let end = writer.sync().unwrap();
    let whole = std::fs::read(&path).unwrap();
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 8);
        std::fs::write(&path, damaged).unwrap();
        let refused = read(&storage, &end).unwrap_err().to_string();
        assert!(refused.contains("is damaged in the block at byte"), "byte {at}: {refused}");
        std::fs::write(&path, &whole[..at]).unwrap();
        assert!(read(&storage, &end).is_err(), "cut at byte {at}");
    }
}
