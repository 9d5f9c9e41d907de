// The text of a list: a file or pasted text, decoded part by part.

const PART_BYTES = 256 * 1024;
/** A longer file has more rows than the page takes, or is not a list. */
const MAX_LIST_BYTES = 512 * 1024 * 1024;
const USE_PROGRAM = "use tnr format, which takes lists of any size";

/** A problem with a list. The message is a sentence without a period. */
class ListError extends Error {}

/** The first bytes of files that are not text, and what to do with them. */
const OTHER_FILES = [
  ["504b0304", "a zip file or an Excel workbook. Unpack it, or save its sheet as CSV"],
  ["d0cf11e0", "an Excel workbook. Save its sheet as CSV"],
  ["1f8b", "compressed. Unpack it"],
];
const BYTE_ORDER_MARKS = [["efbbbf", "utf-8"], ["fffe", "utf-16le"], ["feff", "utf-16be"]];

/** Finds the encoding of a list: by its byte order mark, otherwise UTF-8, or Windows-1252 if it is not UTF-8. */
async function findEncoding(blob) {
  if (blob.size > MAX_LIST_BYTES) throw new ListError(`The file is larger than 512 MB; ${USE_PROGRAM}`);
  const head = new Uint8Array(await blob.slice(0, 4096).arrayBuffer());
  const start = Array.from(head.slice(0, 4), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const starts = ([bytes]) => start.startsWith(bytes);
  const other = OTHER_FILES.find(starts);
  if (other) throw new ListError(`The file is ${other[1]}`);
  const marked = BYTE_ORDER_MARKS.find(starts)?.[1];
  if (marked) return { encoding: marked, hasMark: true };
  if (head.includes(0)) throw new ListError("The file is not text. Save the list as CSV");
  try {
    for await (const part of decodedParts(blob, "utf-8")) void part;
    return { encoding: "utf-8", hasMark: false };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return { encoding: "windows-1252", hasMark: false };
  }
}

/** The text in parts. The last one may be empty. Never holds more than one part. */
async function* decodedParts(blob, encoding) {
  const decoder = new TextDecoder(encoding, { fatal: encoding === "utf-8" });
  for (let start = 0; start < blob.size; start += PART_BYTES) {
    const bytes = await blob.slice(start, start + PART_BYTES).arrayBuffer();
    yield decoder.decode(bytes, { stream: start + PART_BYTES < blob.size });
  }
}
