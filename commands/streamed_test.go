package commands_test

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// heapFs notes the memory in use while a file is written, each time another part of it was.
type heapFs struct {
	afero.Fs
	part   int
	before uint64
	most   uint64 // bytes in use, without those before
	parts  int
	left   int
}

func newHeapFs(fs afero.Fs, part int) *heapFs {
	h := &heapFs{Fs: fs, part: part, left: part}
	h.before = inUse()
	return h
}

// inUse returns how many bytes are in use. While a part is written, goroutines may still work on the next ones, and what
// they leave behind counts until they wait for the writer. So it measures until the number no longer falls.
func inUse() uint64 {
	least := uint64(math.MaxUint64)
	for same := 0; same < 5; same++ {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if m.HeapAlloc < least-least/64 {
			least, same = m.HeapAlloc, 0
		}
	}
	return least
}

func (h *heapFs) wrote(n int) {
	if h.left -= n; h.left > 0 {
		return
	}
	h.left = h.part
	h.parts++
	now := inUse()
	h.most = max(h.most, now-min(h.before, now))
}

func (h *heapFs) Create(name string) (afero.File, error) {
	f, err := h.Fs.Create(name)
	return heapFile{f, h}, err
}

func (h *heapFs) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	f, err := h.Fs.OpenFile(name, flag, perm)
	if err != nil || flag&(os.O_WRONLY|os.O_RDWR) == 0 {
		return f, err
	}
	return heapFile{f, h}, nil
}

type heapFile struct {
	afero.File
	h *heapFs
}

func (f heapFile) Write(b []byte) (int, error) {
	f.h.wrote(len(b))
	return f.File.Write(b)
}

// writerTo is a writer that notes the memory in use.
type writerTo struct{ h *heapFs }

func (w writerTo) Write(b []byte) (int, error) {
	w.h.wrote(len(b))
	return len(b), nil
}

// longSession writes a conversation of n messages of 16 KiB to a file.
func longSession(t *testing.T, path string, n int) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	f, err := os.Create(path)
	require.NoError(t, err)
	_, err = io.WriteString(f, st.Header(id1, "/w")+"\n")
	require.NoError(t, err)
	parent, text := "", strings.Repeat(`the next line of an ordinary conversation\n`, 400)
	for i := range n {
		id := fmt.Sprintf("%08x", i+1)
		line := st.User(id, parent, "?")
		_, err = io.WriteString(f, strings.Replace(line, "?", text, 1)+"\n")
		require.NoError(t, err)
		parent = id
	}
	require.NoError(t, f.Close())
}

// Writing a session to a file needs little memory, however long the session is, in every format and with the rules of
// every program.
func TestFilesAreWrittenWithLittleMemory(t *testing.T) { //nolint:paralleltest // it measures the memory in use
	racetest.Large(t)
	const content, limit = 12 << 20, 8 << 20
	for agentDir, formats := range map[string]map[bool][]string{
		".xcsh/agent": {false: {"html", "markdown", "text", "jsonl", "agentBase", "dump", "stream"}, true: {"html", "text"}},
		".omp/agent":  {false: {"markdown", "text"}},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, agentDir, "sessions", "--w--", "2026-01-01T00-00-00-000Z_"+id1+".jsonl")
		longSession(t, path, content/(16<<10))
		for redact, formats := range formats {
			for _, format := range formats {
				h := newHeapFs(afero.NewOsFs(), 5<<20)
				env := newEnv(h)
				var err error
				switch format {
				case "dump":
					_, err = commands.WriteDump(t.Context(), env, commands.DumpArgs{Subject: commands.Subject{Source: path}, Redact: &redact}, writerTo{h})
				case "stream":
					_, err = commands.WriteExport(t.Context(), env, commands.ExportArgs{Subject: commands.Subject{Source: path}, Redact: &redact}, writerTo{h})
				default:
					out := filepath.Join(dir, fmt.Sprintf("%s-%t.json", format, redact))
					_, err = run(t.Context(), env, "xcsh.export", args{"source": path, "path": out, "format": format, "redact": redact})
				}
				require.NoError(t, err)
				require.GreaterOrEqual(t, h.parts, 2, "%s was hardly measured", format)
				require.Less(t, h.most, uint64(limit), "%s, redact %t, %s", format, redact, agentDir)
			}
		}
	}
}

// The file of an export is the text of a dump, with a last line break.
func TestTheTextExportIsTheDump(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	secretSession(t, fs)
	env := newEnv(fs)
	for _, a := range []args{{}, {"redact": false}, {"doubtful": "replace"}} {
		a["source"] = id1
		text := do(t, env, "xcsh.dump", a)["text"].(string)
		a["path"], a["overwrite"] = "/w/a.txt", true
		r := do(t, env, "xcsh.export", a)
		require.Equal(t, text+"\n", read(t, fs, "/w/a.txt"))
		require.InDelta(t, len(text)+1, r["bytes"], 0)
	}
}

// A text that is too large for an answer is refused, and can be written to a file.
func TestATextThatIsTooLargeForAnAnswer(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	dir := t.TempDir()
	path := filepath.Join(dir, ".xcsh/agent", "sessions", "--w--", "2026-01-01T00-00-00-000Z_"+id1+".jsonl")
	longSession(t, path, 65<<20/(16<<10))
	env := newEnv(afero.NewOsFs())
	_, err := run(t.Context(), env, "xcsh.dump", args{"source": path, "redact": false})
	require.EqualError(t, err, `The dump is larger than 64 MiB; write it to a file with xcsh.export and the arguments path and format: "text".`)
	require.Equal(t, "path", requireKind(t, fault.TooLarge, err).Data["field"])
	_, _, err = commands.Transcript(t.Context(), env, commands.Subject{Source: path})
	require.EqualError(t, err, `The transcript is larger than 64 MiB; write it to a file with xcsh.export and the arguments path and format: "markdown".`)
	requireKind(t, fault.TooLarge, err)
	out := filepath.Join(dir, "a.txt")
	r := do(t, env, "xcsh.export", args{"source": path, "redact": false, "path": out, "format": "text"})
	require.Greater(t, r["bytes"], float64(64<<20))
}
