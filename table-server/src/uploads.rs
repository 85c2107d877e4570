//! Permits for requests whose bodies are being read. Some permits are reserved for each account, so slow uploads to one account cannot block uploads to
//! another.

use tokio::sync::{Semaphore, SemaphorePermit};

/// The reserved permits of each account, and the shared permits.
#[derive(Debug)]
pub(crate) struct Uploads {
    /// Each account's name and reserved permits.
    own: Vec<(String, Semaphore)>,
    /// The permits shared by accounts whose reserved permits are all taken.
    common: Semaphore,
}

impl Uploads {
    /// Divides `permits`: one half is reserved for the accounts, with at least one permit for each account, and the rest is shared.
    pub(crate) fn new<'a>(accounts: impl ExactSizeIterator<Item = &'a str>, permits: usize) -> Self {
        let share = (permits / 2 / accounts.len().max(1)).max(1);
        let own: Vec<_> = accounts.map(|name| (name.to_owned(), Semaphore::new(share))).collect();
        let common = Semaphore::new(permits.saturating_sub(share * own.len()));
        Self { own, common }
    }

    /// Returns one of the account's reserved permits or, if all are taken, a shared permit. Returns `None` if no shared permit is left either.
    pub(crate) fn permit(&self, account: &str) -> Option<SemaphorePermit<'_>> {
        let own = self.own.iter().find(|(name, _)| name == account);
        let own = own.and_then(|(_, permits)| permits.try_acquire().ok());
        own.or_else(|| self.common.try_acquire().ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all<'a>(uploads: &'a Uploads, account: &str) -> Vec<SemaphorePermit<'a>> {
        std::iter::from_fn(|| uploads.permit(account)).collect()
    }

    #[test]
    fn one_account_does_not_use_up_the_permits_of_another() {
        for (permits, most, rest) in [(256, 192, 64), (4, 3, 1), (2, 1, 1), (1, 1, 1)] {
            let uploads = Uploads::new(["a", "b"].into_iter(), permits);
            let taken = all(&uploads, "a");
            assert_eq!((taken.len(), all(&uploads, "b").len()), (most, rest), "{permits}");
            drop(taken);
            assert_eq!(all(&uploads, "b").len(), most, "{permits}: permits are returned");
        }
    }

    #[test]
    fn a_single_account_has_all_permits() {
        for permits in [1, 2, 7, 256] {
            assert_eq!(all(&Uploads::new(["a"].into_iter(), permits), "a").len(), permits);
        }
    }
}
