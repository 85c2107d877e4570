//! Profiles: named stores in a configuration file. Their secrets are read from the environment, or from a file readable only by its owner.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::failure::{Failure, Result};
use crate::store::Location;
use crate::store::location::has_secret;

/// The profiles in a configuration file.
///
/// ```toml
/// [profiles.production]
/// store-env = "CONTOSO_TABLES"        # the variable that holds the connection string
///
/// [profiles.staging]
/// store-file = "/run/secrets/staging" # a file of mode 600 that holds the connection string
///
/// [profiles.local]
/// store = "data/company"              # a folder or an emulator: no secret
/// ```
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profiles {
    #[serde(default)]
    profiles: BTreeMap<String, Profile>,
    #[serde(skip)]
    path: PathBuf,
}

/// A profile. It must have exactly one setting.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Profile {
    store: Option<String>,
    store_env: Option<String>,
    store_file: Option<PathBuf>,
}

impl Profiles {
    /// Returns the given path of a configuration file, or else the path of the user's default file. Returns `None` if no path is given and the home folder is
    /// unknown.
    #[must_use]
    pub fn file(named: Option<&Path>) -> Option<PathBuf> {
        named.map(Path::to_owned).or_else(default_path)
    }

    /// Reads the given configuration file, or the user's default file if none is given.
    ///
    /// # Errors
    /// `File` if the file cannot be read. `Refused` if it does not exist or is not a valid configuration file.
    pub fn read(path: Option<&Path>) -> Result<Self> {
        let path = Self::file(path).ok_or_else(|| {
            Failure::Refused(
                "the home folder is not known; name the configuration file with `--config`".to_owned(),
            )
        })?;
        let text = std::fs::read_to_string(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                let help = "create it, or name another one with `--config`";
                Failure::Refused(format!("there is no configuration file {}; {help}", path.display()))
            }
            _ => Failure::file(path.display())(error),
        })?;
        let profiles: Self = toml::from_str(&text).map_err(|error| {
            // IMPORTANT: the full error contains the faulty line, which may contain a secret.
            let before = text.get(..error.span().map_or(0, |span| span.start)).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            Failure::Refused(format!("{}, line {line}: {}", path.display(), error.message()))
        })?;
        Ok(Self { path, ..profiles })
    }

    /// Returns the location specified by a profile.
    ///
    /// # Errors
    /// - `Refused` if the profile does not exist, or if it does not have exactly one setting.
    /// - `Refused` if the profile names an unset variable or a file readable by other users, or if the profile itself contains a secret.
    /// - `File` if the file named by the profile cannot be read. `Usage` if the text does not specify a location.
    pub fn location(&self, name: &str) -> Result<Location> {
        let refuse = |fault: String| {
            Err(Failure::Refused(format!("{}: profile `{name}` {fault}", self.path.display())))
        };
        let Some(profile) = self.profiles.get(name) else {
            let known: Vec<_> = self.profiles.keys().map(String::as_str).collect();
            return refuse(format!("does not exist; the file has: {}", known.join(", ")));
        };
        let text = match (&profile.store, &profile.store_env, &profile.store_file) {
            (Some(text), None, None) if has_secret(text) => {
                return refuse("holds a secret; use `store-env` or `store-file`".to_owned());
            }
            (Some(text), None, None) => text.clone(),
            (None, Some(variable), None) => match std::env::var(variable) {
                Ok(text) => text,
                Err(_) => return refuse(format!("reads the variable `{variable}`, which is not set")),
            },
            (None, None, Some(file)) => {
                if is_readable_by_others(file) {
                    return refuse(format!(
                        "reads `{}`, which others can read; run `chmod 600` on it",
                        file.display()
                    ));
                }
                std::fs::read_to_string(file).map_err(Failure::file(file.display()))?.trim().to_owned()
            }
            _ => return refuse("needs exactly one of `store`, `store-env` and `store-file`".to_owned()),
        };
        text.parse()
    }
}

fn default_path() -> Option<PathBuf> {
    let base = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let base = base.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".config")));
    let base = base.or_else(|| std::env::var_os("APPDATA").map(PathBuf::from));
    base.map(|folder| folder.join("tables.toml"))
}

#[cfg(unix)]
fn is_readable_by_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
const fn is_readable_by_others(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profiles(text: &str) -> Profiles {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tables.toml");
        std::fs::write(&path, text).unwrap();
        Profiles::read(Some(&path)).unwrap()
    }

    #[test]
    fn a_profile_names_a_folder() {
        let found = profiles("[profiles.local]\nstore = \"data\"").location("local").unwrap();
        assert_eq!(found, Location::Folder("data".into()));
    }

    #[test]
    fn secrets_are_refused_in_the_file_itself() {
        let profiles = profiles("[profiles.p]\nstore = \"AccountName=a;AccountKey=b\"");
        let refused = profiles.location("p").unwrap_err().to_string();
        assert!(refused.contains("holds a secret; use `store-env` or `store-file`"), "{refused}");
        assert!(!refused.contains("AccountKey"));
    }

    #[test]
    fn an_invalid_file_is_reported_without_its_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tables.toml");
        std::fs::write(&path, "[profiles.p]\nstore = \"AccountKey=c2VjcmV0\n").unwrap();
        let refused = Profiles::read(Some(&path)).unwrap_err().to_string();
        assert!(refused.contains("tables.toml, line 2: ") && !refused.contains("c2VjcmV0"), "{refused}");
    }

    #[test]
    fn an_unknown_profile_names_those_that_exist() {
        let refused =
            profiles("[profiles.local]\nstore = \"data\"").location("prod").unwrap_err().to_string();
        assert!(refused.contains("does not exist; the file has: local"), "{refused}");
    }

    #[cfg(unix)]
    #[test]
    fn a_secret_file_must_belong_to_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let secret = folder.path().join("secret");
        std::fs::write(&secret, "UseDevelopmentStorage=true\n").unwrap();
        let profiles = profiles(&format!("[profiles.p]\nstore-file = {:?}", secret.display().to_string()));
        std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(profiles.location("p").unwrap_err().to_string().contains("chmod 600"));
        std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert!(matches!(profiles.location("p").unwrap(), Location::ConnectionString(_)));
    }
}
