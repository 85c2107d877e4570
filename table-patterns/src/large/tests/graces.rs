//! Tests programs with different grace periods.

use proptest::prelude::*;

use super::*;

const HOUR: u64 = GRACE / 24;

fn hours(hours: u64) -> Duration {
    Duration::from_secs(3_600 * hours)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn pat_large_2_programs_with_different_grace_periods_remove_no_blob_of_a_write(
        (of_writer, of_collector) in (1..40_u64, 1..40_u64),
        ahead in 0..1_000_u64,
        steps in prop::collection::vec(0..8_u64, 8),
        runs in any::<[bool; 8]>(),
    ) {
        let scene = scene();
        let hand = Arc::clone(&scene.now);
        // The collector's clock is ahead of the writer's clock by less than the writer's grace period.
        let ahead = ahead * of_writer * HOUR / 1_000;
        let collector = scene.employees.clone().grace(hours(of_collector));
        let collector = collector.with_clock(Clock::new(move || hand.load(Ordering::SeqCst) + ahead));
        let writer = scene.employees.clone().grace(hours(of_writer));
        let (now, during) = (Arc::clone(&scene.now), collector.clone());
        let mut chunks = steps.into_iter().zip(runs);
        let slow = stream::iter(vec![Bytes::from_static(b"cv!"); 8]).map(move |chunk| {
            let (step, runs) = chunks.next().unwrap();
            now.fetch_add(step * HOUR, Ordering::SeqCst);
            if runs {
                block_on(during.collect_orphans()).unwrap();
            }
            Ok(chunk)
        });
        let written =
            block_on(writer.insert(ada(223), [PHOTO.content(content(7, 20)), CV.content(slow)]));
        for _ in 0..4 {
            if written.is_ok() {
                prop_assert_eq!(scene.read_blob(223, PHOTO).unwrap(), Some(vec![7; 20]));
                prop_assert_eq!(scene.read_blob(223, CV).unwrap(), Some(b"cv!".repeat(8)));
            }
            scene.now.fetch_add(of_writer.max(of_collector) * HOUR, Ordering::SeqCst);
            block_on(collector.collect_orphans()).unwrap();
        }
        // A refused write leaves no blob.
        prop_assert_eq!(scene.blobs.names().len(), if written.is_ok() { 2 } else { 0 });
    }

    #[test]
    fn pat_large_2_a_reader_has_the_grace_period_of_the_writer(
        (of_writer, of_collector) in (1..40_u64, 1..40_u64),
        steps in prop::collection::vec(0..20_u64, 1..12),
    ) {
        let scene = scene();
        let writer = scene.employees.clone().grace(hours(of_writer));
        let collector = scene.employees.clone().grace(hours(of_collector));
        block_on(writer.insert(ada(223), [PHOTO.content(content(7, 20))])).unwrap();
        let old = block_on(writer.table().get(Employee::key("Sales", 223))).unwrap().unwrap();
        scene.now.fetch_add(100 * HOUR, Ordering::SeqCst);
        block_on(writer.remove(Employee::key("Sales", 223), PHOTO)).unwrap();
        let mut passed = 0;
        for step in steps {
            scene.now.fetch_add(step * HOUR, Ordering::SeqCst);
            passed += step;
            block_on(collector.collect_orphans()).unwrap();
            if passed < of_writer {
                prop_assert!(block_on(writer.open(&old, PHOTO)).is_ok(), "after {} of {} hours", passed, of_writer);
            }
        }
    }
}
