package commands

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	sharer "github.com/xcsh-ls/xcsh-ls/agent/share"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

var share = New(Spec{
	Name: "xcsh.share", Title: "Share Session", Flags: Palette, Arg: "source",
	Doc: "Hand a session to others as a page: by the share script in the agent directory, else as a secret gist, which whoever has the link can read.",
}, runShare)

// ShareArgs are the arguments of xcsh.share.
//
// Differs: xcsh shares the page as it is, with every password that was ever printed into the
// conversation.
type ShareArgs struct {
	Subject
	Redact *bool `json:"redact,omitempty" jsonschema:"Replace what looks like a password, key or token. Absent: true, because the page leaves this machine."`
}

// ShareResult says where the page is.
type ShareResult struct {
	URL        string         `json:"url,omitempty" jsonschema:"Where the page is, as a share script said it. Only http and https are opened."`
	PreviewURL string         `json:"previewUrl,omitempty" jsonschema:"Shows the page of a gist as a browser would."`
	Message    string         `json:"message,omitempty" jsonschema:"What the person should know."`
	Via        sharer.Via     `json:"via" jsonschema:"custom: by a share script. gist: by gh."`
	Redacted   map[string]int `json:"redacted,omitempty" jsonschema:"How many secrets of each kind were replaced. Absent: none was to be looked for or none was found."`
}

// openWithin is how long an editor may take to say that it has opened a page. The page is
// shared by then, and the answer is not held up by an editor that says nothing.
const openWithin = 10 * time.Second

func runShare(ctx context.Context, env *Env, a ShareArgs) (r ShareResult, err error) {
	progress := env.UI.Progress(ctx, "Sharing...")
	defer func() { progress.End("") }()
	err = env.shareFolders().With(func(dir string) error {
		page, redacted, err := env.sharePage(ctx, dir, a)
		if err != nil {
			return err
		}
		shared, err := env.sharer().Share(ctx, page, func(text string) { progress.Report(text, -1) })
		if err != nil {
			return err
		}
		r = ShareResult{URL: shared.URL, PreviewURL: shared.PreviewURL, Via: shared.Via, Redacted: redacted}
		r.Message = shareMessage(shared, redacted)
		return nil
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return ShareResult{}, fault.New(fault.Cancelled, "Share cancelled")
	case err != nil:
		return ShareResult{}, err
	}
	env.showShared(ctx, r)
	return r, nil
}

// shareFolders is where pages lie while they are shared.
func (env *Env) shareFolders() sharer.Folders {
	temp := env.Finder.Temp
	if temp == "" {
		temp = os.TempDir()
	}
	if abs, err := filepath.Abs(temp); err == nil {
		temp = abs
	}
	return sharer.Folders{Fs: env.Fs, Temp: temp, Alive: session.ProcessAlive, Log: env.Log}
}

// sharer shares with what is on the PATH and in the agent directory.
func (env *Env) sharer() sharer.Sharer {
	s := sharer.Sharer{Fs: env.Fs, Log: env.Log}
	if len(env.Finder.Roots) > 0 {
		s.AgentDir = env.Finder.Roots[0].AgentDir
	}
	return s
}

// sharePage writes the page of the session into dir and counts the secrets that are not in it.
func (env *Env) sharePage(ctx context.Context, dir string, a ShareArgs) (page sharer.Page, redacted map[string]int, err error) {
	err = env.withSource(ctx, a.Subject, func(cwd string, sub subject) error {
		if err := sub.exportable(); err != nil {
			return err
		}
		if info, err := env.Fs.Stat(cwd); err == nil && info.IsDir() {
			page.Cwd = cwd
		}
		page.Path = filepath.Join(dir, sharer.PageName(sub.path))
		style := exportStyle{format: "html", redact: a.Redact == nil || *a.Redact}
		exported, err := env.exportTo(ctx, page.Path, sub, style)
		redacted = exported.Redacted
		return err
	})
	return page, redacted, err
}

// shareMessage is what the person should know of a share.
func shareMessage(r sharer.Result, redacted map[string]int) string {
	said := r.Message
	if r.Via == sharer.Gist {
		said = "Anyone with the link can read this secret gist."
	}
	n := 0
	for _, count := range redacted {
		n += count
	}
	switch n {
	case 0:
		return said
	case 1:
		return sentences(said, "1 secret was replaced.")
	default:
		return sentences(said, fmt.Sprintf("%d secrets were replaced.", n))
	}
}

// sentences puts one text behind another. Either may be empty.
func sentences(first, second string) string {
	if first != "" && second != "" && !strings.ContainsAny(first[len(first)-1:], ".!?") {
		first += "."
	}
	return strings.TrimSpace(first + " " + second)
}

// showShared opens the page for the person and tells what there is to tell. An address that
// is not of the web is only told: a browser or an editor could run what it names.
func (env *Env) showShared(ctx context.Context, r ShareResult) {
	told := r.Message
	if r.URL != "" {
		told = sentences(r.Message, "Shared at "+fault.OneLine(r.URL))
	}
	link := r.PreviewURL
	if link == "" {
		link = r.URL
	}
	if sharer.Openable(link) {
		ctx, cancel := context.WithTimeout(ctx, openWithin)
		defer cancel()
		if opened := env.UI.OpenURL(ctx, link); !opened && link == r.URL {
			told = r.Message // the address is shown already
		}
	}
	if told != "" {
		env.UI.Notify(ctx, LevelInfo, told)
	}
}
