//! Generates a possible content of the disk after a power loss.
//!
//! A sector that has been written n times since its last sync contains any of its n + 1 versions, independently of every other sector. This covers dropped
//! writes, reordered writes, and writes that are torn between sectors. In addition, one in eight changed sectors is torn internally.

use std::collections::BTreeMap;

use rand::RngExt;
use rand::rngs::StdRng;

use crate::power::disk::{Change, Content, FileState, State, Survive};

const SECTOR: usize = 512;

/// The amount of unsynced data that survives a simulated power loss.
#[derive(Clone, Copy)]
enum Mood {
    Nothing,
    Everything,
    Some,
}

pub(super) fn after_power_loss(state: &State, random: &mut StdRng) -> State {
    let (mood, survive) = match random.random_range(0..5) {
        0 => (Mood::Nothing, Survive::None),
        1 => (Mood::Everything, Survive::All),
        2 => (Mood::Some, Survive::Any),
        _ => (Mood::Some, Survive::First),
    };
    let entries = state.entries.after_power_loss(survive, random);
    let files = state.files.iter().map(|file| (contents(file, mood, random), file.unreadable)).collect();
    State::settled(files, entries)
}

fn contents(file: &FileState, mood: Mood, random: &mut StdRng) -> Content {
    match mood {
        Mood::Nothing => file.durable.clone(),
        Mood::Everything => file.current.clone(),
        Mood::Some => some(file, random),
    }
}

fn some(file: &FileState, random: &mut StdRng) -> Content {
    let mut versions: BTreeMap<usize, usize> = BTreeMap::new();
    for sector in file.pending.iter().flat_map(sectors) {
        *versions.entry(sector).or_default() += 1;
    }
    let mut left: BTreeMap<usize, usize> =
        versions.into_iter().map(|(sector, count)| (sector, random.random_range(0..=count))).collect();
    let mut bytes = file.durable.clone();
    let mut length = bytes.len();
    // The length of a file is metadata, so its changes are ordered separately from the data. A random number of these changes takes effect, starting with the
    // first.
    let lengths = random.random_range(0..=file.pending.len());
    for (index, change) in file.pending.iter().enumerate() {
        match change {
            Change::SetLength(new) => {
                if index < lengths {
                    length = *new;
                }
                bytes.resize(bytes.len().max(*new));
                if *new < bytes.len() && index < lengths {
                    bytes.resize(*new);
                }
            }
            Change::Write { offset, bytes: written } => {
                let end = offset + written.len();
                bytes.resize(bytes.len().max(end));
                if index < lengths {
                    length = length.max(end);
                }
                for sector in sectors(change) {
                    let Some(left) = left.get_mut(&sector).filter(|left| **left > 0) else { continue };
                    *left -= 1;
                    let from = (sector * SECTOR).max(*offset);
                    let mut to = ((sector + 1) * SECTOR).min(end);
                    if *left == 0 && random.random_ratio(1, 8) {
                        to = random.random_range(from..=to);
                    }
                    written.write(&mut bytes, from, from - offset..to - offset);
                }
            }
        }
    }
    bytes.resize(length);
    bytes
}

fn sectors(change: &Change) -> std::ops::Range<usize> {
    match change {
        Change::Write { offset, bytes } if bytes.len() > 0 => {
            offset / SECTOR..(offset + bytes.len()).div_ceil(SECTOR)
        }
        _ => 0..0,
    }
}
