//! The server's environment variables and options in the documentation.

use clap::CommandFactory;
use tnr::commands::Cli;

#[test]
fn the_docs_list_every_server_variable_and_option() {
    let document = include_str!("../../../../../../docs/SELF-HOSTING.md");
    let serve = Cli::command().find_subcommand("serve").unwrap().clone();
    for option in serve.get_arguments() {
        let Some(long) = option.get_long().filter(|long| !["help", "key"].contains(long)) else {
            continue;
        };
        assert!(document.contains(&format!("`--{long}`")), "--{long}");
        if let Some(variable) = option.get_env().and_then(|variable| variable.to_str()) {
            assert!(document.contains(&format!("`{variable}`")), "{variable}");
        }
    }
}
