// Package bench measures xcsh-ls. It defines the operations for the Go benchmarks of this package, for
// bench/drive, which measures whole processes, and for the tests that check their results. README.md describes the method and the results.
package bench

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// Kit holds the dependencies of the operations: discovery and storage over a home directory, wired
// as in the program.
type Kit struct {
	Finder library.Finder
	Store  *session.Store
}

// New returns a kit over the sessions of all three programs below home. New files go
// below scratch.
func New(home, scratch string) Kit {
	env := library.Env{Home: home, Exists: func(path string) bool { _, err := os.Stat(path); return err == nil }}
	roots := append([]library.Root{library.OwnRoot(library.AgentPlaces(filepath.Join(scratch, ".xcsh", "agent")))}, library.PeerPlaces(env)...)
	finder := library.Finder{Fs: afero.NewOsFs(), Roots: roots, Home: home, Temp: os.TempDir(), RealPath: filepath.EvalSymlinks, Now: time.Now}
	return Kit{Finder: finder, Store: session.NewStore(session.StoreConfig{Fs: finder.Fs, DirFor: finder.DirFor, RootFor: finder.FileRoot, LockDir: filepath.Join(scratch, ".xcsh", "agent", "xcsh-ls", "locks")})}
}

// Open returns the newest context of the session at path. It reads only the end of the file if that is
// sufficient, and the whole file otherwise.
func (k Kit) Open(path string) (session.Context, error) {
	tail, ok, err := k.Store.Newest(path, false)
	if ok || err != nil {
		return tail.Context, err
	}
	return k.Index(path)
}

// Index is like Open, but indexes every entry.
func (k Kit) Index(path string) (session.Context, error) {
	doc, err := k.Store.Load(path)
	if err != nil {
		return session.Context{}, err
	}
	c, _, err := session.BuildContext(doc, session.AtLast(), k.Store.BlobsFor(path))
	return c, errors.Join(err, doc.Close())
}

// List describes every session with the text of all its messages, as pi's list does.
func (k Kit) List(ctx context.Context) ([]library.Info, error) {
	infos, _, err := k.Finder.ListAll(ctx, library.ListOptions{AllText: true})
	return infos, err
}

// ListBriefly describes every session without the text of its messages, as the program does.
func (k Kit) ListBriefly(ctx context.Context) ([]library.Info, error) {
	infos, _, err := k.Finder.ListAll(ctx, library.ListOptions{})
	return infos, err
}

// Remembering returns the kit with a cache of listings in scratch, as on any but the first run of the
// program.
func (k Kit) Remembering(scratch string) Kit {
	k.Finder.CacheDir = filepath.Join(scratch, "xcsh-ls")
	return k
}

// Search finds the sessions whose messages contain word.
func (k Kit) Search(ctx context.Context, word string) ([]library.Info, error) {
	found, _, err := k.Finder.ListAll(ctx, library.ListOptions{Query: word})
	// Sessions with the word are followed by those that have only its letters.
	return slices.DeleteFunc(found, func(i library.Info) bool { return i.Match == library.MatchLetters }), err
}

// Resolve returns the file of the session whose id begins with prefix, from a directory that has no
// sessions.
func (k Kit) Resolve(ctx context.Context, prefix string) (string, error) {
	r, err := k.Finder.Resolve(ctx, "/nowhere", prefix, library.ResolveOptions{})
	if err != nil {
		return "", err
	}
	info, err := r.One()
	return info.Path, err
}

// Prompt is the entry of the append benchmarks: about 300 bytes as a line.
func Prompt() *session.Draft {
	return session.DraftMessage(json.RawMessage(
		`{"role":"user","content":[{"type":"text","text":"` + PromptText + `"}],"timestamp":1700000000000}`))
}

// PromptText is the text of [Prompt].
var PromptText = strings.Repeat("an entry ", 16)

// Append appends n prompts to the session at path. flushEvery 0 never syncs before
// the end.
func (k Kit) Append(path string, n, flushEvery int) error {
	log, err := k.Store.Open(path)
	if err != nil {
		return err
	}
	for i := range n {
		if _, err = log.Append(Prompt()); err == nil && flushEvery > 0 && (i+1)%flushEvery == 0 {
			err = log.Flush()
		}
		if err != nil {
			break
		}
	}
	return errors.Join(err, log.Close())
}

// Fork copies the session at path and returns the file of the copy.
func (k Kit) Fork(path, cwd string) (string, error) {
	fork, err := k.Store.ForkFrom(path, cwd)
	if err != nil {
		return "", err
	}
	return fork.Path(), fork.Close()
}

// Stat reads every directory of every root and gets the file info of every file in it: the least
// that a listing can do.
func (k Kit) Stat() (files int, err error) {
	for _, r := range k.Finder.Roots {
		err = errors.Join(err, filepath.WalkDir(r.Sessions, func(_ string, d os.DirEntry, err error) error {
			if errors.Is(err, os.ErrNotExist) {
				return nil
			}
			if err != nil || d.IsDir() {
				return err
			}
			files++
			_, err = d.Info()
			return err
		}))
	}
	return files, err
}

// Answer is the part of an answer that is compared between programs: the number of items and a
// digest of their identities.
type Answer struct {
	Count  int    `json:"count"`
	Digest string `json:"digest"`
}

// AnswerOf digests lines.
func AnswerOf(lines []string) Answer {
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return Answer{len(lines), hex.EncodeToString(sum[:])[:16]}
}

// ContextAnswer is the role and time of each message.
func ContextAnswer(c session.Context) Answer {
	lines := make([]string, len(c.Messages))
	for i, m := range c.Messages {
		role, _ := rawjson.GetString(m, "role")
		lines[i] = fmt.Sprintf("%s %s", role, bytes.TrimSpace(rawjson.Get(m, "timestamp")))
	}
	return AnswerOf(lines)
}

// ListAnswer is the id and number of messages of each session, in order of the ids.
func ListAnswer(infos []library.Info) Answer {
	lines := make([]string, len(infos))
	for i, s := range infos {
		lines[i] = fmt.Sprintf("%s %d", s.ID, s.MessageCount)
	}
	slices.Sort(lines)
	return AnswerOf(lines)
}

// FoundAnswer is the id of each session that a search found, in order.
func FoundAnswer(infos []library.Info) Answer {
	lines := make([]string, len(infos))
	for i, s := range infos {
		lines[i] = s.ID
	}
	slices.Sort(lines)
	return AnswerOf(lines)
}
