// A request as code, without dependencies where possible. The key comes from the environment, so that samples can be
// shared. A request has the options of `fetch`, and `needsKey`.

const BEARER = "Authorization";

/** What all languages need of a request: its headers without the key's, its body, and whether those are JSON. */
function sampleParts({ method = "GET", headers = {}, body, needsKey = true } = {}) {
  const isJson = (name) => (headers[name] ?? "application/json") === "application/json";
  return {
    method, body, needsKey,
    headers: Object.entries(headers).filter(([name]) => name !== "Accept" || !isJson(name)),
    returnsJson: isJson("Accept"),
    json: body !== undefined && isJson("Content-Type") ? parseJson(body) : null,
  };
}

/** Quotes text as a shell word. */
const shellQuote = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** Quotes text as Go does: between backticks if it has several lines. */
const goQuote = (text) => (/\n./.test(text) && !/[`\r]/.test(text) ? `\`${text}\`` : JSON.stringify(text));

/** Quotes text as Rust does: raw if possible, since Rust writes some of JSON's escapes differently. */
const rustQuote = (text) => (/\r|"#/.test(text)
  ? JSON.stringify(text).replace(/\\(?:u(....)|.)/g, (escape, code) =>
    (code ? `\\u{${code}}` : { "\\b": "\\u{8}", "\\f": "\\u{c}" }[escape] ?? escape))
  : `r#"${text}"#`);

const PYTHON_WORDS = { true: "True", false: "False", null: "None" };
const pythonLiteral = (json) => json.replace(/"(?:[^"\\]|\\.)*"|true|false|null/g, (word) => PYTHON_WORDS[word] ?? word);

const indentedJson = (value, width, indent) => JSON.stringify(value, null, width).replaceAll("\n", `\n${indent}`);

/** An object's lines: on one line with one entry, otherwise with one line for each. */
const braces = (entries, indent, unit) => (entries.length < 2 ? `{${unit.length < 4 ? ` ${entries[0]} ` : entries[0]}}`
  : `{\n${entries.map((entry) => `${indent}${unit}${entry},\n`).join("")}${indent}}`);

const CODE = {
  curl(url, request) {
    const { method, headers, body, needsKey } = sampleParts(request);
    const lines = [
      needsKey && `-H "${BEARER}: Bearer $TNR_KEY"`,
      ...headers.map(([name, value]) => `-H ${shellQuote(`${name}: ${value}`)}`),
      body !== undefined && `--data-binary ${shellQuote(body)}`,
    ].filter(Boolean);
    const verb = method === "GET" ? "curl" : `curl -X ${method}`;
    const [first, ...rest] = [...lines, shellQuote(url)];
    return [`${verb} ${first}`, ...rest].join(" \\\n  ");
  },

  python(url, request) {
    const { headers, body, json, needsKey, returnsJson } = sampleParts(request);
    const fields = [
      needsKey && `"${BEARER}": f"Bearer {os.environ['TNR_KEY']}"`,
      ...headers.map(([name, value]) => `"${name}": "${value}"`),
    ].filter(Boolean);
    const content = json === null ? JSON.stringify(body ?? "") : `json.dumps(${pythonLiteral(indentedJson(json, 4, "    "))})`;
    const options = [
      `"${url}"`,
      fields.length && `headers=${braces(fields, "    ", "    ")}`,
      body !== undefined && `data=${content}.encode()`,
    ].filter(Boolean);
    return `import ${[(returnsJson || json !== null) && "json", needsKey && "os", "urllib.request"].filter(Boolean).join(", ")}

request = urllib.request.Request(
${options.map((option) => `    ${option},\n`).join("")})
with urllib.request.urlopen(request) as response:
    print(${returnsJson ? "json.load(response)" : "response.read().decode()"})`;
  },

  typescript(url, request) {
    const { method, headers, body, json, needsKey, returnsJson } = sampleParts(request);
    const fields = [
      needsKey && `${BEARER}: \`Bearer \${process.env.TNR_KEY}\``,
      ...headers.map(([name, value]) => `${/\W/.test(name) ? `"${name}"` : name}: "${value}"`),
    ].filter(Boolean);
    const options = [
      method !== "GET" && `method: "${method}"`,
      fields.length && `headers: ${braces(fields, "  ", "  ")}`,
      body !== undefined && `body: ${json === null ? JSON.stringify(body) : `JSON.stringify(${indentedJson(json, 2, "  ")})`}`,
    ].filter(Boolean);
    return `const response = await fetch("${url}"${options.length ? `, {\n${options.map((option) => `  ${option},\n`).join("")}}` : ""});
if (!response.ok) throw new Error(await response.text());
${returnsJson ? "console.dir(await response.json(), { depth: null })" : "console.log(await response.text())"};`;
  },

  go(url, request) {
    const { method, headers, body, json, needsKey } = sampleParts(request);
    const content = body !== undefined && goQuote(json === null ? body : JSON.stringify(json, null, 2));
    const imports = ["fmt", "io", "log", "net/http", needsKey && "os", body !== undefined && "strings"].filter(Boolean);
    const fields = [
      needsKey && `"${BEARER}", "Bearer "+os.Getenv("TNR_KEY")`,
      ...headers.map(([name, value]) => `"${name}", "${value}"`),
    ].filter(Boolean);
    const stop = "\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n";
    return `package main

import (
${imports.map((name) => `\t"${name}"\n`).join("")})

func main() {
${content ? `\tbody := strings.NewReader(${content})\n` : ""}	request, err := http.NewRequest("${method}", "${url}", ${content ? "body" : "nil"})
${stop}${fields.map((field) => `\trequest.Header.Set(${field})\n`).join("")}	response, err := http.DefaultClient.Do(request)
${stop}	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
${stop}	if response.StatusCode >= 400 {
		log.Fatalf("%s: %s", response.Status, text)
	}
	fmt.Println(string(text))
}`;
  },

  rust(url, request) {
    const { method, headers, body, json, needsKey } = sampleParts(request);
    const content = json === null ? body : JSON.stringify(json, null, 2);
    const calls = [
      needsKey && `header("${BEARER}", format!("Bearer {}", std::env::var("TNR_KEY")?))`,
      ...headers.map(([name, value]) => `header("${name}", "${value}")`),
      body === undefined ? "call()?" : `send(${rustQuote(content)})?`,
      "into_body()",
      "read_to_string()?",
    ].filter(Boolean);
    return `// cargo add ureq
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = ureq::${method.toLowerCase()}("${url}")
${calls.map((call) => `        .${call}`).join("\n")};
    println!("{text}");
    Ok(())
}`;
  },
};
