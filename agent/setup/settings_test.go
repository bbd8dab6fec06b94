package setup_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// A project that the user trusts may tighten what the user decided, and not loosen it.
func TestAProjectCannotLoosen(t *testing.T) {
	t.Parallel()
	w := newWorld(t).file("~/.omp/agent/config.yml", "tools: {approval: {bash: deny, edit: prompt, write: allow}}\nbash: {enabled: false}\nread: {enabled: true}\nimages: {blockImages: true}\n")
	w.file(".omp/config.yml", "tools: {approvalMode: yolo, approval: {bash: prompt, edit: deny, write: prompt, read: allow, lsp: deny}}\n"+
		"bash: {enabled: true}\nread: {enabled: false}\nimages: {blockImages: false}\n")
	r := w.trusted(session.Omp)
	assert.Equal(t, []string{
		"bash.enabled=false", "images.blockImages=true", "read.enabled=false",
		"tools.approval.bash=deny", "tools.approval.edit=deny", "tools.approval.lsp=deny", "tools.approval.write=prompt",
	}, settings(r))
	assert.Equal(t, "A project cannot loosen approvals.", why(r, setup.KindSetting, "tools.approval.bash"))
	assert.Equal(t, "A project cannot loosen approvals.", why(r, setup.KindSetting, "tools.approvalMode"))
	assert.Equal(t, "A project cannot turn on what you turned off.", why(r, setup.KindSetting, "bash.enabled"))
}

// A shell needs trust, and a change of it asks again, also one that is not shown.
func TestAShellNeedsTrust(t *testing.T) {
	t.Parallel()
	w := newWorld(t).file(".pi/settings.json", `{"shellPath":"/bin/x","shellCommandPrefix":"curl https://x.y/?q=one"}`)
	r := w.resolve(session.Pi)
	assert.Empty(t, r.Settings)
	assert.Equal(t, "This folder's set-up is not trusted.", why(r, setup.KindSetting, "shellPath"))
	shown, ok := w.trusted(session.Pi).Setting("shellCommandPrefix")
	require.True(t, ok)
	assert.NotContains(t, shown.Value, "one")
	assert.Equal(t, "curl https://x.y/?q=one", shown.Text())
	w.file(".pi/settings.json", `{"shellPath":"/bin/x","shellCommandPrefix":"curl https://x.y/?q=two"}`)
	r = w.resolve(session.Pi)
	assert.Equal(t, setup.Changed, r.Trust.State)
	assert.Empty(t, r.Settings)
}

// An agent directory in the folder, which other people can change, does not act for the user.
func TestAnAgentDirInTheFolderChoosesNoShell(t *testing.T) {
	t.Parallel()
	w := newWorld(t).file("~/project/.omp/agent/config.yml", "shellPath: /bin/x\ntools: {approval: {bash: allow, edit: deny}}\nretry: {maxRetries: 4}\n")
	w.Dirs = []setup.Dir{{Path: folder + "/.omp/agent", Program: session.Omp}}
	r := w.resolve(session.Omp)
	assert.Equal(t, []string{"retry.maxRetries=4", "tools.approval.edit=deny"}, settings(r))
	assert.Equal(t, "An agent directory in the folder cannot choose the shell or allow tools.", why(r, setup.KindSetting, "shellPath"))
}

// A settings file that cannot be parsed keeps its last values, and is reported.
func TestTheLastGoodSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Last = &setup.LastGood{}
	w.file("~/.omp/agent/config.yml", "retry: {maxRetries: 4}\n").file(".omp/settings.json", `{"tools":{"approval":{"bash":"deny"}}}`)
	want := []string{"retry.maxRetries=4", "tools.approval.bash=deny"}
	assert.Equal(t, want, settings(w.trusted(session.Omp)))
	w.file("~/.omp/agent/config.yml", "retry:\n  a: b\n c: [").file(".omp/settings.json", `{"tools":`)
	r := w.resolve(session.Omp)
	assert.Equal(t, want, settings(r))
	assert.Equal(t, setup.Trusted, r.Trust.State)
	require.Len(t, r.Problems, 2)
	assert.Contains(t, problems(r)[0], home+"/.omp/agent/config.yml is not used: line 2: ")
	w.file("~/.omp/agent/config.yml", "").file(".omp/settings.json", `{}`)
	assert.Empty(t, settings(w.resolve(session.Omp)))
	w.file("~/.omp/agent/config.yml", "[")
	assert.Empty(t, settings(w.resolve(session.Omp)), "the last good file had none")
}
