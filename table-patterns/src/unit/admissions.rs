//! A unit's admission checks, one for each written entity type. A check fails if a program with a newer schema forbids the write.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use table_core::Result;
use table_core::store::WriteLease;

use crate::entities::AdmitWrites;

/// The admission check of each entity type. The flag is `true` if a write of that type removes unknown properties.
#[derive(Clone, Default)]
pub(crate) struct Admissions(HashMap<TypeId, (Arc<dyn AdmitWrites>, bool)>);

impl Admissions {
    /// Adds the check for an entity type. `is_whole` is `true` if a write removes properties unknown to this program.
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
            // Every write in a unit is conditional, so none needs a write lease.
            Ok(None)
        }
        .boxed()
    }
}
