package identity_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team/gitremote"
	"github.com/xcsh-ls/xcsh-ls/team/identity"
)

// machine is a machine in memory with a repository at root.
func machine(t *testing.T, root, remote string) gitremote.Machine {
	t.Helper()
	m := gitremote.Machine{Fs: afero.NewMemMapFs(), Home: "/home/ann"}
	write(t, m.Fs, root+"/.git/HEAD", "ref: refs/heads/main\n")
	write(t, m.Fs, root+"/.git/objects/x", "")
	write(t, m.Fs, root+"/.git/config", "[remote \"origin\"]\nurl = "+remote+"\n")
	return m
}

func write(t *testing.T, fsys afero.Fs, path, content string) {
	t.Helper()
	require.NoError(t, afero.WriteFile(fsys, path, []byte(content), 0o600))
}

func TestTheKeyOfAProject(t *testing.T) {
	t.Parallel()
	for remote, c := range map[string]struct{ folder, want string }{
		"git@github.com:Acme/Web.git":                  {"", "git:github.com/acme/web#"},
		"https://x:" + "tok@github.com/acme/web/":      {"/apps/shop", "git:github.com/acme/web#apps/shop"},
		"ssh://git@git.acme.example:2222/Team/App.git": {"", "git:git.acme.example:2222/Team/App#"},
		"https://git.acme.example/a":                   {"/a#b", "git:git.acme.example/a#a%23b"},
		"../other.git":                                 {"", ""},
	} {
		for _, root := range []string{"/home/ann/src/web", "/workspaces/web"} { // the same on every machine
			p, err := identity.Of(machine(t, root, remote), root+c.folder, identity.Options{})
			require.NoError(t, err)
			require.Equal(t, c.want, p.Key, remote)
			require.Equal(t, filepath.FromSlash(root), p.Root)
			if c.want == "" {
				require.Equal(t, "web", p.Offer)
			}
		}
	}
}

// A project without a remote has the key of the name that its user typed, and nothing that the repository says.
func TestAProjectWithoutARemoteNeedsItsUser(t *testing.T) {
	t.Parallel()
	m := machine(t, "/w/app", "../other")
	app := filepath.FromSlash("/w/app")
	of := func(o identity.Options) identity.Project {
		p, err := identity.Of(m, "/w/app/sub", o)
		require.NoError(t, err)
		return p
	}
	require.Equal(t, identity.Project{Offer: "app", Root: app, Folder: "sub"}, of(identity.Options{}))
	for content, offer := range map[string]string{
		`{"project": "shop"}`: "shop", `{"project": "/etc"}`: "app", `{"project": 7}`: "app", `{`: "app", `["shop"]`: "app",
		`{"project": "a\u202eb"}`: "app", strings.Repeat(" ", 70<<10) + `{"project": "shop"}`: "app",
		`{"project": "shop", "service": "evil", "url": "postgres://evil", "share": "all"}`: "shop",
	} {
		write(t, m.Fs, "/w/app/.xcsh/team.json", content)
		p := of(identity.Options{})
		require.Empty(t, p.Key, content)
		require.Equal(t, offer, p.Offer, content)
	}
	require.Equal(t, "name:my web", of(identity.Options{Names: map[string]string{app: " my  web "}}).Key)
	require.Empty(t, of(identity.Options{Names: map[string]string{app: "a/b"}}).Key)
}

func TestAliasesJoinKeys(t *testing.T) {
	t.Parallel()
	m := machine(t, "/w", "git@github.com:ann/web.git")
	for to, want := range map[string]string{
		"git:github.com/acme/web#": "git:github.com/acme/web#", "name:web": "name:web",
		"git:/home/ann#": "git:github.com/ann/web#", "/home/ann": "git:github.com/ann/web#", "": "git:github.com/ann/web#",
	} {
		p, err := identity.Of(m, "/w", identity.Options{Alias: map[string]string{"git:github.com/ann/web#": to}})
		require.NoError(t, err)
		require.Equal(t, want, p.Key, to)
	}
}

// A configuration that git refuses leaves a project without a key, and its user a reason.
func TestAnUnreadableRemoteGivesNoKey(t *testing.T) {
	t.Parallel()
	m := machine(t, "/w/app", "https://github.com/a/b\n[")
	p, err := identity.Of(m, "/w/app", identity.Options{})
	require.Equal(t, fault.Damaged, fault.KindOf(err))
	require.Equal(t, "The remote of the repository is unknown because git's file "+filepath.FromSlash("/w/app/.git/config")+" cannot be read: it is not a configuration of git. Repair the file.", err.Error())
	require.Equal(t, identity.Project{Offer: "app", Root: filepath.FromSlash("/w/app")}, p)
}

func TestNamesOfProjects(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", " ", ".", "..", "a/b", `a\b`, "a#b", "a:b", "~a", "a%b", "a\x00b", "a\u200bb", "\xff", strings.Repeat("a", 101)} {
		_, err := identity.NewName(name)
		require.Equal(t, fault.InvalidArgument, fault.KindOf(err), "%q", name)
	}
	for name, want := range map[string]string{"web": "name:web", " My\tWeb ": "name:My Web", "Cafe\u0301": "name:Caf\u00e9"} {
		key, err := identity.NewName(name)
		require.NoError(t, err)
		require.Equal(t, want, key)
		require.True(t, identity.Valid(key))
	}
	for _, key := range []string{"", "git:", "git:a#", "git:github.com/a", "git:github.com/A#", "git:github.com/a#..", "git:github.com/a#/x", "name:", "name: a", "x:a"} {
		require.False(t, identity.Valid(key), key)
	}
}
