package agentdb_test

import (
	"crypto/sha256"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/xcsh-ls/xcsh-ls/agent/provider/agentdb"
)

// schema are the tables of oh-my-pi 18.
const schema = `
CREATE TABLE auth_schema_version (id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL);
INSERT INTO auth_schema_version VALUES (1, 7);
CREATE TABLE auth_credentials (
	id INTEGER PRIMARY KEY AUTOINCREMENT, provider TEXT NOT NULL, credential_type TEXT NOT NULL, data TEXT NOT NULL,
	disabled_cause TEXT DEFAULT NULL, identity_key TEXT DEFAULT NULL,
	created_at INTEGER NOT NULL DEFAULT (CAST(strftime('%s','now') AS INTEGER)), updated_at INTEGER NOT NULL DEFAULT (CAST(strftime('%s','now') AS INTEGER)));
CREATE TABLE cache (key TEXT PRIMARY KEY, value TEXT NOT NULL, expires_at INTEGER NOT NULL);
`

const rows = `
INSERT INTO auth_credentials (provider, credential_type, data) VALUES
	('groq', 'api_key', '{"key":"gsk-one"}'), ('openrouter', 'api_key', '{"key":"sk-or-two","source":"login"}'),
	('anthropic', 'oauth', '{"access":"at","refresh":"rt","expires":1}'), ('empty', 'api_key', '{"key":""}'), ('broken', 'api_key', '{'),
	('number', 'api_key', '{"key":7}'), ('other', 'cookie', '{"key":"x"}');
INSERT INTO auth_credentials (provider, credential_type, data, disabled_cause) VALUES ('xai', 'api_key', '{"key":"off"}', 'rejected');
`

// open opens a database as a program does.
func open(t *testing.T, path string, statements ...string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path+"?_busy_timeout=5000")
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	for _, s := range statements {
		_, err = db.ExecContext(t.Context(), s)
		require.NoError(t, err)
	}
	return db
}

// files describes every file of a directory.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	all := map[string]string{}
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		all[e.Name()] = fmt.Sprintf("%v %d %v %x", info.Mode(), info.Size(), info.ModTime().UnixNano(), sha256.Sum256(content))
	}
	return all
}

func keys(list []agentdb.Credential) (all []string) {
	for _, c := range list {
		all = append(all, c.Provider+" "+strconv.FormatBool(c.Login)+" "+c.Key)
	}
	return all
}

var want = []string{"groq false gsk-one", "openrouter false sk-or-two", "anthropic true "}

// Reading changes no byte, no time and no name next to the database, whether or not its program is running.
func TestReadingChangesNothing(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"wal", "delete"} {
		for _, running := range []bool{true, false} {
			t.Run(fmt.Sprint(mode, running), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				path := filepath.Join(dir, "agent.db")
				db := open(t, path, "PRAGMA journal_mode = "+mode, schema, rows)
				if !running {
					require.NoError(t, db.Close())
				}
				before := files(t, dir)
				require.Equal(t, running && mode == "wal", len(before) == 3, "%v", before)
				r := &agentdb.Reader{Fs: afero.NewOsFs()}
				for range 3 {
					list, err := r.Read(t.Context(), path)
					require.NoError(t, err)
					require.Equal(t, want, keys(list))
					require.NotContains(t, fmt.Sprintf("%v %+v %#v", list, list, list), "gsk-one")
				}
				require.Equal(t, before, files(t, dir))
			})
		}
	}
}

// What the program has committed counts at once, also after a part of its log was copied to the database, and after a crash. An open
// transaction does not count.
func TestTheLogIsRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "agent.db")
	db := open(t, path, "PRAGMA journal_mode = wal", "PRAGMA wal_autocheckpoint = 0", schema, rows)
	r := &agentdb.Reader{Fs: afero.NewOsFs()}
	for i := range 20 {
		key := fmt.Sprintf("gsk-%d", i)
		_, err := db.ExecContext(t.Context(), `UPDATE auth_credentials SET data = '{"key":"`+key+`"}' WHERE provider = 'groq'`)
		require.NoError(t, err)
		_, err = db.ExecContext(t.Context(), `INSERT INTO cache VALUES (?, ?, 0)`, key, strings.Repeat("x", 9000))
		require.NoError(t, err)
		if i%5 == 4 {
			_, err = db.ExecContext(t.Context(), "PRAGMA wal_checkpoint("+[]string{"PASSIVE", "RESTART"}[i%2]+")")
			require.NoError(t, err)
		}
		list, err := r.Read(t.Context(), path)
		require.NoError(t, err)
		require.Equal(t, key, list[0].Key)
	}
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(t.Context(), `UPDATE auth_credentials SET data = '{"key":"not-yet"}' WHERE provider = 'groq'`)
	require.NoError(t, err)
	list, err := (&agentdb.Reader{Fs: afero.NewOsFs()}).Read(t.Context(), path)
	require.NoError(t, err)
	require.Equal(t, "gsk-19", list[0].Key)
	require.NoError(t, tx.Rollback())

	crashed := filepath.Join(t.TempDir(), "agent.db")
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(path + suffix)
		require.NoError(t, err)
		if suffix != "" {
			content = append(content, make([]byte, 5000)...) // a page that was not written completely
		}
		require.NoError(t, os.WriteFile(crashed+suffix, content, 0o600))
	}
	list, err = r.Read(t.Context(), crashed)
	require.NoError(t, err)
	require.Equal(t, "gsk-19", list[0].Key)
}

// While a program writes and checkpoints, each reading is one state of the database: two keys that always change together are equal.
func TestAReadingIsOneState(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "agent.db")
	db := open(t, path, "PRAGMA journal_mode = wal", "PRAGMA wal_autocheckpoint = 3", "PRAGMA synchronous = OFF", schema,
		`INSERT INTO auth_credentials (provider, credential_type, data) VALUES ('a', 'api_key', '{"key":"0"}')`,
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) INSERT INTO auth_credentials (provider, credential_type, data)
			SELECT 'fill' || i, 'cookie', printf('%04000d', i) FROM n`,
		`INSERT INTO auth_credentials (provider, credential_type, data) VALUES ('b', 'api_key', '{"key":"0"}')`)
	const writes = 300
	done := make(chan error, 1)
	go func() {
		for i := range writes {
			if _, err := db.ExecContext(t.Context(), `UPDATE auth_credentials SET data = ? WHERE provider IN ('a', 'b')`, fmt.Sprintf(`{"key":"%d"}`, i)); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	r := &agentdb.Reader{Fs: afero.NewOsFs()}
	for reads := 0; ; reads++ {
		list, err := r.Read(t.Context(), path)
		if err != nil {
			require.ErrorContains(t, err, "is being changed")
		} else {
			require.Len(t, list, 2)
			require.Equal(t, list[0].Key, list[1].Key)
		}
		select {
		case err := <-done:
			require.NoError(t, err)
			list, err := r.Read(t.Context(), path)
			require.NoError(t, err)
			require.Equal(t, strconv.Itoa(writes-1), list[1].Key)
			return
		default:
		}
	}
}

func TestNoDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := &agentdb.Reader{Fs: afero.NewOsFs()}
	list, err := r.Read(t.Context(), filepath.Join(dir, "agent.db"))
	require.NoError(t, err)
	require.Empty(t, list)
	require.Empty(t, files(t, dir))
	require.NoError(t, open(t, filepath.Join(dir, "agent.db"), "CREATE TABLE settings (a)").Close())
	list, err = r.Read(t.Context(), filepath.Join(dir, "agent.db"))
	require.NoError(t, err)
	require.Empty(t, list, "a program that is not logged in")
}

// A database that cannot be used costs one sentence, and neither time nor memory.
func TestHostileDatabases(t *testing.T) {
	t.Parallel()
	const endless = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n`
	for name, c := range map[string]struct {
		make func(t *testing.T, path string)
		want string
	}{
		"no database": {func(t *testing.T, path string) { t.Helper(); put(t, path, strings.Repeat("secret ", 1000)) }, "it is damaged, or not a database"},
		"empty":       {func(t *testing.T, path string) { t.Helper(); put(t, path, "") }, "it is damaged, or not a database"},
		"huge": {func(t *testing.T, path string) {
			t.Helper()
			put(t, path, "SQLite format 3\x00")
			require.NoError(t, os.Truncate(path, 1<<40))
		}, "it is longer than"},
		"a directory": {func(t *testing.T, path string) { t.Helper(); require.NoError(t, os.Mkdir(path, 0o700)) }, "it is a directory"},
		"a newer version": {func(t *testing.T, path string) {
			t.Helper()
			_ = open(t, path, schema, "UPDATE auth_schema_version SET version = 8").Close()
		}, "its tables have the version 8"},
		"pages overwritten": {func(t *testing.T, path string) {
			t.Helper()
			_ = open(t, path, schema, rows).Close()
			content, err := os.ReadFile(path)
			require.NoError(t, err)
			for i := 4096; i < len(content); i++ {
				content[i] = byte(i * 7)
			}
			put(t, path, string(content))
		}, "it is damaged, or not a database"},
		"cut": {func(t *testing.T, path string) {
			t.Helper()
			_ = open(t, path, schema, rows).Close()
			require.NoError(t, os.Truncate(path, 4096))
		}, "it is damaged, or not a database"},
		"a transaction to undo": {func(t *testing.T, path string) {
			t.Helper()
			_ = open(t, path, schema, rows).Close()
			put(t, path+"-journal", "x")
		}, "it is being changed"},
		"endless version": {func(t *testing.T, path string) {
			t.Helper()
			_ = open(t, path, strings.ReplaceAll(schema, "version INTEGER NOT NULL", "version INTEGER NOT NULL, w AS (zeroblob(1000000000))"),
				"ALTER TABLE auth_schema_version RENAME version TO v", "ALTER TABLE auth_schema_version RENAME w TO version").Close()
		}, ""},
		"a view": {func(t *testing.T, path string) {
			t.Helper()
			_ = open(t, path, `CREATE VIEW auth_credentials AS SELECT i AS id, 'groq' AS provider, 'api_key' AS credential_type, '{"key":"x"}' AS data,
				NULL AS disabled_cause FROM (`+endless+`)`).Close()
		}, ""},
		"other columns": {func(t *testing.T, path string) {
			t.Helper()
			_ = open(t, path, "CREATE TABLE auth_credentials (id)").Close()
		}, "it is damaged, or not a database"},
		"computed values": {func(t *testing.T, path string) {
			t.Helper()
			_ = open(t, path, `CREATE TABLE auth_credentials (id INTEGER PRIMARY KEY, provider TEXT, credential_type TEXT, disabled_cause TEXT, data TEXT AS (hex(zeroblob(400000000))))`,
				`INSERT INTO auth_credentials (provider, credential_type) VALUES ('groq', 'api_key')`).Close()
		}, "it is damaged, or not a database"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "agent.db")
			c.make(t, path)
			list, err := (&agentdb.Reader{Fs: afero.NewOsFs()}).Read(t.Context(), path)
			require.Empty(t, list)
			if c.want == "" {
				if err != nil {
					require.NotContains(t, err.Error(), "\n")
				}
				return
			}
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "secret")
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

func put(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}

// A link may lead to a file of something else.
func TestLinks(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links need a permission there")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "real.db")
	require.NoError(t, open(t, path, schema, rows).Close())
	require.NoError(t, os.Symlink(path, filepath.Join(dir, "agent.db")))
	_, err := (&agentdb.Reader{Fs: afero.NewOsFs()}).Read(t.Context(), filepath.Join(dir, "agent.db"))
	require.EqualError(t, err, "it is a link")
}

// Any log beside a database ends neither the process nor the reading.
func FuzzLog(f *testing.F) {
	path := filepath.Join(f.TempDir(), "agent.db")
	db, err := sql.Open("sqlite", path)
	require.NoError(f, err)
	db.SetMaxOpenConns(1)
	for _, s := range []string{"PRAGMA journal_mode = wal", schema, rows} {
		_, err = db.ExecContext(f.Context(), s)
		require.NoError(f, err)
	}
	image, err := os.ReadFile(path)
	require.NoError(f, err)
	log, err := os.ReadFile(path + "-wal")
	require.NoError(f, err)
	require.NoError(f, db.Close())
	f.Add(image, log)
	f.Add(image, log[:200])
	f.Add(image[:1000], log[:32])
	f.Fuzz(func(t *testing.T, image, log []byte) {
		memory := afero.NewMemMapFs()
		require.NoError(t, afero.WriteFile(memory, "/agent.db", image, 0o600))
		require.NoError(t, afero.WriteFile(memory, "/agent.db-wal", log, 0o600))
		_, _ = (&agentdb.Reader{Fs: memory}).Read(t.Context(), "/agent.db")
	})
}
