package identity_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/team/identity"
)

// remotes are addresses and their names; "" is an address that means another place on another machine.
var remotes = map[string]string{
	// every form of one repository
	"git@github.com:Acme/Web.git":                  "github.com/acme/web",
	"https://x:" + "tok@github.com/acme/web/":      "github.com/acme/web",
	"https://github.com/acme/web":                  "github.com/acme/web",
	"HTTPS://GitHub.com/ACME/web.git/":             "github.com/acme/web",
	"http://github.com/acme/web.git":               "github.com/acme/web",
	"git://github.com/acme/web.git":                "github.com/acme/web",
	"ssh://git@github.com/acme/web.git":            "github.com/acme/web",
	"ssh://git@github.com:22/acme/web.git":         "github.com/acme/web",
	"ssh://git@ssh.github.com:443/acme/web.git":    "github.com/acme/web",
	"git+ssh://git@github.com/acme/web.git":        "github.com/acme/web",
	"https://github.com:443/acme/web.git":          "github.com/acme/web",
	"https://user@example.com@github.com/acme/web": "github.com/acme/web",
	"github.com:acme/web":                          "github.com/acme/web",
	"github.com:/acme//web/.git":                   "github.com/acme/web",
	"git@github.com.:acme/web":                     "github.com/acme/web",
	"https://github.com/acme/./web.git.git":        "github.com/acme/web",
	"https://github.com/acme/%77eb":                "github.com/acme/web",
	"git@[github.com:22]:acme/web.git":             "github.com/acme/web",

	// hosts that may distinguish case, and ports
	"ssh://git@git.acme.example:2222/Team/App.git": "git.acme.example:2222/Team/App",
	"https://git.acme.example:08443/Team/App":      "git.acme.example:8443/Team/App",
	"git@Git.Acme.Example:Team/App.git":            "git.acme.example/Team/App",
	"git@git.acme.example:2222/app":                "git.acme.example/2222/app",
	"ssh://git@git.acme.example/~ann/app":          "git.acme.example/~ann/app",
	"https://nocase.example/Team/App":              "nocase.example/team/app",
	"https://gitlab.com/Group/Sub/App.git":         "gitlab.com/group/sub/app",
	"https://dev.azure.com/acme/My%20Web/_git/Web": "dev.azure.com/acme/My Web/_git/Web",
	"https://[2001:DB8::1]:8443/a/b.git":           "[2001:db8::1]:8443/a/b",
	"git@[2001:db8:0::1]:a/b.git":                  "[2001:db8::1]/a/b",
	"ssh://git_host/a/b":                           "git_host/a/b",

	// text that would end a key or hide something
	"https://git.acme.example/a%23b/c#d":               "git.acme.example/a%23b/c%23d",
	"https://git.acme.example/a%0Ab%2541%zz":           "git.acme.example/a%0Ab%2541%25zz",
	"https://git.acme.example/a?b=c":                   "git.acme.example/a?b=c",
	"https://git.acme.example/\xff":                    "git.acme.example/%FF",
	"https://git.acme.example/Cafe\u0301":              "git.acme.example/Caf\u00e9",
	"https://github.com/J\u030c/\u212a":                "github.com/\u01f0/k",
	"https://git.acme.example/a%2F..%2Fb%2F":           "",
	"https://git.acme.example/a/../b":                  "",
	"https://git.acme.example/..":                      "",
	"https://git.acme.example/...git":                  "",
	"https://git.acme.example/":                        "",
	"https://git.acme.example":                         "",
	"https://git.acme.example/.git":                    "",
	"https:///a/b":                                     "",
	"https://-oProxyCommand=x/a":                       "",
	"-oProxyCommand=x:a/b":                             "",
	"https://git.acme.example:x/a":                     "",
	"https://git.acme.example:70000/a":                 "",
	"https://git.acme.example:0/a":                     "",
	"https://a b/c":                                    "",
	"https://git.acme.example\x00/a":                   "",
	"https://[fe80::1%25eth0]/a":                       "",
	"https://[::1/a":                                   "",
	"https://[::2]x/a":                                 "",
	"https://\u212aelvin.example/a":                    "",
	"https://xn--mller-kva.example/a":                  "xn--mller-kva.example/a",
	"https://" + strings.Repeat("a", 300) + "/b":       "",
	"https://user:" + "p@ss:w@rd@git.acme.example/a/b": "git.acme.example/a/b",

	// places of a machine
	"../other.git":                     "",
	"/srv/git/web.git":                 "",
	"./web":                            "",
	"web":                              "",
	"":                                 "",
	"~/git/web":                        "",
	"file:///srv/git/web.git":          "",
	"/tmp/web.bundle":                  "",
	`C:\git\web`:                       "",
	"c:/git/web":                       "",
	`\\server\share\web`:               "",
	"/srv/a:b/web":                     "",
	"ext::sh -c true":                  "",
	"transport::https://github.com/a/": "",
	"ftp://example.com/a":              "",
	"ssh://localhost/home/ann/web":     "",
	"ann@127.0.0.1:/home/ann/web":      "",
	"ssh://[::1]/home/ann/web":         "",
	"ssh://[::ffff:127.0.0.1]/a":       "",
	"https://0.0.0.0/a":                "",
	"https://web.localhost/a":          "",
}

func TestRemoteName(t *testing.T) {
	t.Parallel()
	for remote, want := range remotes {
		got, ok := identity.RemoteName(remote, []string{"nocase.example"})
		require.Equal(t, want, got, "%q", remote)
		require.Equal(t, want != "", ok, "%q", remote)
	}
}

// FuzzRemoteName: the name of a name is the name itself, and nothing that ends a key or a line is in it, nor a user or a password.
func FuzzRemoteName(f *testing.F) {
	for remote := range remotes {
		f.Add(remote, "apps/shop")
	}
	f.Add("https://github.com/a/b", "../x#\n%23/./")
	f.Fuzz(func(t *testing.T, remote, folder string) {
		name, ok := identity.RemoteName(remote, nil)
		if !ok {
			require.Empty(t, name)
			return
		}
		again, ok := identity.RemoteName("https://"+name, nil)
		require.True(t, ok, "%q", name)
		require.Equal(t, name, again)
		requirePlain(t, name)
		require.NotContains(t, name, "#")
		host, path, _ := strings.Cut(name, "/")
		require.NotContains(t, host, "@")
		for part := range strings.SplitSeq(path, "/") {
			require.NotContains(t, []string{"", ".", ".."}, part)
		}
		key, ok := identity.RemoteKey(remote, folder, nil)
		if !ok {
			return
		}
		requirePlain(t, key)
		require.Equal(t, 1, strings.Count(key, "#"))
		require.True(t, identity.Valid(key), "%q", key)
		require.True(t, strings.HasPrefix(key, "git:"+name+"#"))
	})
}

// requirePlain requires that PostgreSQL stores a text and that it is one line.
func requirePlain(t *testing.T, s string) {
	t.Helper()
	require.True(t, utf8.ValidString(s), "%q", s)
	require.NotContains(t, s, "\n")
	require.NotContains(t, s, "\x00")
}
