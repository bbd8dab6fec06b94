package session

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
)

// readsFs counts the bytes that are read from files, and fails the read with a number.
type readsFs struct {
	afero.Fs
	bytes, reads, fail int
}

func (c *readsFs) Open(name string) (afero.File, error) {
	f, err := c.Fs.Open(name)
	return &readsFile{f, c}, err
}

type readsFile struct {
	afero.File
	c *readsFs
}

func (f *readsFile) ReadAt(b []byte, off int64) (int, error) {
	if f.c.reads++; f.c.reads == f.c.fail {
		return 0, &os.PathError{Op: "read", Path: f.Name(), Err: errors.New("fault")}
	}
	n, err := f.File.ReadAt(b, off)
	f.c.bytes += n
	return n, err
}

const hostileHead = `{"type":"session","version":3,"id":"15d7f75fe636e182","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"}` + "\n"

func hostileLine(id, parent, text string) string {
	return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%q,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":%q,"timestamp":1}}`+"\n", id, parent, text)
}

// However a file ends, a part of it is read within bounds, and is that of the whole file or refused.
func TestAPartOfAHostileFile(t *testing.T) {
	t.Parallel()
	chain := func(n int) string {
		var b strings.Builder
		parent := ""
		for i := range n {
			id := fmt.Sprintf("%08x", i+1)
			b.WriteString(hostileLine(id, parent, "x"))
			parent = id
		}
		return b.String()
	}
	long := strings.Repeat("y", 6<<20)
	deep := strings.Repeat("[", 1<<20)
	for name, c := range map[string]struct {
		tail    string
		refused bool
	}{
		"garbage":          {strings.Repeat("\x00\xff{\"", 1<<20), true},
		"newlines":         {strings.Repeat("\n", 12<<20), true},
		"huge line":        {chain(9) + hostileLine("ffffffff", "00000009", long+long), true},
		"behind a line":    {hostileLine("eeeeeeee", "", long+long) + hostileLine("ffffffff", "eeeeeeee", "x"), false},
		"cycle":            {hostileLine("aaaaaaaa", "bbbbbbbb", "x") + hostileLine("bbbbbbbb", "aaaaaaaa", "x"), true},
		"own parent":       {hostileLine("aaaaaaaa", "aaaaaaaa", "x"), false},
		"parent behind":    {hostileLine("aaaaaaaa", "cccccccc", "x") + hostileLine("bbbbbbbb", "aaaaaaaa", "x") + hostileLine("cccccccc", "bbbbbbbb", "x"), true},
		"missing parent":   {hostileLine("aaaaaaaa", "12341234", "x"), true},
		"twice":            {hostileLine("aaaaaaaa", "", "x") + hostileLine("aaaaaaaa", "", "y"), false},
		"second header":    {chain(3) + hostileHead + hostileLine("ffffffff", "00000003", "x"), true},
		"no id":            {chain(3) + `{"type":"message","message":{"role":"user","content":"x"}}` + "\n", true},
		"null":             {chain(3) + "null\n", true},
		"nested":           {chain(3) + deep + "\n", false},
		"torn":             {chain(3) + `{"type":"message","id":"ffff`, false},
		"long id":          {chain(3) + hostileLine(strings.Repeat("i", 100<<10), "00000003", "x"), true},
		"types":            {chain(3) + `{"type":{},"id":7,"parentId":[]}` + "\n", true},
		"kept of a number": {chain(3) + `{"type":"compaction","id":"ffffffff","parentId":"00000003","firstKeptEntryId":-1,"summary":{},"details":7,"preserveData":[]}` + "\n", false},
		"kept itself":      {chain(3) + `{"type":"compaction","id":"ffffffff","parentId":"00000003","firstKeptEntryId":"ffffffff","summary":"s"}` + "\n", false},
		"kept is missing":  {chain(3) + `{"type":"compaction","id":"ffffffff","parentId":"00000003","firstKeptEntryId":"nowhere","summary":"s"}` + "\n", false},
		"odd state":        {chain(3) + `{"type":"mode_change","id":"ffffffff","parentId":"00000003","mode":[],"data":"\ud800"}` + "\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs := &readsFs{Fs: afero.NewMemMapFs()}
			content := []byte(hostileHead + c.tail)
			require.NoError(t, afero.WriteFile(fs, "/s.jsonl", content, 0o600))
			tail, ok, err := loadTail(fs, "/s.jsonl", nil, nil, tailOptions{limits: fileLimits, block: tailBlock, part: true, reach: partReach})
			require.NoError(t, err)
			require.Equal(t, !c.refused, ok)
			// One line may be longer than what is read of others, and blocks grow with it.
			require.LessOrEqual(t, fs.bytes, headReach+2*partReach)
			if ok {
				d, err := load(fs.Fs, "/s.jsonl", nil)
				require.NoError(t, err)
				requireKnown(t, tail, d, name)
			}
		})
	}
}

// A fault while the end of a file is read never gives a part that is wrong, nor leaves the file open.
func TestAFaultWhileAPartIsRead(t *testing.T) {
	t.Parallel()
	var content bytes.Buffer
	content.WriteString(hostileHead)
	parent := ""
	for i := range 50 {
		id := fmt.Sprintf("%08x", i+1)
		content.WriteString(hostileLine(id, parent, "text"))
		parent = id
	}
	base := afero.NewMemMapFs()
	require.NoError(t, afero.WriteFile(base, "/s.jsonl", content.Bytes(), 0o600))
	read := func(fail int) (ok bool, reads int, err error) {
		fs := &readsFs{Fs: base, fail: fail}
		_, ok, err = loadTail(fs, "/s.jsonl", nil, nil, tailOptions{limits: fileLimits, block: 500, part: true, reach: partReach})
		return ok, fs.reads, err
	}
	ok, reads, err := read(0)
	require.NoError(t, err)
	require.True(t, ok)
	require.Greater(t, reads, 10)
	for fail := range reads {
		ok, _, err := read(fail + 1)
		require.False(t, ok, fail)
		require.ErrorContains(t, err, "fault")
	}
}
