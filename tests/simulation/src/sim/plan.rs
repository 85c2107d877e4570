//! The random choices for a life (the lifetime of one engine). They determine how the engine is opened, which faults occur, and how the life ends.

use rand::RngExt;
use rand::rngs::StdRng;
use table_core::embedded::testing::Step;

use crate::power::Fault;

/// One life of an engine, from its opening to its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Life {
    pub(super) work: Work,
    pub(super) checkpoint_bytes: usize,
    pub(super) memtable_bytes: usize,
    pub(super) cache_bytes: usize,
    pub(super) page_entities: usize,
    pub(super) relaxed: bool,
    /// `true` if the name of a deleted table is refused until the engine ends.
    pub(super) drops_slowly: bool,
    /// The maximum number of writes pending at the same time.
    pub(super) callers: usize,
    pub(super) steps: u32,
    pub(super) compactions: Compactions,
    pub(super) trouble: Trouble,
    /// The step at which the fault begins. If it is 0, the fault begins before the folder is opened.
    pub(super) from: u32,
    pub(super) end: End,
}

/// The kind of transactions that most callers request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Callers write a few random rows.
    Scattered,
    /// Callers write up to a hundred neighbouring rows.
    Load,
    /// Callers delete up to a hundred neighbouring rows.
    Delete,
    /// Callers write rows after the last row, and delete the first rows.
    Queue,
    /// Callers write one row at a time, with a checkpoint after every few rows.
    Trickle,
}

/// The times at which compactions are requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compactions {
    /// At random steps.
    Random,
    /// After the last step.
    AtEnd,
    /// Never. Layers accumulate until the merge policy merges them.
    Never,
}

/// The fault that occurs during a life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    None,
    /// A fault of the disk.
    Disk(Fault),
    /// A thread panics or fails when it reaches the given step for the n-th time.
    Thread {
        step: Step,
        nth: u32,
        panics: bool,
    },
    /// A bit is flipped in a file with rows while the file is in use.
    Rot,
    /// A sector cannot be read in a file with rows.
    Unreadable,
    /// The clock jumps.
    Clock,
}

/// The way a life ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Close,
    /// All handles are dropped, and all callers disappear.
    Drop,
    /// The process is killed between two steps.
    Kill,
    /// The power fails.
    Power,
}

impl Work {
    const ALL: [Self; 6] =
        [Self::Scattered, Self::Load, Self::Load, Self::Delete, Self::Queue, Self::Trickle];
}

impl Life {
    pub(super) fn draw(random: &mut StdRng) -> Self {
        let checkpoint_bytes =
            [0, 1_500, 6_000, 20_000, 60_000, 400_000, usize::MAX][random.random_range(0..7)];
        let steps = random.random_range(20..160);
        // The memtable may even be too small to reach this checkpoint size.
        let memtable_bytes = match random.random_range(0..4) {
            0 => [1_500, 20_000, 400_000][random.random_range(0..3)],
            factor => checkpoint_bytes.saturating_mul(1 << factor),
        };
        Self {
            work: Work::ALL[random.random_range(0..Work::ALL.len())],
            checkpoint_bytes,
            memtable_bytes,
            cache_bytes: [0, 1 << 20][random.random_range(0..2)],
            page_entities: [3, 7, 1_000][random.random_range(0..3)],
            relaxed: random.random_ratio(1, 10),
            drops_slowly: false,
            callers: random.random_range(1..8),
            steps,
            compactions: Compactions::Random,
            trouble: Trouble::draw(random),
            from: [0, random.random_range(0..steps)][random.random_range(0..2)],
            end: [End::Close, End::Drop, End::Kill, End::Power, End::Power][random.random_range(0..5)],
        }
    }

    /// Returns the memtable size at which a checkpoint starts at the latest.
    pub(super) fn checkpoint_at(&self) -> usize {
        let bounded = |bytes: usize| bytes.clamp(1 << 10, 1 << 40);
        bounded(self.checkpoint_bytes).min(bounded(self.memtable_bytes) / 2)
    }

    /// Returns a variant of this life that wears out segments.
    ///
    /// The first life of a history loads rows into large segments. The later lives change single rows in many small checkpoints. Some segments then have more
    /// layers than allowed, although these layers are still much smaller than the segment. Other layers are too large for a single merge.
    pub(super) fn worn(self, number: u32) -> Self {
        let (work, checkpoint_bytes, steps, compactions, trouble) = if number == 0 {
            (Work::Load, 400_000, self.steps.max(60), Compactions::AtEnd, Trouble::None)
        } else {
            let small = [1 << 10, 1_500, 6_000][self.steps as usize % 3];
            (Work::Trickle, small, self.steps.max(120), Compactions::Never, self.trouble)
        };
        Self {
            work,
            checkpoint_bytes,
            memtable_bytes: 4 * checkpoint_bytes,
            steps,
            compactions,
            trouble,
            ..self
        }
    }

    /// Returns a life that ends with a power loss before the engine has made much data durable. It follows lives in which the engine was killed or a sync
    /// failed.
    pub(super) fn short(self) -> Self {
        let (trouble, end) = (Trouble::None, End::Power);
        Self {
            trouble,
            end,
            steps: self.steps % 12,
            from: 1,
            checkpoint_bytes: 1 << 20,
            memtable_bytes: 4 << 20,
            ..self
        }
    }

    /// Returns a life without faults and without requests.
    pub(super) fn quiet(self) -> Self {
        Self { trouble: Trouble::None, steps: 0, ..self }
    }
}

impl Trouble {
    /// Returns `true` if the trouble may later cause the loss of data that a sync should have made durable.
    pub(super) fn is_of_syncs(self) -> bool {
        matches!(self, Self::Disk(Fault::SyncFails(_) | Fault::CallFails(_) | Fault::CallFull(_)))
    }

    /// Returns `true` if the trouble is a shortage of disk space or file descriptors. Calls then fail, but the engine does not stop.
    pub(super) fn is_shortage(self) -> bool {
        matches!(self, Self::Disk(Fault::FullAfter(_) | Fault::NoDescriptors(..)))
    }

    fn draw(random: &mut StdRng) -> Self {
        // Each limit is usually small, and sometimes large.
        let below = |random: &mut StdRng, most: [u64; 3]| {
            let most = most[random.random_range(0..3)];
            random.random_range(0..most)
        };
        let nth = |random: &mut StdRng| 1 + below(random, [6, 40, 200]);
        match random.random_range(0..17) {
            0..=1 => Self::None,
            2..=3 => Self::Disk(Fault::PowerAtCall(nth(random))),
            4 => Self::Disk(Fault::PowerAtSync(nth(random))),
            5 => Self::Disk(Fault::SyncFails(nth(random))),
            6 => Self::Disk(Fault::CallFails(nth(random))),
            7..=8 => Self::Disk(Fault::FullAfter(below(random, [1, 300_000, 5_000_000]))),
            13 => Self::Disk(Fault::CallFull(nth(random))),
            14..=15 => Self::Disk(Fault::NoDescriptors(below(random, [6, 40, 200]), nth(random))),
            16 => Self::Unreadable,
            9..=10 => Self::Thread {
                step: Step::ALL[random.random_range(0..Step::ALL.len())],
                nth: random.random_range(1..6),
                panics: random.random(),
            },
            11 => Self::Rot,
            _ => Self::Clock,
        }
    }
}
