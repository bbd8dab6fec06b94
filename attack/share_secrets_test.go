package attack

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
)

const (
	drawn = "q7Xw2LmZ9vKc4RtY8bNs3HdF6gJp1QaE5uWx0TzVkMnB7yGh2CfD9sLr4PjXe6Ui"
	drawh = "3f9a1c7e5b2d8046a9c4e7f1b3d5082694ce7af01b3d5c28e6f4907a1b8c3d5e"
)

// leaks are secrets as tools print them, and the part of each that must not be in a page.
var leaks = map[string]struct{ text, secret string }{
	"groq key":             {"using gsk" + "_" + drawn[:52], drawn[:52]},
	"digitalocean token":   {"DO: dop_v1" + "_" + drawh, drawh},
	"docker hub token":     {"dckr_pat" + "_" + drawn[:27], drawn[:27]},
	"grafana token":        {"glsa" + "_" + drawn[:32] + "_" + drawh[:8], drawn[:32]},
	"vault token":          {"hvs" + "." + drawn + drawn[:31], drawn},
	"telegram bot":         {"bot 123456789" + "0:AA" + drawn[:33], drawn[:33]},
	"shopify token":        {"shpat" + "_" + drawh[:32], drawh[:32]},
	"databricks token":     {"dapi" + drawh[:32], drawh[:32]},
	"linear key":           {"lin_api" + "_" + drawn[:40], drawn[:40]},
	"age key":              {"AGE-SECRET" + "-KEY-1" + strings.ToUpper(drawh[:58]), strings.ToUpper(drawh[:58])},
	"azure client secret":  {"abc8Q~" + drawn[:34], drawn[:34]},
	"azure storage":        {"AccountName=a;AccountKey=" + drawn + drawn[:22] + "==;", drawn},
	"shared access":        {"https://a.blob.core.windows.net/c?sv=1&sig=" + drawn[:43] + "%3D", drawn[:43]},
	"curl user":            {"curl -u admin:Kw7xSunny-1 https://x.example", "Kw7xSunny-1"},
	"mysql":                {"mysql -u root -pKw7xSunny-2 app", "Kw7xSunny-2"},
	"sshpass":              {"sshpass -p Kw7xSunny-3 ssh h", "Kw7xSunny-3"},
	"netrc":                {"machine h login me password Kw7xSunny-4", "Kw7xSunny-4"},
	"env word":             {"DB_PASSWORD=swordfishes\nHOME=/root", "swordfishes"},
	"connection string":    {"Server=db;User ID=sa;Password=Kw7xSunny;Encrypt=true", "Kw7xSunny;"},
	"basic auth":           {"Authorization: Basic " + drawn[:32], drawn[:32]},
	"cookie":               {"Cookie: theme=dark; session=" + drawn[:40], drawn[:40]},
	"password hash":        {"root:$6$" + drawn[:16] + "$" + drawn + drawn[:22] + ":19000:0:::", drawn[:60]},
	"one-time password":    {"otpauth://totp/A:me?secret=JBSWY3DPEHPK3PXPJBSW&issuer=A", "JBSWY3DPEHPK3PXP"},
	"seed phrase":          {"mnemonic: legal winner thank year wave sausage worth useful legal winner thank yellow", "winner thank year wave"},
	"Kubernetes variable":  {`{"name":"DB_PASSWORD","value":"Kw7xSunny-5"}`, "Kw7xSunny-5"},
	"XML":                  {"<password>Kw7xSunny-6</password>", "Kw7xSunny-6"},
	"key without its head": {drawn + "\n" + drawn + "\n" + drawn[:30] + "==\n-----END RSA PRIVATE" + " KEY-----", drawn},
	"base64":               {"data: " + encoded("DB_PASSWORD=Kw7xSunny-7\nUSER=me\n"), encoded("DB_PASSWORD=Kw7xSunny-7\nUSER=me\n")},
	"split in a shell":     {"TOKEN=ghp" + "_" + drawn[:18] + "\\\n" + drawn[18:36], drawn[18:36]},
	"split in a program":   {`t := "ghp` + "_" + drawn[:18] + "\" +\n\t\"" + drawn[18:36] + `"`, drawn[18:36]},
	"percent-encoded":      {"https://x.example/?q=password%3DKw7xSunny%2D8%26a", "Kw7xSunny%2D8"},
	"JSON in JSON":         {`{"out":"{\"log\":\"x\\nghs` + "_" + drawn[:36] + `\\n\"}"}`, drawn[:36]},
	"repeated elsewhere":   {"export API_TOKEN=" + drawn[10:40] + "\nand later only " + drawn[10:40], drawn[10:40]},
	"the user's own key":   {"the file says " + secret + " and nothing else", secret},
	"the user's variable":  {"it printed plain-words-of-acme", "plain-words-of-acme"},
}

func encoded(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// leakySession writes a session in which a tool printed every leak, each in an entry of its own.
func (v *victim) leakySession() string {
	v.t.Helper()
	lines := []string{fmt.Sprintf(`{"type":"session","version":3,"id":"0190000000000001","timestamp":"2026-01-01T00:00:00.000Z","cwd":%q}`, v.work)}
	n := 0
	for _, l := range leaks {
		text, err := json.Marshal("$ run\n" + l.text + "\n")
		require.NoError(v.t, err)
		n++
		lines = append(lines, fmt.Sprintf(`{"type":"message","id":"%08x","parentId":%s,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"toolResult","toolCallId":"t","toolName":"bash","content":[{"type":"text","text":%s}],"isError":false,"timestamp":1}}`,
			n, map[bool]string{true: "null", false: fmt.Sprintf(`"%08x"`, n-1)}[n == 1], text))
	}
	path := filepath.Join(v.work, "2026-01-01T00-00-00-000Z_0190000000000001.jsonl")
	v.write(path, strings.Join(lines, "\n")+"\n")
	return path
}

// requireNoLeak fails if a page contains a secret, and lists those that it contains.
func requireNoLeak(t *testing.T, page string) {
	t.Helper()
	var found []string
	for name, l := range leaks {
		if strings.Contains(page, l.secret) {
			found = append(found, name)
		}
	}
	require.Empty(t, found)
}

// The recipient of an export or a dump finds no secret in it, in any format.
func TestRecipientOfAnExportFindsNoSecret(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	v.env = []string{"ACME_TOKEN=plain-words-of-acme"}
	path := v.leakySession()
	before := v.read(path)
	for _, format := range []string{"html", "markdown", "jsonl"} {
		out := v.path("out." + format)
		o := v.run("export", path, out, "--format", format)
		require.Zero(t, o.code, o.stderr)
		requireNoLeak(t, v.read(out))
		requireNoLeak(t, o.stdout+o.stderr)
	}
	o := v.run("dump", path)
	require.Zero(t, o.code, o.stderr)
	requireNoLeak(t, o.stdout+o.stderr)
	require.Equal(t, before, v.read(path), "the session stays as it is")
}

// shareScript installs a share script in the user's agent directory that copies the shared page.
func (v *victim) shareScript() (page string) {
	v.t.Helper()
	page = filepath.Join(v.outside, "page.html")
	script := filepath.Join(v.agentDir(), "share")
	v.write(script, "#!/bin/sh\ncp \"$1\" '"+page+"'\necho https://pages.example/1\n")
	require.NoError(v.t, os.Chmod(script, 0o700))
	return page
}

// A shared page contains no secret, and the result lists the replaced secrets with their entries.
func TestRecipientOfASharedPageFindsNoSecret(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	v.env = []string{"ACME_TOKEN=plain-words-of-acme"}
	page := v.shareScript()
	result, failure := v.edit(nil).Exec("xcsh.share", lsptest.Fields{"source": v.leakySession()})
	require.Nil(t, failure)
	requireNoLeak(t, v.read(page))
	requireNoLeak(t, string(result))
	var r struct {
		Replaced []struct {
			Kind  string
			Count int
			Where []string
		}
	}
	require.NoError(t, json.Unmarshal(result, &r))
	where := map[string]bool{}
	for _, of := range r.Replaced {
		for _, id := range of.Where {
			where[id] = true
		}
	}
	require.Len(t, where, len(leaks), "every entry is named")
}

// Text that may be a secret does not leave the machine before the user has seen it.
func TestDoubtfulTextDoesNotLeaveUnseen(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	page := v.shareScript()
	path := filepath.Join(v.work, "2026-01-01T00-00-00-000Z_0190000000000002.jsonl")
	v.write(path, `{"type":"session","version":3,"id":"0190000000000002","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}
{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"password: \"swordfish\"","timestamp":1}}
`)
	ed := v.edit(nil)
	sharing := ed.BeginExec("xcsh.share", lsptest.Fields{"source": path})
	question := ed.WaitRequest("window/showMessageRequest")
	require.NoFileExists(t, page)
	require.Contains(t, string(question.Params), "s…h (aaaaaaaa)")
	require.NotContains(t, string(question.Params), "swordfish")
	question.Reply(lsptest.Fields{"title": "Cancel"})
	_, failure := sharing.Wait()
	require.NotNil(t, failure)
	require.NoFileExists(t, page)
	_, failure = ed.Exec("xcsh.share", lsptest.Fields{"source": path, "doubtful": "replace"})
	require.Nil(t, failure)
	require.NotContains(t, v.read(page), "swordfish")
}
