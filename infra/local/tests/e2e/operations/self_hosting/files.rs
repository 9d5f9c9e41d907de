//! The installation files in `infra/self-hosting` parse and agree with each other. `.ci/self_hosting` lints
//! them.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::net::UnixDatagram,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{CommandFactory, Parser};
use tempfile::TempDir;
use tnr::commands::{Cli, Command};
use yaml_serde::Value;

use crate::support::{
    processes::{send_signal, until_ended},
    program::{Serving, program, stdout},
};

/// The program's path in the units and the image.
const PROGRAM: &str = "/usr/local/bin/tnr";
const UNITS: [&str; 2] = ["tnr.service", "tnr-import.service"];
const COMPOSE_FILES: [&str; 2] = ["compose.yaml", "compose.alternator.yaml"];
const FOLDER: &str = "/var/lib/tnr";

type Variables = BTreeMap<String, String>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text_of(file: &str) -> String {
    fs::read_to_string(root().join("infra/self-hosting").join(file)).unwrap()
}

/// The only value of a unit setting.
fn setting(unit: &str, name: &str) -> String {
    let text = text_of(unit);
    let mut values = text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    let value = values.next().unwrap_or_else(|| panic!("{unit} lacks {name}"));
    assert_eq!(values.next(), None, "{unit} has {name} twice");
    value.to_owned()
}

/// The only instruction with this name in the image's last stage.
fn instruction(name: &str) -> String {
    let text = text_of("Dockerfile").replace("\\\n", " ");
    let (_, stage) = text.rsplit_once("\nFROM ").unwrap();
    let mut found = stage.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    let instruction = found.next().unwrap_or_else(|| panic!("the image lacks {name}"));
    assert_eq!(found.next(), None, "the image has {name} twice");
    instruction.to_owned()
}

fn assignments(text: &str) -> Variables {
    let assignments = text.split_whitespace().map(|assignment| assignment.split_once('='));
    assignments.map(Option::unwrap).map(|(name, value)| (name.into(), value.into())).collect()
}

/// The variables set by a unit whose folder is `/var/lib`.
fn variables_of_unit(unit: &str) -> Variables {
    assignments(&setting(unit, "Environment").replace("%S", "/var/lib"))
}

fn service_of(compose_file: &str) -> Value {
    let text = text_of(compose_file);
    yaml_serde::from_str::<Value>(&text).unwrap()["services"]["tnr"].clone()
}

fn strings(value: &Value) -> Vec<String> {
    yaml_serde::from_value(value.clone()).unwrap()
}

/// The variables of a Compose service: the image's, and its own.
fn variables_of_compose(compose_file: &str) -> Variables {
    let mut variables = assignments(&instruction("ENV"));
    let own: Variables =
        yaml_serde::from_value(service_of(compose_file)["environment"].clone()).unwrap();
    variables.extend(own);
    variables
}

/// The variable for an option. The help names those that clap does not read.
fn variable_of(argument: &clap::Arg) -> Option<String> {
    let known = argument.get_env().and_then(|variable| variable.to_str()).map(str::to_owned);
    known.or_else(|| {
        let help = argument.get_help()?.to_string();
        let (_, variable) = help.split_once("[env: ")?;
        Some(variable.trim_end_matches(']').to_owned())
    })
}

/// The arguments of `serve` with these variables set. They are passed as options, since all tests share the
/// environment.
fn serve_with(variables: &Variables) -> ServeArgs {
    let mut line = vec!["tnr".to_owned(), "serve".to_owned()];
    let command = Cli::command();
    let serve = command.find_subcommand("serve").unwrap();
    for (name, value) in variables {
        let argument =
            serve.get_arguments().find(|argument| variable_of(argument).as_ref() == Some(name));
        let argument = argument.unwrap_or_else(|| panic!("serve does not read {name}"));
        line.push(format!("--{}", argument.get_long().unwrap()));
        match argument.get_action() {
            clap::ArgAction::SetTrue => assert_eq!(value, "true", "{name}"),
            _ => line.push(value.clone()),
        }
    }
    match Cli::try_parse_from(&line).unwrap().command.unwrap() {
        Command::Serve(args) => args,
        _ => panic!("{line:?}"),
    }
}

/// The command in a line, which must start with the installed program.
fn parsed(words: &[String]) -> Command {
    assert_eq!(words[0], PROGRAM);
    Cli::try_parse_from(words).unwrap().command.unwrap()
}

fn every_server() -> Vec<(&'static str, ServeArgs)> {
    let mut servers = vec![
        ("tnr.service", serve_with(&variables_of_unit("tnr.service"))),
        ("Dockerfile", serve_with(&assignments(&instruction("ENV")))),
    ];
    servers.extend(COMPOSE_FILES.map(|file| (file, serve_with(&variables_of_compose(file)))));
    servers
}

#[test]
fn every_command_in_the_units_and_the_image_parses() {
    for (unit, command) in UNITS.into_iter().zip(["serve", "import"]) {
        let line = setting(unit, "ExecStart");
        let line: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parsed(&line);
        assert_eq!(line[1], command, "{unit}");
    }
    let words = |json: &str| serde_json::from_str::<Vec<String>>(json).unwrap();
    let command = [words(&instruction("ENTRYPOINT")), words(&instruction("CMD"))].concat();
    assert!(matches!(parsed(&command), Command::Serve(_)));
    let health_check = instruction("HEALTHCHECK");
    let (_, command) = health_check.split_once("CMD ").unwrap();
    let Command::Health(health) = parsed(&words(command)) else { panic!("{health_check}") };
    assert_eq!((health.url, health.address.base_path), (None, None), "the variables decide");
}

#[test]
fn images_are_pinned_by_digest_and_built_with_the_minimum_rust_version() {
    let files = ["Dockerfile"].into_iter().chain(COMPOSE_FILES).map(text_of).collect::<String>();
    let names = |prefix| files.lines().filter_map(move |line| line.trim().strip_prefix(prefix));
    // This project's image has no digest before it is built.
    for image in names("FROM ").chain(names("image: ").filter(|image| *image != "tnr")) {
        assert!(image.contains("@sha256:"), "{image}");
    }
    let manifest: toml::Table =
        fs::read_to_string(root().join("Cargo.toml")).unwrap().parse().unwrap();
    let rust = manifest["workspace"]["package"]["rust-version"].as_str().unwrap().to_owned();
    for text in [format!("FROM rust:{rust}-"), format!("RUSTUP_TOOLCHAIN={rust}")] {
        assert!(files.contains(&text), "{text}");
    }
    assert!(files.contains("--profile server") && manifest["profile"]["server"].is_table());
}

/// Data folders and key files may have any name.
#[test]
fn the_image_build_context_is_an_allowlist() {
    let text = text_of("Dockerfile.dockerignore");
    let rules: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(rules[0], "*");
    for rule in ["**/*.sqlite*", "**/*.jsonl", "**/target"] {
        assert!(rules.contains(&rule), "{rule} is read");
    }
}

#[test]
fn every_installation_uses_one_data_folder_and_no_sample() {
    for unit in UNITS {
        assert_eq!(variables_of_unit(unit)["TNR_DATA_DIR"], FOLDER, "{unit}");
        assert_eq!(setting(unit, "StateDirectory"), "tnr", "{unit}");
    }
    assert_eq!(instruction("VOLUME"), FOLDER);
    assert_eq!(strings(&service_of("compose.yaml")["volumes"]), [format!("data:{FOLDER}")]);
    for (file, serve) in every_server() {
        assert_eq!(serve.database.folder().unwrap(), Path::new(FOLDER), "{file}");
        assert!(!serve.is_trial() && serve.key.given.is_none(), "{file}");
    }
}

#[test]
fn only_the_api_port_is_published_and_only_to_a_proxy() {
    let port = instruction("EXPOSE");
    for file in COMPOSE_FILES {
        for published in strings(&service_of(file)["ports"]) {
            let is_right =
                published.starts_with("127.0.0.1:") && published.ends_with(&format!(":{port}"));
            assert!(is_right, "{file}: {published}");
        }
    }
    for (file, serve) in every_server() {
        let is_container = file != "tnr.service";
        assert_eq!(serve.address.port.to_string(), port, "{file}");
        assert_eq!(serve.address.host.is_unspecified(), is_container, "{file}");
        let operations = serve.ops_address;
        let is_open = operations.is_some_and(|address| address.ip().is_unspecified());
        assert!(is_container || !is_open, "{file}");
        // Prometheus itself uses 9090.
        assert!(operations.is_none_or(|address| address.port() == 9464), "{file}");
    }
}

#[test]
fn stop_timeouts_exceed_the_grace_period() {
    for (file, serve) in every_server() {
        let longest = match file {
            "tnr.service" => setting(file, "TimeoutStopSec"),
            "Dockerfile" => continue,
            _ => service_of(file)["stop_grace_period"].as_str().unwrap().replace('s', ""),
        };
        // Quotas and the embedded database take up to ten more seconds.
        assert!(serve.grace + 10 <= longest.parse().unwrap(), "{file}: {longest}");
    }
}

#[test]
fn installed_imports_have_enough_memory_and_can_resolve_hosts() {
    let memory = setting("tnr-import.service", "MemoryMax");
    for file in COMPOSE_FILES {
        let of_container = service_of(file)["mem_limit"].as_str().unwrap().to_uppercase();
        assert_eq!(of_container, memory, "{file}");
    }
    let [families, of_import] = UNITS.map(|unit| setting(unit, "RestrictAddressFamilies"));
    assert_eq!(families, of_import);
    assert!(families.contains("AF_NETLINK"), "names are resolved with it");
}

/// The variables of a file, with the test's own folder and ports.
fn with_test_paths(mut variables: Variables, data_dir: &TempDir) -> Variables {
    variables.insert("TNR_DATA_DIR".into(), data_dir.path().display().to_string());
    variables.insert("TNR_PORT".into(), "0".into());
    if let Some(address) = variables.get_mut("TNR_OPS_ADDRESS") {
        *address = "127.0.0.1:0".into();
    }
    variables
}

#[tokio::test]
async fn the_image_serves_with_its_own_variables_and_is_healthy() {
    let data_dir = TempDir::new().unwrap();
    let variables = with_test_paths(assignments(&instruction("ENV")), &data_dir);
    let serving = Serving::start(program(&["serve"]).envs(&variables)).await;
    // It listens on all addresses, and prints one that can be opened.
    assert!(serving.base_url.starts_with("http://127.0.0.1:"), "{}", serving.base_url);
    let port = serving.base_url.rsplit_once(':').unwrap().1.to_owned();
    let mut health = program(&["health"]);
    health.envs(&variables).env("TNR_PORT", port);
    let health = tokio::task::spawn_blocking(move || health.output().unwrap()).await.unwrap();
    assert!(stdout(&health).contains(r#""status":"degraded""#), "there is no data yet");
    let listed = program(&["keys", "list"]).envs(&variables).output().unwrap();
    assert!(
        stdout(&listed).starts_with("No keys yet"),
        "commands find the same, still empty, data"
    );
}

#[tokio::test]
async fn systemd_is_notified_when_the_server_is_ready_and_when_it_stops() {
    assert_eq!(setting("tnr.service", "Type"), "notify");
    let (data_dir, folder) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let variables = with_test_paths(variables_of_unit("tnr.service"), &data_dir);
    let socket = folder.path().join("notify");
    let service_manager = UnixDatagram::bind(&socket).unwrap();
    service_manager.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let told = || {
        let mut message = [0; 200];
        let length = service_manager.recv(&mut message).unwrap();
        String::from_utf8(message[..length].to_vec()).unwrap()
    };
    let mut command = program(&["serve"]);
    command.envs(&variables).env("NOTIFY_SOCKET", &socket).env("TNR_DRAIN", "0");
    let mut serving = Serving::start(&mut command).await;
    assert_eq!(told().trim(), "READY=1");
    send_signal("TERM", &serving.process);
    assert_eq!(told().trim(), "STOPPING=1");
    assert!(until_ended(&mut serving.process).await.success());
}

#[test]
fn the_document_names_every_server_variable_and_option() {
    let document = fs::read_to_string(root().join("docs/SELF-HOSTING.md")).unwrap();
    let command = Cli::command();
    for argument in command.find_subcommand("serve").unwrap().get_arguments() {
        let Some(long) = argument.get_long().filter(|long| !["help", "key"].contains(long)) else {
            continue;
        };
        assert!(document.contains(&format!("`--{long}`")), "--{long}");
        if let Some(variable) = variable_of(argument) {
            assert!(document.contains(&format!("`{variable}`")), "{variable}");
        }
    }
}
