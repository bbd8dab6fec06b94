package main_test

import (
	"io/fs"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
)

// restrictedEditor starts an editor whose user has not trusted the folder /w, which has one session.
func restrictedEditor(t *testing.T) (*lsptest.Editor, afero.Fs) {
	t.Helper()
	files := afero.NewMemMapFs()
	put(t, files, talk()...)
	require.NoError(t, files.MkdirAll("/w", 0o700))
	require.NoError(t, afero.WriteFile(files, sessionFile[:len(sessionFile)-len(".jsonl")]+"/0.bash.log", []byte("output"), 0o600))
	return ask(t, memoryServer(t, files), lsptest.Fields{"restricted": true}, nil), files
}

// completeArguments returns arguments with which a command that may run succeeds without asking.
func completeArguments(c commands.ManifestEntry) lsptest.Fields {
	a := lsptest.Fields{}
	for name, value := range map[string]any{"source": sessionFile, "target": sessionFile, "path": "/w/out.html", "scope": "all", "id": "0"} {
		if _, ok := c.Args.Properties[name]; ok {
			a[name] = value
		}
	}
	return a
}

// contents returns the content of every file.
func contents(t *testing.T, files afero.Fs) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, afero.Walk(files, "/", func(path string, info fs.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			content, err := afero.ReadFile(files, path)
			all[path] = string(content)
			return err
		}
		return err
	}))
	return all
}

func TestEveryCommandInARestrictedFolder(t *testing.T) {
	t.Parallel()
	flags := map[string]commands.Flag{}
	for _, spec := range commands.Default.Specs() {
		flags[spec.Name] = spec.Flags
	}
	for _, c := range commands.Default.Manifest() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			ed, files := restrictedEditor(t)
			before := contents(t, files)
			_, err := ed.Exec(c.Name, completeArguments(c))
			after := contents(t, files)
			switch {
			case flags[c.Name].Has(commands.NeedsTrust):
				require.NotNil(t, err)
				require.Equal(t, "denied", err.Kind())
				require.Equal(t, -32803, err.Code)
				require.Equal(t, c.Name+" is disabled because the workspace is not trusted.", err.Message)
				require.Equal(t, before, after)
			case c.Name == "xcsh.change":
				require.NotNil(t, err, "there is no change")
				require.Equal(t, "notFound", err.Kind())
				require.Equal(t, before, after)
			case c.Name == "xcsh.team.follow":
				require.NotNil(t, err, "there is no team store")
				require.Equal(t, "refused", err.Kind())
				require.Equal(t, before, after)
			case flags[c.Name].Has(commands.WritesFile):
				require.Nil(t, err)
				require.Subset(t, after, before)
				require.Len(t, after, len(before)+1, "one file was written")
			default:
				require.Nil(t, err)
				require.Equal(t, before, after)
			}
		})
	}
}

// The notifications for hosts without requests are refused like the commands.
func TestAPromptNotificationInARestrictedFolder(t *testing.T) {
	t.Parallel()
	ed, files := restrictedEditor(t)
	before := contents(t, files)
	ed.Notify("xcsh/prompt", lsptest.Fields{"text": "hello"})
	require.Contains(t, string(ed.WaitEvent("error")), "xcsh.prompt is disabled because the workspace is not trusted.")
	require.Equal(t, before, contents(t, files))
}

// When the user trusts the workspace, commands run without a restart of the server.
func TestATrustedFolderIsNoLongerRestricted(t *testing.T) {
	t.Parallel()
	ed, _ := restrictedEditor(t)
	_, err := ed.Exec("xcsh.resume", lsptest.Fields{"target": sessionFile})
	require.NotNil(t, err)
	ed.Notify("workspace/didChangeConfiguration", lsptest.Fields{"settings": lsptest.Fields{"xcshLs": lsptest.Fields{"restricted": false}}})
	require.Contains(t, string(do(t, ed, "xcsh.resume", lsptest.Fields{"target": sessionFile})), `"switched":true`)
}
