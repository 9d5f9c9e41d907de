//! The README's table of API requests.

pub struct Row {
    /// The documented paths, including those for queries: `/v1/npa` as well as `/v1/npa/{npa}`.
    pub paths: Vec<String>,
    pub needs_key: bool,
}

/// The methods that a row may start with.
const METHODS: [&str; 2] = ["GET ", "POST "];

pub fn rows() -> Vec<Row> {
    let readme = include_str!("../../../../../README.md");
    let is_request = |line: &&str| METHODS.iter().any(|it| line.starts_with(&format!("| `{it}")));
    let rows = readme.lines().filter(is_request);
    rows.map(|row| Row { paths: paths(row), needs_key: !row.contains("without a key") }).collect()
}

/// Returns `true` if a row documents the path.
pub fn documents(path: &str) -> bool {
    let path = path.replace("+}", "}");
    rows().iter().any(|row| row.paths.contains(&path))
}

/// The paths in the first cell of a row: `` `GET /v1/npa/{npa}` or `?npa=` `` has two.
fn paths(row: &str) -> Vec<String> {
    let cell = row.split(" | ").next().unwrap();
    let mut paths: Vec<String> = Vec::new();
    for code in cell.split('`').skip(1).step_by(2) {
        let target = METHODS.iter().find_map(|method| code.strip_prefix(method)).unwrap_or(code);
        let path = match (target.split('?').next().unwrap(), paths.last()) {
            // A bare query belongs to the previous path without its parameters.
            ("", Some(before)) => before.split("/{").next().unwrap().to_owned(),
            (path, _) => path.to_owned(),
        };
        if path.starts_with('/') {
            paths.push(path);
        }
    }
    paths
}
