package export_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/export"
)

// made makes a credential that no scanner of this repository mistakes for a real one: its parts are separate in the
// source.
func made(parts ...string) string { return strings.Join(parts, "") }

const body = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0"

// kinds are credentials by the name of their kind. The text between the bars must be gone.
func kinds() map[string][]string {
	pem := func(lines ...string) string {
		return made("-----BEGIN RSA ", "PRIVATE KEY-----\n", strings.Join(lines, "\n"), "\n-----END RSA ", "PRIVATE KEY-----")
	}
	return map[string][]string{
		"private-key": {
			"|" + pem("MIIEpAIBAAKCAQEA"+body+"\n"+body+"==") + "|",
			"|" + pem("Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0011", "", body+body) + "|",
			"|" + strings.ReplaceAll(pem(body, body), "\n", `\n`) + "|",                         // in a text within a text
			"|" + made("-----BEGIN ", "PRIVATE KEY-----\n", body, "\n", body) + "|\n and so on", // cut off
		},
		"anthropic":    {"key |" + made("sk-", "ant-api03-", body) + "|."},
		"openai":       {"|" + made("sk-", "proj-", body) + "|", "|" + made("sk-", body) + "|"},
		"github":       {"|" + made("ghp", "_", body) + "|", "|" + made("github", "_pat_", body) + "|"},
		"gitlab":       {"|" + made("glpat", "-", body[:20]) + "|"},
		"aws":          {"|" + made("AKIA", "IOSFODNN7EXAMPLE"[:16]) + "|"},
		"google":       {"|" + made("AI", "za", body[:35]) + "|"},
		"slack":        {"|" + made("xox", "b-123456789012-", body) + "|", "https://|" + made("hooks.slack", ".com/services/T000/B000/", body) + "|"},
		"stripe":       {"|" + made("sk", "_live_", body) + "|"},
		"npm":          {"|" + made("npm", "_", body[:36]) + "|"},
		"jwt":          {"|" + made("eyJ", body, ".eyJ", body, ".", body) + "|"},
		"url-password": {"postgres://user:|s3cr3t!pass|@db.example.com/x"},
		"bearer":       {"Authorization: Bearer |" + body + "|"},
		"named": {
			"API_KEY=|" + body + "|", `export DB_PASSWORD="|hunter2hunter2|"`, "client-secret: |abc123def456|", `{"authToken": "|abc123def456|"}`,
			`let x = {apiKey: '|abc123def456|'}`, "password = |correct4horse|;",
		},
	}
}

// Proves: F-13
func TestRedactorKinds(t *testing.T) {
	t.Parallel()
	for name, texts := range kinds() {
		for _, marked := range texts {
			parts := strings.SplitN(marked, "|", 3)
			want := parts[0] + "‹redacted " + name + "›" + parts[2]
			var r export.Redactor
			d := r.Doc(export.Doc{SystemPrompt: strings.ReplaceAll(marked, "|", "")})
			require.Equal(t, want, d.SystemPrompt)
			require.Equal(t, map[string]int{name: 1}, r.Counts(), marked)
			require.Equal(t, want, r.Doc(d).SystemPrompt, "what was replaced is left alone")
		}
	}
}

// Text that only resembles a secret stays: words, variables, paths, ids, hashes, counts.
// Proves: F-13
func TestRedactorLeavesTheRest(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", "the token was refused", "password: ask your administrator", "API_KEY=$API_KEY", `password = os.environ["PW1"]`, "token=<your-token1>",
		"AKIA is a prefix", "sk-short", "https://example.com:8080/a@b", "git@github.com:a/b.git", "mailto:a@b.example", "PWD=/home/dev/x1",
		"max_tokens=123456789x"[:17], "0123456789abcdef0123456789abcdef01234567", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
		made("grep -r 'BEGIN RSA ", "PRIVATE KEY'"), "monkey: 12345678", "tokens: 12345678 in", "secret: ********", "eyJust a word",
		`"nextPageToken": "abc123def456ghi"`,
	} {
		var r export.Redactor
		require.Equal(t, s, r.Doc(export.Doc{SystemPrompt: s}).SystemPrompt)
		require.Empty(t, r.Counts())
	}
}

// Text that may be a secret stays unless the user says otherwise.
// Proves: F-13
func TestRedactorDoubtful(t *testing.T) {
	t.Parallel()
	d := export.Doc{SystemPrompt: `password = "sunshine"`}
	var r export.Redactor
	require.Equal(t, d.SystemPrompt, r.Doc(d).SystemPrompt)
	require.Empty(t, r.Counts())
	r = export.Redactor{Doubtful: true}
	require.Equal(t, `password = "‹redacted named›"`, r.Doc(d).SystemPrompt)
	require.Equal(t, map[string]int{"named": 1}, r.Counts())
}

// Within a line only strings change, and of those only the secret parts.
// Proves: F-13
func TestRedactorJSON(t *testing.T) {
	t.Parallel()
	key := made("sk-", "ant-api03-", body)
	image := made("AKIA", "IOSFODNN7EXAMPLE", strings.Repeat("A", 1000))
	for in, want := range map[string]string{
		`{"a": 1.0, "b":"\u00e9 ` + key + ` \"q\"", "c":[true]}`: `{"a": 1.0, "b":"é ‹redacted anthropic› \"q\"", "c":[true]}`,
		`{"password":"abc123def","usage":{"totalTokens":12}}`:    `{"password":"‹redacted named›","usage":{"totalTokens":12}}`,
		`{"apiKey":"none","token":["abc123def","x"]}`:            `{"apiKey":"none","token":["‹redacted named›","x"]}`,
		`{"` + key + `":"x"}`:                                    `{"‹redacted anthropic›":"x"}`,
		`{"name":"DB_PASSWORD","value":"abc123def"}`:             `{"name":"DB_PASSWORD","value":"‹redacted named›"}`,
		`["run","--token","abc123def","x"]`:                      `["run","--token","‹redacted named›","x"]`,
		`{"mimeType":"image/png","data":"` + image + `"}`:        `{"mimeType":"image/png","data":"` + image + `"}`,
		`{"text":"{\"api_key\":\"abc123def456\"}"}`:              `{"text":"{\"api_key\":\"‹redacted named›\"}"}`,
		`{"text":"a\\","password":"abc123def"}`:                  `{"text":"a\\","password":"‹redacted named›"}`,
	} {
		var r export.Redactor
		r.Doc(export.Doc{})
		got := r.JSON([]byte(in))
		require.Equal(t, want, string(got))
		require.True(t, rawjson.Valid(got))
	}
}

// Counts are of the replacements in the export, however often the entries are read for it.
// Proves: F-13
func TestRedactorCounts(t *testing.T) {
	t.Parallel()
	key := made("sk-", "ant-api03-", body)
	d := export.Doc{
		Header: json.RawMessage(`{"title":"` + key + `"}`), Title: key, Labels: map[string]string{"a": "x"},
		Tools:   []export.Tool{{Name: "t", Description: key, Parameters: json.RawMessage(`{"default":"` + key + `"}`)}},
		Entries: entries(raws(user(`"a"`, `"`+key+` and `+key+`"`), user(`"b"`, `"password=abc123def456"`))),
	}
	for range 2 {
		var r export.Redactor
		redacted := r.Doc(d)
		md := markdown(t, redacted)
		require.NotContains(t, md, key)
		require.Contains(t, md, "Secrets were replaced: anthropic ×6, named ×1.")
		got := page(t, redacted)
		requireInert(t, got)
		require.NotContains(t, got, key)
		about, _, ending := blocks(t, got)
		require.Contains(t, about, `"redacting":true`)
		require.JSONEq(t, `{"entries":2,"redacted":{"anthropic":6,"named":1}}`, ending)
		require.Equal(t, map[string]int{"anthropic": 6, "named": 1}, r.Counts())
	}
	require.Contains(t, page(t, d), key, "nothing is looked for unasked")
}

// The secrets of a dump are counted once, however often its messages are read.
func TestSecretsOfMessagesAreCountedOnce(t *testing.T) {
	t.Parallel()
	r := &export.Redactor{}
	d := r.Doc(export.Doc{Messages: entries(raws(
		`{"role":"user","content":"password: tok456ghi789jkl"}`, `{"role":"user","content":"it is tok456ghi789jkl"}`))})
	for range 2 {
		got := text(t, d)
		require.NotContains(t, got, "tok456ghi789jkl")
		require.Len(t, r.Replaced(), 1)
		require.Equal(t, 2, r.Replaced()[0].Count)
		require.Equal(t, []string{"message 1", "message 2"}, r.Replaced()[0].Where)
	}
}
