// Explanations of telephone terms, shown in place by mouse, keyboard and touch.

const TERMS = {
  NPA: "Numbering plan area: the area code, the first three digits of a North American number.",
  NXX: "Central office code: the three digits after the area code.",
  Exchange: "An area code and the three digits after it, such as 212-555: a block of 10,000 numbers. "
    + "It is assigned to one carrier, or to several in blocks of 1,000.",
  OCN: "Operating company number: four characters that identify a carrier in numbering data.",
  "Rate center": "The place whose rates apply to an exchange's calls. Where the phone is can differ.",
  "Legal company": "The name under which the carrier registered, which often differs from its brand.",
  "Line type": "Determined by the carrier that holds the block, or by the number's range. "
    + "A number that was ported to another carrier may have another type.",
  "Trunk prefix": "The digits dialed before a number within the country. The international format omits them.",
  "International prefix": "The digits dialed within the country before another country's calling code.",
  "E.164": "The international standard: a plus sign and at most 15 digits. Store numbers in this format.",
  "RFC 3966": "The format for links that start a call.",
  ILEC: "Incumbent local exchange carrier: the established telephone company of a region.",
  CLEC: "Competitive local exchange carrier: a newer company that competes with the established one. "
    + "Many lease numbers to VoIP services.",
  CAP: "Competitive access provider: connects businesses to long-distance networks.",
  IXC: "Interexchange carrier: a long-distance company.",
  PCS: "Personal communications service: a mobile carrier.",
};

let termCount = 0;

/** A term as a button that shows its explanation below it. CSS places the explanation. */
function term(name, label = name) {
  termCount += 1;
  const id = `term-${termCount}`;
  return [
    element("button", { type: "button", class: "term", popovertarget: id }, label),
    element("span", { id, class: "explanation", popover: "" }, TERMS[name]),
  ];
}

/** The text, with an explanation if it is a term. */
const explained = (text) => (Object.hasOwn(TERMS, text) ? term(text) : text);
