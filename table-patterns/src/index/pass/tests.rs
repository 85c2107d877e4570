use super::*;

/// Returns the start of a phase, and a page after it.
fn pages(phase: Phase) -> [PageOf; 2] {
    let position = Position::read("3  00000000000000ff");
    assert_ne!(position, Position::default());
    [PageOf::first(phase), PageOf { phase, position }]
}

#[test]
fn a_state_is_read_as_it_was_recorded() {
    let all = || [Phase::Rows, Phase::Entities].into_iter().flat_map(pages);
    for next in all() {
        for failed in all().map(Some).chain([None]) {
            for aside in [0, 1, 70] {
                let pass = Pass { aside, failed: failed.clone(), next: next.clone() };
                assert_eq!(Pass::read(&pass.to_string()), pass);
                assert_eq!(Pass::read(&format!("{pass} pass-00ff")), pass);
            }
        }
    }
    for other in ["", "rows", "aside 3", "aside x rows 3  ff", "failed rows 3  ff", "closing 7", "rows x y z"]
    {
        assert_eq!(Pass::read(other), Pass::start(), "{other}");
    }
}
