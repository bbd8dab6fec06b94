package redact_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/bench/corpus/gen"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	"github.com/xcsh-ls/xcsh-ls/session/redact"
)

// mostPerMB is the maximum number of ordinary passages replaced per megabyte.
const mostPerMB = .1

// counted scans ordinary text.
type counted struct {
	scanner     *redact.Scanner
	bytes       int
	sure        []string
	doubtful    int
	doubtfulSee []string
}

func (c *counted) text(where, name, text string) {
	found := c.scanner.Scan(text)
	if name != "" {
		found = c.scanner.Named(name, text)
	}
	for _, f := range found {
		line := fmt.Sprintf("%s: %s: %q", where, f.Kind, text[max(0, f.From-30):min(len(text), f.To+10)])
		if f.Doubtful {
			c.doubtful++
			c.doubtfulSee = append(c.doubtfulSee, line)
		} else {
			c.sure = append(c.sure, line)
		}
	}
}

// value scans the strings of a JSON value.
func (c *counted) value(where, name string, v any) {
	switch v := v.(type) {
	case string:
		if !redact.IsName(name) {
			name = ""
		}
		c.text(where, name, v)
	case []any:
		for _, e := range v {
			c.value(where, name, e)
		}
	case map[string]any:
		for key, e := range v {
			c.value(where, key, e)
		}
	}
}

func (c *counted) session(t *testing.T, path string) {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	c.bytes += len(content)
	lines := bufio.NewScanner(bytes.NewReader(content))
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var v any
		if json.Unmarshal(lines.Bytes(), &v) == nil {
			c.value(filepath.Base(path), "", v)
		}
	}
	require.NoError(t, lines.Err())
}

func (c *counted) require(t *testing.T) {
	t.Helper()
	mb := float64(c.bytes) / 1e6
	t.Logf("%.1f MB: %d replaced (%.3f per MB), %d doubtful (%.3f per MB)\n%s\n%s", mb,
		len(c.sure), float64(len(c.sure))/mb, c.doubtful, float64(c.doubtful)/mb, strings.Join(c.sure, "\n"), strings.Join(c.doubtfulSee, "\n"))
	require.Less(t, float64(len(c.sure))/mb, mostPerMB)
}

// Ordinary sessions are left alone: 10 MB of made-up ones and those that the programs wrote.
func TestOrdinarySessionsAreLeft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m, err := gen.Write(dir, gen.Presets["S10"])
	require.NoError(t, err)
	c := counted{scanner: redact.NewScanner()}
	c.session(t, filepath.Join(dir, m.Sessions[0].Path))
	for _, path := range files(t, "../../testdata/sessions") {
		if strings.HasSuffix(path, ".jsonl") {
			c.session(t, path)
		}
	}
	c.require(t)
	require.Zero(t, c.doubtful, "a share of it asks nothing")
}

// known are files of this repository that hold made-up secrets on purpose.
var known = []string{
	"agent/engine/child/child_test.go", "internal/providertest/run.go", "attack/", "cmd/xcsh-ls/share_unix_test.go", "cmd/xcsh-ls/testdata/script/export", "commands/export_test.go",
	"cmd/xcsh-ls/testdata/plain-client/sessions.test.mjs", "editors/neovim/tests/session_test.lua",
	"commands/import_test.go", "commands/share_test.go", "session/export/browser_test.go", "session/export/learn_internal_test.go", "session/export/redact_test.go", "session/redact/",
}

// The texts of a repository are left alone, as an agent reads them: code, documentation, lock
// files.
func TestOrdinaryFilesAreLeft(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	c := counted{scanner: redact.NewScanner()}
	for _, path := range files(t, "../..") {
		name := strings.TrimPrefix(filepath.ToSlash(path), "../../")
		if slices.ContainsFunc(known, func(k string) bool { return strings.HasPrefix(name, k) }) {
			continue
		}
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		if bytes.IndexByte(content, 0) >= 0 || len(content) > 4<<20 {
			continue
		}
		c.bytes += len(content)
		c.text(name, "", string(content))
	}
	c.require(t)
}

// files are the files below dir that belong to a repository, without files left by tools.
func files(t *testing.T, dir string) (all []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && (name == "node_modules" || name == "dist" || name == "out" || strings.HasPrefix(name, ".") && len(name) > 2) {
			return filepath.SkipDir
		}
		if d.Type().IsRegular() {
			all = append(all, path)
		}
		return nil
	}))
	return all
}

// Values that only look random are not replaced.
func TestRandomLookingTextIsLeft(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	bytesOf := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	hexOf := func(n int) string { return hex.EncodeToString(bytesOf(n)) }
	b64 := func(n int) string { return base64.StdEncoding.EncodeToString(bytesOf(n)) }
	id := func() string {
		h := hexOf(16)
		return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:]
	}
	forms := map[string]func() string{
		"UUIDs": func() string { return `{"id":"` + id() + `","requestId":"` + id() + `","sessionId":"` + id() + `"}` },
		"git": func() string {
			return "commit " + hexOf(20) + "\nindex " + hexOf(4) + ".." + hexOf(4) + " 100644\nParent: " + hexOf(20)
		},
		"sums": func() string {
			return hexOf(32) + "  dist/app.tar.gz\nsha256:" + hexOf(32) + "\nMD5 (a) = " + hexOf(16)
		},
		"lock file": func() string {
			return `"integrity": "sha512-` + b64(64) + `", "resolved": "https://registry.npmjs.org/a/-/a-1.0.0.tgz#` + hexOf(20) + `"`
		},
		"go.sum": func() string {
			return "github.com/a/b v1.2.3 h1:" + b64(32) + "\ngithub.com/a/b v1.2.3/go.mod h1:" + b64(32)
		},
		"Cargo":   func() string { return `checksum = "` + hexOf(32) + `"` },
		"image":   func() string { return "data:image/png;base64,iVBORw0KGgo" + b64(30_000) },
		"wrapped": func() string { return wrapped(b64(6_000)) },
		"certificate": func() string {
			return "-----BEGIN CERTIFICATE-----\n" + wrapped("MIID"+b64(900)) + "-----END CERTIFICATE-----"
		},
		"public key": func() string { return "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + b64(32) + " me@host" },
		"tool ids":   func() string { return `{"toolCallId":"toolu_01` + b64(16)[:22] + `","id":"call_` + b64(18) + `"}` },
		"minified": func() string {
			return `!function(e,t){var n=e.key||t.token,r={key:"a",token:n(13),password:e=>e.p1,secret:void 0};n.apiKey=r.key+"` + hexOf(3) + `";return t.keys.map(k=>k.token2)}(this,1);`
		},
		"React keys": func() string {
			return `<Item key="row-` + hexOf(4) + `" /> <Item key={item.id} /> {key: "` + id() + `"}`
		},
		"ETags": func() string {
			return `ETag: W/"` + hexOf(16) + `"` + "\nX-Request-Id: " + id() + "\nx-amz-cf-id: " + b64(40)
		},
		"docker": func() string { return "Digest: sha256:" + hexOf(32) + "\nimage: ghcr.io/a/b@sha256:" + hexOf(32) },
		"usage": func() string {
			return fmt.Sprintf(`{"totalTokens":%d,"cacheReadTokens":%d,"max_tokens":%d}`, r.IntN(1e9), r.IntN(1e9), r.IntN(1e9))
		},
		"signature": func() string { return `{"type":"thinking","thinkingSignature":"` + b64(300) + `"}` },
	}
	c := counted{scanner: redact.NewScanner()}
	for name, form := range forms {
		for range 50 {
			text := form()
			c.bytes += len(text)
			c.text(name, "", text)
		}
	}
	c.require(t)
}

func wrapped(s string) string {
	var out strings.Builder
	for line := range slices.Chunk([]byte(s), 76) {
		out.Write(append(line, '\n'))
	}
	return out.String()
}
