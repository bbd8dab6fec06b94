// Package agentdb reads the credentials in agent.db, the database in which oh-my-pi and xcsh keep them.
//
// It reads the bytes of the database and of its write-ahead log, and opens a copy in memory: SQLite itself, even when it only reads,
// creates, locks and changes the files next to a database.
package agentdb

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/afero"
	"modernc.org/sqlite"
)

// Name is the name of the database in an agent directory.
const Name = "agent.db"

const (
	maxFile   = 64 << 20        // bytes, of each file
	maxRows   = 1000            // credentials that are read
	maxValue  = 64 << 10        // bytes of a credential
	maxLength = 1 << 20         // bytes of a row
	patience  = 2 * time.Second // of the queries

	// The range of the versions of the tables that are known.
	oldestSchema = 1
	newestSchema = 7
)

// Credential is a credential of a provider that is not disabled.
type Credential struct {
	Provider string
	Login    bool   // a login: tokens that belong to the program
	Key      string // an API key; "" for a login

	// Expires is when the access token of a login ends, in milliseconds since 1970; 0 if that is not known.
	Expires int64

	access string
}

// String keeps secrets out of logs.
func (Credential) String() string { return "(credential)" }

// GoString keeps secrets out of logs.
func (Credential) GoString() string { return "(credential)" }

// Reader reads databases, and again only those that have changed. It is safe for concurrent use. Fs must be set.
type Reader struct {
	Fs afero.Fs

	mu   sync.Mutex
	read map[string]reading // by path; guarded by mu
}

// reading is what a database had.
type reading struct {
	state string
	list  []Credential
	err   error
}

// Read returns the credentials of the database at path, none if there is no such file. The error completes "PATH was not read: "
// and contains nothing of the file.
func (r *Reader) Read(ctx context.Context, path string) ([]Credential, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	state, err := r.state(path)
	if err != nil || state == "" {
		return nil, err
	}
	if known, ok := r.read[path]; ok && known.state == state {
		return known.list, known.err
	}
	image, err := snapshot(r.Fs, path)
	var list []Credential
	if err == nil {
		list, err = credentials(ctx, image)
	}
	if ctx.Err() != nil || errors.Is(err, errChanging) {
		return nil, err // another try may succeed
	}
	if r.read == nil {
		r.read = map[string]reading{}
	}
	r.read[path] = reading{state, list, err}
	return list, err
}

// state describes the files of a database, to recognize a change; "" if there is none.
func (r *Reader) state(path string) (string, error) {
	if links, ok := r.Fs.(afero.Lstater); ok {
		for _, name := range []string{path, path + walSuffix} {
			if info, _, err := links.LstatIfPossible(name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
				return "", errors.New("it is a link")
			}
		}
	}
	info, err := r.Fs.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", reason(err)
	}
	var state strings.Builder
	fmt.Fprint(&state, info.Size(), info.ModTime().UnixNano())
	for _, suffix := range []string{walSuffix, journalSuffix} {
		if info, err := r.Fs.Stat(path + suffix); err == nil {
			fmt.Fprint(&state, " ", suffix, info.Size(), info.ModTime().UnixNano())
		}
	}
	return state.String(), nil
}

// reason returns the cause of an error without the path, which the caller names.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

var errDamaged = errors.New("it is damaged, or not a database")

// credentials reads the image of a database.
func credentials(ctx context.Context, image []byte) ([]Credential, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := load(ctx, conn, image); err != nil {
		return nil, errDamaged
	}
	list, err := query(ctx, conn)
	switch {
	case ctx.Err() != nil:
		return nil, errors.New("it takes too long to read")
	case err != nil && !errors.As(err, new(unknownSchema)):
		return nil, errDamaged
	}
	return list, err
}

// load makes the image the database of a connection, which can neither be changed nor run code of the image.
func load(ctx context.Context, conn *sql.Conn, image []byte) error {
	const lengthLimit = 0 // SQLITE_LIMIT_LENGTH, which also bounds the values that a table computes
	if _, err := sqlite.Limit(conn, lengthLimit, maxLength); err != nil {
		return err
	}
	err := conn.Raw(func(driver any) error {
		d, ok := driver.(interface{ Deserialize(image []byte) error })
		if !ok {
			return errors.New("no Deserialize")
		}
		return d.Deserialize(image)
	})
	if err != nil {
		return err
	}
	for _, pragma := range []string{"trusted_schema = OFF", "query_only = ON", "cell_size_check = ON", "temp_store = MEMORY"} {
		if _, err := conn.ExecContext(ctx, "PRAGMA "+pragma); err != nil {
			return err
		}
	}
	return nil
}

// unknownSchema is the error for tables of an unknown form. It completes the sentence of [Reader.Read].
type unknownSchema string

func (e unknownSchema) Error() string { return string(e) }

func query(ctx context.Context, conn *sql.Conn) ([]Credential, error) {
	found, err := hasTable(ctx, conn, "auth_credentials")
	if err != nil || !found {
		return nil, err // a program that is not logged in
	}
	if err := checkSchema(ctx, conn); err != nil {
		return nil, err
	}
	rows, err := conn.QueryContext(ctx, `SELECT provider, credential_type, data FROM auth_credentials
		WHERE disabled_cause IS NULL AND credential_type IN ('api_key', 'oauth')
		AND typeof(provider) = 'text' AND typeof(data) = 'text' AND length(provider) < 1000 AND length(data) < ? ORDER BY id LIMIT ?`, maxValue, maxRows)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []Credential
	for rows.Next() {
		var provider, kind, data string
		if err := rows.Scan(&provider, &kind, &data); err != nil {
			return nil, err
		}
		if c, ok := credential(provider, kind, []byte(data)); ok {
			list = append(list, c)
		}
	}
	return list, rows.Err()
}

// hasTable reports whether the database has an ordinary table of this name: a view would run queries of the file.
func hasTable(ctx context.Context, conn *sql.Conn, name string) (found bool, err error) {
	err = conn.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ? AND sql LIKE 'CREATE TABLE%'`, name).Scan(&found)
	return found, err
}

// checkSchema fails for tables of a version that is not known. Those before the first version have none.
func checkSchema(ctx context.Context, conn *sql.Conn) error {
	found, err := hasTable(ctx, conn, "auth_schema_version")
	if err != nil || !found {
		return err
	}
	var version int
	err = conn.QueryRowContext(ctx, `SELECT version FROM auth_schema_version WHERE id = 1 AND typeof(version) = 'integer'`).Scan(&version)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err == nil && (version < oldestSchema || version > newestSchema):
		return unknownSchema(fmt.Sprintf("its tables have the version %d, and only versions up to %d are known", version, newestSchema))
	}
	return err
}

// credential reads the data of a row.
func credential(provider, kind string, data []byte) (Credential, bool) {
	var fields struct {
		Key    *string `json:"key"`
		Access string  `json:"access"`

		Expires float64 `json:"expires"`
	}
	if json.Unmarshal(bytes.TrimSpace(data), &fields) != nil {
		return Credential{}, false
	}
	if kind == "oauth" {
		return Credential{Provider: provider, Login: true, Expires: int64(fields.Expires), access: fields.Access}, true
	}
	if fields.Key == nil || *fields.Key == "" {
		return Credential{}, false
	}
	return Credential{Provider: provider, Key: *fields.Key}, true
}

// Access returns the access token of a login. Few may be used.
func (c Credential) Access() string { return c.access }

// PathIn returns the path of the database of an agent directory.
func PathIn(agentDir string) string { return filepath.Join(agentDir, Name) }
