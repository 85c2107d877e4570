//! `rust_decimal::Decimal` as a property, stored as text.

use rust_decimal::Decimal;
use table_store::{EdmType, Error, Result, ValueRef};

use crate::property::fault::PropertyFault;
use crate::property::{Property, mismatch};
use crate::row::RowWriter;

/// An exact decimal, stored as an `Edm.String` such as `19.90`. The number of decimal places is preserved.
///
/// Filters cannot compare decimals. The text does not sort in numeric order, and equal numbers may have different texts.
///
/// ```
/// use rust_decimal::Decimal;
/// use table_core::{Value, property};
///
/// let price = Decimal::new(1_990, 2);
/// assert_eq!(property::to_value(&price)?, Some(Value::from("19.90")));
/// # Ok::<(), table_core::Error>(())
/// ```
#[diagnostic::do_not_recommend]
impl Property for Decimal {
    const EDM: EdmType = EdmType::String;

    fn write_to(&self, name: &str, row: &mut RowWriter) -> Result<()> {
        row.property(name, ValueRef::String(&self.to_string()));
        Ok(())
    }

    fn from_value(value: Option<ValueRef<'_>>) -> Result<Self> {
        let Some(ValueRef::String(text)) = value else { return Err(mismatch(Self::EDM, value)) };
        Self::from_str_exact(text).map_err(|_| {
            Error::of(PropertyFault::Text { text: text.to_owned(), wanted: "a decimal of at most 28 digits" })
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use table_store::ErrorCode;

    fn read(text: &str) -> Result<Decimal> {
        Decimal::from_value(Some(ValueRef::String(text)))
    }

    proptest! {
        #[test]
        fn a_decimal_is_read_back_with_its_decimal_places(number in any::<i64>(), scale in 0_u32..=28) {
            let decimal = Decimal::from_i128_with_scale(number.into(), scale);
            let read = read(&decimal.to_string()).unwrap();
            prop_assert_eq!((read, read.scale()), (decimal, decimal.scale()));
        }
    }

    #[test]
    fn both_ends_are_read_back_and_other_texts_are_not() {
        for decimal in [Decimal::MIN, Decimal::MAX, Decimal::ZERO, Decimal::new(-1, 28)] {
            assert_eq!(read(&decimal.to_string()).unwrap(), decimal);
        }
        for wrong in ["", "1,5", "NaN", "79228162514264337593543950336", "0.00000000000000000000000000001"] {
            assert_eq!(read(wrong).unwrap_err().code(), ErrorCode::EntityMismatch, "{wrong}");
        }
    }
}
