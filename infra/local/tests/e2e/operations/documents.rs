//! The documents: every link leads somewhere, and the code that ARCHITECTURE names is where it says.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A Markdown link of a document to another file, or to a heading.
struct Link {
    document: PathBuf,
    text: String,
    target: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn documents() -> Vec<PathBuf> {
    let folders = ["", "docs", "docs/decisions", "docs/examples", "infra/local/sample"];
    let entries = folders.iter().flat_map(|folder| fs::read_dir(root().join(folder)).unwrap());
    let files = entries.map(|entry| entry.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|extension| extension == "md")).collect()
}

/// The links of `document`, except those to other sites.
fn links(document: &Path) -> Vec<Link> {
    let markdown = fs::read_to_string(document).unwrap();
    let mut links = Vec::new();
    let mut rest = markdown.as_str();
    while let Some((before, after)) = rest.split_once("](") {
        let text = before.rsplit_once('[').unwrap().1.to_owned();
        let (target, next) = after.split_once(')').unwrap();
        if !target.starts_with("https://") {
            let document = document.to_owned();
            links.push(Link { document, text, target: target.to_owned() });
        }
        rest = next;
    }
    links
}

impl Link {
    fn file(&self) -> PathBuf {
        match self.target.split_once('#').map_or(self.target.as_str(), |(file, _)| file) {
            "" => self.document.clone(),
            file => self.document.parent().unwrap().join(file),
        }
    }
}

/// The anchors of a document's headings, as GitHub makes them.
fn anchors(document: &Path) -> Vec<String> {
    let markdown = fs::read_to_string(document).unwrap();
    let headings = markdown.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let words = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        words.chars().filter(|c| c.is_alphanumeric() || *c == '-').collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn every_link_of_the_documents_leads_somewhere() {
    let links: Vec<Link> = documents().iter().flat_map(|document| links(document)).collect();
    assert!(links.len() > 50, "{} links", links.len());
    for link in links {
        let (document, target) = (link.document.display(), &link.target);
        assert!(link.file().exists(), "{document} links to {target}, which does not exist");
        if let Some((_, anchor)) = target.split_once('#') {
            let anchors = anchors(&link.file());
            assert!(anchors.iter().any(|known| known == anchor), "{document}: no heading {target}");
        }
    }
}

#[test]
fn no_document_has_a_placeholder_for_an_address_that_is_not_there_yet() {
    for document in documents() {
        let markdown = fs::read_to_string(&document).unwrap();
        assert!(!markdown.contains("OWNER/REPOSITORY"), "{}", document.display());
    }
}

#[test]
fn the_code_that_the_architecture_names_is_where_it_says() {
    let mut checked = 0;
    for link in links(&root().join("docs/ARCHITECTURE.md")) {
        let name = link.text.trim_matches('`');
        let is_path = name == link.text || name.contains('/');
        if is_path {
            continue;
        }
        let code = fs::read_to_string(link.file()).unwrap();
        let is_module = link.target.contains(&format!("/{name}/mod.rs"));
        assert!(is_module || code.contains(name), "{} does not name {name}", link.target);
        checked += 1;
    }
    assert!(checked > 15, "only {checked} names were checked");
}

#[test]
fn every_dependency_has_its_reason() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let reasons = fs::read_to_string(root().join("docs/DEPENDENCIES.md")).unwrap();
    let is_explained = |name: &str| {
        reasons.lines().any(|line| line.starts_with("| `") && line.contains(&format!("`{name}`")))
    };
    let dependencies = manifest["workspace"]["dependencies"].as_table().unwrap();
    for (name, dependency) in dependencies {
        let is_ours = dependency.get("path").is_some();
        assert!(is_ours || is_explained(name), "docs/DEPENDENCIES.md lacks a reason for {name}");
    }
}
