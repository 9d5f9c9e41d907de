// What a phone number is.

const numberView = {
  title: ({ tn }) => tn,
  requestOf: ({ tn, country }) =>
    tn ? target(`/v1/format/${segment(tn)}`, { defaultCountry: country === "US" ? "" : country }) : null,
  empty: "The answer will stand here: whether the number is valid, its formats, type and place, and in North "
    + "America the holder of its block.",
  show: ({ body }) => element("article", { class: "card" }, numberHead(body), formatRows(body), holder(body), place(body)),
};

function validity({ valid, possible }) {
  if (valid) return ["good", "Valid"];
  return possible ? ["doubt", "Not valid, but its length is possible"] : ["bad", "Not valid"];
}

function numberHead(number) {
  const { formats, input, typeDescription, location, flags, isNonGeographic } = number;
  const [kind, verdict] = validity(number);
  const heading = formats?.international ?? input;
  const country = location?.countryName ?? flags?.country?.name;
  const facts = [typeDescription, country, isNonGeographic && !country && "belongs to no place"].filter(Boolean);
  announce([heading, verdict, ...facts].join(", "));
  return element("div", { class: "card-head" },
    flags?.country && flagImage(flags.country, "large"),
    element("div", { class: "title" },
      element("h2", {}, heading),
      element("p", {}, facts.length > 0 ? facts.join(" · ") : "No phone number can be read from this.")),
    element("span", { class: `badge ${kind}` }, verdict));
}

/** A flag, which is left out where its image cannot be loaded: the name stands beside it. */
function flagImage({ svg, name }, size) {
  const [width, height] = size === "large" ? [54, 36] : [24, 16];
  const image = element("img", { class: `flag ${size}`, src: svg, alt: `Flag of ${name}`, width, height });
  image.addEventListener("error", () => image.remove());
  return image;
}

/** A row of a description list, with a button that copies its text if it is worth that. */
function pair(name, content, copied = null) {
  return element("div", {},
    element("dt", {}, name), element("dd", {}, content),
    copied && element("dd", {}, copyButton(name, () => copied)));
}

function formatRows({ formats, extension, countryCallingCode }) {
  if (!formats) return null;
  const rows = [
    ["E.164", formats.e164], ["International", formats.international], ["National", formats.national],
    ["RFC 3966", formats.rfc3966],
  ];
  return element("section", {},
    element("h3", {}, "Formats"),
    element("dl", { class: "pairs" },
      rows.filter(([, text]) => text).map(([name, text]) => pair(name, element("code", {}, text), text)),
      extension && pair("Extension", element("code", {}, extension)),
      countryCallingCode && pair("Calling code", element("code", {}, countryCallingCode))));
}

function holder({ carrier, npa, nxx }) {
  if (!npa) return null;
  const exchange = element("a", { href: hashOf("area-code", { npa, nxx }) }, `${npa}-${nxx}`);
  const of = ["exchange ", exchange];
  const name = carrier?.name ?? (carrier?.ocn ? `OCN ${carrier.ocn}` : null);
  const facts = carrier && [carrier.type, carrier.ocn && ["OCN ", ocnLink(carrier.ocn)], of].filter(Boolean);
  return element("section", {},
    element("h3", {}, "Holder of the block"),
    element("p", { class: "holder" }, name ?? "Nobody that the numbering data names"),
    element("p", {}, facts ? facts.flatMap((fact, index) => (index ? [" · ", fact] : [fact])).flat() : of),
    carrier && element("p", { class: "caveat" }, "As assigned; the number may have been ported."));
}

function place({ location, flags, isNonGeographic }) {
  if (!location) return null;
  const state = location.stateName && [flags?.state && flagImage(flags.state, "small"), location.stateName];
  const rows = [
    location.rateCenter && pair("Rate center", location.rateCenter),
    state && pair(location.country === "CA" ? "Province" : "State", state),
    location.countryName && pair("Country", `${location.countryName} (${location.country})`),
    isNonGeographic && pair("Numbers", "belong to no place"),
  ].filter(Boolean);
  return rows.length > 0 && element("section", {}, element("h3", {}, "Place"), element("dl", { class: "pairs" }, rows));
}
