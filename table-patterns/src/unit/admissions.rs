//! The admission checks of a unit: for each entity type that the unit writes, no program with a newer schema may have blocked the write.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use table_core::Result;
use table_core::store::WriteLease;

use crate::entities::AdmitWrites;

/// For each entity type, the check that no program with a newer schema forbids the unit's writes.
#[derive(Clone, Default)]
pub(crate) struct Admissions(HashMap<TypeId, (Arc<dyn AdmitWrites>, bool)>);

impl Admissions {
    /// Adds the check for an entity type. `is_whole` is `true` if a write removes properties that the program does not know.
    pub(crate) fn add<E: 'static>(&mut self, is_whole: bool, check: impl FnOnce() -> Arc<dyn AdmitWrites>) {
        let (_, known) = self.0.entry(TypeId::of::<E>()).or_insert_with(|| (check(), false));
        *known |= is_whole;
    }
}

impl AdmitWrites for Admissions {
    fn admit_writes(&self, is_whole: bool) -> BoxFuture<'_, Result<Option<WriteLease>>> {
        async move {
            for (check, own_is_whole) in self.0.values() {
                check.admit_writes(is_whole || *own_is_whole).await?;
            }
            // Each write of a unit is conditional.
            Ok(None)
        }
        .boxed()
    }
}
