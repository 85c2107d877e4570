//! Groups the writes to one partition into transactions.

use std::collections::BTreeSet;

use super::Part;

/// Groups consecutive parts into transactions of at most `most` operations and `together` parts. A row that several parts write counts as one operation. A part
/// that needs more operations gets a transaction of its own.
pub(super) fn of<W>(parts: &[Part<W>], most: usize, together: usize) -> Vec<&[Part<W>]> {
    let (mut packs, mut begin, mut own) = (Vec::new(), 0, 0);
    let mut shared: BTreeSet<&String> = BTreeSet::new();
    for (at, part) in parts.iter().enumerate() {
        let more = part.shared.iter().filter(|row| !shared.contains(row)).count();
        if at > begin && (own + part.own + shared.len() + more > most || at - begin >= together) {
            packs.extend(parts.get(begin..at));
            (begin, own) = (at, 0);
            shared.clear();
        }
        own += part.own;
        shared.extend(&part.shared);
    }
    packs.extend(parts.get(begin..).filter(|rest| !rest.is_empty()));
    packs
}

#[cfg(test)]
mod tests;
