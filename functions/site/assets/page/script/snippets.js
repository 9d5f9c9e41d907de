// The request as code, without dependencies where possible. The key comes from the environment, so that snippets can be
// shared.

const CODE = {
  curl: (url) => `curl -H "Authorization: Bearer $TNR_KEY" \\\n  '${url}'`,

  python: (url) => `import json, os, urllib.request

request = urllib.request.Request(
    "${url}",
    headers={"Authorization": f"Bearer {os.environ['TNR_KEY']}"},
)
with urllib.request.urlopen(request) as response:
    print(json.load(response))`,

  typescript: (url) => `const response = await fetch(
  "${url}",
  { headers: { Authorization: \`Bearer \${process.env.TNR_KEY}\` } },
);
if (!response.ok) throw new Error(await response.text());
console.log(await response.json());`,

  rust: (url) => `// cargo add reqwest --features blocking,json
// cargo add serde_json
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let response = reqwest::blocking::Client::new()
        .get("${url}")
        .bearer_auth(std::env::var("TNR_KEY")?)
        .send()?
        .error_for_status()?;
    println!("{:#}", response.json::<serde_json::Value>()?);
    Ok(())
}`,
};
