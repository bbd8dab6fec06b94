// Diffs as [op, text] rows, with op " ", "-", "+" or "…" for omitted lines.

const ops = { same: " ", removed: "-", added: "+" };

/** diffLines returns the rows of a diff of two texts. */
function diffLines(before, after) {
  const out = [];
  let next = 1; // the line of before that follows the last row
  const skip = (n) => n > 0 && out.push(["…", count(n, "line", "lines") + " unchanged"]);
  for (const row of rendering.rowsOfPatch(rendering.patchOfTexts(before, after)).rows) {
    if (row.kind === "gap") continue;
    if (row.kind === "same") {
      skip(row.before - next);
      next = row.before;
    }
    if (row.kind !== "added") next++;
    out.push([ops[row.kind], row.text]);
  }
  if (out.length) skip(lineCount(before) - next + 1);
  return out;
}

/** diffText returns the rows of a recorded diff of any format: the first column is the op. */
function diffText(text) {
  return text.split("\n").map((line) => {
    const op = line[0] === "+" || line[0] === "-" ? line[0] : " ";
    return [/^(?:\+\+\+|---) /.test(line) ? "…" : op, op === " " ? line : line.slice(1)];
  });
}
