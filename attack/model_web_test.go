package attack

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// insider is a service in the victim's own network, which only this machine can reach. It records the requests.
type insider struct {
	*httptest.Server
	mu   sync.Mutex
	seen []string
}

func newInsider(t *testing.T) *insider {
	t.Helper()
	s := &insider{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.seen = append(s.seen, r.URL.String())
		s.mu.Unlock()
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, "http://169.254.169.254/latest/meta-data/", http.StatusFound)
		case "/page":
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<title>Inside</title><h1>The page</h1>"))
		default:
			_, _ = w.Write([]byte(secret))
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *insider) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

func reads(address string) []providertest.Call {
	return call("read", map[string]any{"path": address})
}

// answering runs a prompt in an editor that answers each permission prompt with a decision. It returns the titles of the prompts.
func answering(t *testing.T, ed *lsptest.Editor, decide func(title string) string) (titles []string) {
	t.Helper()
	_, failure := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "go on"}).WaitAnswering(func(r lsptest.Request) {
		var p struct{ Title string }
		require.NoError(t, json.Unmarshal(r.Params, &p))
		if r.Method != "xcsh/approve" {
			r.Reply(nil)
			return
		}
		titles = append(titles, p.Title)
		r.Reply(lsptest.Fields{"decision": decide(p.Title)})
	})
	require.Nil(t, failure)
	return titles
}

// A model reads from a server of this machine, or lets itself be sent there, only if the user allows it; in read-only mode, in a run without a
// user, and with a secret in the address never.
func TestAModelReachesNoPrivateAddress(t *testing.T) {
	t.Parallel()
	v, inside := newVictim(t), newInsider(t)
	v.env = append(v.env, "SOME_API_KEY=sk-"+secret, "NO_PROXY=*", "no_proxy=*")
	port := inside.URL[strings.LastIndex(inside.URL, ":")+1:]
	addresses := [][]providertest.Call{reads(inside.URL + "/x"), reads("http://localhost:" + port + "/x"), reads("http://[::ffff:127.0.0.1]:" + port + "/"), reads("HTTP://127.0.0.1:" + port)}

	v.does(addresses...)
	v.ask("--approval", "read-only")
	v.does(addresses...)
	v.ask()
	require.Empty(t, inside.requests(), "without the user's permission")

	ed := v.edit(lsptest.Fields{"approval": "auto-edit", "ui": lsptest.Fields{"hooks": true}})
	v.does(addresses...)
	titles := answering(t, ed, func(string) string { return "deny" })
	require.Len(t, titles, len(addresses), "auto-edit is no permission")
	require.Equal(t, "Read "+inside.URL+"/x, on this machine or in a private network", titles[0])
	require.Empty(t, inside.requests())
	require.Empty(t, v.leaked())

	v.does(reads(inside.URL+"/page"), reads(inside.URL+"/page"), reads(inside.URL+"/away"), reads("http://localhost:"+port+"/page"), reads(inside.URL+"/?q=sk-"+secret))
	titles = answering(t, ed, func(title string) string {
		if strings.Contains(title, inside.URL) {
			return "session"
		}
		return "deny"
	})
	require.Equal(t, []string{"/page", "/page", "/away"}, inside.requests())
	require.Len(t, titles, 3, "once for a site, and once for each other one: %v", titles)
	require.Contains(t, titles[1], "http://169.254.169.254/latest/meta-data/")
	results := v.results()
	results = results[len(results)-5:]
	require.Equal(t, "URL: "+inside.URL+"/page\n\nTitle: Inside\n\n# The page", strings.TrimSpace(results[0]))
	require.Contains(t, results[2], "The user denied this read call.")
	require.Contains(t, results[4], "The address contains a secret")
}

// An address with another scheme is no file, and none of the other tools takes a web address.
func TestNoOtherToolTakesAWebAddress(t *testing.T) {
	t.Parallel()
	v, inside := newVictim(t), newInsider(t)
	address := inside.URL + "/x"
	v.does(call("write", map[string]any{"path": address, "content": "x"}), call("edit", map[string]any{"path": address, "edits": []any{map[string]any{"oldText": "a", "newText": "b"}}}),
		call("ls", map[string]any{"path": address}), call("grep", map[string]any{"path": address, "pattern": "x"}), reads("foo://x"), reads("ftp://127.0.0.1/x"))
	v.ask("--approval", "yolo")
	require.Empty(t, inside.requests())
	results := v.results()
	require.Len(t, results, 6)
	for i, r := range results[:4] {
		require.Contains(t, r, "Nothing was read or changed", fmt.Sprint(i))
	}
	require.Equal(t, `xcsh-ls does not know "foo://" paths. Nothing was read or changed.`, results[4])
	require.Len(t, v.state(v.work), 1, "only the folder itself")
}
