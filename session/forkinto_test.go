package session_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// programsOf returns a store in which each program has a directory, and the directories.
func programsOf(t *testing.T) (s *session.Store, dirs map[session.Dialect]string) {
	t.Helper()
	home := t.TempDir()
	dirs = map[session.Dialect]string{}
	for _, d := range []session.Dialect{session.Xcsh, session.Pi, session.Omp} {
		dirs[d] = filepath.Join(home, "."+d.String(), "agent", "sessions", "--w--")
	}
	s = session.NewStore(session.StoreConfig{
		Fs: afero.NewOsFs(), DirFor: func(string) (string, error) { return dirs[session.Xcsh], nil },
		RootFor: func(path string) (session.FileRoot, bool) {
			for d, dir := range dirs {
				if strings.HasPrefix(path, dir) {
					return session.FileRoot{Dialect: d, Blobs: filepath.Join(filepath.Dir(filepath.Dir(dir)), "blobs")}, true
				}
			}
			return session.FileRoot{Dialect: session.Omp, Blobs: "../testdata/sessions/omp/agent/blobs"}, strings.Contains(path, "testdata/sessions/omp")
		},
	})
	return s, dirs
}

// shownTo are the messages of a context that a model is shown, each as its kind and its text. Roles that stand for each
// other in different programs are the same.
func shownTo(ctx session.Context) (list []string) {
	for _, m := range ctx.Messages {
		role, _ := rawjson.GetString(m, "role")
		text := session.MessageText(m)
		reason, _ := rawjson.GetString(m, "stopReason")
		switch role {
		case "system":
			continue
		case "assistant":
			if reason == "error" || reason == "aborted" {
				continue // no program sends it to a model
			}
		case "developer", "hookMessage", "pythonExecution", "fileMention":
			role, text = "custom", "*"
		case "custom":
			if kind, _ := rawjson.GetString(m, "customType"); kind == "developer" || kind == "hookMessage" || kind == "pythonExecution" || kind == "fileMention" {
				text = "*"
			} else if text == "" && !strings.Contains(string(m), `"image"`) {
				continue // without content
			}
		case "compactionSummary", "branchSummary":
			text, _ = rawjson.GetString(m, "summary")
		case "bashExecution":
			text, _ = rawjson.GetString(m, "command")
		}
		list = append(list, role+": "+text+strings.Repeat(" +image", strings.Count(string(m), `"type":"image"`)))
	}
	return list
}

// What a model is shown of a session is the same in the form of another program, for every recorded session of pi and
// omp, and a second conversion changes nothing. No line of it is one that the program does not know.
func TestForkIntoKeepsTheConversation(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	s, dirs := programsOf(t)
	differ := map[string]string{
		"context-notes":            "notes are state of an extension of omp's, which no other program shows",
		"compaction-openai-remote": "only the service can read what was kept",
	}
	known := map[session.Dialect]string{
		session.Pi:   " message model_change thinking_level_change compaction branch_summary custom custom_message label session_info context_edit usage ",
		session.Omp:  " message model_change thinking_level_change service_tier_change compaction branch_summary custom custom_message label ttsr_injection session_init mode_change mcp_tool_selection model_usage reset_boundary title_change credential_pin ",
		session.Xcsh: " message model_change thinking_level_change service_tier_change compaction branch_summary custom custom_message label ttsr_injection session_init mode_change mcp_tool_selection context_change ",
	}
	files, err := filepath.Glob("../testdata/sessions/*/*.jsonl")
	require.NoError(t, err)
	done := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		doc, err := s.Load(file)
		if err != nil || doc.Header().Version > session.CurrentVersion || strings.Contains(file, "agent-base") {
			continue
		}
		ctx, _, err := session.BuildContext(doc, session.AtLast(), s.BlobsFor(file))
		require.NoError(t, err)
		want := shownTo(ctx)
		for to, dir := range dirs {
			l, err := s.ForkInto(file, session.Into{Program: to, Dir: dir, Cwd: "/w"})
			require.NoError(t, err, "%s into %s", file, to)
			got, problems, err := l.Context()
			require.NoError(t, err)
			if differ[name] == "" {
				require.Equal(t, want, shownTo(got), "%s into %s", file, to)
			}
			again, err := s.ForkInto(l.Path(), session.Into{Program: to, Dir: dir, Cwd: "/w"})
			require.NoError(t, err)
			require.Equal(t, linesOf(t, l.Path()), linesOf(t, again.Path()), "%s into %s: a conversion changes nothing", file, to)
			_ = problems
			require.NoError(t, l.View(func(d *session.Document, _ session.Leaf) error {
				require.Equal(t, to, d.Dialect())
				require.Equal(t, strings.TrimSpace(doc.Title().Text), d.Title().Text, file)
				require.Empty(t, d.Unreadable(to), file)
				require.Equal(t, "/w", d.Header().Cwd)
				require.Equal(t, file, d.Header().ParentSession)
				require.Empty(t, d.Header().Dialect)
				for i := range d.Len() {
					e, err := d.Entry(i)
					require.NoError(t, err)
					require.Contains(t, known[to], " "+string(e.Type)+" ", "%s into %s", file, to)
				}
				return nil
			}))
			require.NoError(t, again.Close())
			require.NoError(t, l.Close())
			done++
		}
		require.NoError(t, doc.Close())
	}
	require.Greater(t, done, 200)
}

// linesOf returns the entries of a file, without their times.
func linesOf(t *testing.T, path string) (lines []map[string]any) {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	for line := range strings.Lines(string(content)) {
		var e map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		if e["type"] != "session" && e["type"] != "title" && e["type"] != "session_info" {
			lines = append(lines, e)
		}
	}
	return lines
}

func TestForkIntoPi(t *testing.T) {
	t.Parallel()
	s, dirs := programsOf(t)
	source := filepath.Join(dirs[session.Omp], "s.jsonl")
	at := func(typ, id, parent, rest string) string {
		p := `"` + parent + `"`
		if parent == "" {
			p = "null"
		}
		return `{"type":"` + typ + `","id":"` + id + `","parentId":` + p + `,"timestamp":"2026-01-01T00:00:01.000Z"` + rest + "}\n"
	}
	content := kit.SlotLine() + "\n" + `{"type":"session","version":3,"id":"0199f0d3-0000-7000-8000-000000000001","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/elsewhere"}` + "\n" +
		at("model_change", "a0000001", "", `,"model":"p/m/with/slash","role":"default","resolvedModelIsFallback":false`) +
		at("model_change", "a0000002", "a0000001", `,"model":"p/small","role":"smol"`) +
		at("message", "a0000003", "a0000002", `,"message":{"role":"user","content":"before"}`) +
		at("reset_boundary", "a0000004", "a0000003", ``) +
		at("thinking_level_change", "a0000005", "a0000004", `,"thinkingLevel":null`) +
		at("message", "a0000006", "a0000005", `,"message":{"role":"developer","content":"be brief"}`) +
		"not JSON\n" +
		at("title_change", "a0000007", "a0000006", `,"title":"My title"`) +
		at("message", "a0000008", "a0000007", `,"message":{"role":"user","content":"one"}`) +
		at("compaction", "a0000009", "a0000008", `,"summary":"S","firstKeptEntryId":"a0000007","tokensBefore":7,"fromExtension":true,"preserveData":{"x":1}`) +
		at("message", "a0000010", "a0000008", `,"message":{"role":"user","content":"on another branch"}`) +
		at("label", "a0000011", "a0000010", `,"targetId":"a0000008","label":"here"`)
	kit.Put(t, afero.NewOsFs(), source, content)
	l, err := s.ForkInto(source, session.Into{Program: session.Pi, Dir: dirs[session.Pi], Cwd: "/w", LeafID: "a0000009"})
	require.NoError(t, err)
	require.Equal(t, dirs[session.Pi], filepath.Dir(l.Path()))
	require.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, l.Header().ID)
	require.Equal(t, "My title", l.Title().Text)
	ctx, problems, err := l.Context()
	require.NoError(t, err)
	require.Empty(t, problems)
	require.Equal(t, []string{"compactionSummary: S", "user: one"}, shownTo(ctx))
	require.NoError(t, l.View(func(d *session.Document, leaf session.Leaf) error {
		labels, err := d.Labels()
		require.NoError(t, err)
		require.Equal(t, map[string]string{"a0000008": "here"}, labels)
		last := d.Len() - 1
		require.Equal(t, d.ID(last), d.LeafID(leaf), "pi continues at the end of the file")
		require.Equal(t, "a0000009", d.ID(d.Parent(last)))
		return nil
	}))
	require.NoError(t, l.Close())
	text := kit.Content(t, afero.NewOsFs(), l.Path())
	for _, line := range []string{
		`{"type":"model_change","id":"a0000001","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","provider":"p","modelId":"m/with/slash"}`,
		`{"type":"thinking_level_change","id":"a0000005","parentId":"a0000004","timestamp":"2026-01-01T00:00:01.000Z","thinkingLevel":"off"}`,
		`"id":"a0000003","parentId":"a0000001"`, `"id":"a0000004","parentId":null`, `"id":"a0000008","parentId":"a0000006"`,
		`"firstKeptEntryId":"a0000008"`, `"fromHook":true`, `"customType":"developer"`, `"name":"My title"`,
	} {
		require.Contains(t, text, line)
	}
	for _, gone := range []string{"preserveData", "fromExtension", "not JSON", `"type":"title`, "a0000002", "a0000007"} {
		require.NotContains(t, text, gone)
	}
	require.Equal(t, content, kit.Content(t, afero.NewOsFs(), source))

	_, err = s.ForkInto(source, session.Into{Program: session.Pi, Dir: dirs[session.Pi], Cwd: "/w", LeafID: "unknown"})
	require.True(t, fault.Is(err, fault.NotFound), err)
	_, err = s.ForkInto(source+"x", session.Into{Program: session.Pi, Dir: dirs[session.Pi], Cwd: "/w"})
	require.True(t, fault.Is(err, fault.NotFound), err)
}
