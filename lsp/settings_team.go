package lsp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// TeamSettings say where the store of the user's team is, and how it is used. They are the user's own: see
// Settings.MachineScope.
type TeamSettings struct {
	Service         string            // a name in the service file of PostgreSQL
	URL             string            // an address without a password
	PasswordCommand string            // the path of an executable that prints the password
	Insecure        bool              // the server does not have to prove who it is
	Flush           time.Duration     // how long the end of the program may wait for what is not sent; 0 means the default
	Hosts           []string          // hosts of repositories whose paths ignore case
	Alias           map[string]string // from the key of a project to the key of the same project
}

// MaxTeamFlush bounds TeamSettings.Flush.
const MaxTeamFlush = 10 * time.Minute

// teamOption is the option with the settings of the team store.
const teamOption = "team"

// team reads the settings of the team store. Those in raw are added to those that to has.
func (r *settingsReader) team(to *TeamSettings) func(string, json.RawMessage) {
	return func(name string, raw json.RawMessage) {
		r.object(name, raw, map[string]func(string, json.RawMessage){
			"service":         set(r, &to.Service, "a string"),
			"url":             set(r, &to.URL, "a string"),
			"passwordCommand": set(r, &to.PasswordCommand, "a string"),
			"insecure":        set(r, &to.Insecure, "true or false"),
			"flush":           r.wholeNumber(1, int(MaxTeamFlush/time.Second), func(n int) { to.Flush = time.Duration(n) * time.Second }),
			"hosts":           set(r, &to.Hosts, "a list of strings"),
			"alias":           set(r, &to.Alias, "an object of strings"),
		})
	}
}

// ignoredTeam returns the names of the settings of the team store in a section that differ from those of the options.
func ignoredTeam(options, raw json.RawMessage) (names []string) {
	given := valueAt[map[string]json.RawMessage](raw, teamOption)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		value := given[name]
		if string(value) != "null" && string(value) != `""` && !sameJSON(value, valueAt[json.RawMessage](options, teamOption, name)) {
			names = append(names, fmt.Sprintf("%s.%s.%s", section, teamOption, name))
		}
	}
	return names
}

// aboutEngineOrTeam reports whether a problem is about a setting that is the user's own.
func aboutEngineOrTeam(problem string) bool {
	return strings.HasPrefix(problem, `The option "`+section+`.engine`) || strings.HasPrefix(problem, `The option "`+section+`.`+teamOption)
}
