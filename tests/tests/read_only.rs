//! Tests that a folder can be opened and read repeatedly while another process writes to it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use pollster::block_on;
use table_core::{Engine, ErrorCode};
use tests::crash::process::CHILD;
use tests::crash::{Acknowledged, Evidence, check};

/// A child process. It is killed when this value is dropped at the end of the test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_second_process_sees_acknowledged_writes_as_whole_transactions() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("torture");
    let mut command = Command::new(Path::new(env!("CARGO_BIN_EXE_torture")));
    command.arg(CHILD).arg(&folder).args(["8", "0"]).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = Ended(command.spawn().unwrap());
    let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
    let mut evidence = Evidence::default();
    let mut held = Vec::new();
    for round in 0..24 {
        for line in lines.by_ref().take(150) {
            // The other lines report the duration of writes.
            if let Ok(acknowledged) = line.unwrap().parse::<Acknowledged>() {
                evidence.record(acknowledged);
            }
        }
        let reader = Engine::open_read_only(&folder).unwrap();
        let none: Vec<String> = Vec::new();
        assert_eq!(block_on(check(&reader, &evidence)).unwrap(), none, "round {round}");
        assert_eq!(Engine::open(&folder).unwrap_err().code(), ErrorCode::FolderLocked);
        if round % 6 == 0 {
            held.push((reader, evidence.clone()));
        }
    }
    // In the meantime, the writer has merged runs (sorted files of rows) and deleted the originals.
    assert!(Engine::open_read_only(&folder).unwrap().statistics().unwrap().runs > 0, "checkpoints were done");
    for (reader, evidence) in &held {
        assert_eq!(block_on(check(reader, evidence)).unwrap(), Vec::<String>::new());
        assert!(reader.verify().unwrap().is_whole());
    }
    drop(child);
    for line in lines.map_while(Result::ok) {
        line.parse().map_or_else(|()| (), |acknowledged| evidence.record(acknowledged));
    }
    let reader = Engine::open_read_only(&folder).unwrap();
    assert_eq!(block_on(check(&reader, &evidence)).unwrap(), Vec::<String>::new());
    let engine = Engine::open(&folder).unwrap();
    assert_eq!(block_on(check(&engine, &evidence)).unwrap(), Vec::<String>::new());
}
