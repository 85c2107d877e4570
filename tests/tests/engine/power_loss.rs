//! Tests that a power loss never loses an acknowledged write, whichever unsynced data survives (design promise 8, CON-1, EGT-9).

use simulation::power::{Fault, SimulatedDisk};
use tests::crash::Evidence;
use tests::crash::power_loss::{findings, write};
use tests::effort::effort;

const STEPS: usize = 60;
/// The number of different disk images per power loss. They differ in the unsynced data that has survived.
const IMAGES: u64 = 6;

/// Runs writers, and cuts the power at each sync in `cuts`. Stops after the first run that ends before its cut.
///
/// The number of syncs varies between runs, because concurrent writers share syncs and checkpoints run concurrently.
fn cut_at_syncs(cuts: impl Iterator<Item = u64>, writers: usize, steps: usize) {
    let mut last = 0;
    for cut in cuts {
        let disk = SimulatedDisk::new();
        disk.set_fault(Some(Fault::PowerAtSync(cut)));
        let (evidence, error) = write(&disk, Evidence::default(), writers, steps);
        for seed in 0..IMAGES {
            let image = disk.after_power_loss(cut * IMAGES + seed);
            let wrong = findings(&image, &evidence);
            assert!(
                wrong.is_empty(),
                "cut at sync {cut}, image {seed}, {writers} writers:\n{}",
                wrong.join("\n")
            );
        }
        if !disk.has_lost_power() {
            assert!(error.is_none(), "{error:?}");
            // The check must not trigger the fault that this run has not reached.
            disk.set_fault(None);
            assert_eq!(findings(&disk, &evidence), Vec::<String>::new());
            break;
        }
        last = cut;
    }
    // Transactions of the same writer never share a sync, so every run has at least `steps` syncs.
    assert!(last + 1 >= steps as u64, "the last cut that hit a run was at sync {last}");
}

#[test]
fn cut_at_every_sync_of_one_writer() {
    cut_at_syncs(1.., 1, STEPS);
}

// If commits are not grouped, eight writers sync once per transaction. The test therefore uses fewer steps. `simulate` cuts the power at any write, in
// thousands of histories.
#[test]
fn cut_at_every_third_sync_of_eight_writers() {
    cut_at_syncs((1..).step_by(3), 8, STEPS / 3);
}

#[test]
fn power_fails_repeatedly_during_and_after_recovery() {
    for seed in 0..effort(15) {
        let mut disk = SimulatedDisk::new();
        let mut evidence = Evidence::default();
        for round in 0..8 {
            disk.set_fault(Some(Fault::PowerAtSync(1 + (seed * 7 + round * 13) % 29)));
            (evidence, _) = write(&disk, evidence, 3, STEPS);
            disk = disk.after_power_loss(seed * 100 + round);
            if evidence.writers() > 0 {
                // The check recovers only a copy of the disk. The next round therefore also starts with a recovery.
                let wrong = findings(&disk.after_power_loss(0), &evidence);
                assert!(wrong.is_empty(), "seed {seed}, round {round}:\n{}", wrong.join("\n"));
            }
        }
    }
}

#[test]
fn a_failing_sync_is_an_error_and_reopening_recovers() {
    for sync in (1..60).step_by(3) {
        let disk = SimulatedDisk::new();
        disk.set_fault(Some(Fault::SyncFails(sync)));
        let (evidence, error) = write(&disk, Evidence::default(), 3, STEPS);
        let wrong = findings(&disk, &evidence);
        assert!(wrong.is_empty(), "sync {sync} failed ({error:?}):\n{}", wrong.join("\n"));
        let wrong = findings(&disk.after_power_loss(sync), &evidence);
        assert!(wrong.is_empty(), "sync {sync} failed, then the power:\n{}", wrong.join("\n"));
        let (evidence, error) = write(&disk, evidence, 3, STEPS);
        assert!(error.is_none(), "sync {sync} had failed before: {error:?}");
        assert_eq!(findings(&disk, &evidence), Vec::<String>::new());
    }
}

#[test]
fn a_full_disk_is_an_error_and_freed_space_recovers() {
    let mut refused = 0;
    for kilobytes in (0..600).step_by(31) {
        let disk = SimulatedDisk::new();
        disk.set_fault(Some(Fault::FullAfter(kilobytes * 1024)));
        let (evidence, error) = write(&disk, Evidence::default(), 3, STEPS);
        refused += usize::from(error.is_some());
        disk.set_fault(None);
        if evidence.writers() > 0 {
            let wrong = findings(&disk, &evidence);
            assert!(wrong.is_empty(), "full after {kilobytes} KiB:\n{}", wrong.join("\n"));
        }
        let (evidence, error) = write(&disk, evidence, 3, STEPS);
        assert!(error.is_none(), "full after {kilobytes} KiB, then not: {error:?}");
        assert_eq!(findings(&disk, &evidence), Vec::<String>::new());
    }
    assert!(refused > 5, "the disk was full in {refused} runs only");
}
