package rewind

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/disk"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// item is a file with its mode, or a link with its target.
type item struct {
	text string
	mode fs.FileMode
	link bool
}

// tree is all files below a folder by their paths with slashes.
type tree map[string]item

// desk is a folder that is rewound: its files, its documents, its session.
type desk struct {
	fs        afero.Fs
	root      string // everything is below
	documents change.Documents
	at        func(string)
}

func (d *desk) work(path string) string {
	return filepath.Join(d.root, "work", filepath.FromSlash(path))
}

// contents are files by their hash.
type contents struct {
	fs  afero.Fs
	dir string
}

func (c contents) Get(sha string) ([]byte, error) {
	return afero.ReadFile(c.fs, filepath.Join(c.dir, sha))
}

func (c contents) Has(sha string) bool {
	_, err := c.fs.Stat(filepath.Join(c.dir, sha))
	return err == nil
}

func (c contents) put(t testing.TB, text string) string {
	t.Helper()
	sha := change.Sum([]byte(text))
	require.NoError(t, afero.WriteFile(c.fs, filepath.Join(c.dir, sha), []byte(text), 0o600))
	return sha
}

func (d *desk) contents() contents { return contents{d.fs, filepath.Join(d.root, "contents")} }

func (d *desk) runner() *Runner {
	return &Runner{
		Fs: d.fs, Contents: d.contents(), Dir: filepath.Join(d.root, "session", "changes"), Pointers: filepath.Join(d.root, "rewinds"),
		Session: filepath.Join(d.root, "session.jsonl"), Documents: d.documents, Log: zap.NewNop(), Commit: d.commit, Recorded: d.recorded, at: d.at,
	}
}

// commit appends a line unless it is there.
func (d *desk) commit(_ context.Context, key string, entry json.RawMessage) (string, error) {
	path := filepath.Join(d.root, "session.jsonl")
	was, err := afero.ReadFile(d.fs, path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if strings.Contains(string(was), key) {
		return key, nil
	}
	// An append that fails leaves no part of a line, as that of a session.
	if err := d.fs.Chmod(filepath.Join(d.root, "contents"), 0o700); err != nil {
		return "", err
	}
	base := d.fs
	if f, ok := base.(*st.FaultFs); ok {
		base = f.Fs
	}
	f, err := base.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(key + " " + string(entry) + "\n")
	return key, errors.Join(err, f.Close())
}

// recorded looks for a line.
func (d *desk) recorded(key string) string {
	raw, err := afero.ReadFile(d.fs, filepath.Join(d.root, "session.jsonl"))
	if err == nil && strings.Contains(string(raw), key) {
		return key
	}
	return ""
}

// records counts the records in the session.
func (d *desk) records(t testing.TB) int {
	t.Helper()
	raw, err := afero.ReadFile(d.fs, filepath.Join(d.root, "session.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	require.NoError(t, err)
	return strings.Count(string(raw), "\n")
}

// lay makes the files of a tree.
func (d *desk) lay(t testing.TB, files tree) {
	t.Helper()
	for _, path := range slices.Sorted(maps.Keys(files)) {
		it := files[path]
		require.NoError(t, d.fs.MkdirAll(filepath.Dir(d.work(path)), 0o755))
		if it.link {
			require.NoError(t, d.fs.(afero.Linker).SymlinkIfPossible(it.text, d.work(path)))
			continue
		}
		require.NoError(t, afero.WriteFile(d.fs, d.work(path), []byte(it.text), 0o600))
		require.NoError(t, d.fs.Chmod(d.work(path), it.mode))
	}
}

// now returns the files of the folder, and its empty directories with a slash at the end.
func (d *desk) now(t testing.TB) tree {
	t.Helper()
	found := tree{}
	root := filepath.Join(d.root, "work")
	require.NoError(t, afero.Walk(d.fs, root, func(path string, info fs.FileInfo, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		rel = filepath.ToSlash(rel)
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := disk.Readlink(d.fs, path)
			found[rel] = item{text: target, link: true}
			return err
		case info.IsDir():
			if path != root && empty(d.fs, path) {
				found[rel+"/"] = item{}
			}
			return nil
		}
		raw, err := afero.ReadFile(d.fs, path)
		found[rel] = item{text: string(raw), mode: info.Mode().Perm()}
		return err
	}))
	return found
}

func (d *desk) state(t testing.TB, files tree, path string) change.State {
	t.Helper()
	it, ok := files[path]
	switch {
	case !ok:
		return change.State{Kind: change.Absent}
	case it.link:
		return change.State{Kind: change.Link, SHA256: d.contents().put(t, it.text), Size: int64(len(it.text))}
	}
	return change.State{Kind: change.Regular, SHA256: d.contents().put(t, it.text), Mode: uint32(it.mode), Size: int64(len(it.text))}
}

// job turns one tree into another, and the texts of documents.
func (d *desk) job(t testing.TB, before, after tree, documents map[string][2]string) Job {
	t.Helper()
	paths := maps.Clone(before)
	maps.Copy(paths, after)
	job := Job{Label: "xcsh: rewind", Entry: json.RawMessage(`{"tool":"rewind"}`)}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if before[path] != after[path] {
			old := d.state(t, before, path)
			if slices.ContainsFunc(slices.Collect(maps.Keys(before)), func(p string) bool { return strings.HasPrefix(p, path+"/") }) {
				old.Kind = change.Special
			}
			job.Steps = append(job.Steps, Step{Path: d.work(path), Old: old, New: d.state(t, after, path)})
		}
	}
	job.Gone = []string{d.work("new"), d.work("new/none"), d.work("shrunk/a")}
	for path, texts := range documents {
		old, now := d.contents().put(t, texts[0]), d.contents().put(t, texts[1])
		job.Steps = append(job.Steps, Step{
			Path: d.work(path), Document: true,
			Old: change.State{Kind: change.Regular, SHA256: old}, New: change.State{Kind: change.Regular, SHA256: now},
		})
	}
	return job
}

// requireClean requires that nothing of a rewind is left.
func (d *desk) requireClean(t testing.TB) {
	t.Helper()
	require.NoError(t, afero.Walk(d.fs, d.root, func(path string, info fs.FileInfo, err error) error {
		if err != nil {
			return err
		}
		name := info.Name()
		if strings.Contains(name, ".json.") && strings.HasSuffix(name, ".tmp") && !ours(path) {
			return nil // the next rewind removes it
		}
		require.False(t, ours(path) || strings.HasPrefix(name, "rewind.") || strings.Contains(filepath.ToSlash(path), "/rewinds/") || strings.HasSuffix(name, ".tmp"),
			"%s was left", path)
		return nil
	}))
}

// before and after are trees with everything that a rewind does to files.
var (
	before = tree{
		"edited.go":       {text: "package b\n", mode: 0o644},
		"new/made.txt":    {text: "made\n", mode: 0o600},
		"renamed.txt":     {text: "moved\n", mode: 0o644},
		"run.sh":          {text: "#!/bin/sh\n", mode: 0o755},
		"picture.bin":     {text: "\x00\x01\x02", mode: 0o644},
		"dos.txt":         {text: "a\r\nb\r\n", mode: 0o644},
		"grown":           {text: "a file now\n", mode: 0o644},
		"shrunk/a/b.txt":  {text: "a directory now\n", mode: 0o644},
		"untouched.txt":   {text: "the user's\n", mode: 0o644},
		"merged.go":       {text: "1\n2\nuser\n", mode: 0o644},
		"new/mine/of.txt": {text: "the user's in a new directory\n", mode: 0o644},
	}
	after = tree{
		"edited.go":       {text: "package a\n", mode: 0o644},
		"deleted.txt":     {text: "back again\n", mode: 0o640},
		"old/name.txt":    {text: "moved\n", mode: 0o644},
		"run.sh":          {text: "#!/bin/sh\n", mode: 0o644},
		"picture.bin":     {text: "\x00", mode: 0o644},
		"dos.txt":         {text: "a\r\n", mode: 0o644},
		"grown/x.txt":     {text: "was a directory\n", mode: 0o644},
		"shrunk":          {text: "was a file\n", mode: 0o644},
		"untouched.txt":   {text: "the user's\n", mode: 0o644},
		"merged.go":       {text: "1\nuser\n", mode: 0o644},
		"new/mine/of.txt": {text: "the user's in a new directory\n", mode: 0o644},
	}
	texts = map[string][2]string{"open.go": {"package b // unsaved\n", "package a // unsaved\n"}, "clean.go": {"b\n", "a\n"}}
)

// withLinks adds what only a real file system has.
func withLinks(files tree, target string) tree {
	files = maps.Clone(files)
	files["link"] = item{text: target, link: true}
	return files
}

// withDisk adds the files of the documents: that of open.go has never been saved with its text, that of clean.go has it.
func withDisk(files tree, clean string) tree {
	files = maps.Clone(files)
	files["open.go"] = item{text: "package old\n", mode: 0o644}
	files["clean.go"] = item{text: clean, mode: 0o644}
	return files
}

// editor is an editor whose documents are in a file, so that they outlive the process that edits them.
type editor struct {
	fs     afero.Fs
	file   string
	disk   func(path, text string) // saves
	answer func(e *editor, edits []change.DocumentEdit) error
	at     func(string)
}

func (e *editor) texts() (all map[string]string) {
	raw, err := afero.ReadFile(e.fs, e.file)
	if err == nil {
		err = json.Unmarshal(raw, &all)
	}
	if err != nil {
		return map[string]string{}
	}
	return all
}

func (e *editor) set(all map[string]string) error {
	raw, err := json.Marshal(all)
	if err != nil {
		return err
	}
	if err := afero.WriteFile(e.fs, e.file+".new", raw, 0o600); err != nil {
		return err
	}
	return e.fs.Rename(e.file+".new", e.file)
}

func (e *editor) Document(path string) (change.Document, bool) {
	text, ok := e.texts()[path]
	return change.Document{Path: path, Text: text, Version: 1}, ok
}

func (e *editor) Edit(_ context.Context, _ string, edits []change.DocumentEdit) error {
	if e.answer != nil {
		return e.answer(e, edits)
	}
	return e.apply(edits)
}

func (e *editor) apply(edits []change.DocumentEdit) error {
	all := e.texts()
	for _, edit := range edits {
		if all[edit.Path] != edit.Was {
			return fault.New(fault.Stale, "changed").With("path", edit.Path)
		}
		all[edit.Path] = edit.Text
	}
	return e.set(all)
}

func (e *editor) Open(context.Context, string) (change.Document, error) {
	return change.Document{}, fault.New(fault.Denied, "no")
}

func (e *editor) Save(_ context.Context, paths []string) (unsaved []string) {
	for _, path := range paths {
		if strings.HasSuffix(path, "clean.go") && e.disk != nil {
			e.disk(path, e.texts()[path])
			continue
		}
		unsaved = append(unsaved, path)
	}
	return unsaved
}
