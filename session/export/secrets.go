package export

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// secret is a kind of credential that can be told by its looks. hints are texts without one of which pattern cannot
// match; they are looked for first, because that is a hundred times as fast. group is what is replaced, 0 for all.
type secret struct {
	name    string
	hints   []string
	pattern *regexp.Regexp
	group   int
	also    string // a text without which pattern cannot match either; "" for none
}

// secrets is the kept list, the more telling before the more general: what one has replaced, no other sees. The forms
// are those their issuers document. It is made when it is first
// asked for: compiling it would be a part of every start.
var secrets = sync.OnceValue(func() []secret {
	// Line breaks, also as they are in a text within a text.
	const gap = `(?:\s|\\n|\\r)`
	keyEdge := func(word string) string { return "-----" + word + ` [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----` }
	return []secret{
		{"private-key", []string{"PRIVATE KEY"}, regexp.MustCompile(
			keyEdge("BEGIN") + `(?:` + gap + `+[A-Za-z-]+: [^\n\\]*)*(?:` + gap + `*[A-Za-z0-9+/=]+)*?` + gap + `*` + keyEdge("END") +
				`|` + keyEdge("BEGIN") + `(?:` + gap + `+[A-Za-z0-9+/=]{30,})+`), 0, ""}, // the second: cut off before its end
		{"anthropic", []string{"sk-ant-"}, regexp.MustCompile(`\bsk-ant-[A-Za-z0-9_-]{16,}`), 0, ""},
		{"openai", []string{"sk-"}, regexp.MustCompile(`\bsk-(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{20,}`), 0, ""},
		{"github", []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"}, regexp.MustCompile(`\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})`), 0, ""},
		{"gitlab", []string{"glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-"}, regexp.MustCompile(`\bgl(?:pat|dt|rt|ptt|cbt|soat)-[A-Za-z0-9_-]{20,}`), 0, ""},
		{"aws", []string{"AKIA", "ASIA", "ABIA", "ACCA"}, regexp.MustCompile(`\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b`), 0, ""},
		{"google", []string{"AIza", "ya29.", "GOCSPX-"}, regexp.MustCompile(`\b(?:AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,})`), 0, ""},
		{"slack", []string{"xox", "xapp-", "hooks.slack.com"}, regexp.MustCompile(`\b(?:xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}|hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,})`), 0, ""},
		{"stripe", []string{"k_live_", "k_test_", "whsec_"}, regexp.MustCompile(`\b(?:[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{20,})`), 0, ""},
		{"npm", []string{"npm_"}, regexp.MustCompile(`\bnpm_[A-Za-z0-9]{36}\b`), 0, ""},
		{"pypi", []string{"pypi-"}, regexp.MustCompile(`\bpypi-[A-Za-z0-9_-]{50,}`), 0, ""},
		{"huggingface", []string{"hf_"}, regexp.MustCompile(`\bhf_[A-Za-z0-9]{30,}`), 0, ""},
		{"sendgrid", []string{"SG."}, regexp.MustCompile(`\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{30,}`), 0, ""},
		{"jwt", []string{"eyJ"}, regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*`), 0, ""},
		{"url-password", []string{"@"}, regexp.MustCompile(`\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@"'<>]{0,100}:([^\s/@"'<>$\{]{3,200})@`), 1, "://"},
		{"bearer", []string{"earer "}, regexp.MustCompile(`\b[Bb]earer ([A-Za-z0-9._~+/=-]{16,})`), 1, ""},
	}
})

// namedSecret is the kind of what is only known as a secret by its name: api_key=…, "password": "…".
const namedSecret = "named"

// secretNames end the names of variables, fields and options whose values are secrets, as they are in small letters
// and without the signs between words.
var secretNames = []string{
	"apikey", "secret", "secretkey", "accesskey", "privatekey", "signingkey", "encryptionkey", "token",
	"password", "passwd", "passphrase", "dbpass", "credential", "credentials",
}

// isSecretName takes api_key, api-key and apiKey alike.
func isSecretName(name string) bool {
	if len(name) < 5 || len(name) > 64 || strings.IndexByte("DELNSTYdelnsty", name[len(name)-1]) < 0 {
		return false
	}
	name = strings.ToLower(wordSigns.Replace(name))
	return slices.ContainsFunc(secretNames, func(end string) bool { return strings.HasSuffix(name, end) })
}

var wordSigns = strings.NewReplacer("_", "", "-", "", ".", "")

// looksSecret reports whether a value with a secret's name is one rather than a variable, an example or a word of a
// program: it has at least eight characters, a digit among them, and no sign of being code or a path.
func looksSecret(v string) bool {
	if len(v) < 8 || strings.ContainsAny(v, "$(){}<>*[]") || strings.HasPrefix(v, replacedBy) || strings.IndexByte("/.~", v[0]) >= 0 {
		return false
	}
	return strings.ContainsAny(v, "0123456789")
}

// replacedBy begins what stands in the place of a secret.
const replacedBy = "‹redacted"

func replacement(name string) string { return replacedBy + " " + name + "›" }
