//! The files that install the server, in `infra/self-hosting`: what they say is what the program
//! understands, and what one of them says the others say, too.

use std::{collections::BTreeMap, fs, os::unix::net::UnixDatagram, path::Path, time::Duration};

use clap::{CommandFactory, Parser};
use tempfile::TempDir;
use tnr::args::{Cli, Command, ServeArgs};
use yaml_serde::Value;

use crate::support::{
    processes::{send_signal, until_ended},
    program::{Serving, program, stdout},
};

/// Where both the units and the image have the program.
const PROGRAM: &str = "/usr/local/bin/tnr";
const COMPOSE_FILES: [&str; 2] = ["compose.yaml", "compose.alternator.yaml"];

type Variables = BTreeMap<String, String>;

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text_of(file: &str) -> String {
    fs::read_to_string(root().join("infra/self-hosting").join(file)).unwrap()
}

/// The values of a setting of a unit, in order.
fn settings(unit: &str, name: &str) -> Vec<String> {
    let text = text_of(unit);
    let lines = text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    lines.map(str::to_owned).collect()
}

fn assignments(text: &str) -> Variables {
    let assignments = text.split_whitespace().map(|assignment| assignment.split_once('='));
    assignments.map(Option::unwrap).map(|(name, value)| (name.into(), value.into())).collect()
}

/// The variables that a unit sets, where its folder is `/var/lib`.
fn variables_of_unit(unit: &str) -> Variables {
    assignments(&settings(unit, "Environment").join(" ").replace("%S", "/var/lib"))
}

/// The instructions of the last stage of the image, each in one line.
fn image() -> Vec<(String, String)> {
    let text = text_of("Dockerfile").replace("\\\n", " ");
    let start = text.rfind("\nFROM ").unwrap();
    let lines = text[start..].lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let instructions = lines.map(|line| line.split_once(' ').unwrap());
    instructions.map(|(name, rest)| (name.to_owned(), rest.to_owned())).collect()
}

fn instruction(name: &str) -> String {
    let found: Vec<_> = image().into_iter().filter(|(known, _)| known == name).collect();
    assert_eq!(found.len(), 1, "{name}: {found:?}");
    found[0].1.clone()
}

fn words(json: &str) -> Vec<String> {
    serde_json::from_str(json).unwrap()
}

fn service_of(compose_file: &str) -> Value {
    let text = text_of(compose_file);
    yaml_serde::from_str::<Value>(&text).unwrap()["services"]["tnr"].clone()
}

fn strings(value: &Value) -> Vec<String> {
    value.as_sequence().unwrap().iter().map(|item| item.as_str().unwrap().to_owned()).collect()
}

/// The variables of a service of compose: those of the image, and its own.
fn variables_of_compose(compose_file: &str) -> Variables {
    let mut variables = assignments(&instruction("ENV"));
    for (name, value) in service_of(compose_file)["environment"].as_mapping().unwrap() {
        variables.insert(name.as_str().unwrap().to_owned(), value.as_str().unwrap().to_owned());
    }
    variables
}

/// The variable that stands for an option. The help names those that clap does not read.
fn variable_of(argument: &clap::Arg) -> Option<String> {
    let known = argument.get_env().and_then(|variable| variable.to_str()).map(str::to_owned);
    known.or_else(|| {
        let help = argument.get_help()?.to_string();
        let (_, variable) = help.split_once("[env: ")?;
        Some(variable.trim_end_matches(']').to_owned())
    })
}

/// What `serve` understands if these variables are set. They are given as options, since the
/// environment is that of all tests.
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

/// The command of a line, which must begin with the installed program.
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
fn the_program_understands_every_command_of_the_units_and_the_image() {
    for (unit, expected) in [("tnr.service", "serve"), ("tnr-import.service", "import")] {
        let line: Vec<String> =
            settings(unit, "ExecStart").join("").split_whitespace().map(str::to_owned).collect();
        parsed(&line);
        assert_eq!(line[1], expected, "{unit}");
    }
    let entrypoint = words(&instruction("ENTRYPOINT"));
    assert!(matches!(
        parsed(&[entrypoint, words(&instruction("CMD"))].concat()),
        Command::Serve(_)
    ));
    let health_check = instruction("HEALTHCHECK");
    let (_, command) = health_check.split_once("CMD ").unwrap();
    let Command::Health(health) = parsed(&words(command)) else { panic!("{health_check}") };
    assert_eq!((health.url, health.address.base_path), (None, None), "the variables decide");
    assert!(image().iter().any(|(name, rest)| name == "COPY" && rest.ends_with(PROGRAM)));
}

#[test]
fn images_are_named_by_their_digests() {
    let files = ["Dockerfile"].into_iter().chain(COMPOSE_FILES).map(text_of).collect::<String>();
    let names = |prefix| files.lines().filter_map(move |line| line.trim().strip_prefix(prefix));
    // The image of this project has no digest before it is built.
    let images: Vec<_> =
        names("FROM ").chain(names("image: ").filter(|image| *image != "tnr")).collect();
    assert_eq!(images.len(), 3, "{images:?}");
    for image in images {
        let digest = image.split_once("@sha256:").unwrap_or_else(|| panic!("{image}")).1;
        assert_eq!(digest.split(' ').next().unwrap().len(), 64, "{image}");
    }
}

/// A folder of data and a file of keys may have any name.
#[test]
fn the_build_of_the_image_reads_only_what_is_named() {
    let text = text_of("Dockerfile.dockerignore");
    let mut rules = text.lines().filter(|line| !line.starts_with('#'));
    assert_eq!(rules.next(), Some("*"));
    let (read, ignored): (Vec<_>, Vec<_>) = rules.partition(|rule| rule.starts_with('!'));
    let read: Vec<_> = read.iter().map(|rule| &rule[1..]).collect();
    assert_eq!(
        read,
        [
            "Cargo.lock",
            "Cargo.toml",
            "docs/openapi*.json",
            "events",
            "functions",
            "infra",
            "shared",
            "template.yaml"
        ]
    );
    for rule in ["**/*.sqlite*", "**/*.jsonl", "**/target"] {
        assert!(ignored.contains(&rule), "{rule} is read");
    }
}

#[test]
fn no_installed_server_imports_the_sample_or_makes_a_key() {
    for (file, serve) in every_server() {
        assert!(!serve.is_trial(), "{file}");
        assert!(serve.key.given.is_none(), "{file}");
    }
}

#[test]
fn the_data_is_in_the_only_folder_that_a_server_can_write_to() {
    let folder = "/var/lib/tnr";
    for unit in ["tnr.service", "tnr-import.service"] {
        assert_eq!(variables_of_unit(unit)["TNR_DATA_DIR"], folder, "{unit}");
        assert_eq!(settings(unit, "StateDirectory"), ["tnr"], "{unit}");
        assert_eq!(settings(unit, "User"), ["tnr"], "{unit}");
        assert_eq!(settings(unit, "DynamicUser"), ["yes"], "{unit}");
        assert_eq!(settings(unit, "ProtectSystem"), ["strict"], "{unit}");
    }
    assert_eq!(instruction("VOLUME"), folder);
    for (file, serve) in every_server() {
        assert_eq!(serve.database.folder().unwrap(), Path::new(folder), "{file}");
    }
    assert_eq!(strings(&service_of("compose.yaml")["volumes"]), [format!("data:{folder}")]);
    for file in COMPOSE_FILES {
        assert_eq!(service_of(file)["read_only"], Value::Bool(true), "{file}");
    }
}

#[test]
fn the_ports_of_the_image_are_those_that_are_published_and_none_is_for_operators() {
    let port = assignments(&instruction("ENV"))["TNR_PORT"].clone();
    assert_eq!(instruction("EXPOSE"), port);
    for file in COMPOSE_FILES {
        for published in strings(&service_of(file)["ports"]) {
            assert!(published.starts_with("127.0.0.1:"), "{file}: a proxy is before the server");
            assert!(published.ends_with(&format!(":{port}")), "{file}: {published}");
        }
    }
    for (file, serve) in every_server() {
        let is_container = file != "tnr.service";
        assert_eq!(serve.address.port.to_string(), port, "{file}");
        assert_eq!(serve.address.host.is_unspecified(), is_container, "{file}");
        let is_open = serve.ops_address.is_some_and(|address| address.ip().is_unspecified());
        assert!(is_container || !is_open, "{file}");
    }
}

#[test]
fn a_server_has_longer_to_stop_than_its_grace_period() {
    for (file, serve) in every_server() {
        let longest = match file {
            "tnr.service" => settings(file, "TimeoutStopSec")[0].clone(),
            "Dockerfile" => continue,
            _ => service_of(file)["stop_grace_period"].as_str().unwrap().replace('s', ""),
        };
        // Quotas and the embedded database take up to ten seconds more.
        assert!(serve.grace + 10 <= longest.parse().unwrap(), "{file}: {longest}");
    }
}

#[test]
fn an_import_has_as_much_memory_in_a_container_as_in_its_unit() {
    let of_unit = settings("tnr-import.service", "MemoryMax");
    for file in COMPOSE_FILES {
        let of_container = service_of(file)["mem_limit"].as_str().unwrap().to_uppercase();
        assert_eq!([of_container], of_unit[..], "{file}");
    }
}

#[test]
fn the_server_and_the_import_reach_the_same_hosts() {
    let families = |unit| settings(unit, "RestrictAddressFamilies");
    assert_eq!(families("tnr.service"), families("tnr-import.service"));
    assert!(families("tnr.service")[0].contains("AF_NETLINK"), "names are resolved with it");
}

#[test]
fn operators_find_every_server_at_a_port_that_prometheus_does_not_take_itself() {
    let ports = every_server().into_iter().filter_map(|(_, serve)| Some(serve.ops_address?.port()));
    assert_eq!(ports.collect::<Vec<_>>(), [9464; 3]);
    for document in ["README.md", "docs/SELF-HOSTING.md"] {
        let text = fs::read_to_string(root().join(document)).unwrap();
        assert!(text.contains("127.0.0.1:9464") && !text.contains("9090"), "{document}");
    }
}

#[test]
fn the_image_is_built_with_the_oldest_rust_that_works_and_the_profile_of_servers() {
    let manifest: toml::Table =
        fs::read_to_string(root().join("Cargo.toml")).unwrap().parse().unwrap();
    let rust = manifest["workspace"]["package"]["rust-version"].as_str().unwrap().to_owned();
    let dockerfile = text_of("Dockerfile");
    assert!(dockerfile.contains(&format!("FROM rust:{rust}-")), "{rust}");
    assert!(dockerfile.contains(&format!("RUSTUP_TOOLCHAIN={rust}")), "{rust}");
    assert!(dockerfile.contains("--profile server") && dockerfile.contains("target/server/tnr"));
    assert!(manifest["profile"]["server"].is_table());
}

/// The variables of a file with a folder and ports of the test's own.
fn of_the_tests_own(mut variables: Variables, data_dir: &TempDir) -> Variables {
    variables.insert("TNR_DATA_DIR".into(), data_dir.path().display().to_string());
    variables.insert("TNR_PORT".into(), "0".into());
    if let Some(address) = variables.get_mut("TNR_OPS_ADDRESS") {
        *address = "127.0.0.1:0".into();
    }
    variables
}

#[tokio::test]
async fn the_image_serves_with_its_own_variables_and_says_that_it_is_well() {
    let data_dir = TempDir::new().unwrap();
    let variables = of_the_tests_own(assignments(&instruction("ENV")), &data_dir);
    let arguments = words(&instruction("CMD"));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let serving = Serving::start(program(&arguments).envs(&variables)).await;
    // It listens on every address, and names one that can be opened.
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
async fn the_unit_is_told_when_the_server_is_ready_and_when_it_stops() {
    assert_eq!(settings("tnr.service", "Type"), ["notify"]);
    let (data_dir, folder) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let variables = of_the_tests_own(variables_of_unit("tnr.service"), &data_dir);
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
fn the_document_names_every_variable_and_every_option_of_the_server() {
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
