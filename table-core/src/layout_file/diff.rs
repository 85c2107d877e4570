//! Line-by-line differences between two texts.

/// Returns the lines that differ between two texts. Lines found only in `old` have the prefix `-`, and lines found only in `new` have the prefix `+`.
///
/// Lines in a longest common subsequence of both texts count as equal.
pub(super) fn diff(old: &str, new: &str) -> String {
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    // For each pair of positions, `common` contains the length of the longest common subsequence of the lines from these positions to the ends. It is computed
    // backwards.
    let mut common = vec![vec![0_usize; new.len() + 1]];
    for line in old.iter().rev() {
        let below = common.last().cloned().unwrap_or_default();
        let mut row = vec![0; new.len() + 1];
        for (at, other) in new.iter().enumerate().rev() {
            let (aside, beneath, beyond) = (get(&row, at + 1), get(&below, at), get(&below, at + 1));
            if let Some(cell) = row.get_mut(at) {
                *cell = if line == other { beyond + 1 } else { aside.max(beneath) };
            }
        }
        common.push(row);
    }
    common.reverse();
    let lengths = |i: usize, j: usize| common.get(i).map_or(0, |row| get(row, j));
    let (mut i, mut j) = (0, 0);
    let mut text = String::new();
    loop {
        match (old.get(i), new.get(j)) {
            (Some(before), Some(after)) if before == after => (i, j) = (i + 1, j + 1),
            (Some(before), after) if after.is_none() || lengths(i + 1, j) >= lengths(i, j + 1) => {
                text.extend(["  - ", before, "\n"]);
                i += 1;
            }
            (_, Some(after)) => {
                text.extend(["  + ", after, "\n"]);
                j += 1;
            }
            _ => return text,
        }
    }
}

fn get(row: &[usize], at: usize) -> usize {
    row.get(at).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::diff;

    #[test]
    fn only_differing_lines_are_shown() {
        assert_eq!(diff("a\nb\nc\n", "a\nx\nc\nd\n"), "  - b\n  + x\n  + d\n");
        assert_eq!(diff("", "a\n"), "  + a\n");
        assert_eq!(diff("a\n", ""), "  - a\n");
        assert_eq!(diff("a\n", "a\n"), "");
    }

    proptest! {
        #[test]
        fn removed_and_added_lines_turn_one_text_into_the_other(old in "[abc\n]{0,12}", new in "[abc\n]{0,12}") {
            let diff = diff(&old, &new);
            let count = |text: &str, line: &str| text.lines().filter(|found| *found == line).count();
            for line in ["a", "b", "c", "", "ab"] {
                let (gone, come) = (count(&diff, &format!("  - {line}")), count(&diff, &format!("  + {line}")));
                prop_assert_eq!(count(&old, line) + come, count(&new, line) + gone);
            }
            prop_assert_eq!(diff.is_empty(), old.lines().eq(new.lines()));
        }
    }
}
