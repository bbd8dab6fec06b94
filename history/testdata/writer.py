"""Another program on the prompt history: opens it as the terminal programs do, adds prompts one
transaction each, and searches meanwhile. Usage: writer.py FILE NAME COUNT"""

import random
import sqlite3
import sys
import time

path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
db = sqlite3.connect(path, timeout=60, isolation_level=None)
db.execute("PRAGMA journal_mode = WAL")
db.execute("PRAGMA synchronous = NORMAL")
for i in range(count):
    db.execute("INSERT INTO history (prompt, cwd) VALUES (?, ?)", (f"{name} prompt {i}", "/python"))
    if i % 20 == 0:
        query = "SELECT h.prompt FROM history_fts f JOIN history h ON h.id = f.rowid WHERE history_fts MATCH ? ORDER BY h.created_at DESC, h.id DESC LIMIT 100"
        found = db.execute(query, (f'"{name}"* "{i}"*',)).fetchall()
        if (f"{name} prompt {i}",) not in found:
            sys.exit(f"{name} does not find what it wrote: prompt {i}")
    if i % 100 == 0:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    time.sleep(random.random() / 1000)
