package session_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// oddLines are lines, or parts of lines, of all kinds that the lenient reader
// distinguishes.
var oddLines = []string{
	st.User("aaaaaaaa", "", "q") + "\n", st.User("bbbbbbbb", "aaaaaaaa", strings.Repeat("long ", 50)) + "\n",
	st.User("aaaaaaaa", "", "q") + "\r\n", "  " + st.User("cccccccc", "", "q") + " \t\n", "\n", " \n", "\r\n",
	"garbage\n", "\x00\x00\n", "null\n", "{}\n", "{} {}\n", "{} junk\n", "[1,2\n", "\"torn\n", `{"a":` + "\n", "{\n\"a\":\n1}\n",
	`{"type":"message","id":"x`, st.User("dddddddd", "", "no newline"), "\xEF\xBB\xBF", "[\n\n]\n", `{"a":"\u00` + "\n",
}

// TestWorkersFindTheSame: a scan with several goroutines finds the same values and problems
// as a sequential one, wherever segments end.
func TestWorkersFindTheSame(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var file strings.Builder
		for range random.IntN(20) {
			odd := 2 // of the lines
			if random.IntN(2) == 0 {
				odd = len(oddLines)
			}
			file.WriteString(oddLines[random.IntN(odd)])
		}
		requireSameWithWorkers(t, file.String(), 1+random.IntN(3), 1+random.IntN(200))
	}
}

func requireSameWithWorkers(t *testing.T, file string, workers, block int) {
	t.Helper()
	want, err := session.ScanWhole(strings.NewReader(file))
	require.NoError(t, err)
	got, err := session.ScanParallel(strings.NewReader(file), workers, block)
	require.NoError(t, err)
	require.Equal(t, want, got, "%q by %d in blocks of %d", file, workers, block)
}

func FuzzWorkersFindTheSame(f *testing.F) {
	f.Add([]byte(strings.Join(oddLines, "")), uint8(2), uint16(64))
	f.Add([]byte(strings.Repeat(oddLines[0], 20)+oddLines[16]+strings.Repeat(oddLines[1], 20)), uint8(3), uint16(300))
	f.Fuzz(func(t *testing.T, file []byte, workers uint8, block uint16) {
		requireSameWithWorkers(t, string(file), 1+int(workers%4), 1+int(block))
	})
}

// TestWorkersAndHugeLines: a line above the maximum length is skipped, a line longer than a
// segment is not.
func TestWorkersAndHugeLines(t *testing.T) {
	t.Parallel()
	good := oddLines[0]
	huge := strings.Repeat("a", 33<<20) + "\n"
	large := st.User("eeeeeeee", "", strings.Repeat("b", 3<<20)) + "\n"
	requireSameWithWorkers(t, good+large+good+huge+good+large+good, 2, 256<<10)
}

// TestWorkersAndAReadThatFails: the error ends the scan, and no worker reads any further.
func TestWorkersAndAReadThatFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for after := range int64(10) {
		file := &failingFile{ReadSeeker: bytes.NewReader(bytes.Repeat([]byte(oddLines[0]), 100)), left: after, err: broken}
		_, err := session.ScanParallel(file, 3, 500)
		require.ErrorIs(t, err, broken)
		require.Zero(t, file.left)
	}
}

// failingFile fails after the given number of reads.
type failingFile struct {
	io.ReadSeeker
	left int64
	err  error
}

func (f *failingFile) Read(b []byte) (int, error) {
	if f.left == 0 {
		return 0, f.err
	}
	f.left--
	return f.ReadSeeker.Read(b)
}
