//! Errors in flags and in the configuration file.

use std::io;
use std::path::PathBuf;

use table_core::Fault;

/// A flag or configuration file error that prevents the program from starting. Messages never include a secret key.
#[derive(Debug, thiserror::Error, Fault)]
pub(crate) enum ProgramFault {
    #[error(
        "no location for the data is given; start with one of\n\n  \
         table-server --memory           in memory, which is lost at the end\n  \
         table-server --path FOLDER      in a folder\n  \
         table-server --config FILE      as in a configuration file\n\n\
         `table-server --help` lists all flags"
    )]
    #[fault(InvalidInput)]
    NoStart,
    #[error("`{}` is not an account name; use 3 to 24 lower-case letters and digits", .0.escape_debug())]
    #[fault(InvalidInput)]
    Name(String),
    #[error("account `{0}` is given twice; remove one")]
    #[fault(InvalidInput)]
    Twice(String),
    #[error(
        "account `{0}` has no key; write `--account {0}=KEY`, set TABLE_SERVER_KEY, or give it a `key` in the file"
    )]
    #[fault(InvalidInput)]
    NoKey(String),
    #[error(
        "account `{0}` has no place; give it a `path` or `memory = true`, or start with --path or --memory"
    )]
    #[fault(InvalidInput)]
    NoPlace(String),
    #[error("the configuration file has `path` and `memory = true`; remove one")]
    #[fault(InvalidInput)]
    TwoPlaces,
    #[error("account `{0}` of the configuration file has `path` and `memory = true`; remove one")]
    #[fault(InvalidInput)]
    TwoPlacesOfAccount(String),
    #[error("HTTPS needs a certificate and its key, or a folder for a self-signed certificate, not both")]
    #[fault(InvalidInput)]
    HalfTls,
    #[error("bearer tokens need either `oauth = \"basic\"`, or an issuer with its key file")]
    #[fault(InvalidInput)]
    HalfOAuth,
    #[cfg(not(feature = "tls"))]
    #[error("this program was built without TLS; build it with `--features tls`")]
    #[fault(InvalidInput)]
    NoTls,
    #[error("{path} cannot be read", path = .path.display())]
    #[fault(Io)]
    File { path: PathBuf, source: io::Error },
    #[error("line {line} of the configuration file {path}: {what}", path = .path.display())]
    #[fault(InvalidInput)]
    Syntax { path: PathBuf, line: usize, what: String },
}
