// The settings of a list before it starts: its columns, default country and fields, with a preview.

const DELIMITER_NAMES = [[",", "Comma"], [";", "Semicolon"], ["\t", "Tab"], ["|", "Pipe"], ["", "None: one number per line"]];
const NO_COLUMN = "";

/** A labeled select. `choices` are values and names. */
function listSelect(id, label, choices, value, onChange) {
  const select = element("select", { id }, choices.map(([code, name]) => element("option", { value: code }, name)));
  select.value = value;
  select.addEventListener("change", () => onChange(select.value));
  return element("div", { class: "field" }, element("label", { for: id }, label), select);
}

function listCheckbox(label, isChecked, onChange, id = null) {
  const box = element("input", { type: "checkbox", id, checked: isChecked && "" });
  box.addEventListener("change", () => onChange(box.checked));
  return element("label", { class: "check" }, box, label);
}

/** The fields for the layout. Changing the delimiter or the header row detects the columns again. */
function layoutFields(list) {
  const { layout } = list;
  const columns = layout.names.map((name, index) => [String(index), name]);
  const column = (value) => (value === null ? NO_COLUMN : String(value));
  const position = (value) => (value === NO_COLUMN ? null : Number(value));
  const relayout = (changes) => changeLayout(withColumns(list.head.slice(layout.skipped), { ...layout, ...changes }));
  return element("div", { class: "fields" },
    listSelect("list-number", "Column with numbers", [...(layout.numberColumn === null ? [[NO_COLUMN, "Choose a column"]] : []), ...columns],
      column(layout.numberColumn), (value) => changeLayout({ ...layout, numberColumn: position(value) })),
    listSelect("list-default-country", "Default country", CHOICES.countries, list.defaultCountry, (value) => { list.defaultCountry = value; }),
    columns.length > 1 && listSelect("list-country", "Column with countries", [[NO_COLUMN, "None"], ...columns],
      column(layout.countryColumn), (value) => changeLayout({ ...layout, countryColumn: position(value) })),
    layout.skipped === 0 && listSelect("list-delimiter", "Delimiter", DELIMITER_NAMES, layout.delimiter ?? "",
      (value) => relayout({ delimiter: value || null, hasHeader: value !== "" && layout.hasHeader })),
    layout.delimiter !== null && listCheckbox("The first row has column names", layout.hasHeader, (hasHeader) => relayout({ hasHeader }), "list-header"));
}

/** The choice of columns to add. */
function fieldChoices(list) {
  const count = () => `Columns to add: ${list.fields.length}`;
  const summary = element("summary", {}, count());
  const choose = (path) => (isChosen) => {
    list.fields = Object.keys(LIST_FIELDS).filter((other) => (other === path ? isChosen : list.fields.includes(other)));
    summary.textContent = count();
  };
  return element("details", {}, summary,
    element("fieldset", { class: "checks" },
      element("legend", { class: "hidden" }, "Columns to add"),
      Object.entries(LIST_FIELDS).map(([path, name]) => listCheckbox(name, list.fields.includes(path), choose(path)))));
}

/** A table that scrolls sideways in its own box. `marked` is the position of a column to emphasize. */
function sheet(label, names, rows, marked = null) {
  const columns = names.map((name, index) => [name, (row) => row[index] ?? "", index === marked && "marked"]);
  return element("div", { class: "sheet", role: "region", tabindex: "0", "aria-label": label }, table(label, columns, rows));
}

function previewSection({ head, layout, rows }) {
  const { delimiter, skipped, names, numberColumn } = layout;
  const start = Number(layout.hasHeader);
  const first = firstRows(head.slice(skipped), delimiter).slice(start, start + PREVIEW_ROWS);
  const title = rows > PREVIEW_ROWS ? `The first ${PREVIEW_ROWS} of ${rows.toLocaleString("en")} rows` : formatCount(rows, "row", "rows");
  return element("section", {}, element("h3", {}, title), sheet("Rows of the list", names, first, numberColumn));
}

/** The list before it starts. */
function settingsCard(list) {
  const { name, layout, encoding, rows, distinct } = list;
  const facts = [formatCount(rows, "row", "rows"), encoding.toUpperCase(), layout.delimiter === null ? "one number per line" : formatCount(layout.names.length, "column", "columns")];
  return element("article", { class: "card" },
    listHead(name, facts.join(" · "), element("button", { type: "button", onclick: closeList }, "Another list")),
    element("section", {}, layoutFields(list), fieldChoices(list)),
    previewSection(list),
    element("section", { class: "list-start" },
      element("button", { type: "button", class: "primary", id: "list-start", onclick: startList }, `Look up ${formatCount(rows, "row", "rows")}`),
      element("p", { class: "hint" },
        `Only the numbers are sent, and only to this service. Each distinct number counts as one request: ${distinct.toLocaleString("en")} in this list.`)));
}

function listHead(title, facts, ...buttons) {
  return element("div", { class: "card-head" },
    element("div", { class: "title" }, element("h2", { tabindex: "-1" }, title), element("p", { id: "list-facts" }, facts)),
    ...buttons);
}
