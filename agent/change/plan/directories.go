package plan

import (
	"path/filepath"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
)

// directories refuses plans with an impossible tree: a file in place of a directory that stays, or below a path that is not a directory.
// A directory may become a file if the plan removes all its files, and a file may become a directory if the plan creates files in it.
func directories(in *Input, paths []Path) {
	byPath := make(map[string]*Path, len(paths))
	for i := range paths {
		byPath[paths[i].Path] = &paths[i]
	}
	for i := range paths {
		p := &paths[i]
		if p.Action == wire.None || p.Action == wire.Conflict {
			continue
		}
		switch {
		case p.Want.Kind == change.Special:
			p.becomeDirectory(paths)
		case p.Want.Kind == change.Absent && p.Now.State.Kind == change.Special:
			p.refuse("The path is a directory or device, which a rewind does not remove.")
		case p.Want.Kind != change.Absent && p.Now.State.Kind == change.Special:
			p.replaceDirectory(in, byPath)
		}
		if p.Want.Kind != change.Absent && p.Want.Kind != change.Special && p.Action != wire.Conflict {
			p.below(byPath)
		}
	}
}

func (p *Path) refuse(text string) {
	p.Action, p.Reason, p.Text = wire.Conflict, wire.Kind, text
}

// becomeDirectory removes the file in place of a directory if the plan puts files into the directory.
func (p *Path) becomeDirectory(paths []Path) {
	prefix := p.Path + string(filepath.Separator)
	for i := range paths {
		if q := &paths[i]; strings.HasPrefix(q.Path, prefix) && q.Action != wire.Conflict && q.Want.Kind != change.Absent && q.Want.Kind != change.Special {
			p.Want = change.State{Kind: change.Absent}
			if p.Action = wire.Remove; p.Now.State.Kind == change.Absent {
				p.Action = wire.None
			}
			return
		}
	}
	if p.Now.State.Kind == change.Absent {
		p.Want, p.Action = p.Now.State, wire.None // an empty directory: no file was lost
		return
	}
	p.refuse("The path was a directory or device, which a rewind does not create.")
}

// replaceDirectory refuses a file in place of a directory that is not empty afterwards.
func (p *Path) replaceDirectory(in *Input, byPath map[string]*Path) {
	if !p.Now.Dir || in.Under == nil {
		p.refuse("The path is a directory or device now.")
		return
	}
	under, ok := in.Under(p.Path)
	if !ok {
		p.refuse("The path is now a directory with other files.")
		return
	}
	for _, path := range under {
		if q := byPath[path]; q == nil || q.Action == wire.Conflict || q.Want.Kind != change.Absent {
			p.refuse("The path is now a directory that still contains " + filepath.Base(path) + ".")
			return
		}
	}
}

// below refuses a file below a path that is not a directory and does not become one.
func (p *Path) below(byPath map[string]*Path) {
	if parent := p.Now.Parent; parent != "" {
		q := byPath[parent]
		if q == nil || q.Action == wire.Conflict || q.Want.Kind != change.Absent && q.Want.Kind != change.Special {
			p.refuse(filepath.Base(parent) + " in its path is not a directory any more.")
			return
		}
	}
	for dir := filepath.Dir(p.Path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		q := byPath[dir]
		if q != nil && q.Want.Kind != change.Absent && q.Want.Kind != change.Special {
			p.refuse(filepath.Base(dir) + " in its path would become a file.")
			return
		}
	}
}
