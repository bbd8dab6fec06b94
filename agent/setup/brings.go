package setup

import (
	"cmp"
	"slices"
)

// Brought is a part of a folder's set-up that needs the user's trust.
type Brought struct {
	Kind   Kind   `json:"kind" jsonschema:"server, skill, template, system, append, rule or setting"`
	Name   string `json:"name"`
	Path   string `json:"path"`
	Starts string `json:"starts,omitempty" jsonschema:"Of a server: the command line or address, without secrets."`
	Used   bool   `json:"used" jsonschema:"True if the user's decision lets it be used."`
}

// Brings returns the parts of the folder's own set-up, used or not.
func (r *Resolved) Brings() []Brought {
	all := []Brought{}
	add := func(scope Scope, b Brought) {
		if scope == Project {
			b.Used = true
			all = append(all, b)
		}
	}
	for _, s := range r.Servers {
		add(s.Scope, Brought{Kind: KindServer, Name: s.Name, Path: s.Path, Starts: s.Starts})
	}
	for _, s := range r.Skills {
		add(s.Scope, Brought{Kind: KindSkill, Name: s.Name, Path: s.Path})
	}
	for _, t := range r.Templates {
		add(t.Scope, Brought{Kind: KindTemplate, Name: t.Name, Path: t.Path})
	}
	if f := r.System; f != nil {
		add(f.Scope, Brought{Kind: KindSystem, Name: string(KindSystem), Path: f.Path})
	}
	if f := r.Append; f != nil {
		add(f.Scope, Brought{Kind: KindAppend, Name: string(KindAppend), Path: f.Path})
	}
	for _, x := range r.Rules {
		add(x.Scope, Brought{Kind: KindRule, Name: x.Name, Path: x.Path})
	}
	for _, s := range r.Settings {
		add(s.Scope, Brought{Kind: KindSetting, Name: s.Name, Path: s.Path})
	}
	for _, o := range r.LeftOut {
		if o.trust || o.Kind == KindServer && r.Trust.State == WithoutServers && o.Starts != "" {
			all = append(all, Brought{Kind: o.Kind, Name: o.Name, Path: o.Path, Starts: o.Starts})
		}
	}
	slices.SortStableFunc(all, func(a, b Brought) int { return cmp.Compare(rank(a.Kind), rank(b.Kind)) })
	return all
}

// rank is the place of a kind in lists: servers, which start programs, come first.
func rank(k Kind) int {
	return slices.Index([]Kind{KindServer, KindSkill, KindTemplate, KindRule, KindSetting, KindSystem, KindAppend}, k)
}
