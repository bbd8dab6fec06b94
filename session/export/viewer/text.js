// Helpers for values of unknown shape. They don't use the DOM.

const str = (v) => (typeof v === "string" ? v : "");
const num = (v) => (typeof v === "number" && Number.isFinite(v) ? v : 0);
const obj = (v) => (v !== null && typeof v === "object" && !Array.isArray(v) ? v : {});
const list = (v) => (Array.isArray(v) ? v : []);

// Control characters except tab and line feed, characters that reorder text (and can disguise a command as another
// one), and lone surrogates.
const unclean = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ud800-\udfff]/;
const uncleanAll = new RegExp("\\p{Surrogate}|[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]", "gu");
const terminalColour = /\u001b\[[0-9;:]*m/g;

/** clean prepares a text for display: without terminal colours, other control characters as visible symbols. */
function clean(s) {
  if (!unclean.test(s)) return s;
  return s.replace(/\r\n/g, "\n").replace(terminalColour, "").replace(uncleanAll, (c) => {
    const code = c.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    if (code === 0x7f) return "\u2421";
    return code < 0xa0 || code >= 0xd800 && code < 0xe000 ? "\ufffd" : "";
  });
}

/** preview returns the beginning of s on one line, at most n characters. */
function preview(s, n) {
  const words = clean(s.length > 8 * n ? s.slice(0, 8 * n) + " …" : s).replace(/\s+/g, " ").trim();
  if (words.length <= n) return words;
  const chars = Array.from(words);
  return chars.length <= n ? words : chars.slice(0, n - 1).join("").trim() + "…";
}

/** lineCount returns the number of lines; a final line feed does not begin another one. */
function lineCount(s) {
  let n = 0;
  for (let i = s.indexOf("\n"); i >= 0; i = s.indexOf("\n", i + 1)) n++;
  return s === "" || s.endsWith("\n") ? n : n + 1;
}

const grouped = (n) => Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, ",");
const count = (n, one, many) => (n === 0 ? "" : n === 1 ? "1 " + one : grouped(n) + " " + many);
const joined = (sep, parts) => parts.filter(Boolean).join(sep);
const dollars = (n) => "$" + n.toFixed(n < 1 ? 4 : 2).replace(/\B(?=(\d{3})+\.)/g, ",");

function byteSize(n) {
  if (n < 1 << 10) return n + " B";
  return n < 1 << 20 ? (n / (1 << 10)).toFixed(1) + " KB" : (n / (1 << 20)).toFixed(1) + " MB";
}

/** instant formats an ISO time in UTC, so that a page looks the same in every time zone. */
function instant(s) {
  const text = str(s);
  const time = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(time)) return { text: preview(text, 40), full: "", machine: "" };
  const iso = new Date(time).toISOString();
  return { text: iso.slice(11, 16), day: iso.slice(0, 10), full: iso.slice(0, 19).replace("T", " ") + " UTC", machine: iso };
}

/** scalar formats a JSON value on one line: strings unchanged, null as "". */
function scalar(v) {
  if (typeof v === "string") return v;
  return v === null || v === undefined ? "" : json(v);
}

/** indented formats a JSON value for reading. */
function indented(v) {
  if (typeof v === "string") return v;
  const short = json(v);
  return short.length <= 80 || nesting(v) > maxIndent ? short : json(v, 2);
}

const maxIndent = 100; // levels; deeper values would consist mostly of indentation

/** nesting returns the nesting depth of lists and objects. */
function nesting(v) {
  let deepest = 0;
  for (const stack = [[v, 0]]; stack.length;) {
    const [at, depth] = stack.pop();
    deepest = Math.max(deepest, depth);
    if (at !== null && typeof at === "object") for (const key of Object.keys(at)) stack.push([at[key], depth + 1]);
  }
  return deepest;
}

/** json is JSON.stringify for values that may exceed the browser's recursion limit. */
function json(v, indent) {
  try {
    return JSON.stringify(v, null, indent) ?? "";
  } catch {
    return "(nested too deeply to display)";
  }
}
