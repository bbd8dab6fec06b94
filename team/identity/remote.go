package identity

import (
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// ignoringCase are the hosts that do not distinguish case in the paths of repositories.
var ignoringCase = []string{"github.com", "gitlab.com", "bitbucket.org"}

// sameHost maps the hosts at which a service offers SSH on the port of HTTPS to its usual name.
var sameHost = map[string]string{"ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com", "altssh.bitbucket.org": "bitbucket.org"}

// schemes are those of addresses that mean the same on every machine.
var schemes = []string{"ssh", "git", "http", "https", "git+ssh", "ssh+git", "git+https", "git+http"}

// hostName is a name in small letters. An underscore is no part of a host name and occurs all the same.
var hostName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9_]([a-z0-9_.-]{0,252}[a-z0-9_])?$`) })

// RemoteName returns the host and the path of a remote, in one form for all addresses of it: git.example.com/team/app.
// hosts are further hosts that ignore case in paths, in small letters. ok is false for an address that means
// another place on another machine, such as a path or localhost.
//
// The result contains no '#' and no control character.
func RemoteName(remote string, hosts []string) (name string, ok bool) {
	authority, path, ok := split(remote)
	if !ok {
		return "", false
	}
	host, port, ok := hostOf(authority)
	if !ok {
		return "", false
	}
	path = composed(path, slices.Contains(ignoringCase, host) || slices.Contains(hosts, host))
	if path, ok = cleaned(path); !ok {
		return "", false
	}
	if port != "" {
		port = ":" + port
	}
	return host + port + "/" + encoded(path), true
}

// split returns the authority and the decoded path of an address of either form: scheme://authority/path or
// user@host:path.
func split(remote string) (authority, path string, ok bool) {
	scheme, rest, isURL := strings.Cut(remote, "://")
	if isURL {
		if !slices.Contains(schemes, lower(scheme)) {
			return "", "", false
		}
		authority, path, ok = strings.Cut(rest, "/")
		return authority, decoded(path), ok
	}
	if authority, path, ok = cutColon(remote); !ok || strings.HasPrefix(path, ":") { // helper::address
		return "", "", false
	}
	if len(authority) == 1 { // the drive of a Windows path
		return "", "", false
	}
	// [host:port]:path
	if inner, bracket := strings.CutPrefix(afterUser(authority), "["); bracket && strings.Count(inner, ":") <= 1 {
		authority = strings.TrimSuffix(inner, "]")
	}
	return authority, path, true
}

// cutColon cuts user@host:path at the colon. A slash in front of it makes the whole a path.
func cutColon(s string) (authority, path string, ok bool) {
	host := len(s) - len(afterUser(s))
	at := 0
	if strings.HasPrefix(s[host:], "[") {
		if at = strings.IndexByte(s[host:], ']'); at < 0 {
			return "", "", false
		}
	}
	colon := strings.IndexByte(s[host+at:], ':')
	if colon < 0 {
		return "", "", false
	}
	colon += host + at
	return s[:colon], s[colon+1:], !strings.Contains(s[:colon], "/")
}

// afterUser returns s without a user and a password in front of a host.
func afterUser(s string) string {
	end := strings.IndexByte(s, '/')
	if end < 0 {
		end = len(s)
	}
	return s[strings.LastIndexByte(s[:end], '@')+1:]
}

// hostOf returns the host and the port of an authority, without a port that means the usual service.
func hostOf(authority string) (host, port string, ok bool) {
	host = lower(afterUser(authority))
	if inner, bracket := strings.CutPrefix(host, "["); bracket {
		address, rest, closed := strings.Cut(inner, "]")
		ip, err := netip.ParseAddr(address)
		if !closed || err != nil || !ip.Is6() || ip.Zone() != "" || ip.IsLoopback() {
			return "", "", false
		}
		host = "[" + ip.String() + "]"
		if port, ok = strings.CutPrefix(rest, ":"); !ok && rest != "" {
			return "", "", false
		}
	} else {
		host, port, _ = strings.Cut(host, ":")
		host = strings.TrimSuffix(host, ".")
		if !hostName().MatchString(host) || isHere(host) {
			return "", "", false
		}
	}
	if port, ok = portOf(port); !ok {
		return "", "", false
	}
	if same := sameHost[host]; same != "" && port == "" {
		host = same
	}
	return host, port, true
}

// isHere reports whether a host is this machine.
func isHere(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && (ip.IsLoopback() || ip.IsUnspecified())
}

// portOf returns a port as a number without zeros in front, "" for that of SSH and HTTPS.
func portOf(port string) (string, bool) {
	if port == "" {
		return "", true
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return "", false
	}
	if n == 22 || n == 443 {
		return "", true
	}
	return strconv.FormatUint(n, 10), true
}

// cleaned returns a path without empty parts, and without .git at its end. ok is false for one that climbs or is
// empty.
func cleaned(path string) (string, bool) {
	var parts []string
	for part := range strings.SplitSeq(path, "/") {
		switch part {
		case "", ".":
		case "..":
			return "", false
		default:
			parts = append(parts, part)
		}
	}
	for len(parts) > 0 {
		last := &parts[len(parts)-1]
		short, cut := strings.CutSuffix(*last, ".git")
		if !cut {
			break
		}
		switch short {
		case "", ".":
			parts = parts[:len(parts)-1]
		case "..":
			return "", false
		default:
			*last = short
		}
	}
	return strings.Join(parts, "/"), len(parts) > 0
}

// decoded resolves %xx. A percent sign without two digits stands for itself.
func decoded(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil && isHex(s[i+1]) {
				out = append(out, byte(c))
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }

// encoded replaces characters that end a key or a line, and bytes that are not text, by %xx. It replaces percent signs, too, so
// that different paths stay different.
func encoded(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 || r < ' ' || r >= 0x7f && r < 0xa0 || r == '#' || r == '%' || r == '\u2028' || r == '\u2029' {
			for _, c := range []byte(s[i : i+n]) {
				const digits = "0123456789ABCDEF"
				out.Write([]byte{'%', digits[c>>4], digits[c&15]})
			}
		} else {
			out.WriteString(s[i : i+n])
		}
		i += n
	}
	return out.String()
}

// composed returns text in the form NFC, in small letters if fold is set. Names of files are stored in another form on some
// systems. One step may make room for another: a composed letter has a small one that composes further.
func composed(s string, fold bool) string {
	for {
		was := s
		if s = norm.NFC.String(s); fold {
			s = lower(s)
		}
		if s == was {
			return s
		}
	}
}

// lower changes the letters of ASCII only: hosts and the names that they allow have no others. Every other byte stays.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
