//! Resolves mutually exclusive flags from the command line and environment variables.

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, Error};

/// Two alternative ways to specify a setting, each as a list of flag identifiers.
pub(crate) type Alternatives = [&'static [&'static str]; 2];

/// Returns the flags whose environment variables are ignored because the command line uses the alternative flags for the setting. A flag takes precedence over
/// every variable for the same setting, even the variable of a different flag.
///
/// # Errors
/// `ArgumentConflict` if the command line specifies a setting in both ways, or if only the variables specify the setting, but in both ways.
pub(crate) fn overridden(
    command: &mut Command,
    matches: &ArgMatches,
    settings: &[Alternatives],
) -> Result<Vec<&'static str>, Error> {
    let mut overridden = Vec::new();
    for [one, other] in settings {
        let given = |flags: &[&'static str], source| {
            flags
                .iter()
                .copied()
                .find(|flag| matches.value_source(flag) == Some(source) && is_given(matches, flag))
        };
        let by = |source| (given(one, source), given(other, source));
        match (by(ValueSource::CommandLine), by(ValueSource::EnvVariable)) {
            ((Some(first), Some(second)), _) | ((None, None), (Some(first), Some(second))) => {
                let name = |id: &str| {
                    let flag = command.get_arguments().find(|flag| flag.get_id() == id);
                    flag.and_then(|flag| flag.get_long()).unwrap_or_default().to_owned()
                };
                let message = format!(
                    "`--{}` cannot be used with `--{}`; omit one of the flags or of their environment variables",
                    name(first),
                    name(second)
                );
                return Err(command.error(ErrorKind::ArgumentConflict, message));
            }
            ((Some(_), None), _) => overridden.extend(*other),
            ((None, Some(_)), _) => overridden.extend(*one),
            ((None, None), _) => {}
        }
    }
    Ok(overridden)
}

/// Returns `true` if a flag has a value other than `false`. A switch that is `false` counts as absent.
fn is_given(matches: &ArgMatches, flag: &str) -> bool {
    !matches!(matches.try_get_one::<bool>(flag), Ok(Some(false)))
}
