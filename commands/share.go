package commands

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	exporter "github.com/xcsh-ls/xcsh-ls/session/export"
	"github.com/xcsh-ls/xcsh-ls/session/lock"
	sharer "github.com/xcsh-ls/xcsh-ls/share"
)

var share = New(Spec{
	Name: "xcsh.share", Title: "Share Session", Flags: Palette | WritesFile | NeedsPersistent | NeedsTrust, Arg: "source",
	Doc:     "Share a session as a page: with the share script in an agent directory, or else as a secret gist that anyone with the link can read.",
	refusal: refusal{inMemory: exportInMemory},
}, runShare)

// ShareArgs are the arguments of xcsh.share.
//
// Differs: xcsh does not redact the page; it contains every password in the conversation.
type ShareArgs struct {
	Subject
	Redact   *bool  `json:"redact,omitempty" jsonschema:"Replace text that looks like a password, key or token. Default: true."`
	Doubtful string `json:"doubtful,omitempty" jsonschema:"With redact: ask, keep or replace text that may be a secret. Default: ask before anything is uploaded."`
}

// ShareResult is the location of the shared page.
type ShareResult struct {
	URL        string              `json:"url,omitempty" jsonschema:"The address of the page, as the share script printed it. Only http and https addresses are opened."`
	PreviewURL string              `json:"previewUrl,omitempty" jsonschema:"An address that renders the page of a gist."`
	Message    string              `json:"message,omitempty" jsonschema:"A message for the user."`
	Via        sharer.Via          `json:"via" jsonschema:"custom: a share script. gist: gh."`
	Redacted   map[string]int      `json:"redacted,omitempty" jsonschema:"The number of replaced secrets by kind. Absent: redact was false, or no secret was found."`
	Replaced   []exporter.Replaced `json:"replaced,omitempty" jsonschema:"Where secrets were replaced, by kind."`
	Doubtful   []exporter.Doubt    `json:"doubtful,omitempty" jsonschema:"Text that may be a secret and was kept, as requested."`
}

// openWithin is the time an editor has to open the page. The page is shared by then, so an
// editor that does not respond must not delay the result.
const openWithin = 10 * time.Second

func (a ShareArgs) check() error {
	return checkDoubtful(a.Doubtful, doubtfulAsk, doubtfulKeep, doubtfulReplace)
}

func runShare(ctx context.Context, env *Env, a ShareArgs) (r ShareResult, err error) {
	progress := env.UI.Progress(ctx, "Sharing...")
	defer func() { progress.End("") }()
	job := newShareJob(env, a)
	err = job.folders().With(func(dir string) error {
		page, exported, err := job.reviewedPage(ctx, dir)
		if err != nil {
			return err
		}
		shared, err := job.sharer().Share(ctx, page, func(text string) { progress.Report(text, -1) })
		if err != nil {
			return err
		}
		r = ShareResult{URL: shared.URL, PreviewURL: shared.PreviewURL, Via: shared.Via}
		r.Redacted, r.Replaced, r.Doubtful = exported.Redacted, exported.Replaced, exported.Doubtful
		r.Message = shareMessage(shared, exported.Redacted)
		return nil
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return ShareResult{}, fault.New(fault.Cancelled, "Share cancelled")
	case err != nil:
		return ShareResult{}, err
	}
	showShared(ctx, env.UI, r)
	return r, nil
}

// shareJob writes the page of a session and shares it.
type shareJob struct {
	args   ShareArgs
	export exportJob
	dirs   []string                    // see [agent.Manager.ShareDirs]
	check  func(agentDir string) error // see [agent.Manager.CheckAgentDir]
	ask    prompter
	log    *zap.Logger
}

func newShareJob(env *Env, a ShareArgs) shareJob {
	style := exportStyle{format: "html", redact: unlessFalse(a.Redact), doubtful: a.Doubtful == doubtfulReplace}
	return shareJob{args: a, export: newExportJob(env, style), dirs: env.Sessions.ShareDirs(), check: env.Sessions.CheckAgentDir, ask: env.ask(), log: env.Log}
}

// folders returns the temporary directories for pages.
func (job shareJob) folders() sharer.Folders {
	temp := job.export.finder.Temp
	if temp == "" {
		temp = os.TempDir()
	}
	if abs, err := filepath.Abs(temp); err == nil {
		temp = abs
	}
	return sharer.Folders{Fs: job.export.fs, Temp: temp, Alive: lock.Alive, Log: job.log}
}

// sharer returns a sharer that uses the share script in an agent directory or gh.
func (job shareJob) sharer() sharer.Sharer {
	return sharer.Sharer{Fs: job.export.fs, AgentDirs: job.dirs, Check: job.check, Log: job.log}
}

// reviewedPage writes the page of the session into dir. It asks the user what to do with text
// that may be a secret.
func (job shareJob) reviewedPage(ctx context.Context, dir string) (sharer.Page, ExportResult, error) {
	of, err := job.export.paths.locate(ctx, job.args.Subject)
	if err != nil {
		return sharer.Page{}, ExportResult{}, err
	}
	page, exported, err := job.page(ctx, dir, of)
	if err != nil || len(exported.Doubtful) == 0 || job.args.Doubtful == doubtfulKeep {
		return page, exported, err
	}
	replace, err := job.ask.shareReview(ctx, exported.Doubtful)
	if err != nil || !replace {
		return page, exported, err
	}
	job.export.style.doubtful, job.export.style.overwrite = true, true
	return job.page(ctx, dir, of)
}

// page writes the page of the session into dir.
func (job shareJob) page(ctx context.Context, dir string, of located) (page sharer.Page, exported ExportResult, err error) {
	if info, err := job.export.fs.Stat(of.cwd); err == nil && info.IsDir() {
		page.Cwd = of.cwd
	}
	err = job.export.paths.open(of, func(sub subject) (err error) {
		page.Path = filepath.Join(dir, sharer.PageName(sub.path))
		exported, err = job.export.write(ctx, page.Path, sub)
		return err
	})
	return page, exported, err
}

// shareMessage returns a message about a shared page.
func shareMessage(r sharer.Result, redacted map[string]int) string {
	message := r.Message
	if r.Via == sharer.Gist {
		message = "Anyone with the link can read this secret gist."
	}
	return sentences(message, RedactedText(redacted))
}

// sentences joins two texts, which may be empty.
func sentences(first, second string) string {
	if first != "" && second != "" && !strings.ContainsAny(first[len(first)-1:], ".!?") {
		first += "."
	}
	return strings.TrimSpace(first + " " + second)
}

// showShared opens the page and shows a message. An address that is not on the web is only
// shown, because a browser or an editor could run the program that it names.
func showShared(ctx context.Context, ui UI, r ShareResult) {
	message := r.Message
	if r.URL != "" {
		message = sentences(r.Message, "Shared at "+fault.OneLine(r.URL))
	}
	link := r.PreviewURL
	if link == "" {
		link = r.URL
	}
	if sharer.Openable(link) {
		ctx, cancel := context.WithTimeout(ctx, openWithin)
		defer cancel()
		if opened := ui.OpenURL(ctx, link); !opened && link == r.URL {
			message = r.Message // the client has shown the address
		}
	}
	if message != "" {
		ui.Notify(ctx, LevelInfo, message)
	}
}
