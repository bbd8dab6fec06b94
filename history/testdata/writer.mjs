// Another program on the prompt history: opens it as the terminal programs do, adds prompts one
// transaction each, and searches meanwhile. Usage: node writer.mjs FILE NAME COUNT
import { DatabaseSync } from "node:sqlite";

const [file, name, count] = process.argv.slice(2);
const db = new DatabaseSync(file, { timeout: 60_000 });
db.exec("PRAGMA journal_mode = WAL");
db.exec("PRAGMA synchronous = NORMAL");
const add = db.prepare("INSERT INTO history (prompt, cwd) VALUES (?, ?)");
const search = db.prepare(
  "SELECT h.prompt FROM history_fts f JOIN history h ON h.id = f.rowid WHERE history_fts MATCH ? ORDER BY h.created_at DESC, h.id DESC LIMIT 100",
);
for (let i = 0; i < Number(count); i++) {
  const prompt = `${name} prompt ${i}`;
  add.run(prompt, "/node");
  if (i % 20 === 0 && !search.all(`"${name}"* "${i}"*`).some((row) => row.prompt === prompt)) {
    throw new Error(`${name} does not find what it wrote: ${prompt}`);
  }
  if (i % 100 === 0) {
    db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  await new Promise((resolve) => setTimeout(resolve, Math.random()));
}
db.close();
