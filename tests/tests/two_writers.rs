//! Tests that two processes cannot write to the same folder. One of them opens the folder, and the other is rejected. No acknowledged write may be lost.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Lines, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use pollster::block_on;
use table_core::{Engine, ErrorCode};
use tests::crash::process::CHILD;
use tests::crash::{Acknowledged, Evidence, check};

/// A process that writes to a folder. The test kills it. If it does not, dropping this value does.
struct Writing {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Writing {
    fn to(folder: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_torture"));
        command.arg(CHILD).arg(folder).args(["4", "0"]);
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// Reads up to `most` acknowledgements of the process into `evidence`. Returns their number.
    fn acknowledge(&mut self, most: usize, evidence: &mut Evidence) -> usize {
        let mut read = 0;
        // The other lines report the duration of writes.
        while read < most
            && let Some(Ok(line)) = self.lines.next()
        {
            if let Ok(acknowledged) = line.parse::<Acknowledged>() {
                evidence.record(acknowledged);
                read += 1;
            }
        }
        read
    }

    /// Kills the process as `kill -9` does, and then reads the remaining acknowledgements.
    fn kill(mut self, evidence: &mut Evidence) {
        self.child.kill().unwrap();
        self.acknowledge(usize::MAX, evidence);
    }

    /// Waits for a process that must be rejected, and returns its error message. The process must have exited without acknowledging a write.
    fn refusal(mut self) -> String {
        assert_eq!(self.acknowledge(usize::MAX, &mut Evidence::default()), 0);
        let mut text = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        assert!(!self.child.wait().unwrap().success());
        text
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn assert_refused(text: &str) {
    assert!(text.contains("another engine has") && text.contains("open; close it first"), "{text}");
}

#[test]
fn a_second_writer_is_refused_and_the_first_continues_without_its_lock_file() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("held");
    let (mut first, mut evidence) = (Writing::to(&folder), Evidence::default());
    assert_eq!(first.acknowledge(200, &mut evidence), 200);
    assert_refused(&Writing::to(&folder).refusal());
    assert_eq!(first.acknowledge(200, &mut evidence), 200);
    std::fs::remove_file(folder.join("LOCK")).unwrap();
    assert_refused(&Writing::to(&folder).refusal());
    assert_eq!(first.acknowledge(200, &mut evidence), 200);
    first.kill(&mut evidence);
    assert_eq!(block_on(check(&Engine::open(&folder).unwrap(), &evidence)).unwrap(), Vec::<String>::new());
}

#[test]
fn a_killed_writer_leaves_its_lock_file_without_locking_the_next_one_out() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("killed");
    let mut evidence = Evidence::default();
    for round in 0..6 {
        let mut writer = Writing::to(&folder);
        assert_eq!(writer.acknowledge(100, &mut evidence), 100, "round {round}");
        assert_eq!(Engine::open(&folder).unwrap_err().code(), ErrorCode::FolderLocked);
        writer.kill(&mut evidence);
        assert!(folder.join("LOCK").exists());
        let engine = Engine::open(&folder).unwrap();
        assert_eq!(block_on(check(&engine, &evidence)).unwrap(), Vec::<String>::new(), "round {round}");
    }
}

#[test]
fn only_one_of_several_processes_writes_to_a_new_folder() {
    for round in 0..4 {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("new");
        let mut evidence = Evidence::default();
        let mut writers: Vec<_> = (0..3).map(|_| Writing::to(&folder)).collect();
        let wrote = |writer: &mut Writing| writer.acknowledge(1, &mut evidence) == 1;
        let winners: Vec<bool> = writers.iter_mut().map(wrote).collect();
        assert_eq!(winners.iter().filter(|won| **won).count(), 1, "round {round}");
        for (writer, won) in writers.into_iter().zip(winners) {
            if won { writer.kill(&mut evidence) } else { assert_refused(&writer.refusal()) }
        }
        assert_eq!(
            block_on(check(&Engine::open(&folder).unwrap(), &evidence)).unwrap(),
            Vec::<String>::new()
        );
    }
}
