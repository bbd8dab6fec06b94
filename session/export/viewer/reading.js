// Reading the session out of the page, while the browser is still reading the page: this script stands before the
// entries, so that the beginning of a long conversation is there at once.

const byId = (id) => document.getElementById(id);

function readJSON(id) {
  try {
    return obj(JSON.parse(byId(id).textContent));
  } catch {
    return {};
  }
}

const dataBlocks = document.getElementsByClassName("entries"); // grows while the page is read
const lines = new Lines((i) => dataBlocks[i].textContent);
const pause = () => new Promise((done) => setTimeout(done));
const stillComing = () => document.readyState === "loading";

/** isWhole says whether all of a block is there: something follows it, or nothing more comes. */
const isWhole = (i) => i < dataBlocks.length && (dataBlocks[i].nextSibling !== null || !stillComing());

/** readRecords returns the records of all entries. progress is called now and then with those that there are. */
async function readRecords(progress) {
  const records = [];
  const calls = new Map();
  let last = -Infinity;
  for (let i = 0; ; i++) {
    while (!isWhole(i)) {
      if (!stillComing()) return records;
      await pause();
    }
    for (const r of recordsOf(lines.text(i), i, records.length, calls)) records.push(r);
    if (performance.now() - last < 40) continue;
    progress(records);
    await pause();
    last = performance.now();
  }
}

/** sessionFile returns the session as the parts of a file: its header, then its entries as they stand in the page. */
function sessionFile(about) {
  const header = Object.keys(obj(about.header)).length ? [json(about.header) + "\n"] : [];
  return header.concat(Array.from(dataBlocks, (b) => b.textContent.replace(/^\n/, "")));
}

/** saveFile lets the reader keep the session, for the program or other tools. */
function saveFile(about) {
  const link = h("a", { download: (str(about.fileName).replace(/\.jsonl$/, "").replace(/[^\w.-]/g, "_").replace(/^\.+/, "") || "session") + ".jsonl" });
  link.href = URL.createObjectURL(new Blob(sessionFile(about), { type: "application/jsonl" }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
