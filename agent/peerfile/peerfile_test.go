package peerfile_test

import (
	"errors"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/peerfile"
)

// Only the member changes. What another parser would read differently is refused.
func TestMembersOfAnObject(t *testing.T) {
	t.Parallel()
	value := peerfile.Member{Name: "b", Value: []byte(`{"c":1.0}`)}
	for from, want := range map[string]string{
		``:                         "{\n  \"b\": {\"c\":1.0}\n}",
		`{"a" : 1.0}`:              `{"a" : 1.0,"b": {"c":1.0}}`,
		`{"b":0, "a":[ ]}`:         `{"b":{"c":1.0}, "a":[ ]}`,
		`{"b":0,"b":1}`:            `{"b":0,"b":{"c":1.0}}`,
		"{\r\n\t\"a\": 1\r\n}\r\n": "{\r\n\t\"a\": 1,\r\n\t\"b\": {\"c\":1.0}\r\n}\r\n",
		`[]`:                       "",
		`{"a":`:                    "",
		`null`:                     "",
		`{} {}`:                    "",
	} {
		edited, err := peerfile.SetMembers([]byte(from), value)
		require.Equal(t, want == "", err != nil, "%s: %v", from, err)
		require.Equal(t, want, string(edited), from)
	}
	for from, want := range map[string]string{
		`{"b":0, "a":[ ]}`: `{"a":[ ]}`,
		`{"a":1, "b":0 }`:  `{"a":1 }`,
		`{"b":0}`:          `{}`,
		`{"b":0,"b":1}`:    `{}`,
		`{"b":`:            "",
	} {
		edited, err := peerfile.DeleteMember([]byte(from), "b")
		require.Equal(t, want == "", err != nil, "%s: %v", from, err)
		require.Equal(t, want, string(edited), from)
	}
}

// A missing file is created only where that is allowed, and an edit that fails changes nothing.
func TestAFileThatStaysAsItIs(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	f := peerfile.File{Fs: fsys, Path: "/d/f", Max: 10, Lock: peerfile.OwnedDir}
	failed := errors.New("no")
	f.Missing = func() error { return failed }
	add := func(content []byte) ([]byte, error) { return append(content, 'x'), nil }
	require.ErrorIs(t, f.Change(t.Context(), add), failed)
	f.Missing = nil
	require.NoError(t, f.Change(t.Context(), add))
	require.ErrorIs(t, f.Change(t.Context(), func([]byte) ([]byte, error) { return nil, failed }), failed)
	require.NoError(t, f.Change(t.Context(), func([]byte) ([]byte, error) { return []byte("0123456789a"), nil }))
	require.Error(t, f.Change(t.Context(), add), "too large")
	content, err := afero.ReadFile(fsys, "/d/f")
	require.NoError(t, err)
	require.Equal(t, "0123456789a", string(content))
	names, err := afero.ReadDir(fsys, "/d")
	require.NoError(t, err)
	require.Len(t, names, 1, "no lock is left")
}
