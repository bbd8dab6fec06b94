// Reads the session from the page while the browser is still loading it. This script precedes the entries, so that the
// beginning of a long conversation is visible at once.

const byId = (id) => document.getElementById(id);

function readJSON(id) {
  try {
    return obj(JSON.parse(byId(id).textContent));
  } catch {
    return {};
  }
}

const dataBlocks = document.getElementsByClassName("entries"); // grows while the page is loading
const lines = new Lines((i) => dataBlocks[i].textContent);
const pause = () => new Promise((done) => setTimeout(done));
const isLoading = () => document.readyState === "loading";

/** isComplete reports whether a block has been loaded completely: a node follows it, or the page is loaded. */
const isComplete = (i) => i < dataBlocks.length && (dataBlocks[i].nextSibling !== null || !isLoading());

/** readRecords returns the records of all entries. It regularly calls progress with the records read so far. */
async function readRecords(progress) {
  const records = [];
  const calls = new Map();
  let last = -Infinity;
  for (let i = 0; ; i++) {
    while (!isComplete(i)) {
      if (!isLoading()) return records;
      await pause();
    }
    for (const r of recordsOf(lines.text(i), i, records.length, calls)) records.push(r);
    if (performance.now() - last < 40) continue;
    progress(records);
    await pause();
    last = performance.now();
  }
}

/** sessionFile returns the parts of a session file: the header, then the blocks of entries from the page. */
function sessionFile(about) {
  const header = Object.keys(obj(about.header)).length ? [json(about.header) + "\n"] : [];
  return header.concat(Array.from(dataBlocks, (b) => b.textContent.replace(/^\n/, "")));
}

/** saveFile downloads the session as a file. */
function saveFile(about) {
  const link = h("a", { download: (str(about.fileName).replace(/\.jsonl$/, "").replace(/[^\w.-]/g, "_").replace(/^\.+/, "") || "session") + ".jsonl" });
  link.href = URL.createObjectURL(new Blob(sessionFile(about), { type: "application/jsonl" }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
