//! What became of a write whose answer was lost, told by reading (CON-11).

use table_core::query::Select;
use table_core::row::RowView;
use table_core::store::Committed;
use table_core::{
    ETag, EntityKey, Error, ErrorCode, Operation, OperationKind, Result, TableName, ValueRef, ticks,
};

use crate::client::AzureTables;
use crate::http::Doubt;

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// An earlier attempt was applied; these are the versions that it gave.
    Ours(Committed),
    /// No attempt was applied: the refusal of the last one stands.
    NotOurs,
    /// It cannot be told.
    Unknown,
}

impl Verdict {
    /// The result of a write whose last attempt was refused with this error.
    pub(crate) fn settle(self, refusal: Error) -> Result<Committed> {
        match self {
            Self::Ours(committed) => Ok(committed),
            Self::NotOurs => Err(refusal),
            Self::Unknown => {
                let message = "an earlier attempt may have been applied before this refusal, and the entities have \
                               changed since: read before it is tried again";
                let error = Error::new(ErrorCode::OperationTimedOut, message).with_rule("CON-11");
                Err(error.with_source(refusal))
            }
        }
    }
}

/// What one stored entity says about an operation on it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Evidence {
    /// It is as the operation leaves it, and of its time.
    Applied(Option<ETag>),
    /// It is older than the first attempt, which would have written or deleted it.
    Older,
    Nothing,
}

impl AzureTables {
    /// What became of operations whose first attempt is in doubt. All were applied or none (EGT-9), so one that certainly
    /// was not settles it.
    pub(crate) async fn verdict(
        &self,
        table: &TableName,
        partition_key: &str,
        operations: &[Operation],
        doubt: Doubt,
    ) -> Verdict {
        let mut committed = Committed::with_capacity(operations.len());
        let mut all_applied = true;
        for operation in operations {
            match self.evidence(table, partition_key, operation, doubt).await {
                Ok(Evidence::Applied(etag)) => committed.push(etag),
                Ok(Evidence::Older) => return Verdict::NotOurs,
                Ok(Evidence::Nothing) => all_applied = false,
                Err(error) => {
                    tracing::debug!(target: "table_azure", %error, "a lost write cannot be looked after");
                    return Verdict::Unknown;
                }
            }
        }
        if all_applied { Verdict::Ours(committed) } else { Verdict::Unknown }
    }

    async fn evidence(
        &self,
        table: &TableName,
        partition_key: &str,
        operation: &Operation,
        doubt: Doubt,
    ) -> Result<Evidence> {
        let key = EntityKey::new(partition_key, operation.row_key.as_str())?;
        let deletes = matches!(operation.kind, OperationKind::Delete(_));
        let Some((found, answer)) = self.read_entity(table, &key, &Select::All).await? else {
            return Ok(if deletes { Evidence::Applied(None) } else { Evidence::Nothing });
        };
        let Some(earliest) = doubt.earliest(&answer).and_then(ticks::from_datetime) else {
            return Ok(Evidence::Nothing);
        };
        let stored = found.row.view();
        if stored.timestamp() < earliest {
            return Ok(Evidence::Older);
        }
        let same = match &operation.kind {
            OperationKind::Insert(row)
            | OperationKind::Replace(row, _)
            | OperationKind::InsertOrReplace(row) => {
                row.view().len() == stored.len() && holds(stored, row.view())?
            }
            OperationKind::Merge(row, _) | OperationKind::InsertOrMerge(row) => holds(stored, row.view())?,
            OperationKind::Delete(_) => false,
        };
        Ok(if same { Evidence::Applied(Some(found.etag)) } else { Evidence::Nothing })
    }
}

/// Whether the stored entity has each property that was sent, with its value.
fn holds(stored: RowView<'_>, sent: RowView<'_>) -> Result<bool> {
    let mut hint = 0;
    for property in sent.properties() {
        let property = property?;
        let found = stored.find(property.name, &mut hint)?;
        if !found.is_some_and(|found| same(found, property.value)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Equal, a NaN to every other.
fn same(found: ValueRef<'_>, sent: ValueRef<'_>) -> bool {
    match (found, sent) {
        (ValueRef::Double(found), ValueRef::Double(sent)) if found.is_nan() => sent.is_nan(),
        _ => found == sent,
    }
}

#[cfg(test)]
mod tests {
    use table_core::row::RowWriter;

    use super::*;

    #[test]
    fn con_11_every_property_sent_must_be_there_with_its_value() {
        let row = |values: &[(&str, ValueRef<'_>)]| {
            let mut row = RowWriter::new();
            for (name, value) in values {
                row.property(name, *value);
            }
            row.finish()
        };
        let stored = row(&[("A", ValueRef::Int32(1)), ("B", ValueRef::Double(f64::NAN))]);
        for (sent, expected) in [
            (row(&[]), true),
            (row(&[("B", ValueRef::Double(f64::NAN)), ("A", ValueRef::Int32(1))]), true),
            (row(&[("A", ValueRef::Int64(1))]), false),
            (row(&[("A", ValueRef::Int32(2))]), false),
            (row(&[("C", ValueRef::Int32(1))]), false),
        ] {
            assert_eq!(holds(stored.view(), sent.view()).unwrap(), expected, "{sent:?}");
        }
    }

    #[test]
    fn con_11_verdicts_become_results() {
        let refusal = || Error::new(ErrorCode::EntityAlreadyExists, "x");
        assert_eq!(Verdict::Ours(vec![None]).settle(refusal()).unwrap(), [None]);
        assert!(Verdict::NotOurs.settle(refusal()).unwrap_err().is_already_exists());
        assert!(Verdict::Unknown.settle(refusal()).unwrap_err().is_ambiguous());
    }
}
