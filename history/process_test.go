package history_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/history"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// The environment of a child: which part it plays, its database and its name.
const (
	envPart = "XCSH_HISTORY_PART"
	envFile = "XCSH_HISTORY_FILE"
	envName = "XCSH_HISTORY_NAME"
)

func TestMain(m *testing.M) {
	parts := map[string]func(path, name string) error{"forever": addForever, "first": openFirst, "many": addMany, "unwritable": addUnwritable}
	part, ok := parts[os.Getenv(envPart)]
	if !ok {
		os.Exit(m.Run())
	}
	if err := part(os.Getenv(envFile), os.Getenv(envName)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child is another process that plays a part.
func child(t *testing.T, part, path, name string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), envPart+"="+part, envFile+"="+path, envName+"="+name)
	cmd.Stderr = os.Stderr
	return cmd
}

// warned is a store whose warnings are failures.
func warned(path string) (s *history.Store, failed func() error) {
	var err error
	s = history.Open(history.Config{Path: path, Warn: func(text string) { err = fmt.Errorf("warned: %s", text) }})
	return s, func() error { return err }
}

// addForever adds prompts until it is killed, and acknowledges each one that is safe.
func addForever(path, name string) error {
	s, failed := warned(path)
	for i := 0; failed() == nil; i++ {
		for j := range 1 + i%7 {
			s.Add(history.Prompt{Text: fmt.Sprintf("%s %d %d", name, i, j), Cwd: "/w"})
		}
		if err := s.Flush(context.Background()); err != nil {
			return err
		}
		fmt.Println(i)
	}
	return failed()
}

// openFirst waits for the end of its standard input, so that several processes open at once, and
// opens.
func openFirst(path, name string) error {
	s, failed := warned(path)
	fmt.Println("ready")
	if _, err := io.ReadAll(os.Stdin); err != nil {
		return err
	}
	s.Prepare()
	s.Add(history.Prompt{Text: "of " + name})
	if err := s.Close(context.Background()); err != nil {
		return err
	}
	return failed()
}

// addMany adds the number of prompts in its name and searches meanwhile.
func addMany(path, name string) error {
	s, failed := warned(path)
	n, err := strconv.Atoi(name[1:])
	if err != nil {
		return err
	}
	for i := range n {
		s.Add(history.Prompt{Text: fmt.Sprintf("%s prompt %d", name, i), Cwd: "/w"})
		if i%50 == 49 {
			if _, err := s.Search(context.Background(), "promp "+strconv.Itoa(i), 100, ""); err != nil {
				return err
			}
			for err = s.Flush(context.Background()); err != nil; err = s.Flush(context.Background()) {
				fmt.Fprintln(os.Stderr, name, err) // other processes may hold the lock; nothing is lost
			}
		}
	}
	if err := s.Close(context.Background()); err != nil {
		return err
	}
	return failed()
}

// A writer that is killed in the middle loses the prompts that it had not acknowledged, and never
// damages the file: the next one writes at once.
// Proves: F-32
func TestWritersAreKilled(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	path := filepath.Join(t.TempDir(), "agent", "history.db")
	for round := range 40 {
		cmd := child(t, "forever", path, fmt.Sprintf("round%d", round))
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(out)
		acknowledged := -1
		for lines.Scan() {
			acknowledged, err = strconv.Atoi(lines.Text())
			require.NoError(t, err)
			if acknowledged == round%13 {
				require.NoError(t, cmd.Process.Kill()) // it writes on until that arrives
			}
		}
		require.Error(t, cmd.Wait())
		require.GreaterOrEqual(t, acknowledged, round%13)
		db := other(t, path)
		for i := range acknowledged + 1 {
			want := 1 + i%7
			require.Equal(t, want, one[int](t, db, fmt.Sprintf("SELECT count(*) FROM history WHERE prompt LIKE 'round%d %d %%'", round, i)))
		}
		require.NoError(t, db.Close())
	}
	requireWhole(t, other(t, path))
	w := open(t, path)
	w.clock.add(time.Hour * 24 * 365 * 100)
	w.say("the survivor")
	w.flush(t)
	require.Equal(t, []string{"the survivor"}, w.recent(t, 1))
}

// Several programs that find no file make one, and none of them fails.
// Proves: F-32
func TestFirstOpenAtTheSameTime(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	const programs = 6
	for range 20 {
		path := filepath.Join(t.TempDir(), "agent", "history.db")
		var all []*exec.Cmd
		for i := range programs {
			all = append(all, child(t, "first", path, strconv.Itoa(i)))
		}
		sessiontest.Together(t, all...)
		db := other(t, path)
		require.Equal(t, programs, one[int](t, db, "SELECT count(DISTINCT prompt) FROM history"))
		requireWhole(t, db)
		require.NoError(t, db.Close())
	}
}

// Ten processes and this one write at once; nothing is lost.
// Proves: F-32
func TestManyWriters(t *testing.T) {
	t.Parallel()
	const each = 400
	path := filepath.Join(t.TempDir(), "agent", "history.db")
	var all []*exec.Cmd
	for i := range 5 {
		cmd := child(t, "many", path, fmt.Sprintf("%c%d", 'a'+i, each))
		require.NoError(t, cmd.Start())
		all = append(all, cmd)
	}
	require.NoError(t, addMany(path, fmt.Sprintf("z%d", each)))
	for _, cmd := range all {
		require.NoError(t, cmd.Wait())
	}
	db := other(t, path)
	require.Equal(t, 6*each, one[int](t, db, "SELECT count(*) FROM history"))
	requireWhole(t, db)
}
