//! JSON numbers that represent exact integers.

use serde_json::Value as Json;

/// 2^53, the magnitude up to which JSON numbers in the service represent every integer exactly. Larger integers are stored as strings.
pub(crate) const MOST_EXACT: u64 = 1 << 53;

/// Returns the integer that a JSON number represents exactly, or `None`. The service stores numbers as doubles, so `7` and `7.0` are the same number.
pub(crate) fn integer(json: &Json) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "a number beyond the limit is refused below")]
    let of_double = |number: f64| (number.fract() == 0.0).then_some(number as i64);
    let integer = json.as_i64().or_else(|| json.as_f64().and_then(of_double));
    integer.filter(|integer| integer.unsigned_abs() <= MOST_EXACT)
}
