package find

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// version is a version number: major, minor and patch.
type version [3]int

var (
	versionText = regexp.MustCompile(`\d{1,6}\.\d{1,6}(?:\.\d{1,6}(?:[-+][0-9A-Za-z.-]{1,40})?)?`)
	validText   = regexp.MustCompile(`^` + versionText.String() + `$`)
)

// findVersion returns the first version in an output, "" if it has none.
func findVersion(output string) string { return versionText.FindString(output) }

// parseVersion reads a version such as "v22.19.0", of which only the beginning needs to be there.
func parseVersion(text string) (v version, ok bool) {
	text, _, _ = strings.Cut(strings.TrimPrefix(text, "v"), "-")
	text, _, _ = strings.Cut(text, "+")
	for i, part := range strings.SplitN(text, ".", 3) {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 || n > 1e6 {
			return version{}, false
		}
		v[i] = n
	}
	return v, true
}

func (v version) compare(o version) int {
	return cmp.Or(cmp.Compare(v[0], o[0]), cmp.Compare(v[1], o[1]), cmp.Compare(v[2], o[2]))
}

// String returns the version without zeros at its end: "22", "22.19".
func (v version) String() string {
	parts := []string{strconv.Itoa(v[0]), strconv.Itoa(v[1]), strconv.Itoa(v[2])}
	for len(parts) > 1 && parts[len(parts)-1] == "0" {
		parts = parts[:len(parts)-1]
	}
	return strings.Join(parts, ".")
}

var comparator = regexp.MustCompile(`(<|>)?=?\s*[\^~]?v?(\d{1,6}(?:\.\d{1,6}){0,2})`)

// leastVersion returns the oldest version of a range as package.json has it, such as ">=22.19.0" or "^20.19 || >=22.12".
func leastVersion(text string) (least version, ok bool) {
	var all []version
	for _, m := range comparator.FindAllStringSubmatch(text[:min(len(text), 200)], 20) {
		if v, ok := parseVersion(m[2]); ok && m[1] != "<" {
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		return version{}, false
	}
	return slices.MinFunc(all, version.compare), true
}
