package redact

import "strings"

// verdict is the judgement of a value.
type verdict int

const (
	no verdict = iota
	perhaps
	yes
)

// judged judges the value of a member of a structure.
func judged(name, v string) verdict {
	s := strengthOf(name)
	if s == nothing || v == "" {
		return no
	}
	return assignment{to: len(v), quoted: true}.judge(v, s)
}

// judge decides whether a value with a secret's name is a secret, or a variable, an example or a
// word of a program.
func (a assignment) judge(v string, s strength) verdict {
	if strings.Contains(v, Mark) || strings.Contains(v, `\u00`) || strings.Contains(v, `\x`) || isPlaceholder(v) || isFile(v) {
		return no
	}
	f := featuresOf(v)
	if !a.quoted && !a.shell && isCode(v) {
		if s == chosen && isMember(v) && f.digits > 0 && f.upper == 0 {
			return perhaps
		}
		return no
	}
	if f.spaces > 0 {
		return a.phrase(v, f, s)
	}
	switch {
	case s == weak:
		if f.random(v) {
			return yes
		}
		return no
	case len(v) >= 8 && f.digits > 0 && f.letters+f.signs > 0 && !isNumber(v):
		if s == strong && !a.shell && (isIdentifier(v) || namesKey(v)) || !a.quoted && !a.shell && namesKey(v) {
			return no
		}
		return yes
	case s == chosen && len(v) >= 6 && f.digits > 0 && (a.quoted || a.shell):
		return yes
	case len(v) >= 24 && f.upper > 0 && f.lower > 0 && entropy(v) > 4:
		return yes
	case a.shell && len(v) >= 6 && f.digits == 0 && s == chosen:
		return yes
	case s == chosen && len(v) >= 6 && a.quoted && !isAbout(v):
		if f.signs > 0 && f.letters > 0 && strings.ContainsAny(v, "!@#$%^&*?") {
			return yes
		}
		return perhaps
	}
	return no
}

// phrase judges a value of several words.
func (a assignment) phrase(v string, f features, s strength) verdict {
	if !a.quoted || s != chosen || isAbout(v) || len(v) > 80 || strings.ContainsAny(v, "\n:=(){};,") {
		return no
	}
	if f.digits > 0 && f.spaces < 3 {
		return perhaps
	}
	if f.upper == 0 && f.signs == 0 && f.spaces >= 2 {
		return perhaps
	}
	return no
}

// features count the bytes of a value.
type features struct{ digits, upper, lower, letters, signs, spaces, hex int }

func featuresOf(v string) (f features) {
	for i := range len(v) {
		switch c := v[i]; {
		case '0' <= c && c <= '9':
			f.digits++
			f.hex++
		case 'A' <= c && c <= 'Z':
			f.upper++
			if c <= 'F' {
				f.hex++
			}
		case 'a' <= c && c <= 'z':
			f.lower++
			if c <= 'f' {
				f.hex++
			}
		case c <= ' ':
			f.spaces++
		case c == '-':
			f.hex++
			f.signs++
		default:
			f.signs++
		}
	}
	f.letters = f.upper + f.lower
	return f
}

// random reports whether a value looks randomly generated, and not like a hash, an id or a
// path.
func (f features) random(v string) bool {
	return len(v) >= 16 && len(v) <= 512 && f.digits > 1 && f.letters > 3 && f.hex < len(v) && entropy(v) >= 3.6 && !isIdentifier(v) && !isPath(v) && !isHash(v)
}

// mixed reports whether a part of a word looks like a part of a key.
func mixed(s string) bool {
	f := featuresOf(s)
	return len(s) >= 20 || f.digits > 0 && f.letters > 0 && (f.upper > 0 && f.lower > 0 || len(s) >= 10)
}

// placeholders are, or begin, texts in the place of a secret.
var placeholders = []string{"your", "<your", "example", "placeholder", "insert", "enter-", "xxxx", "****", "....", "----", "redacted", "changeme", "${", "$(", "{{", "%(", "%{", "#{", "<%", "[redacted", "process.env", "os.environ", "os.getenv", "env.", "env(", "getenv", "secrets.", "vault:", "op://", "arn:aws:", "file://", "/run/secrets"}

func isPlaceholder(v string) bool {
	low := lower(v[:min(len(v), 24)])
	for _, p := range placeholders {
		if strings.HasPrefix(low, p) {
			return true
		}
	}
	if len(v) > 1 && v[0] == '$' && strings.Trim(v[1:], "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_{}") == "" && !strings.ContainsAny(v[1:2], "0123456789") {
		return true
	}
	if v[0] == '<' && v[len(v)-1] == '>' || v[0] == '%' && v[len(v)-1] == '%' || v[0] == '{' && v[len(v)-1] == '}' {
		return true
	}
	return strings.Count(v, v[:1]) == len(v) || strings.Contains(v, "…") || strings.Contains(v, "...") || strings.Contains(v, "${") || strings.Contains(v, "{{") || strings.Contains(low, "example") && len(v) < 24 && !strings.ContainsAny(v, "0123456789")
}

// isCode reports whether a value without quotes is an expression or a path.
func isCode(v string) bool {
	return strings.ContainsAny(v, "$(){}<>*[]") || strings.IndexByte("/.~", v[0]) >= 0 || strings.HasPrefix(v, "0x") && len(v) < 20 || isMember(v)
}

// isMember reports whether v is a member of something in a program: key2048.PublicKey.
func isMember(v string) bool {
	if !strings.Contains(v, ".") {
		return false
	}
	for part := range strings.SplitSeq(strings.TrimRight(v, ".,:;"), ".") {
		const longest = 24
		if part == "" || len(part) > longest || !isLetter[part[0]] || '0' <= part[0] && part[0] <= '9' {
			return false
		}
	}
	return true
}

// isIdentifier reports whether v is made of words, possibly followed by a number, like
// identifiers in programs: token2, this.state.token1, max-size-10.
func isIdentifier(v string) bool {
	for part := range strings.FieldsFuncSeq(v, func(c rune) bool { return c == '.' || c == '_' || c == '-' || c == '/' || c == ':' || c == '=' }) {
		if !isWordWithNumber(part) {
			return false
		}
	}
	return true
}

// isWordWithNumber reports whether part is letters and then at most three digits, or all digits.
func isWordWithNumber(part string) bool {
	letters := strings.TrimRight(part, "0123456789")
	if letters == "" {
		return len(part) <= 4
	}
	if len(part)-len(letters) > 3 || strings.ContainsAny(letters, "0123456789") {
		return false
	}
	changes := 0
	for i := 1; i < len(letters); i++ {
		if isUpper(letters[i]) != isUpper(letters[i-1]) {
			changes++
		}
		if c := letters[i] | 0x20; c < 'a' || 'z' < c {
			return false
		}
	}
	return changes*3 <= len(letters)+3
}

// isNumber reports whether v is a number, a version, a date or the like.
func isNumber(v string) bool {
	if v = strings.TrimLeft(v, "+-"); len(v) < 20 && (strings.HasPrefix(v, "0x") || strings.HasPrefix(v, "0X")) {
		return strings.Trim(v[2:], "0123456789abcdefABCDEF") == ""
	}
	return strings.Trim(v, "0123456789.,:+-_/eE") == ""
}

// namesKey reports whether v is a program's name for a secret: test2048PrivateKey.
func namesKey(v string) bool {
	low := lower(v)
	for _, word := range []string{"key", "password", "secret", "token", "cert"} {
		if strings.Contains(low, word) {
			return len(v) < 32 && entropy(v) < 4 && strings.IndexByte("0123456789", v[0]) < 0
		}
	}
	return false
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

// isAssignment reports whether v is an assignment, like the elements of an environment: HOME=/root.
func isAssignment(v string) bool {
	name, _, ok := strings.Cut(v, "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// isFile reports whether v is the path of a file.
func isFile(v string) bool {
	return strings.HasPrefix(v, "/") && strings.Count(v, "/") > 1 || strings.HasPrefix(v, "./") || strings.HasPrefix(v, "~/") || strings.HasPrefix(v, "../")
}

func isPath(v string) bool {
	return strings.Count(v, "/") > 1 || strings.Contains(v, "://") || strings.Contains(v, "./") || strings.Contains(v, "@") && strings.Contains(v, ".")
}

// hashPrefixes begin checksums and the ids of services and images.
var hashPrefixes = []string{"sha1-", "sha256-", "sha384-", "sha512-", "sha1:", "sha256:", "sha512:", "h1:", "md5-", "md5:", "toolu_", "call_", "msg_", "req_", "resp_", "chatcmpl-", "rs_", "fc_", "ses_", "prt_", "gen-", "iVBORw0KGgo", "R0lGOD", "UklGR", "/9j/", "PHN2Zy"}

// isHash reports whether v is a checksum or an id that only looks random.
func isHash(v string) bool {
	for _, p := range hashPrefixes {
		if strings.HasPrefix(v, p) {
			return true
		}
	}
	return false
}

// isAbout reports whether v describes a secret, like labels and descriptions, or is a word of a
// program.
func isAbout(v string) bool {
	low := lower(v)
	for _, word := range []string{"passw", "secret", "token", "credential", "string", "required", "optional", "undefined", "input", "text", "enter", "api", "key", "boolean", "number", "object", "default", "invalid", "missing", "hidden", "none", "null"} {
		if strings.Contains(low, word) {
			return true
		}
	}
	return false
}

// doubt records a word that looks like a key, if it is a value.
func (p *pass) doubt(v *view, from, to int) {
	n := to - from
	if n < 24 || n > 128 || from == 0 || p.split {
		return
	}
	head := strings.TrimRight(v.text[max(0, from-8):from], "\"' `")
	if head == "" || strings.HasSuffix(head, "h1:") || head[len(head)-1] != '=' && head[len(head)-1] != ':' {
		return
	}
	s := v.text[from:to]
	f := featuresOf(s)
	if f.digits > 2 && f.upper > 2 && f.lower > 2 && entropy(s) > 4 && !isHash(s) && !isIdentifier(s) {
		p.add(v, from, to, Finding{Kind: "high-entropy", Doubtful: true, rank: rankDoubtful})
	}
}
