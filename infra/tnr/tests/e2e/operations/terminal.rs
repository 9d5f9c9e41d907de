//! The program at a terminal: help, output width, colors, and data folder.

use std::{fs, path::Path};

use tempfile::TempDir;

use crate::support::{
    databases::sample_folder,
    program::{Server, program, run, stdout},
    service::KEY,
};

const WIDTH: usize = 80;

pub fn assert_fits(what: &str, text: &str) {
    for line in text.lines() {
        assert!(line.chars().count() <= WIDTH, "{what}: {line}");
    }
}

#[test]
fn help_fits_a_terminal() {
    let help = stdout(&program(&["--help"]).output().unwrap());
    assert_fits("--help", &help);
    assert!(help.contains("\nExit codes: 0 success; 1 nothing found"), "{help}");
    let lines = help.lines().skip_while(|line| *line != "Use:");
    let lines = lines.take_while(|line| !line.starts_with("Options"));
    let commands: Vec<&str> = lines
        .filter_map(|line| line.strip_prefix("  "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(commands.len() > 20, "{commands:?}");
    for command in commands {
        assert_fits(command, &stdout(&program(&[command, "--help"]).output().unwrap()));
    }
}

#[tokio::test]
async fn command_output_fits_a_terminal() {
    let data_dir = sample_folder();
    let created = ["--name", "the first client of many", "--note", "who asked for it in March"];
    let limits = ["--expires", "90d", "--per-minute", "60000", "--per-day", "10000000"];
    run(&data_dir, &[&["keys", "create"][..], &created, &limits].concat());
    for command in [
        &["versions"][..],
        &["keys", "list"],
        &["carrier", "sample"],
        &["search", "sample"],
        &["verify"],
        &["doctor"],
    ] {
        assert_fits(command[0], &stdout(&run(&data_dir, command)));
    }
    let server = Server::on(&data_dir, &["--key", KEY]).await;
    assert_fits("the banner", &server.output());
    let folder = format!("  folder    {}\n", data_dir.path().display());
    assert!(server.output().contains(&folder), "{}", server.output());
}

#[tokio::test]
async fn banner_commands_can_be_pasted_into_a_shell() {
    let data_dir = sample_folder();
    let server = Server::on(&data_dir, &[]).await;
    let banner = server.output();
    let (_, requests) = banner.split_once("  export TNR_KEY=").unwrap();
    let (requests, _) = requests.split_once("\n\n").unwrap();
    let script = format!("curl() {{ printf '%s\\n' \"$*\"; }}\nexport TNR_KEY={requests}\n");
    let pasted = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
    let (url, key) = (&server.base_url, &server.key);
    let expected = format!(
        "{url}/v1/format/+13052345678?apiKey={key}\n\
         -H X-API-Key: {key} {url}/v1/npa/415?limit=5\n\
         -H X-API-Key: {key} {url}/v1/search?q=wireless&state=NY\n"
    );
    assert_eq!(stdout(&pasted), expected);
    // Browsers remember the addresses they open, including the fragment.
    let mut addresses = banner.split_whitespace().filter(|word| word.starts_with("http://"));
    assert!(addresses.all(|address| !address.contains(key)), "{banner}");
    assert!(banner.contains(&format!("into its field):\n  {url}/\n")), "{banner}");
}

#[test]
fn colors_are_used_only_on_terminals() {
    let printed = |variables: &[(&str, &str)]| {
        let mut lookup = program(&["lookup", "+442079460958"]);
        let folder = TempDir::new().unwrap();
        lookup.arg("--data-dir").arg(folder.path()).env_remove("NO_COLOR");
        stdout(&lookup.envs(variables.iter().copied()).output().unwrap())
    };
    assert!(!printed(&[]).contains('\u{1b}'), "a pipe gets no colors");
    assert!(printed(&[("CLICOLOR_FORCE", "1")]).contains("\u{1b}[32mvalid\u{1b}[0m"));
    assert!(!printed(&[("NO_COLOR", "1")]).contains('\u{1b}'));
}

/// Names of files, columns and keys can come from someone else.
#[cfg(unix)]
#[test]
fn control_and_direction_characters_in_messages_are_escaped() {
    const NAME: &str = "a\u{1b}[31m\u{202e}";
    let folder = TempDir::new().unwrap();
    let list = format!("phone{NAME},{NAME}\n305 234 5678,\n");
    fs::write(folder.path().join("list.csv"), list).unwrap();
    let run = |arguments: &[&str]| {
        let output = program(arguments).current_dir(folder.path()).output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    run(&["keys", "create", "--name", NAME, "--data-dir", NAME]);
    for arguments in [
        &["versions", "--data-dir", NAME][..],
        &["lookup", "3052345678", "--data-dir", NAME],
        &["find", NAME],
        &["format", NAME],
        &["format", "list.csv", "--column", "x"],
        &["format", "list.csv", "--output", "out.csv"],
        &["find", "--country", NAME],
        &["keys", "list", "--data-dir", NAME],
        &["keys", "revoke", "tnr_live_", "--data-dir", NAME],
        &["keys", "export", NAME, "--data-dir", NAME, "--force"],
        &["doctor", "--data-dir", NAME],
        &["backup", NAME, "--data-dir", NAME, "--force"],
        &["export", NAME, "--format", "jsonl", "--data-dir", NAME, "--force"],
        &["import", "--nanpa", NAME, "--cnac", NAME, "--npa-report", NAME, "--data-dir", NAME],
    ] {
        let text = run(arguments);
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{arguments:?}: {text}");
        // In usage errors, clap removes escape sequences.
        assert!(text.contains("\\u202e"), "{arguments:?}: {text}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn installed_programs_find_their_data_from_any_folder() {
    let (home, elsewhere) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let as_user = |arguments: &[&str], folder: &Path, variables: &[(&str, &Path)]| {
        let mut command = program(arguments);
        command.current_dir(folder).env_remove("XDG_DATA_HOME").env("HOME", home.path());
        stdout(&command.envs(variables.iter().copied()).output().unwrap())
    };
    as_user(&["keys", "create", "--name", "mine"], home.path(), &[]);
    assert!(home.path().join(".local/share/tnr/dynamodb.sqlite").exists());
    assert!(as_user(&["keys", "list"], elsewhere.path(), &[]).contains("mine"));
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);

    let data_home = TempDir::new().unwrap();
    let create = ["keys", "create", "--name", "another"];
    as_user(&create, elsewhere.path(), &[("XDG_DATA_HOME", data_home.path())]);
    assert!(data_home.path().join("tnr/dynamodb.sqlite").exists());
}
