//! Tests that a flag takes precedence over the configuration file. Clap reports an environment variable as if its flag were given.

use clap::CommandFactory;

use crate::arguments::Arguments;
use crate::file::File;
use crate::plan;

/// A value in the file, and a different value for the flag. `rest` contains the other flags that this flag requires.
struct Case {
    flag: &'static str,
    in_file: &'static str,
    value: &'static str,
    rest: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case { flag: "memory", in_file: "true", value: "false", rest: &[] },
    Case { flag: "path", in_file: "'a'", value: "b", rest: &[] },
    Case { flag: "listen", in_file: "'127.0.0.2'", value: "127.0.0.3", rest: &[] },
    Case { flag: "table-port", in_file: "2", value: "3", rest: &[] },
    Case { flag: "queue-port", in_file: "2", value: "3", rest: &[] },
    Case { flag: "blob-port", in_file: "2", value: "3", rest: &[] },
    Case { flag: "public-key-anywhere", in_file: "true", value: "false", rest: &[] },
    Case { flag: "observe", in_file: "'127.0.0.1:2'", value: "127.0.0.1:3", rest: &[] },
    Case { flag: "log", in_file: "'text'", value: "json", rest: &[] },
    Case { flag: "tls-certificate", in_file: "'a'", value: "b", rest: &["--tls-key", "k"] },
    Case { flag: "tls-key", in_file: "'a'", value: "b", rest: &["--tls-certificate", "c"] },
    Case { flag: "tls-self-signed", in_file: "'a'", value: "b", rest: &[] },
    Case { flag: "latency", in_file: "2", value: "3", rest: &[] },
    Case { flag: "faults", in_file: "'busy=2'", value: "busy=3", rest: &[] },
    // In a build without TLS, an issuer's keys are not read.
    #[cfg(feature = "tls")]
    Case { flag: "oauth-keys", in_file: "'a'", value: "b", rest: &["--oauth-issuer", "i"] },
];

/// Flags without a case. Some have no entry in the file, accept only one value, or take effect only with an issuer's keys. The values of `account` are added to
/// those in the file.
const WITHOUT_CASE: &[&str] =
    &["account", "config", "help", "version", "oauth", "throttle", "oauth-issuer", "oauth-audience"];

/// Returns the settings that result from the flags and the file.
fn settings(flags: &[String], toml: &str) -> String {
    let program = ["table-server".to_owned()];
    let matches = Arguments::command().try_get_matches_from(program.iter().chain(flags)).unwrap();
    let arguments = Arguments::of(&matches).unwrap();
    let file: File = toml::from_str(toml).unwrap();
    format!(
        "{:?} {:?} {:?} {:?} {:?} {:?}",
        plan::accounts(&arguments, &file, None),
        plan::config(&arguments, &file, Vec::new()),
        plan::log(&arguments, &file),
        arguments.tls.source(&file),
        arguments.oauth.bearer(&file).map_err(|error| error.to_string()),
        arguments.trial.faults(&file),
    )
}

#[test]
fn every_flag_overrides_its_entry_in_the_file() {
    for Case { flag, in_file, value, rest } in CASES {
        let entry = format!("{flag} = {in_file}\n");
        let flags: Vec<_> = [format!("--{flag}={value}")]
            .into_iter()
            .chain(rest.iter().map(|flag| (*flag).to_owned()))
            .collect();
        let expected = settings(&flags, "");
        // For a switch, `false` is the default.
        assert_eq!(expected == settings(&[], ""), *value == "false", "{flag}: the flag has an effect");
        assert_ne!(settings(&[], &entry), expected, "{flag}: the entry has an effect");
        assert_eq!(settings(&flags, &entry), expected, "{flag}");
    }
}

#[test]
fn every_flag_has_a_case_and_a_variable() {
    let command = Arguments::command();
    for argument in command.get_arguments() {
        let flag = argument.get_long().unwrap();
        let is_exempt = WITHOUT_CASE.contains(&flag) || (flag == "oauth-keys" && !cfg!(feature = "tls"));
        assert_ne!(is_exempt, CASES.iter().any(|case| case.flag == flag), "{flag}");
        if !["help", "version"].contains(&flag) {
            let name = if flag == "account" { "accounts".to_owned() } else { flag.replace('-', "_") };
            let variable = argument.get_env().and_then(|name| name.to_str());
            assert_eq!(variable, Some(format!("TABLE_SERVER_{}", name.to_uppercase()).as_str()));
        }
    }
}
