package setup

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/sensitive"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Setting is a setting of the program that matters here. Others belong to the terminal.
type Setting struct {
	Name  string `json:"name" jsonschema:"Such as retry.maxRetries."`
	Value string `json:"value" jsonschema:"The value; a list or an object as JSON."`
	Path  string `json:"path"`
	Scope Scope  `json:"scope" jsonschema:"user or project"`

	list []string
	raw  string // the value as the file has it; it may hold secrets
}

// Texts returns the values of a list.
func (s Setting) Texts() []string { return s.list }

// Text returns the value of a text, number or word as the file has it. It may hold secrets, unlike Value.
func (s Setting) Text() string { return s.raw }

// Bool returns the value of a setting that is true or false; ok is false for another one.
func (s Setting) Bool() (on, ok bool) { return s.raw == "true", s.raw == "true" || s.raw == "false" }

// Number returns the value of a number; ok is false for another one.
func (s Setting) Number() (n float64, ok bool) {
	n, err := strconv.ParseFloat(s.raw, 64)
	return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
}

// settingsFile is a file of settings.
type settingsFile struct {
	place place
	form  string // "json" or "yaml"
}

func (l *looking) settingsFiles(scope Scope) (files []settingsFile) {
	add := func(form string, names ...string) {
		for _, name := range names {
			p := ofProject(l.cwd, l.dot()+"/"+name)
			if scope == User {
				p = ofUser(filepath.Join(l.agent, name))
			}
			files = append(files, settingsFile{p.asConfig(), form})
		}
	}
	switch {
	case scope == User && l.agent == "":
	case l.program == session.Pi:
		add("json", "settings.json")
	case scope == User:
		add("yaml", "config.yaml", "config.yml") // the later one takes precedence
	default:
		add("json", "settings.json")
		add("yaml", "config.yaml", "config.yml")
	}
	return files
}

// readSettings returns the settings in the files of a scope, by name.
func (l *looking) readSettings(scope Scope) map[string]Setting {
	all := map[string]Setting{}
	for _, f := range l.settingsFiles(scope) {
		text, ok := l.whole(f.place, maxConfig)
		if !ok {
			continue
		}
		path := f.place.full()
		parse := parseYAML
		if f.form == "json" {
			parse = func(text string) (map[string]any, error) { return parseObject("settings.json", text) }
		}
		top, err := parse(text)
		if top, err = l.Last.keep(path, top, err); err != nil {
			l.unused(path, reason(err))
		}
		flat := map[string]any{}
		flatten("", top, flat, 0)
		for _, name := range slices.Sorted(maps.Keys(flat)) {
			form, known := l.form(name)
			if _, object := flat[name].(map[string]any); !known || object && strings.HasPrefix(name, "compaction.modelOverrides.") {
				continue // or of a model whose name has a dot
			}
			s, err := form.setting(flat[name])
			if err != nil {
				l.partly(path, "the setting "+name, reason(err))
				continue
			}
			s.Name, s.Path, s.Scope = name, path, scope
			if len(all) < maxListed {
				all[name] = s
			}
		}
	}
	return all
}

// flatten collects the values of nested objects under dotted names: {"retry": {"enabled": true}} has
// retry.enabled. An object is also there as a whole, for settings whose value is one.
func flatten(prefix string, object map[string]any, to map[string]any, depth int) {
	const maxSettings, maxObjects = 2000, 4
	for _, key := range slices.Sorted(maps.Keys(object)) {
		v := object[key]
		if len(to) >= maxSettings {
			return
		}
		name := prefix + key
		to[name] = v
		if inner, ok := v.(map[string]any); ok && depth < maxObjects {
			flatten(name+".", inner, to, depth+1)
		}
	}
}

// userSettings reads the user's settings.
func (l *looking) userSettings() {
	l.own = l.readSettings(User)
	l.leaveOutOfWorkspace()
	l.joined = joined(l.own)
}

// leaveOutOfWorkspace leaves out the settings of an agent directory in the folder that could act for the user: other
// people can change the folder.
func (l *looking) leaveOutOfWorkspace() {
	rel, err := filepath.Rel(sensitive.Resolve(l.Fs, l.cwd), sensitive.Resolve(l.Fs, l.agent))
	standard := l.Home != "" && l.agent == filepath.Join(l.Home, l.dot(), "agent") // also if the folder is the home directory
	if l.agent == "" || standard || err != nil || !filepath.IsLocal(rel) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(l.own)) {
		s := l.own[name]
		if name == "shellPath" || name == "shellCommandPrefix" || strings.HasPrefix(name, "tools.approval.") && s.Value == "allow" {
			l.leaveOut(KindSetting, name, s.Path, "An agent directory in the folder cannot choose the shell or allow tools.")
			delete(l.own, name)
		}
	}
}

// joined returns the lists that a project adds to, instead of replacing them.
func joined(all map[string]Setting) (lists []Setting) {
	for _, name := range []string{"skills", "prompts"} {
		if s, ok := all[name]; ok {
			lists = append(lists, s)
		}
	}
	return lists
}

// findProjectSettings reads those of the project, which are not used yet.
func (l *looking) findProjectSettings() (list []Setting) {
	all := l.readSettings(Project)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, all[name])
	}
	return list
}

// mergeSettings puts the project's settings over the user's, if they may be used.
func (l *looking) mergeSettings(project []Setting) {
	for _, s := range project {
		if why := loosens(s, l.own[s.Name]); why != "" {
			l.leaveOut(KindSetting, s.Name, s.Path, why)
			continue
		}
		if !l.admit(KindSetting, Project, s.Name, s.Path) {
			continue
		}
		if slices.Contains([]string{"skills", "prompts"}, s.Name) {
			l.joined = append([]Setting{s}, l.joined...)
			l.r.Settings = append(l.r.Settings, s)
			continue
		}
		if user, ok := l.own[s.Name]; ok {
			l.shadowed(KindSetting, s.Name, user.Path, s.Path)
		}
		l.own[s.Name] = s
	}
	for _, name := range slices.Sorted(maps.Keys(l.own)) {
		l.r.Settings = append(l.r.Settings, l.own[name])
	}
	slices.SortStableFunc(l.r.Settings, func(a, b Setting) int { return strings.Compare(a.Name, b.Name) })
}

// loosens returns the reason for which a project must not have a setting, "" if it may. user is that of the user,
// without a name if there is none.
func loosens(s, user Setting) string {
	approval := strings.HasPrefix(s.Name, "tools.approval.") || s.Name == "tools.approvalMode" || strings.HasPrefix(s.Name, "bash.patterns")
	switch {
	case s.Name == "sessionDir":
		return "A project cannot choose where sessions are stored."
	case s.Name == "defaultProjectTrust":
		return "A project cannot decide about its own trust."
	case s.Name == "enabledProviders":
		return "A project cannot turn on the user's files of other programs."
	case approval && (!slices.Contains(strict, s.Value) || slices.Index(strict, s.Value) < slices.Index(strict, user.Value)):
		return "A project cannot loosen approvals."
	case strings.HasSuffix(s.Name, ".enabled") && s.Value == "true" && user.Value == "false", s.Name == "images.blockImages" && user.Value == "true":
		return "A project cannot turn on what you turned off."
	default:
		return ""
	}
}

// strict are the values by which a project may tighten approvals, the strictest last.
var strict = []string{"prompt", "always-ask", "deny"}

// listedPlaces returns the places of skills or templates in the settings of pi, relative to the directory of
// each file. Those of the project are below the folder.
func (l *looking) listedPlaces(name string) (places []place) {
	for _, s := range l.joined {
		if s.Name != name {
			continue
		}
		for _, path := range s.list {
			if path == "" || strings.ContainsAny(path[:1], "!+-") || strings.ContainsAny(path, "*?[") {
				l.partly(s.Path, "the entry "+quote(path)+" of "+name, "patterns are not supported here")
				continue
			}
			if p, ok := l.listedPlace(s, path); ok {
				places = append(places, p)
			}
		}
	}
	return places
}

func (l *looking) listedPlace(s Setting, path string) (p place, ok bool) {
	full := homePath(filepath.FromSlash(path), l.Home)
	if !filepath.IsAbs(full) {
		full = filepath.Join(filepath.Dir(s.Path), full)
	}
	if s.Scope == User {
		return ofUser(full), true
	}
	rel, err := filepath.Rel(l.cwd, full)
	if err != nil || !filepath.IsLocal(rel) {
		l.partly(s.Path, "the entry "+quote(path), "it is outside of the folder")
		return p, false
	}
	return ofProject(l.cwd, filepath.ToSlash(rel)), true
}

// form is the form of a setting.
type form int

const (
	textForm form = iota
	boolForm
	numberForm
	listForm
	objectForm // of texts or numbers
	scalarForm // a text, a number, or true or false
)

// setting reads a value. The error does not contain it.
func (f form) setting(v any) (s Setting, err error) {
	ok := false
	switch f {
	case textForm:
		_, ok = v.(string)
	case boolForm:
		_, ok = v.(bool)
	case numberForm:
		switch v.(type) {
		case int, int64, uint64, float64:
			ok = true
		}
	case listForm:
		s.list, ok = textsOf(v)
		v = s.list
	case objectForm:
		v, ok = tableOf(v)
	case scalarForm:
		_, ok = scalar(v)
	}
	if !ok {
		return s, fmt.Errorf("it must be %s", []string{"a text", "true or false", "a number", "a list of texts", "an object of texts", "a text"}[f])
	}
	if text, is := scalar(v); is {
		s.raw = text
	} else if raw, err := json.Marshal(v); err == nil {
		s.raw = string(raw)
	}
	s.Value = clip(shownText(s.raw))
	return s, nil
}

func textsOf(v any) (list []string, ok bool) {
	values, ok := v.([]any)
	if !ok || len(values) > maxValues {
		return nil, false
	}
	list = []string{}
	for _, item := range values {
		s, ok := item.(string)
		if !ok || len(s) > maxValue {
			return nil, false
		}
		list = append(list, s)
	}
	return list, true
}

func tableOf(v any) (table map[string]string, ok bool) {
	object, ok := v.(map[string]any)
	if !ok || len(object) > maxValues {
		return nil, false
	}
	table = map[string]string{}
	for key, item := range object {
		s, ok := scalar(item)
		if !ok || len(s) > maxValue {
			return nil, false
		}
		table[key] = s
	}
	return table, true
}
