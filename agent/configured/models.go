package configured

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
)

// Models returns the models that a set-up offers: those that match a pattern of enabledModels, if there is one that
// does, without those of disabledProviders. Others can still be chosen by name.
func Models(r *setup.Resolved, all []provider.Info) []provider.Info {
	if off, ok := r.Setting("disabledProviders"); ok {
		all = slices.DeleteFunc(slices.Clone(all), func(m provider.Info) bool { return slices.Contains(off.Texts(), m.Provider) })
	}
	enabled, _ := r.Setting("enabledModels")
	var offered []provider.Info
	for _, m := range all {
		if slices.ContainsFunc(enabled.Texts(), func(pattern string) bool { return matches(pattern, m) }) {
			offered = append(offered, m)
		}
	}
	if len(offered) == 0 {
		return all
	}
	return offered
}

// matches reports whether a pattern names a model: a glob or a part of its name, of which the end can be a thinking
// level.
func matches(pattern string, m provider.Info) bool {
	pattern = strings.ToLower(strings.TrimSpace(pattern))
	if at := strings.LastIndexByte(pattern, ':'); at >= 0 && slices.Contains(provider.Levels, provider.Level(pattern[at+1:])) {
		pattern = pattern[:at]
	}
	if pattern == "" {
		return false
	}
	id := strings.ToLower(m.ID)
	name := strings.ToLower(m.Provider) + "/" + id
	if !strings.ContainsAny(pattern, "*?[") {
		return strings.Contains(name, pattern)
	}
	for _, s := range []string{name, id} {
		if ok, err := doublestar.Match(pattern, s); ok && err == nil {
			return true
		}
		if ok, err := doublestar.Match(strings.ReplaceAll(pattern, "*", "**"), s); ok && err == nil && !strings.Contains(pattern, "/") {
			return true // ids have slashes, too
		}
	}
	return false
}
