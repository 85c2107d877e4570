//! Tests of the generated Debian builds. Each build occurs once and in order, and the same number of builds always produces the same builds.

mod debian;
mod seeded;

use examples::large::*;

#[test]
fn the_requested_number_of_builds_is_distinct_and_in_key_order() {
    for builds in [0, 1, 17, 59_999, 150_001] {
        let index = PackageIndex::seeded(builds);
        let key = |b: PackageBuild<'_>| (b.package.section.clone(), format!("{}_", b.package.name), b.number);
        let keys: Vec<_> = index.builds().map(key).collect();
        assert_eq!(keys.len() as u64, builds);
        assert!(keys.is_sorted_by(|left, right| left < right));
        let mut interleaved: Vec<_> = index.builds_interleaved().map(key).collect();
        interleaved.sort();
        assert_eq!(interleaved, keys);
    }
}

#[test]
fn builds_are_numbered_from_one_without_a_gap() {
    let index = PackageIndex::seeded(150_001);
    let mut last: Option<PackageBuild<'_>> = None;
    for build in index.builds() {
        let same = last.as_ref().filter(|last| last.package == build.package);
        assert_eq!(build.number, same.map_or(1, |last| last.number + 1));
        last = Some(build);
    }
}

#[test]
fn the_sections_together_contain_all_builds() {
    let index = PackageIndex::seeded(10_000);
    assert_eq!(index.sections().map(|(_, builds)| builds).sum::<u64>(), 10_000);
    let sections = index.sections().flat_map(|(section, _)| index.section(section));
    assert!(index.builds().eq(sections));
    assert_eq!(index.section("no such section").count(), 0);
}

#[test]
fn the_same_number_gives_the_same_builds() {
    let (once, again) = (PackageIndex::seeded(1_000), PackageIndex::seeded(1_000));
    assert!(once.builds().eq(again.builds()));
}
