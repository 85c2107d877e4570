//! Slot names generated at compile time, such as `Hour00` to `Hour23`.

/// Returns the number of decimal digits in `last`.
#[doc(hidden)]
#[must_use]
pub const fn digits(last: usize) -> usize {
    let (mut digits, mut rest) = (1, last / 10);
    while rest > 0 {
        digits += 1;
        rest /= 10;
    }
    digits
}

/// Generates consecutive names, as byte arrays.
#[doc(hidden)]
#[must_use]
#[expect(clippy::indexing_slicing, reason = "runs at compile time: an invalid index does not compile")]
#[expect(clippy::cast_possible_truncation, reason = "a digit fits a byte")]
pub const fn texts<const WIDTH: usize, const COUNT: usize>(
    prefix: &str,
    first: usize,
) -> [[u8; WIDTH]; COUNT] {
    let mut texts = [[b'0'; WIDTH]; COUNT];
    let mut slot = 0;
    while slot < COUNT {
        let mut at = 0;
        while at < prefix.len() {
            texts[slot][at] = prefix.as_bytes()[at];
            at += 1;
        }
        let (mut place, mut rest) = (WIDTH, first + slot);
        while place > prefix.len() {
            place -= 1;
            texts[slot][place] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        slot += 1;
    }
    texts
}

/// Converts names from byte arrays to strings.
#[doc(hidden)]
#[must_use]
#[expect(clippy::indexing_slicing, reason = "runs at compile time: an invalid index does not compile")]
pub const fn names<const WIDTH: usize, const COUNT: usize>(
    texts: &'static [[u8; WIDTH]; COUNT],
) -> [&'static str; COUNT] {
    let mut names = [""; COUNT];
    let mut slot = 0;
    while slot < COUNT {
        names[slot] = match str::from_utf8(&texts[slot]) {
            Ok(name) => name,
            Err(_) => panic!("the name of a slot is not UTF-8"),
        };
        slot += 1;
    }
    names
}

/// Returns `true` if two strings are equal.
pub(crate) const fn is_same(left: &str, right: &str) -> bool {
    let (mut left, mut right) = (left.as_bytes(), right.as_bytes());
    while let ([a, left_rest @ ..], [b, right_rest @ ..]) = (left, right) {
        if *a != *b {
            return false;
        }
        (left, right) = (left_rest, right_rest);
    }
    left.is_empty() && right.is_empty()
}

/// Returns `true` if the names are in strictly ascending order.
pub(crate) const fn is_sorted(names: &[&str]) -> bool {
    let mut rest = names;
    while let [first, after @ ..] = rest {
        if let [second, ..] = after
            && !is_before(first, second)
        {
            return false;
        }
        rest = after;
    }
    true
}

const fn is_before(left: &str, right: &str) -> bool {
    let (mut left, mut right) = (left.as_bytes(), right.as_bytes());
    while let ([a, left_rest @ ..], [b, right_rest @ ..]) = (left, right) {
        if *a != *b {
            return *a < *b;
        }
        (left, right) = (left_rest, right_rest);
    }
    left.is_empty() && !right.is_empty()
}

/// Generates slot names from a word, the first number and the count. All numbers have as many digits as the last number. The names therefore sort in slot order
/// (DQ-10).
///
/// The number of digits is part of the names. If a later declaration of a [series](crate::series) needs more digits, such as `S10` after `S9`, the stored slots
/// `S0` to `S9` are no longer read, and [`insert_or_replace`](crate::series::SeriesTable::insert_or_replace) removes them. Therefore, declare as many slots as
/// the series may ever have; empty slots are not stored. A [wide entity](crate::wide) also reads slots whose numbers have fewer or more digits.
///
/// ```
/// use table_patterns::slot_names;
///
/// const DAYS: &[&str] = slot_names!("Day", 1, 31);
/// assert_eq!((DAYS[0], DAYS[30]), ("Day01", "Day31"));
/// ```
#[macro_export]
macro_rules! slot_names {
    ($word:literal, $first:literal, $count:literal) => {{
        const WIDTH: usize = $word.len() + $crate::series::digits($first + $count - 1);
        static TEXTS: [[u8; WIDTH]; $count] = $crate::series::texts($word, $first);
        static NAMES: [&str; $count] = $crate::series::names(&TEXTS);
        &NAMES
    }};
}

/// The hours of a day: `Hour00` to `Hour23` (PAT-SER).
pub const HOURS: &[&str] = slot_names!("Hour", 0, 24);
/// The minutes of an hour: `Minute00` to `Minute59`.
pub const MINUTES: &[&str] = slot_names!("Minute", 0, 60);
/// The days of a month: `Day01` to `Day31`.
pub const DAYS_OF_MONTH: &[&str] = slot_names!("Day", 1, 31);
/// The months of a year: `Month01` to `Month12`.
pub const MONTHS: &[&str] = slot_names!("Month", 1, 12);

#[cfg(test)]
mod tests;
