package library

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// dirNames returns the names that the directory of cwd's sessions may have below a
// sessions root, without duplicates. The first is the one that the current xcsh uses; the
// others are those of older versions and of the other programs. Every name loses
// information, so that a directory can hold sessions of other working directories too:
// compare the header's cwd.
//
// cwd, home and temp are absolute paths of either POSIX or Windows form, on any system;
// home and temp may be empty. real returns the path without symbolic links; if it fails
// the path is used as it is, and nil means that there are none.
func dirNames(cwd, home, temp string, real func(string) (string, error)) []string {
	n := newNaming(cwd, home, temp, real)
	return distinct([]string{
		n.current(), n.currentLexical(),
		wholePathName(n.lexical), wholePathName(n.real),
		n.afterHomePass(), n.hashed(),
	})
}

// writeDirName returns the name of the directory that a new session of cwd goes to.
// existing are the names of the directories in the sessions root. The arguments are
// those of [dirNames].
//
// An existing directory of this cwd is reused. Otherwise the new one is named like its
// neighbours: by the current rule if any name in the root begins with a single dash, else
// --path--, which both generations of xcsh can read.
func writeDirName(cwd, home, temp string, real func(string) (string, error), existing []string) string {
	n := newNaming(cwd, home, temp, real)
	for _, name := range []string{n.current(), wholePathName(n.lexical), wholePathName(n.real), n.currentLexical()} {
		if slices.Contains(existing, name) {
			return name
		}
	}
	if slices.ContainsFunc(existing, func(s string) bool { return strings.HasPrefix(s, "-") && !strings.HasPrefix(s, "--") }) {
		return n.current()
	}
	return wholePathName(n.lexical)
}

// naming holds the inputs of the names: each path as given, cleaned, and without symbolic
// links.
type naming struct {
	lexical, real            string
	home, temp               string
	homeLexical, tempLexical string
}

func newNaming(cwd, home, temp string, real func(string) (string, error)) naming {
	n := naming{lexical: cleanPath(cwd), homeLexical: cleanPath(home), tempLexical: cleanPath(temp)}
	n.real, n.home, n.temp = realOr(real, n.lexical), realOr(real, n.homeLexical), realOr(real, n.tempLexical)
	return n
}

// realOr returns p without symbolic links, or p itself if it cannot be resolved.
func realOr(real func(string) (string, error), p string) string {
	if real == nil || p == "" {
		return p
	}
	r, err := real(p)
	if err != nil || r == "" {
		return p
	}
	return cleanPath(r)
}

// current is the name that xcsh and omp use today.
func (n naming) current() string { return relativeName(n.real, n.home, n.temp) }

// currentLexical is the name by the current rule for the paths as given.
func (n naming) currentLexical() string { return relativeName(n.lexical, n.homeLexical, n.tempLexical) }

// relativeName names p relative to the home or the temporary directory, or by the
// whole path when it is in neither.
func relativeName(p, home, temp string) string {
	if rel, ok := within(home, p); ok {
		return "-" + dashed(rel)
	}
	if rel, ok := within(temp, p); ok {
		if rel == "" {
			return "-tmp"
		}
		return "-tmp-" + dashed(rel)
	}
	return wholePathName(p)
}

// wholePathName is the documented form: the path in dashes between double dashes.
func wholePathName(p string) string { return "--" + dashedPath(p) + "--" }

// afterHomePass is the name of a --path-- directory after the originals' renaming of older
// directories. The renaming treats /home/me-old as a child of /home/me, so that a
// neighbour's sessions are found under a name that no rule gives.
func (n naming) afterHomePass() string {
	home, p := dashedPath(n.homeLexical), dashedPath(n.lexical)
	if n.homeLexical == "" {
		return ""
	}
	if p == home {
		return "-"
	}
	if rest, ok := strings.CutPrefix(p, home+"-"); ok {
		return "-" + rest
	}
	return ""
}

// notInBase matches the characters that omp's hashed names replace by a dash.
var notInBase = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^A-Za-z0-9._-]+`) })

// hashed is the name that omp 17.2.5 to 17.2.8 used: the place, the base name, and the
// SHA-256 of the path.
func (n naming) hashed() string {
	where := "abs"
	if _, ok := within(n.home, n.real); ok {
		where = "home"
	} else if _, ok := within(n.temp, n.real); ok {
		where = "tmp"
	}
	slashed := strings.ReplaceAll(n.real, `\`, "/")
	base := strings.Trim(notInBase().ReplaceAllString(path.Base(slashed), "-"), "-")
	if len(base) > 80 {
		base = base[len(base)-80:]
	}
	if base == "" {
		base = "project"
	}
	sum := sha256.Sum256([]byte(slashed))
	return where + "-" + base + "-" + hex.EncodeToString(sum[:])
}

// within returns p relative to base. ok is false if p is outside base, or if the relative
// path begins with two dots: the programs check no more than that, so that the directory
// of a child called "..x" has the name of one outside.
func within(base, p string) (rel string, ok bool) {
	if base == "" || p == "" {
		return "", false
	}
	a, b := foldPath(base), foldPath(p)
	if a == b {
		return "", true
	}
	if last := a[len(a)-1]; last != '/' && last != '\\' {
		a += separatorOf(base)
	}
	if len(a) >= len(b) || !strings.HasPrefix(b, a) {
		return "", false
	}
	rel = p[len(a):]
	return rel, !strings.HasPrefix(rel, "..")
}

// dashedPath is the path without its first separator, in dashes.
func dashedPath(p string) string {
	if p != "" && (p[0] == '/' || p[0] == '\\') {
		p = p[1:]
	}
	return dashed(p)
}

func dashed(p string) string { return strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(p) }

// isWindowsPath reports whether p begins with a drive or is a UNC path. The system is
// inferred from the form of the path, because that is all a session's header holds.
func isWindowsPath(p string) bool {
	if strings.HasPrefix(p, `\\`) {
		return true
	}
	return len(p) >= 2 && p[1] == ':' && (p[0]|0x20)-'a' < 26 && (len(p) == 2 || p[2] == '\\' || p[2] == '/')
}

// isAbsPath reports whether p is absolute on the system that its form belongs to.
func isAbsPath(p string) bool { return strings.HasPrefix(p, "/") || isWindowsPath(p) }

func separatorOf(p string) string {
	if isWindowsPath(p) {
		return `\`
	}
	return "/"
}

// cleanPath is filepath.Clean for paths of either form on any system. "" stays "".
func cleanPath(p string) string {
	if p == "" {
		return ""
	}
	if !isWindowsPath(p) {
		return path.Clean(p)
	}
	p = strings.ReplaceAll(p, "/", `\`)
	volume := 2
	if strings.HasPrefix(p, `\\`) {
		volume = uncVolume(p)
	}
	rest := path.Clean("/" + strings.ReplaceAll(p[volume:], `\`, "/"))
	if rest == "/" && volume > 2 {
		return p[:volume]
	}
	return p[:volume] + strings.ReplaceAll(rest, "/", `\`)
}

// uncVolume returns the length of \\server\share.
func uncVolume(p string) int {
	server := strings.IndexByte(p[2:], '\\')
	if server < 0 {
		return len(p)
	}
	start := 2 + server + 1
	if share := strings.IndexByte(p[start:], '\\'); share >= 0 {
		return start + share
	}
	return len(p)
}

// foldPath brings p into the form in which equal paths are equal strings. Lengths do
// not change: only ASCII letters of Windows paths do.
func foldPath(p string) string {
	if !isWindowsPath(p) {
		return p
	}
	b := []byte(p)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// SameCwd reports whether two working directories are one: the same path once cleaned,
// or once free of symbolic links.
func (f Finder) SameCwd(a, b string) bool {
	return foldPath(cleanPath(a)) == foldPath(cleanPath(b)) || f.ownerOf(a).sameAs(b)
}

// Canonical returns the form of path, cleaned and without symbolic links, in which equal
// paths are equal strings.
func (f Finder) Canonical(path string) string {
	return foldPath(realOr(f.RealPath, cleanPath(path)))
}

// Contains reports whether path is dir or below it. A name in dir that begins with two dots
// counts as outside.
func Contains(dir, path string) bool {
	_, ok := within(cleanPath(dir), cleanPath(path))
	return ok
}

// owner decides which sessions belong to a working directory.
type owner struct {
	all     bool
	lexical string
	real    string
	resolve func(string) (string, error)
}

// ownerOf returns the owner of the sessions of cwd.
func (f Finder) ownerOf(cwd string) owner {
	lexical := cleanPath(cwd)
	return owner{lexical: foldPath(lexical), real: foldPath(realOr(f.RealPath, lexical)), resolve: f.RealPath}
}

// has reports whether a session whose header names cwd is the owner's.
func (o owner) has(cwd string) bool { return o.all || cwd == "" || o.sameAs(cwd) }

func (o owner) sameAs(cwd string) bool {
	lexical := cleanPath(cwd)
	return foldPath(lexical) == o.lexical || foldPath(realOr(o.resolve, lexical)) == o.real
}

// CheckCwd returns an InvalidArgument error unless cwd is an absolute path.
func CheckCwd(cwd string) error {
	if strings.ContainsRune(cwd, 0) || !isAbsPath(cwd) {
		return fault.New(fault.InvalidArgument, "The working directory %q is not an absolute path.", cwd).With("field", "cwd")
	}
	return nil
}

// distinct drops empty strings and repetitions.
func distinct(names []string) []string {
	var out []string
	for _, n := range names {
		if n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}
