//! Parameters that several operations share, as components.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::operations;

/// Replaces each parameter that several operations have with a reference to a component of its name. If different
/// parameters have the same name, the component is the most frequent one.
pub fn move_to_components(description: &mut Value) {
    let mut uses: BTreeMap<(String, String), Vec<Value>> = BTreeMap::new();
    for_each_param(description, |name, param| {
        uses.entry((name.to_owned(), identity(param))).or_default().push(param.clone());
    });
    let mut most_frequent: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for ((name, _), same) in uses.into_iter().filter(|(_, same)| same.len() > 1) {
        let others = most_frequent.entry(name).or_default();
        if same.len() > others.len() {
            *others = same;
        }
    }
    let with_example = |same: Vec<Value>| {
        let has_example = |param: &&Value| param.get("example").is_some();
        same.iter().find(has_example).unwrap_or(&same[0]).clone()
    };
    let components: BTreeMap<String, Value> =
        most_frequent.into_iter().map(|(name, same)| (name, with_example(same))).collect();
    for_each_param(description, |name, param| {
        if components.get(name).is_some_and(|it| identity(it) == identity(param)) {
            *param = json!({ "$ref": format!("#/components/parameters/{name}") });
        }
    });
    let all = description["components"]["parameters"].as_object_mut();
    all.expect("the components have parameters").extend(components);
}

/// Calls `visit` with each parameter that is not a reference, and its name.
fn for_each_param(description: &mut Value, mut visit: impl FnMut(&str, &mut Value)) {
    for (_, _, operation) in operations(description) {
        for param in operation["parameters"].as_array_mut().into_iter().flatten() {
            if let Some(name) = param["name"].as_str().map(str::to_owned) {
                visit(&name, param);
            }
        }
    }
}

/// The text by which parameters are compared. Examples of required ones count, since they belong together: an exchange
/// is in an area code.
fn identity(param: &Value) -> String {
    let mut param = param.clone();
    if let Some(fields) = param.as_object_mut().filter(|fields| fields["required"] != true) {
        fields.remove("example");
    }
    param.to_string()
}
