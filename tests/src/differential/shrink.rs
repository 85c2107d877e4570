//! Shrinks a program to the smallest one that still shows a difference between two stores.

use super::program::Step;

/// Removes steps one by one as long as `differs` still reports a difference. Returns the remaining steps and the last difference.
///
/// ```
/// use tests::differential::{program::Step, smallest};
///
/// let program = vec![Step::Recreate; 5];
/// let (steps, difference) = smallest(program, "five".into(), |steps| (steps.len() >= 2).then(|| steps.len().to_string()));
/// assert_eq!((steps.len(), difference.as_str()), (2, "2"));
/// ```
pub fn smallest(
    mut program: Vec<Step>,
    mut difference: String,
    mut differs: impl FnMut(&[Step]) -> Option<String>,
) -> (Vec<Step>, String) {
    let mut at = program.len();
    while let Some(earlier) = at.checked_sub(1) {
        at = earlier;
        let mut fewer = program.clone();
        fewer.remove(at);
        if let Some(found) = differs(&fewer) {
            (program, difference) = (fewer, found);
        }
    }
    (program, difference)
}
