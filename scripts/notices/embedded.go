package main

import (
	"errors"
	"strings"
)

// material is what the program embeds beside modules.
type material struct {
	name, path string
	part       func(text string) (string, error) // of the file; nil means all of it
}

var embedded = []material{
	{name: "the rules of gitleaks (session/redact)", path: "session/redact/LICENSE.gitleaks"},
	{name: "facts about models (agent/provider/catalog)", path: "agent/provider/catalog/NOTICE"},
	{name: "packages in exported pages (session/export/viewer)", path: "session/export/viewer/rendering.gen.js", part: comment},
}

func (m material) read() (string, error) {
	text, err := read(m.path)
	if err != nil || m.part == nil {
		return text, err
	}
	return m.part(text)
}

// comment returns the licence comment of a bundled script.
func comment(script string) (string, error) {
	_, rest, found := strings.Cut(script, "/*!")
	text, _, ended := strings.Cut(rest, "*/")
	if !found || !ended {
		return "", errors.New("a bundled script has no licence comment")
	}
	return strings.TrimSpace(text), nil
}
