package export_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/export"
	"github.com/xcsh-ls/xcsh-ls/session/redact"
)

func TestALineIsRedactedByItself(t *testing.T) {
	t.Parallel()
	key := made("ghp", "_", body)
	const gone = "‹redacted github›"
	for in, want := range map[string]string{
		`{"a": 1.0, "b":"` + key + `"}`:                       `{"a": 1.0, "b":"` + gone + `"}`,
		" {\"b\":\"" + key + "\"} \r":                         " {\"b\":\"" + gone + "\"} \r",
		`{"a":"\u0000\ud800 12345678"}`:                       `{"a":"\u0000\ud800 12345678"}`,
		`{"a":"` + key + `"}{"b":"` + key + `"}`:              `{"a":"` + gone + `"}{"b":"` + gone + `"}`,
		`{"a":"` + key + `"} {"b":"` + key:                    `{"a":"` + gone + `"} {"b":"` + gone,
		`{"content":"torn ` + key:                             `{"content":"torn ` + gone,
		`end of a string ` + key + `","role":"user"}`:         `end of a string ` + gone + `","role":"user"}`,
		`  "password": "` + made("hunter2", "hunter2") + `",`: `  "password": "‹redacted named›",`,
		"plain text with " + key + " in \xff bytes":           "plain text with " + gone + " in \xff bytes",
		"export DB_PASSWORD=" + made("hunter2", "hunter2"):    "export DB_PASSWORD=‹redacted named›",
		`"` + key + `"`:                                       `"` + gone + `"`,
		`["` + key + `",`:                                     `["` + gone + `",`,
		"":                                                    "",
		`{"type":"custom","customType":"xcsh-ls.change","data":{"path":"a","sha256":"ab","n":12345678901234567890}}`: `{"type":"custom","customType":"xcsh-ls.change","data":{"n":12345678901234567890,"path":"a"}}`,
	} {
		var r export.Redactor
		got := string(r.Line([]byte(in)))
		require.Equal(t, want, got)
		require.Equal(t, want, string(r.Line([]byte(got))))
	}
}

// A secret of another line is not learned: the same line has the same result in every session.
func TestALineDoesNotDependOnOthers(t *testing.T) {
	t.Parallel()
	var r export.Redactor
	const line = `{"text":"it prints hunter2hunter2 here"}`
	require.Equal(t, line, string(r.Line([]byte(line))))
	require.Contains(t, string(r.Line([]byte(`{"pass`+`word":"`+made("hunter2", "hunter2")+`"}`))), "‹redacted named›")
	require.Equal(t, line, string(r.Line([]byte(line))))
	require.Equal(t, map[string]int{"named": 1}, r.Counts())
}

// FuzzLine: no panic; JSON stays JSON; the result is one line, is the same the second time, and is not changed by itself.
func FuzzLine(f *testing.F) {
	addSeeds(f)
	for _, texts := range kinds() {
		for _, text := range texts {
			f.Add([]byte(`{"type":"message","id":"a","message":{"role":"user","content":` + string(rawjson.Quote(strings.ReplaceAll(text, "|", ""))) + `}}`))
			f.Add([]byte(strings.ReplaceAll(text, "|", "")))
		}
	}
	all := redactors()
	f.Fuzz(func(t *testing.T, line []byte) {
		if line, _, _ = bytes.Cut(line, []byte("\n")); len(line) > 8192 {
			return
		}
		for _, r := range all {
			requireLine(t, r, line)
		}
	})
}

// redactors are those of a user without and with keys; a part of a replacement is one.
func redactors() []*export.Redactor {
	return []*export.Redactor{{}, {Scanner: redact.NewScanner("redacted", "github", "secret-of-the-user")}}
}

func requireLine(t *testing.T, r *export.Redactor, line []byte) {
	t.Helper()
	was := bytes.Clone(line)
	got := bytes.Clone(r.Line(line))
	require.Equal(t, string(was), string(line), "the argument stays as it is")
	require.Equal(t, string(got), string(r.Line(line)))
	require.Equal(t, string(got), string(r.Line(got)))
	require.NotContains(t, string(got), "\n")
	if rawjson.Valid(line) {
		require.True(t, rawjson.Valid(got))
	}
}

// TestLinesOfRealSessions: lines of the fixtures stay JSON, and only those with secrets change.
func TestLinesOfRealSessions(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../testdata/sessions/*/*.jsonl")
	require.NoError(t, err)
	require.Greater(t, len(files), 90)
	all := redactors()
	for _, path := range files {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		for line := range bytes.Lines(content) {
			for _, r := range all {
				requireLine(t, r, bytes.TrimSuffix(line, []byte("\n")))
			}
		}
	}
}
