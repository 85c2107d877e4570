//! Tests that the current engine can open folders in released formats, and that they still contain their rows. `fixtures` contains one folder per format.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use futures_util::TryStreamExt;
use pollster::block_on;
use simulation::power::{Fault, SimulatedDisk};
use table_core::embedded::EngineOptions;
use table_core::embedded::testing::Disk;
use table_core::{
    EdmType, Engine, Error, ErrorCode, IfMatch, Result, Selection, TableEntity, TableStoreExt, UntypedTable,
    Value,
};
use uuid::Uuid;

/// The file in a fixture that lists the expected contents of the folder. It has one line for each table, entity and property.
const CONTENTS: &str = "CONTENTS.txt";

/// The formats that have a fixture: all released formats, and the current one.
const FORMATS: [u32; 5] = [2, 3, 4, 5, CURRENT];
/// The number of the format currently written by the engine.
const CURRENT: u32 = 6;

fn fixture(format: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/format-{format}"))
}

/// The minimum length of a compressed run of equal bytes. Journal files consist mostly of such runs.
const RUN: usize = 16;

/// Compresses bytes into groups. A group is a `u32` length, that many literal bytes, the `u32` length of a run of equal bytes, and the byte that is repeated.
fn pack(mut bytes: &[u8]) -> Vec<u8> {
    let length = |bytes: usize| u32::try_from(bytes).unwrap().to_le_bytes();
    let mut packed = Vec::new();
    while let Some(last) = bytes.last() {
        let plain = bytes.windows(RUN).position(|window| window.iter().all(|byte| *byte == window[0]));
        let (plain, rest) = bytes.split_at(plain.unwrap_or(bytes.len()));
        let byte = *rest.first().unwrap_or(last);
        let run = rest.iter().take_while(|other| **other == byte).count();
        packed.extend(length(plain.len()));
        packed.extend(plain);
        packed.extend(length(run));
        packed.push(byte);
        bytes = &rest[run..];
    }
    packed
}

fn unpack(mut packed: &[u8]) -> Vec<u8> {
    fn length(packed: &mut &[u8]) -> usize {
        let (length, rest) = packed.split_first_chunk().unwrap();
        *packed = rest;
        usize::try_from(u32::from_le_bytes(*length)).unwrap()
    }
    let mut bytes = Vec::new();
    while !packed.is_empty() {
        let plain = length(&mut packed);
        bytes.extend(&packed[..plain]);
        packed = &packed[plain..];
        let run = length(&mut packed);
        bytes.resize(bytes.len() + run, packed[0]);
        packed = &packed[1..];
    }
    bytes
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap());
    files.map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap())).collect()
}

/// Decompresses the fixture of a format into a new folder.
fn unpacked(format: u32) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files(&fixture(format)) {
        if name != CONTENTS {
            fs::write(folder.path().join(name), unpack(&bytes)).unwrap();
        }
    }
    folder
}

fn expected(format: u32) -> String {
    fs::read_to_string(fixture(format).join(CONTENTS)).unwrap()
}

fn contents(engine: Engine) -> Result<String> {
    let mut text = String::new();
    block_on(async {
        let tables: Vec<_> = engine.tables("").try_collect().await?;
        for name in tables {
            writeln!(text, "table {name}").unwrap();
            let rows = engine.untyped(name.as_str())?.scan("a comparison").max_rows(1_000);
            rows.for_each(|row| {
                let key = row.key();
                writeln!(
                    text,
                    "  entity {:?} {:?} {}",
                    key.partition_key.as_str(),
                    key.row_key.as_str(),
                    row.etag()
                )
                .unwrap();
                for (name, value) in row.iter() {
                    writeln!(text, "    {name} {} {value}", value.edm_type()).unwrap();
                }
            })
            .await?;
        }
        Ok::<_, Error>(())
    })?;
    block_on(engine.close())?;
    Ok(text)
}

/// Returns the format number stored in a folder.
fn format_of(folder: &Path) -> u32 {
    let manifest = fs::read(folder.join("FORMAT")).unwrap();
    u32::from_le_bytes(manifest[8..12].try_into().unwrap())
}

#[test]
fn folders_of_all_formats_keep_their_content_and_are_upgraded() {
    for format in FORMATS {
        let folder = unpacked(format);
        let reader = Engine::open_read_only(folder.path()).unwrap();
        assert_eq!(contents(reader).unwrap(), expected(format));
        assert_eq!(format_of(folder.path()), format, "a reader migrates nothing");
        assert_eq!(contents(Engine::open(folder.path()).unwrap()).unwrap(), expected(format));
        assert_eq!(format_of(folder.path()), CURRENT);
        // More data can be added to the recovered data. Everything can then be read again.
        let engine = Engine::open(folder.path()).unwrap();
        block_on(write_on(&engine)).unwrap();
        block_on(engine.backup(folder.path().join("backup"))).unwrap();
        drop(engine);
        // A backup has the current format. A folder that is restored from it has the current format too.
        Engine::restore(folder.path().join("backup"), folder.path().join("restored")).unwrap();
        for folder in [folder.path(), &folder.path().join("restored")] {
            assert_eq!(format_of(folder), CURRENT);
            let today = contents(Engine::open(folder).unwrap()).unwrap();
            assert_eq!(without_today(&today), expected(format));
            assert_ne!(today, expected(format));
        }
    }
}

async fn write_on(engine: &Engine) -> Result<()> {
    let later = engine.untyped("Later")?;
    later.insert_or_replace(&TableEntity::new("p", "today")?.with("At", 1)).await?;
    engine.checkpoint().await
}

fn without_today(contents: &str) -> String {
    let old = |line: &&str| !line.contains("\"today\"") && *line != "    At Edm.Int32 1";
    contents.lines().filter(old).fold(String::new(), |text, line| text + line + "\n")
}

#[test]
fn a_power_loss_during_a_migration_leaves_the_old_or_the_new_format() {
    let old = Path::new("/old");
    let open = |disk: &SimulatedDisk| EngineOptions::new().disk(Arc::new(disk.clone())).open(old);
    for format in &FORMATS[..FORMATS.len() - 1] {
        let disk = SimulatedDisk::new();
        disk.create_dir(old).unwrap();
        for (name, bytes) in files(unpacked(*format).path()) {
            let file = disk.open(&old.join(name), true).unwrap();
            file.write_at(0, &bytes).unwrap();
            file.sync_data().unwrap();
        }
        disk.sync_dir(old).unwrap();
        disk.sync_dir(Path::new("/")).unwrap();
        for call in 1.. {
            let disk = disk.after_kill();
            disk.set_fault(Some(Fault::PowerAtCall(call)));
            if let Ok(engine) = open(&disk) {
                let _ = block_on(write_on(&engine));
            }
            let lost = disk.has_lost_power();
            for seed in 0..3 {
                let disk = disk.after_power_loss(seed);
                let found = contents(open(&disk).unwrap()).unwrap();
                assert_eq!(without_today(&found), expected(*format), "call {call}, seed {seed}");
            }
            if !lost {
                assert!(call > 10, "{call} calls");
                break;
            }
        }
    }
}

#[test]
fn each_format_of_the_documented_table_has_a_fixture_or_is_refused() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/format.md");
    let docs = fs::read_to_string(docs).unwrap();
    let (_, versions) = docs.split_once("\n## Versions\n").unwrap();
    let rows = versions.lines().filter_map(|line| line.strip_prefix("| ")).skip(1);
    let mut formats = Vec::new();
    for row in rows.filter(|row| !row.starts_with('-')) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let format: u32 = cells[0].parse().unwrap();
        let released = !cells.contains(&"none");
        assert_eq!(released, fixture(format).join(CONTENTS).exists(), "format {format}");
        formats.extend(released.then_some(format));
    }
    assert_eq!(formats, FORMATS);
}

#[test]
fn fixtures_contain_everything_a_reader_can_misread() {
    for format in FORMATS {
        let files = files(&fixture(format));
        let bytes: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
        assert!(bytes < 200_000, "{bytes} bytes");
        for edm in EdmType::ALL {
            assert!(expected(format).contains(&format!(" {edm} ")), "{edm}");
        }
        let file = |end| {
            let named = files.iter().filter(|(name, _)| name.ends_with(end));
            named.flat_map(|(_, bytes)| unpack(bytes)).collect::<Vec<u8>>()
        };
        let holds =
            |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        let (runs, journal) = (file(".rows"), file(".journal"));
        assert!(holds(&runs, "extremes") && !holds(&runs, "Later"), "blocks");
        assert!(
            holds(&journal, "Later") && !holds(&journal, "extremes"),
            "frames that the base does not hold"
        );
    }
}

fn everything(partition: &str, row: &str, at: i32) -> Result<TableEntity> {
    let instant: DateTime<Utc> = "2014-08-22T00:50:32.1234567Z".parse().unwrap();
    Ok(TableEntity::new(partition, row)?
        .with("Text", format!("row {at}, O'Hara, \u{e9}\u{20ac}\u{1f600}"))
        .with("Small", at - 3)
        .with("Large", i64::from(at) << 40)
        .with("Real", f64::from(at) / 8.0)
        .with("Flag", at % 2 == 0)
        .with("At", instant)
        .with("Id", Uuid::from_u128(0xc9da_6455_213d_42c9_9a79_3e91_49a5_7833))
        .with("Bytes", vec![0_u8, 255, u8::try_from(at).unwrap()]))
}

async fn write_base(engine: &Engine) -> Result<UntypedTable<Engine>> {
    let table = engine.untyped("Everything")?.create_if_missing().await?;
    for at in 0..48 {
        let partition = ["Sales", "Stra\u{df}e", "\u{e000}\u{1f600}"].map(str::to_owned);
        let partition = &partition[usize::try_from(at % 3).unwrap()];
        table.insert(&everything(partition, &format!("{at:06}"), at)?).await?;
    }
    let extremes = TableEntity::new("Sales", "extremes")?
        .with("Small", i32::MIN)
        .with("Large", i64::MIN)
        .with("Real", f64::NEG_INFINITY)
        .with("Zero", -0.0)
        .with("None", "")
        .with("First", "1601-01-01T00:00:00Z".parse::<DateTime<Utc>>().unwrap())
        .with("Long", "x".repeat(20_000));
    table.insert(&extremes).await?;
    engine.untyped("Gone")?.create_if_missing().await?.insert(&everything("p", "r", 7)?).await?;
    Ok(table)
}

/// Writes the fixture of the current format. Run it with `cargo test -p tests --test engine format -- --ignored`.
#[test]
#[ignore = "writes the fixture of a new format"]
fn write_the_fixture() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::open(folder.path()).unwrap();
    let fixture = fixture(CURRENT);
    block_on(async {
        let table = write_base(&engine).await?;
        engine.checkpoint().await?;
        // These writes make the journal continue in a reused file that still contains old data.
        for _ in 0..2 {
            let row = everything("Sales", "000000", 0)?;
            table.insert_or_replace(&row).await?;
            engine.checkpoint().await?;
        }
        // From now on, the changes are only in the journal.
        for (at, row) in ["000000", "000003", "000006"].into_iter().enumerate() {
            table.delete(Selection::point("Sales", row), IfMatch::Any).await?;
            let name = format!("{:06}", 9 + 3 * at);
            table
                .merge(&TableEntity::new("Sales", name)?.with("Small", Value::Int64(5)), IfMatch::Any)
                .await?;
        }
        engine.untyped("Gone")?.delete_table().await?;
        let later = engine.untyped("Later")?.create_if_missing().await?;
        later.insert(&everything("p", "000001", 1)?).await?;
        later.insert_or_replace(&everything("p", "000001", 2)?).await?;
        Ok::<_, Error>(())
    })
    .unwrap();
    // No checkpoint has been made since, so the changes remain in the journal.
    drop(engine);
    fs::create_dir_all(&fixture).unwrap();
    for (name, bytes) in files(folder.path()).into_iter().filter(|(name, _)| name != "LOCK") {
        fs::write(fixture.join(name), pack(&bytes)).unwrap();
    }
    fs::write(fixture.join(CONTENTS), contents(Engine::open(unpacked(CURRENT).path()).unwrap()).unwrap())
        .unwrap();
}

/// Tests that a folder stays locked even if a clean-up removes its lock file. The engine also locks the manifest.
#[test]
fn a_folder_that_is_upgraded_stays_locked_without_its_lock_file() {
    for format in FORMATS {
        let folder = unpacked(format);
        let first = Engine::open(folder.path()).unwrap();
        fs::remove_file(folder.path().join("LOCK")).unwrap();
        let second = Engine::open(folder.path());
        assert_eq!(second.unwrap_err().code(), ErrorCode::FolderLocked, "format {format}");
        drop(first);
    }
}
