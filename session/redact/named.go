package redact

import (
	"slices"
	"strings"
)

// nameWords occur in the names of all values that are treated as secrets because of their
// names.
var nameWords = []string{
	"key", "secret", "token", "passw", "passphrase", "pass", "pwd", "credential", "psk", "cookie", "authorization", "master", "mnemonic", "salt", "signature", "pepper",
}

// secretNames end the names of variables, fields and options whose values are secrets, in lower
// case and without the signs between words.
var secretNames = []string{
	"apikey", "secret", "secretkey", "accesskey", "privatekey", "signingkey", "encryptionkey", "token", "appkey", "accountkey", "authkey", "masterkey",
	"storagekey", "sharedkey", "licensekey", "deploykey", "servicekey", "sshkey", "sessionkey", "keyonly", "clientkeydata", "hmackey", "jwtkey", "webhookkey",
	"password", "passwd", "passphrase", "passcode", "dbpass", "userpass", "pwd", "passwort", "pgpass", "rootpass", "sshpass", "smtppass", "mailpass", "ftppass",
	"credential", "credentials", "creds", "psk", "presharedkey", "secretaccesskey", "keypass", "storepass", "subscriptionkey", "functionkey", "writekey", "readkey", "adminkey",
	"integrationkey", "routingkey", "instrumentationkey", "serverkey", "consumerkey", "restkey", "applicationkey", "projectkey", "pubsubkey", "cryptkey", "cipherkey", "aeskey", "unsealkey", "rootkey", "recoverykey",
}

// publicNames end names like those, but of public values.
var publicNames = []string{
	"progresstoken", "workdonetoken", "partialresulttoken", "canceltoken", "cancellationtoken", "pagetoken", "nexttoken", "continuationtoken", "synctoken",
	"maxtoken", "totaltoken", "inputtoken", "outputtoken", "keytoken", "lasttoken", "firsttoken", "starttoken", "endtoken", "prevtoken", "currenttoken", "peektoken", "tokentoken",
	"typetoken", "plantoken", "thinkingsignature", "textsignature", "thoughtsignature", "colortoken", "publicapikey", "idempotencytoken",
}

// userNames are the names whose values users choose: words, without digits, too.
var userNames = []string{"password", "passwd", "passphrase", "passcode", "dbpass", "userpass", "pwd", "passwort", "pgpass", "rootpass", "secret", "smtppass", "ftppass", "mailpass", "sshpass", "keypass", "storepass"}

// weakNames end the names of values that are secrets only if they also look random.
var weakNames = []string{"key", "auth", "signature", "cookie", "session", "sessionid", "salt", "pepper", "pass", "sid", "authorization", "mnemonic"}

// aboutNames end names of values that describe a secret rather than holding it.
var aboutNames = []string{
	"count", "counts", "type", "url", "uri", "id", "ids", "name", "names", "path", "file", "filename", "dir", "len", "length", "size", "limit", "field", "label", "expires", "expiry", "expiresat", "expiresin", "ttl",
	"index", "kind", "hint", "regex", "pattern", "prefix", "suffix", "usage", "budget", "cost", "color", "style", "class", "test", "manager", "provider", "endpoint", "version", "format", "mode",
	"policy", "status", "state", "ref", "arn", "placeholder", "error", "message", "text", "title", "description", "ring", "board", "code", "down", "up", "press", "word", "words", "frame", "frames", "set", "map", "store", "vault", "public", "fingerprint", "alias", "algorithm",
}

// strength is how strongly a name indicates a secret.
type strength int

const (
	nothing strength = iota
	weak             // secret if it looks random
	strong           // secret unless it looks like something else
	chosen           // the same, and users choose the value
)

var wordSigns = strings.NewReplacer("_", "", "-", "", ".", "", " ", "")

// strengthOf treats api_key, api-key, apiKey and API_KEYS alike.
func strengthOf(name string) strength {
	if len(name) < 3 || len(name) > 80 {
		return nothing
	}
	plain := lower(wordSigns.Replace(name))
	ends := func(list []string) bool {
		return slices.ContainsFunc(list, func(end string) bool { return strings.HasSuffix(plain, end) })
	}
	if !ends(secretNames) {
		plain = strings.TrimSuffix(plain, "s")
	}
	switch {
	case ends(publicNames), plain == "pwd" && name != "pwd", plain == "oldpwd":
		return nothing
	case ends(userNames):
		return chosen
	case ends(secretNames):
		return strong
	case plain == "pas" || strings.HasSuffix(name, "_PASS") || strings.HasSuffix(name, "_pass"):
		return strong
	case ends(aboutNames):
		return nothing
	case ends(weakNames):
		return weak
	}
	for _, word := range []string{"secret", "password", "passwd", "passphrase", "apikey", "accesskey", "privatekey", "token"} {
		if strings.Contains(plain, word) {
			return weak
		}
	}
	return nothing
}

// isName are the bytes of a name.
var isName = byteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.")

// name checks the assignment to the name around the word at p.v.text[at:].
func (p *pass) name(at int) {
	if at < p.nameEnd {
		return
	}
	text := p.v.text
	from, to := at, at
	for from > p.nameEnd && at-from < 64 && isName[text[from-1]] {
		from--
	}
	for to < len(text) && to-at < 64 && isName[text[to]] {
		to++
	}
	p.nameEnd = to
	if from > 0 && text[from-1] == '/' {
		return // the end of a path, such as /etc/passwd
	}
	a, ok := paired(text, to)
	if !ok {
		a, ok = assigned(text, from, to)
	}
	if !ok {
		return
	}
	s := strengthOf(strings.TrimLeft(text[from:to], "-"))
	if s == nothing {
		return
	}
	if a.listed && isAssignment(text[a.from:a.to]) {
		return // the next of a list of assignments, with a name of its own
	}
	verdict := a.judge(text[a.from:a.to], s)
	if verdict == yes {
		p.nameEnd = a.to
	}
	if p.split && !p.continues(a) {
		return // the next line, rather than the rest of the value
	}
	if verdict == yes || verdict == perhaps && !a.listed {
		p.add(p.v, a.from, a.to, namedFinding(verdict))
	}
}

// IsName reports whether the values of a field called name may be secrets because of it.
func IsName(name string) bool { return strengthOf(name) != nothing }

func namedFinding(v verdict) Finding {
	if v == perhaps {
		return Finding{Kind: "named", Doubtful: true, rank: rankDoubtful}
	}
	return Finding{Kind: "named", rank: rankNamed}
}
