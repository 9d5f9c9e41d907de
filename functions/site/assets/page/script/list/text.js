// The text of a list: a file or pasted text, decoded part by part.

const PART_BYTES = 256 * 1024;
/** A longer file has too many rows, or is not a list. */
const MAX_LIST_BYTES = 512 * 1024 * 1024;
const USE_PROGRAM = "use tnr format, which takes lists of any size";

/** A problem with a list. The message is a sentence without a period. */
class ListError extends Error {}

/** Finds the encoding of a list: by its byte order mark, otherwise UTF-8, or Windows-1252 if it is not UTF-8. */
async function findEncoding(blob) {
  if (blob.size > MAX_LIST_BYTES) throw new ListError(`The file is larger than 512 MB; ${USE_PROGRAM}`);
  const head = new Uint8Array(await blob.slice(0, 4096).arrayBuffer());
  const starts = (...bytes) => bytes.every((byte, index) => head[index] === byte);
  const utf16 = starts(0xff, 0xfe) ? "utf-16le" : starts(0xfe, 0xff) && "utf-16be";
  if (utf16) return { encoding: utf16, hasMark: true };
  if (head.includes(0)) throw new ListError("The file is not text. If it is an Excel workbook, save its sheet as CSV");
  try {
    for await (const part of decodedParts(blob, "utf-8")) void part;
    return { encoding: "utf-8", hasMark: starts(0xef, 0xbb, 0xbf) };
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
