// Line differences of an edit, for people: what is the same at both ends is cut to three lines of context.

const maxDiffCells = 400_000; // lines times lines; a larger change is shown as a removal and an addition
const context = 3;

/** diffLines returns [op, text] pairs with op " ", "-", "+" or "…" for lines left out. */
function diffLines(before, after) {
  const a = splitLines(before);
  const b = splitLines(after);
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const out = keep(a.slice(0, head), "end");
  out.push(...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)));
  out.push(...keep(a.slice(a.length - tail), "start"));
  return out;
}

const splitLines = (s) => (s === "" ? [] : s.replace(/\n$/, "").split("\n"));

function keep(same, side) {
  const shown = side === "end" ? same.slice(-context) : same.slice(0, context);
  const rows = shown.map((line) => [" ", line]);
  const left = same.length - shown.length;
  if (left > 0) rows[side === "end" ? "unshift" : "push"](["…", count(left, "line", "lines") + " unchanged"]);
  return rows;
}

function middle(a, b) {
  if (a.length * b.length > maxDiffCells) return [...a.map((l) => ["-", l]), ...b.map((l) => ["+", l])];
  const longest = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i][j] = a[i] === b[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
    }
  }
  const out = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push([" ", a[i++]]);
      j++;
    } else if (j >= b.length || i < a.length && longest[i + 1][j] >= longest[i][j + 1]) {
      out.push(["-", a[i++]]);
    } else {
      out.push(["+", b[j++]]);
    }
  }
  return out;
}

/** diffText reads a difference that is a text already: its first column says what became of a line. */
function diffText(text) {
  return text.split("\n").map((line) => {
    const op = line[0] === "+" || line[0] === "-" ? line[0] : " ";
    return [/^(?:\+\+\+|---) /.test(line) ? "…" : op, op === " " ? line : line.slice(1)];
  });
}

/** editsOf returns the {before, after} pairs in the arguments of a tool call, however its program names them. */
function editsOf(args) {
  let edits = args.edits;
  if (typeof edits === "string") {
    try {
      edits = JSON.parse(edits);
    } catch {
      edits = null;
    }
  }
  const all = Array.isArray(edits) ? edits : [edits];
  return [args, ...all].map(obj).map(editOf).filter(Boolean);
}

function editOf(e) {
  const pick = (...names) => names.map((n) => e[n]).find((v) => typeof v === "string");
  const before = pick("oldText", "old_text", "old_string", "old", "search");
  const after = pick("newText", "new_text", "new_string", "new", "replace");
  return before === undefined || after === undefined ? null : { path: pick("path", "file_path") ?? "", before, after };
}
