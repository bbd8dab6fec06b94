package mcp

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session"
)

const (
	maxName  = 64 // the longest name that every model service accepts
	keptName = 55 // of a longer one, before "_" and tailSize characters
	tailSize = 8

	deviceScheme = "xd://" // omp's addresses of tools
	namePrefix   = "mcp_"  // of all names
)

var (
	notPi   = regexp.MustCompile(`[^A-Za-z0-9_]`)
	notOmp  = regexp.MustCompile(`[^a-z0-9_]+`)
	notXcsh = regexp.MustCompile(`[^a-z_]+`)
	runs    = regexp.MustCompile(`__+`)
)

// plainName returns the name that a program gives a tool, without its limit of the length.
func plainName(d session.Dialect, server, tool string) string {
	switch d {
	case session.Pi:
		return "mcp__" + notPi.ReplaceAllString(server, "_") + "__" + notPi.ReplaceAllString(tool, "_")
	case session.Omp:
		return "mcp__" + joinedName(notOmp, server, tool)
	default:
		return "mcp_" + joinedName(notXcsh, server, tool)
	}
}

// joinedName returns the name of a tool as omp and xcsh do, without the prefix. Characters that match are replaced.
func joinedName(bad *regexp.Regexp, server, tool string) string {
	server = namePart(bad, server, "server")
	tool = namePart(bad, tool, "tool")
	return server + "_" + strings.TrimPrefix(tool, server+"_")
}

// namePart returns a part of a name, or a placeholder if nothing of it is left.
func namePart(bad *regexp.Regexp, s, placeholder string) string {
	s = bad.ReplaceAllString(strings.ToLower(s), "_")
	return cmp.Or(strings.Trim(runs.ReplaceAllString(s, "_"), "_"), placeholder)
}

// hashedName returns a name with a hash of the tool at its end.
//
// Differs: omp's hash is another one, and xcsh has no limit, so that services refuse its names.
func hashedName(plain, server, tool string) string {
	sum := sha256.Sum256([]byte(server + "\x00" + tool))
	return plain[:min(len(plain), keptName)] + "_" + hex.EncodeToString(sum[:])[:tailSize]
}

// name returns the name of a tool that no other tool takes.
func name(d session.Dialect, server, tool string) string {
	plain := plainName(d, server, tool)
	if len(plain) > maxName {
		return hashedName(plain, server, tool)
	}
	return plain
}

// key identifies a tool.
type key struct{ server, tool string }

func (k key) compare(o key) int {
	return cmp.Compare(k.server+"\x00"+k.tool, o.server+"\x00"+o.tool)
}

// assign returns the names of tools. If several have one name, pi gives all of them a hash; otherwise one keeps it:
// with omp the first one of the sorted list, with xcsh the last one that was registered.
//
// Differs: omp and xcsh lose the others, which get a hash here.
func assign(d session.Dialect, tools []key) map[key]string {
	same := map[string][]key{}
	for _, k := range tools {
		n := name(d, k.server, k.tool)
		same[n] = append(same[n], k)
	}
	names := make(map[key]string, len(tools))
	for n, all := range same {
		keeper := all[len(all)-1]
		if d == session.Omp {
			keeper = slices.MinFunc(all, key.compare)
		}
		for _, k := range all {
			if names[k] = n; len(all) > 1 && (d == session.Pi || k != keeper) {
				names[k] = hashedName(n, k.server, k.tool)
			}
		}
	}
	return names
}

// book finds tools by the names that a conversation may use.
type book struct {
	declared map[string]key
	aliases  map[string][]key // by the names of the other programs
	long     map[string][]key // by the beginning of a name that has another program's hash
	loose    map[string][]key // by the letters and digits of a name
}

func newBook(names map[key]string) book {
	b := book{map[string]key{}, map[string][]key{}, map[string][]key{}, map[string][]key{}}
	for k, n := range names {
		b.declared[n] = k
		for _, d := range []session.Dialect{session.Pi, session.Omp, session.Xcsh} {
			plain := plainName(d, k.server, k.tool)
			add(b.aliases, plain, k)
			add(b.aliases, name(d, k.server, k.tool), k)
			add(b.aliases, hashedName(plain, k.server, k.tool), k)
			if len(plain) > maxName {
				add(b.long, plain[:keptName], k)
			}
		}
		add(b.aliases, "mcp__"+joinedName(notXcsh, k.server, k.tool), k) // omp's before it kept digits
		add(b.loose, looseName(plainName(session.Pi, k.server, k.tool)), k)
		add(b.loose, looseName(plainName(session.Omp, k.server, k.tool)), k)
	}
	return b
}

func add(to map[string][]key, name string, k key) {
	if !slices.Contains(to[name], k) {
		to[name] = append(to[name], k)
	}
}

// looseName returns a name in lower case, with "_" as its only separator.
func looseName(name string) string { return namePart(notOmp, name, "") }

// find returns the tool of a name. A name that several tools could have finds none.
func (b book) find(name string) (key, bool) {
	name = strings.TrimPrefix(strings.TrimSpace(name), deviceScheme)
	if k, ok := b.declared[name]; ok {
		return k, true
	}
	candidates := b.aliases[name]
	if len(candidates) == 0 && len(name) == maxName {
		candidates = b.long[name[:keptName]]
	}
	if len(candidates) == 0 && strings.HasPrefix(name, namePrefix) {
		candidates = b.loose[looseName(name)]
	}
	if len(candidates) != 1 {
		return key{}, false
	}
	return candidates[0], true
}

// serverOf returns the server, of some, to which a name belongs by its beginning, "" if it is none or unclear.
func serverOf(name string, servers []string) string {
	name = looseName(strings.TrimPrefix(strings.TrimSpace(name), deviceScheme))
	for _, bad := range []*regexp.Regexp{notOmp, notXcsh} {
		found, longest := "", 0
		for _, s := range servers {
			prefix := "mcp_" + namePart(bad, s, "server") + "_"
			if strings.HasPrefix(name, prefix) && len(prefix) > longest {
				found, longest = s, len(prefix)
			}
		}
		if found != "" {
			return found
		}
	}
	return ""
}
