//! `Boolean`: a `bool` as one digit.

use table_store::Result;

use crate::key::codec::fault::mismatch;
use crate::key::codec::{Alphabet, Facts, Form, KeyCodec, Reversible};

/// A codec that writes `false` as `0` and `true` as `1`. The default codec for `bool`. Fixed width, ordered.
///
/// ```
/// use table_core::key::codec::{Boolean, KeyCodec};
///
/// let mut key = String::new();
/// Boolean::encode(&true, &mut key)?;
/// assert_eq!((key.as_str(), Boolean::decode("0")?), ("1", false));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug)]
pub enum Boolean {}

fn read(text: &str) -> Option<bool> {
    match text {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

#[diagnostic::do_not_recommend]
impl KeyCodec<bool> for Boolean {
    const NAME: &'static str = "flag";
    const FORM: Form = Form::fixed(1, true, Alphabet::of("01"));
    const FACTS: Facts = Facts { cardinality: Some(2), ..Facts::NONE };

    fn encode(value: &bool, out: &mut String) -> Result<()> {
        out.push(if *value { '1' } else { '0' });
        Ok(())
    }

    fn decode(text: &str) -> Result<bool> {
        read(text).ok_or_else(|| mismatch(text, "flag"))
    }
}

#[diagnostic::do_not_recommend]
impl Reversible<bool> for Boolean {
    fn encode_reversed(value: &bool, out: &mut String) -> Result<()> {
        Self::encode(&!value, out)
    }

    fn decode_reversed(text: &str) -> Result<bool> {
        read(text).map(|value| !value).ok_or_else(|| mismatch(text, "desc(flag)"))
    }
}
