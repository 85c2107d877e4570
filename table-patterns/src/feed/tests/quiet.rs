//! Tests the mark that followers set on a quiet feed, which has no new entries.

use pollster::block_on;

use super::World;

#[test]
fn pat_ec_8_a_quiet_feed_is_marked_and_unmarked_before_the_next_commit() {
    let world = World::new(1_000);
    let (writer, follower) = (world.feed(0), world.feed(0));
    world.write(&writer, &[0]);
    let listed = || block_on(follower.listed(&world.table)).unwrap().pop().unwrap();
    let head = || block_on(follower.head(&world.table, &world.sales)).unwrap().unwrap();
    let end = head().0.end();
    let mark = |listed, head| block_on(follower.mark_quiet(&world.table, &listed, head)).unwrap();
    mark(listed(), head());
    assert!(listed().is_read_at(&end));
    world.write(&writer, &[1]);
    assert!(!listed().is_read_at(&end));
    // A follower may be suspended between any two of its requests. It never marks a feed as quiet that has new entries.
    let (early_list, early_head) = (listed(), head());
    world.write(&writer, &[2]);
    mark(early_list.clone(), early_head);
    assert!(!listed().is_read_at(&head().0.end()), "the head has changed");
    mark(listed(), head());
    let marked = (listed(), head());
    world.write(&writer, &[3]);
    mark(marked.0, head());
    assert!(!listed().is_read_at(&head().0.end()), "the registry has changed");
}

#[test]
fn a_feed_that_is_kept_listed_is_never_marked() {
    let world = World::new(1_000);
    let (writer, follower) = (world.feed(0), world.feed(0));
    // The partition is listed before the feed has an entry, and again after an attempt to mark the feed as quiet.
    for number in 0..2 {
        block_on(follower.keep_listed(&world.table, &world.sales)).unwrap();
        world.write(&writer, &[number]);
        let listed = block_on(follower.listed(&world.table)).unwrap().pop().unwrap();
        let head = block_on(follower.head(&world.table, &world.sales)).unwrap().unwrap();
        let end = head.0.end();
        block_on(follower.mark_quiet(&world.table, &listed, head)).unwrap();
        let listed = block_on(follower.listed(&world.table)).unwrap().pop().unwrap();
        assert!(!listed.is_read_at(&end));
    }
}
