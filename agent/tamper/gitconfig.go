package tamper

import (
	"bytes"
	"regexp"
	"strings"
)

// header is a section header that stands alone on its line. git also accepts settings and further
// headers after one.
var header = regexp.MustCompile(`^\[([A-Za-z0-9-]+)(?:[ \t]+"[^"\\\[\]]*")?\]$`)

// harmlessKeys are settings of git that ordinary pushes, clones and branches change and that run
// nothing, by section. A section with nil is harmless as a whole.
var harmlessKeys = map[string]map[string]bool{
	"user":   nil,
	"branch": nil,
	"remote": {
		"url": true, "pushurl": true, "fetch": true, "push": true, "tagopt": true, "mirror": true, "prune": true, "promisor": true, "partialclonefilter": true,
	},
	"core": {
		"repositoryformatversion": true, "filemode": true, "bare": true, "logallrefupdates": true, "ignorecase": true, "precomposeunicode": true,
		"symlinks": true, "autocrlf": true, "eol": true, "safecrlf": true,
	},
	"pull":   nil,
	"push":   nil,
	"rerere": nil,
	"gc":     {"auto": true, "autodetach": true, "autopacklimit": true, "pruneexpire": true}, // recentObjectsHook is a command
}

// obeyed is a configuration of git without the settings that cannot make git run anything.
func effectiveSettings(config []byte) []byte {
	var kept bytes.Buffer
	section := ""
	for line := range bytes.Lines(config) {
		text := strings.TrimSpace(string(line))
		if strings.HasPrefix(text, "[") {
			name := header.FindStringSubmatch(text)
			if section = ""; name == nil { // the following lines belong to an unknown section
				kept.Write(line)
				continue
			}
			section = strings.ToLower(name[1])
			continue
		}
		keys, known := harmlessKeys[section]
		key, _, _ := strings.Cut(text, "=")
		if text == "" || text[0] == '#' || text[0] == ';' || known && (keys == nil || keys[strings.ToLower(strings.TrimSpace(key))]) {
			if !strings.HasSuffix(text, `\`) { // the next line belongs to it
				continue
			}
		}
		kept.WriteString(section + ": ")
		kept.Write(line)
	}
	return kept.Bytes()
}

// harmless reports whether a configuration changed only in settings that cannot make git run
// anything or push elsewhere.
func harmless(was, is []byte) bool {
	return bytes.Equal(effectiveSettings(was), effectiveSettings(is)) && !moved(was, is)
}

// moved reports whether an existing remote has another address now. New remotes do not count: a
// push names them.
func moved(was, is []byte) bool {
	now := addresses(is)
	for name, address := range addresses(was) {
		if other, there := now[name]; there && other != address {
			return true
		}
	}
	return false
}

// addresses returns the settings of remotes that determine where git pushes and fetches, by section
// and key.
func addresses(config []byte) map[string]string {
	all := map[string]string{}
	section := ""
	for line := range bytes.Lines(config) {
		text := strings.TrimSpace(string(line))
		if strings.HasPrefix(text, "[") {
			section = text
			continue
		}
		key, value, _ := strings.Cut(text, "=")
		switch key = strings.ToLower(strings.TrimSpace(key)); key {
		case "url", "pushurl", "insteadof", "pushinsteadof":
			all[section+" "+key] += strings.TrimSpace(value) + "\n"
		}
	}
	return all
}
