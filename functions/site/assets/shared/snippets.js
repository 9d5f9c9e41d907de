// A request as code, without dependencies where possible. The key comes from the environment, so that samples can be
// shared. A request has the options of `fetch`, and `needsKey`.

const isJson = ({ headers = {} }, name) => (headers[name] ?? "application/json") === "application/json";

const returnsJson = (url, request) => isJson(request, "Accept") && !/[?&]format=(?!json)/.test(url);

/** The request's body as a value, if it is JSON. */
const jsonBody = (request) => (request.body && isJson(request, "Content-Type") ? parseJson(request.body) : null);

/** The headers as code: `key` is the expression for the key's, `pair` joins a name and an expression. */
const sampleHeaders = ({ headers = {}, needsKey = true }, key, pair, quote = JSON.stringify) => [
  ...(needsKey ? [pair("Authorization", key)] : []),
  ...Object.entries(headers).map(([name, value]) => pair(name, quote(value))),
];

const sampleLines = (items, indent, end = ",") => items.filter(Boolean).map((item) => `${indent}${item}${end}\n`).join("");

const indentedJson = (value, width, indent) => JSON.stringify(value, null, width).replaceAll("\n", `\n${indent}`);

/** Quotes text as a shell word. */
const shellQuote = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** Quotes text as Go does: between backticks if it has several lines. */
const goQuote = (text) => (/\n./.test(text) && !text.includes("`") ? `\`${text}\`` : JSON.stringify(text));

/** Quotes text as a raw string of Rust, which writes some of JSON's escapes differently. */
const rustQuote = (text) => (text.includes('"#') ? `r##"${text}"##` : `r#"${text}"#`);

const PYTHON_WORDS = { true: "True", false: "False", null: "None" };
const pythonLiteral = (json) => json.replace(/"(?:[^"\\]|\\.)*"|true|false|null/g, (word) => PYTHON_WORDS[word] ?? word);

const CODE = {
  curl: (url, { method = "GET", body, ...request } = {}) => [
    method === "GET" ? "curl" : `curl -X ${method}`,
    ...sampleHeaders(request, "Bearer $TNR_KEY", (name, value) => `-H "${name}: ${value}"`, String),
    ...(body === undefined ? [] : [`--data-binary ${shellQuote(body)}`]),
    shellQuote(url),
  ].join(" \\\n  ").replace(" \\\n ", ""),

  python(url, request = {}) {
    const { body, needsKey = true } = request;
    const headers = sampleHeaders(request, "f\"Bearer {os.environ['TNR_KEY']}\"", (name, value) => `"${name}": ${value}`);
    const [json, parsesResponse] = [jsonBody(request), returnsJson(url, request)];
    const data = json ? `json.dumps(${pythonLiteral(indentedJson(json, 4, "    "))})` : JSON.stringify(body);
    return `import ${[(parsesResponse || json) && "json", needsKey && "os", "urllib.request"].filter(Boolean).join(", ")}

request = urllib.request.Request(
${sampleLines([
    `"${url}"`,
    headers.length && `headers={\n${sampleLines(headers, "        ")}    }`,
    body !== undefined && `data=${data}.encode()`,
  ], "    ")})
with urllib.request.urlopen(request) as response:
    print(${parsesResponse ? "json.load(response)" : "response.read().decode()"})`;
  },

  typescript(url, request = {}) {
    const { method = "GET", body } = request;
    const headers = sampleHeaders(request, "`Bearer ${process.env.TNR_KEY}`", (name, value) =>
      `${/\W/.test(name) ? `"${name}"` : name}: ${value}`);
    const json = jsonBody(request);
    const options = sampleLines([
      method !== "GET" && `method: "${method}"`,
      headers.length && `headers: {\n${sampleLines(headers, "    ")}  }`,
      body !== undefined && `body: ${json ? `JSON.stringify(${indentedJson(json, 2, "  ")})` : JSON.stringify(body)}`,
    ], "  ");
    return `const response = await fetch("${url}"${options && `, {\n${options}}`});
if (!response.ok) throw new Error(await response.text());
${returnsJson(url, request) ? "console.dir(await response.json(), { depth: null })" : "console.log(await response.text())"};`;
  },

  go(url, request = {}) {
    const { method = "GET", body, needsKey = true } = request;
    const headers = sampleHeaders(request, '"Bearer "+os.Getenv("TNR_KEY")', (name, value) => `request.Header.Set("${name}", ${value})`);
    const stop = "\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n";
    return `package main

import (
${sampleLines(['"fmt"', '"io"', '"log"', '"net/http"', needsKey && '"os"', body && '"strings"'], "\t", "")})

func main() {
${body ? `\tbody := strings.NewReader(${goQuote(body)})\n` : ""}	request, err := http.NewRequest("${method}", "${url}", ${body ? "body" : "nil"})
${stop}${sampleLines(headers, "\t", "")}	response, err := http.DefaultClient.Do(request)
${stop}	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
${stop}	if response.StatusCode >= 400 {
		log.Fatalf("%s: %s", response.Status, text)
	}
	fmt.Println(string(text))
}`;
  },

  rust(url, request = {}) {
    const { method = "GET", body } = request;
    const headers = sampleHeaders(request, 'format!("Bearer {}", std::env::var("TNR_KEY")?)', (name, value) => `.header("${name}", ${value})`);
    return `// cargo add ureq
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = ureq::${method.toLowerCase()}("${url}")
${sampleLines([...headers, body === undefined ? ".call()?" : `.send(${rustQuote(body)})?`], "        ", "")}        .into_body()
        .read_to_string()?;
    println!("{text}");
    Ok(())
}`;
  },
};
