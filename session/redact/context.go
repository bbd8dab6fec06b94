package redact

import "strings"

// contextRules find secrets that only their context reveals: headers, addresses, command
// lines, hashes of passwords.
var contextRules = []rule{
	{
		kind: "url-password", keywords: []string{"://"}, check: notExample,
		pattern: `[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@"'<>` + "`" + `]*:([^\s/?#"'<>` + "`" + `,()]{3,})@`,
	},
	{
		kind: "url-password", keywords: []string{"://"}, check: notIdentifier, entropy: 3,
		pattern: `[A-Za-z][A-Za-z0-9+.-]{1,20}://([A-Za-z0-9_-]{20,})(?::x-oauth-basic)?@`,
	},
	{
		kind: "bearer", keywords: []string{"bearer "}, check: notExample,
		pattern: `(?i)\bbearer\s+([A-Za-z0-9._~+/=:-]{16,})`,
	},
	{
		kind: "authorization", keywords: []string{"authorization"}, check: looksDrawn,
		pattern: `(?i)authorization["'\\\]]*\s*[:=,]\s*["'\\` + "`" + `]*(?:(?:basic|bearer|token|digest|apikey|sso-key|sswss|ssws|negotiate|bot|key|hmac|aws4-hmac-sha256)[ :=]+)?([^\s"'\\<>,` + "`" + `]{8,})`,
	},
	{
		kind: "authorization", keywords: []string{"basic "}, check: looksDrawn,
		pattern: `(?i)\bbasic\s+([A-Za-z0-9+/]{12,}={0,2})`,
	},
	{
		kind: "authorization", keywords: []string{"signature="}, check: looksDrawn,
		pattern: `(?i)\bsignature="?([A-Za-z0-9+/=%_-]{32,})`,
	},
	{
		kind: "cookie", keywords: []string{"cookie"}, check: looksDrawn,
		pattern: `(?i)\b(?:set-)?cookie["'\\]*\s*[:=]\s*["'\\]*([A-Za-z0-9_.-]+=[^\r\n"']{8,})`,
	},
	{
		kind: "signed-url", keywords: []string{"sig=", "signature=", "security-token=", "credential="}, check: looksDrawn,
		pattern: `(?i)[?&;](?:amp;)?(?:sig|signature|x-amz-signature|x-amz-security-token|x-goog-signature)=([A-Za-z0-9%+/=_-]{16,})`,
	},
	{
		kind: "url-parameter", keywords: []string{"key=", "code=", "auth=", "pass=", "session="}, check: looksDrawn,
		pattern: `(?i)[?&;](?:amp;)?(?:key|code|auth|pass|session|sessionid|sid)=([A-Za-z0-9%+/=_.~-]{16,})`,
	},
	{
		kind: "docker-auth", keywords: []string{`"auth"`, "_auth"}, check: looksDrawn,
		pattern: `(?:"auth"\s*:\s*"|\b_auth\s*=\s*"?)([A-Za-z0-9+/]{12,}={0,2})`,
	},
	{
		kind: "connection-string", keywords: []string{"password=", "pwd=", "password ="}, check: notExample,
		pattern: `(?i)(?:;\s*(?:password|pwd)\s*=\s*|\b(?:host|server|user|dbname|uid|user id)\s*=[^\n]+?[\s;](?:password|pwd)\s*=\s*)['"]?([^;"'\s]{3,})`,
	},
	{
		kind: "command-password", keywords: []string{"curl"}, check: notExample,
		pattern: `\bcurl\b[^\n]*?\s(?:-u|--user|--proxy-user|-U)[ =]?["']?[^\s:"']{0,64}:([^\s"']{3,})`,
	},
	{
		kind: "command-password", keywords: []string{"mysql", "mariadb", "7z "}, check: notExample,
		pattern: `\b(?:mysql|mysqldump|mariadb|mariadb-dump|mysqladmin|mysqlimport|7z)\b[^\n|;]*?\s-p["']?([^\s"']{4,})`,
	},
	{
		kind: "command-password", keywords: []string{"sshpass", "docker login", "podman login", "helm registry login", "mongo", "az login", "oc login"}, check: notExample,
		pattern: `\b(?:sshpass|(?:docker|podman|helm registry|az|oc) login|mongo\w*)\b[^\n|;]*?\s(?:-p|--password)[ =]?["']?([^\s"'-][^\s"']{3,})`,
	},
	{
		kind: "command-password", keywords: []string{"redis-cli", "ldapsearch", "ldapadd", "ldapmodify", "htpasswd", "zip -p", "unzip -p"}, check: notExample,
		pattern: `\b(?:redis-cli\b[^\n|;]*?\s-a|ldap\w+\b[^\n|;]*?\s-w|htpasswd\s+-\w*b\w*\s+\S+\s+\S+|(?:un)?zip\s+-P)\s+["']?([^\s"']{4,})`,
	},
	{
		kind: "command-password", keywords: []string{"pass:"}, check: notExample,
		pattern: `-pass(?:in|out|word)?\s+["']?pass:([^\s"']{3,})`,
	},
	{
		kind: "command-password", keywords: []string{"sudo -s", "password-stdin", "chpasswd"}, check: notExample,
		pattern: `(?:echo|printf)\s+(?:-n\s+|'?%s'?\s+)?["']?(?:\w+:)?([^\s"'|]{4,})["']?\s*\|\s*(?:sudo\s+(?:-S|chpasswd)|chpasswd|[^\n]*--password-stdin)`,
	},
	{
		kind: "command-password", keywords: []string{"sudo -s"}, check: notExample,
		pattern: `sudo\s+-S[^\n]*<<<\s*["']?([^\s"']{4,})`,
	},
	{
		kind: "command-password", keywords: []string{"smbclient", "rpcclient", "mount.cifs", "mount -t cifs"}, check: notExample,
		pattern: `\b(?:smbclient|rpcclient|mount)\b[^\n]*?(?:%|password=)([^\s"',]{4,})`,
	},
	{
		kind: "netrc", keywords: []string{"machine", "login"}, check: notExample,
		pattern: `\blogin\s+\S+\s+password\s+["']?([^\s"']{3,})`,
	},
	{
		kind: "pgpass", keywords: []string{":5432:", ":*:", ":5433:", ":6432:"}, check: notExample,
		pattern: `(?m)(?:^|[\s"'+>-])[\w.*-]+:(?:[0-9]{2,5}|\*):[\w*-]+:[\w*.@-]+:([^\s"'` + "`" + `]{4,})`,
	},
	{
		kind: "password-hash", keywords: []string{"$1$", "$5$", "$6$", "$y$", "$gy$", "$7$", "$2a$", "$2b$", "$2y$", "$apr1$", "$argon2", "$scrypt$"},
		pattern: `(\$(?:1|5|6|y|gy|7|2[aby]|apr1|argon2(?:id|i|d)|scrypt)\$[A-Za-z0-9./$=,+-]{20,})`,
	},
	{kind: "password-hash", keywords: []string{"pbkdf2", "{ssha"}, pattern: `(?i)((?:pbkdf2[_:-]sha(?:1|256|512)[$:][0-9]+[$:]|\{SSHA(?:256|512)?\})[A-Za-z0-9./$:=+_-]{20,})`},
	{kind: "password-hash", keywords: []string{":::"}, pattern: `(?m)^[+> -]?[\w.$-]{1,40}:[0-9]{1,6}:([0-9A-Fa-f]{32}:[0-9A-Fa-f]{32}):::`},
	{kind: "otp-seed", keywords: []string{"otpauth://"}, pattern: `(?i)otpauth://[^\s"']*?[?&]secret=([A-Z2-7=]{10,})`},
	{kind: "jwk", keywords: []string{`"kty"`}, pattern: `"(?:d|p|q|dp|dq|qi|k)"\s*:\s*"(` + word + `{20,})"`},
	{
		kind: "seed-phrase", keywords: []string{"mnemonic", "seed phrase", "recovery phrase", "seed words", "secret phrase", "backup phrase"},
		pattern: `(?i)(?:mnemonic|seed phrase|recovery phrase|seed words|secret phrase|backup phrase)[^a-z\n]{1,6}(?:is\s*[:=]?\s*)?["']?((?:[a-z]{3,8}\s+){11,23}[a-z]{3,8})\b`,
	},
	{
		kind: "unseal-key", keywords: []string{"unseal key", "recovery key", "root token"}, check: looksDrawn,
		pattern: `(?i)(?:unseal key|recovery key|root token)(?: [0-9])?["']?\s*[:=]\s*["']?([A-Za-z0-9+/=._-]{16,})`,
	},
	{
		kind: "network-password", keywords: []string{"secret 5 ", "secret 8 ", "secret 9 ", "password 7 ", "secret 0 ", "password 0 ", "secret 7 "},
		pattern: `(?i)\b(?:secret|password)\s+[0-9]\s+([^\s"']{4,})`,
	},
	{
		kind: "sql-password", keywords: []string{"identified", "password '", "password = '", "password e'"}, check: notExample,
		pattern: `(?i)\b(?:identified\s+(?:with\s+\S+\s+)?by|password)\s+(?:=\s*)?(?:as\s+)?e?'([^'\n]{3,})'`,
	},
	{
		kind: "spoken", keywords: []string{"password is", "passphrase is", "token is", "api key is", "secret is", "pin is", "password was", "passwd is", "key is"}, check: spoken,
		pattern: `(?i)\b(?:password|passphrase|passwd|token|api key|secret|pin|key)\s+(?:is|was)\s*:?\s*["'` + "`" + `*]*([^\s"'` + "`" + `*]{6,})`,
	},
	{
		kind: "discord", keywords: []string{"discord", "bot "}, entropy: 4,
		pattern: `(?:^|[^0-9A-Za-z_.-])([MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40})`,
	},
	{
		kind: "bitcoin", keywords: []string{"bitcoin", "wif", "privkey", "wallet"}, entropy: 4,
		pattern: `(?:^|[^0-9A-Za-z])([5KL][1-9A-HJ-NP-Za-km-z]{50,51})(?:[^0-9A-Za-z]|$)`,
	},
	{kind: "okta", keywords: []string{"ssws "}, pattern: `(?i)\bssws\s+(00[A-Za-z0-9_-]{40})`},
}

// examples are passwords used in documentation.
var examples = []string{"password", "passwd", "pass", "secret", "pwd", "xxx", "token", "<", "[", "$", "{", "%s", "%v", "...", "***", "…", "user", "example", "your", "foo", "bar", "string", "text", "str"}

// notExample rejects passwords used in documentation.
func notExample(s string) bool {
	if isPlaceholder(s) || strings.ContainsAny(s, "{}<>") && strings.IndexByte("{<$", s[0]) >= 0 {
		return false
	}
	low := lower(s)
	for _, e := range examples {
		if low == e || len(e) == 1 && strings.HasPrefix(low, e) || strings.HasPrefix(low, "your") {
			return false
		}
	}
	return strings.Trim(s, "0123456789") != "" || len(s) > 5 // not a port
}

// looksDrawn accepts values that are not a word, a variable or an example.
func looksDrawn(s string) bool {
	f := featuresOf(s)
	return notExample(s) && !isIdentifier(s) && !strings.ContainsAny(s, "(){}$") && (f.digits > 0 || f.upper > 1 && f.lower > 1) && entropy(s) > 2.5
}

// spoken accepts a password that a sentence names: a word with a digit or a sign in it.
func spoken(s string) bool {
	s = strings.TrimRight(s, ".,;:!?)")
	f := featuresOf(s)
	return len(s) >= 6 && f.digits > 0 && f.letters > 1 && notExample(s) && !isIdentifier(s) && !isCode(s) && !isPath(s)
}
