package commands

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/importer"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

var importSessions = New(Spec{
	Name: "xcsh.import", Title: "Import Sessions…", Flags: Palette | NeedsTrust, Arg: "dir",
	Doc: "Copy agent-base sessions, or session files from elsewhere, into the folder's sessions. The originals do not change, and a session is imported only once.",
}, runImport)

// ImportArgs are the arguments of xcsh.import.
type ImportArgs struct {
	Folder
	Paths  []string `json:"paths,omitempty" jsonschema:"Files to import: .jsonl files are sessions of xcsh, pi or omp, all others are agent-base sessions. A directory is treated like dir."`
	Dir    string   `json:"dir,omitempty" jsonschema:"A directory of agent-base sessions, all of which are imported, or one file. Default, without paths: agent-base's own directory."`
	DryRun bool     `json:"dryRun,omitempty" jsonschema:"Change nothing; only report what would happen to each file."`
	Resume bool     `json:"resume,omitempty" jsonschema:"Make the imported session the folder's live session. Only for a single file."`
}

// ImportResult reports the result for each file.
type ImportResult struct {
	Files         []ImportedFile `json:"files"`
	LastSessionID string         `json:"lastSessionId,omitempty" jsonschema:"The session that agent-base would resume, by agent-base's ID. Its folder is unknown."`
	Resumed       *ResumeResult  `json:"resumed,omitempty" jsonschema:"The folder's live session after resume. Absent without resume."`
}

// ImportedFile is the result for one file.
type ImportedFile struct {
	Path    string          `json:"path"`
	Status  importer.Status `json:"status" jsonschema:"imported, updated (imported again because the conversation has changed; the earlier import is kept), skipped (already imported) or failed."`
	Reason  string          `json:"reason,omitempty" jsonschema:"Why it was skipped or failed."`
	Session string          `json:"session,omitempty" jsonschema:"The ID of the new or existing session."`
	File    string          `json:"file,omitempty" jsonschema:"That session's file, a target for xcsh.resume."`
}

// importFailed is the status of a file that could not be imported.
const importFailed importer.Status = "failed"

func runImport(ctx context.Context, env *Env, a ImportArgs) (r ImportResult, err error) {
	cwd, err := env.cwd(ctx, a.Folder)
	if err != nil {
		return r, err
	}
	if ctx.Err() != nil {
		return r, fault.New(fault.Cancelled, "The import was cancelled.")
	}
	job := newImportJob(env, cwd, a)
	files, dirs, err := job.sources()
	if err != nil {
		return r, err
	}
	if a.Resume && (len(files) != 1 || a.DryRun) {
		return r, fault.New(fault.InvalidArgument, "resume needs exactly one file and cannot be combined with dryRun.").With("field", "resume")
	}
	for _, dir := range dirs {
		if r.LastSessionID == "" {
			r.LastSessionID = importer.LastImportable(env.Finder, dir)
		}
	}
	im, err := importer.New(ctx, env.Store, env.Finder, importer.Options{Cwd: cwd, Try: a.DryRun})
	if err != nil {
		return r, err
	}
	var failed error
	if r.Files, failed, err = job.run(ctx, im, files); err != nil {
		return r, err
	}
	if a.isFromAgentBase() {
		job.notify(ctx, r.Files, failed)
	}
	if !a.Resume {
		return r, nil
	}
	if failed != nil {
		return r, failed
	}
	r.Resumed, err = resumeImported(ctx, env, cwd, r.Files[0])
	return r, err
}

// isFromAgentBase reports whether the call names no source, so that agent-base's own directory
// is imported.
func (a ImportArgs) isFromAgentBase() bool { return len(a.Paths) == 0 && a.Dir == "" }

// resumeImported makes an imported session the folder's live session.
func resumeImported(ctx context.Context, env *Env, cwd string, file ImportedFile) (*ResumeResult, error) {
	if file.File == "" {
		return nil, fault.New(fault.OutsideRoot, "%s is a link to a file outside the directory and was not followed.", file.Path).With("path", file.Path)
	}
	r, err := runResume(ctx, env, ResumeArgs{Folder: Folder{Cwd: cwd}, Target: file.File})
	return &r, err
}

// importJob imports files into a folder.
type importJob struct {
	args     ImportArgs
	cwd      string
	finder   library.Finder
	paths    resolver
	sessions *agent.Manager
	ui       UI
}

func newImportJob(env *Env, cwd string, a ImportArgs) importJob {
	return importJob{args: a, cwd: cwd, finder: env.Finder, paths: env.resolver(), sessions: env.Sessions, ui: env.UI}
}

// sources returns the files to import and the directories that contain them.
func (job importJob) sources() (files []importer.File, dirs []string, err error) {
	if job.args.isFromAgentBase() {
		dir := importer.AgentBaseDir(job.finder)
		if ok, err := afero.DirExists(job.paths.fs, dir); err == nil && !ok {
			return nil, nil, fault.New(fault.NotFound,
				"Nothing to import: agent-base's directory %s does not exist. Pass the files or the directory to import.", dir).
				With("path", dir)
		}
		files, err = importer.Files(job.finder, dir)
		return files, []string{dir}, err
	}
	add := func(argument, name string) error {
		found, dir, err := job.source(argument, name)
		files = append(files, found...)
		if dir != "" {
			dirs = append(dirs, dir)
		}
		return err
	}
	for i, name := range job.args.Paths {
		if err := add(fmt.Sprintf("paths.%d", i), name); err != nil {
			return nil, nil, err
		}
	}
	if job.args.Dir != "" {
		err = add("dir", job.args.Dir)
	}
	return files, dirs, err
}

// source returns the files that one argument names. dir is the directory if the argument
// names one. A missing directory is an error; a missing file is reported when it is imported.
func (job importJob) source(argument, name string) (files []importer.File, dir string, err error) {
	r := job.paths
	named, _ := r.file(job.cwd, name) // a name that is not a target may still be a path
	path, err := r.absolute(job.cwd, named.name, argument)
	if err != nil {
		return nil, "", err
	}
	info, absent := named.file, named.absent
	if named.path != path {
		info, absent = r.fs.Stat(path)
	}
	switch {
	case absent == nil && !info.IsDir(), os.IsNotExist(absent) && argument != "dir":
		return []importer.File{{Path: path}}, "", nil
	default:
		files, err = importer.Files(job.finder, path)
		return files, path, err
	}
}

// run imports the files. failed is the last error of a single file; err is the error that
// ended the import.
func (job importJob) run(ctx context.Context, im *importer.Importer, files []importer.File) (done []ImportedFile, failed, err error) {
	progress := job.ui.Progress(ctx, "Importing sessions")
	done = make([]ImportedFile, 0, len(files))
	made := 0
	defer func() {
		progress.End(importSummary(done))
		if made > 0 {
			job.sessions.ListChanged(job.cwd)
		}
	}()
	for i, file := range files {
		if ctx.Err() != nil {
			return done, failed, fault.New(fault.Cancelled, "The import was cancelled after %d sessions.", made)
		}
		progress.Report(filepath.Base(file.Path), 100*i/len(files))
		one, err := importOne(im, file)
		if err != nil {
			failed = err
		}
		if one.File != "" && one.Status != importer.Skipped {
			made++
		}
		done = append(done, one)
	}
	return done, failed, nil
}

func importOne(im *importer.Importer, file importer.File) (ImportedFile, error) {
	one := ImportedFile{Path: file.Path}
	if file.LeadsOut {
		one.Status, one.Reason = importer.Skipped, "It is a link to a file outside the directory and was not followed."
		return one, nil
	}
	r, err := im.Import(file.Path)
	if err != nil {
		one.Status, one.Reason = importFailed, err.Error()
		return one, err
	}
	one.Status, one.Session, one.File = r.Status, r.Session, r.Path
	if r.Status == importer.Skipped {
		one.Reason = "The folder already has this session."
	}
	return one, nil
}

// notify shows the result of an import that was started without arguments.
func (job importJob) notify(ctx context.Context, files []ImportedFile, failed error) {
	what, level := "Import from agent-base: ", LevelInfo
	if job.args.DryRun {
		what = "Import from agent-base (dry run): "
	}
	text := what + importSummary(files) + "."
	if failed != nil {
		level, text = LevelWarning, text+" "+failed.Error()
	}
	job.ui.Notify(ctx, level, text)
}

// importSummary counts the files by status.
func importSummary(files []ImportedFile) string {
	counts := map[importer.Status]int{}
	for _, f := range files {
		counts[f.Status]++
	}
	var parts []string
	for _, status := range []importer.Status{importer.Imported, importer.Updated, importer.Skipped, importFailed} {
		if n := counts[status]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, status))
		}
	}
	if len(parts) == 0 {
		return "nothing to import"
	}
	return strings.Join(parts, ", ")
}
