package commands

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

var importSessions = New(Spec{
	Name: "xcsh.import", Title: "Import Sessions…", Flags: Palette, Arg: "dir",
	Doc: "Bring sessions of agent-base, or session files from elsewhere, among the folder's. The sources stay as they are, and what was imported before is not imported again.",
}, runImport)

// ImportArgs are the arguments of xcsh.import.
type ImportArgs struct {
	Folder
	Paths  []string `json:"paths,omitempty" jsonschema:"Files to import: .jsonl is a session of xcsh, pi or omp, anything else one of agent-base. Directories are imported as dir is."`
	Dir    string   `json:"dir,omitempty" jsonschema:"A directory of agent-base, of which every session is imported, or one file. Absent, and no paths: the directory that agent-base uses."`
	DryRun bool     `json:"dryRun,omitempty" jsonschema:"Change nothing, only say what would become of each file."`
	Resume bool     `json:"resume,omitempty" jsonschema:"Make the session the folder's live one. Only for one file."`
}

// ImportResult says what became of each file.
type ImportResult struct {
	Files         []ImportedFile `json:"files"`
	LastSessionID string         `json:"lastSessionId,omitempty" jsonschema:"The session that agent-base would resume, by its own id. Of which folder it is, it does not say."`
	Resumed       *ResumeResult  `json:"resumed,omitempty" jsonschema:"Which session the folder is in now. Absent: that was not asked for."`
}

// ImportedFile is what became of one file.
type ImportedFile struct {
	Path    string               `json:"path"`
	Status  session.ImportStatus `json:"status" jsonschema:"imported, updated (an earlier import of the conversation has other content and stays), skipped (it is there already) or failed."`
	Reason  string               `json:"reason,omitempty" jsonschema:"Why it was skipped or failed."`
	Session string               `json:"session,omitempty" jsonschema:"The id of the session that was made or found."`
	File    string               `json:"file,omitempty" jsonschema:"That session's file, which xcsh.resume takes as its target."`
}

// importFailed is the status of a file that is no session.
const importFailed session.ImportStatus = "failed"

func runImport(ctx context.Context, env *Env, a ImportArgs) (r ImportResult, err error) {
	cwd, err := env.cwd(ctx, a.Folder)
	if err != nil {
		return r, err
	}
	if ctx.Err() != nil {
		return r, fault.New(fault.Cancelled, "The import was cancelled.")
	}
	files, dirs, err := env.importSources(cwd, a)
	if err != nil {
		return r, err
	}
	if a.Resume && (len(files) != 1 || a.DryRun) {
		return r, fault.New(fault.InvalidArgument, "Only one imported file can be resumed, and no trial.").With("field", "resume")
	}
	for _, dir := range dirs {
		if r.LastSessionID == "" {
			r.LastSessionID = env.Finder.LastImportable(dir)
		}
	}
	im, err := session.NewImporter(ctx, env.Store, env.Finder, session.ImportOptions{Cwd: cwd, Try: a.DryRun})
	if err != nil {
		return r, err
	}
	var failed error
	if r.Files, failed, err = env.importAll(ctx, cwd, im, files); err != nil {
		return r, err
	}
	if len(a.Paths) == 0 && a.Dir == "" {
		env.tellImport(ctx, r.Files, failed, a.DryRun)
	}
	if !a.Resume {
		return r, nil
	}
	if failed != nil {
		return r, failed
	}
	r.Resumed, err = env.resumeImported(ctx, cwd, r.Files[0])
	return r, err
}

// resumeImported makes the session that a file has become the folder's live one.
func (env *Env) resumeImported(ctx context.Context, cwd string, file ImportedFile) (*ResumeResult, error) {
	if file.File == "" {
		return nil, fault.New(fault.OutsideRoot, "%s is a link that leads out of the directory; it was not followed.", file.Path).With("path", file.Path)
	}
	r, err := runResume(ctx, env, ResumeArgs{Folder: Folder{Cwd: cwd}, Target: file.File})
	return &r, err
}

// importSources settles which files are to be imported, and which directories they are from.
func (env *Env) importSources(cwd string, a ImportArgs) (files []session.ImportFile, dirs []string, err error) {
	if len(a.Paths) == 0 && a.Dir == "" {
		dir := env.Finder.AgentBaseDir()
		if ok, err := afero.DirExists(env.Fs, dir); err == nil && !ok {
			return nil, nil, fault.New(fault.NotFound,
				"There is nothing to import: agent-base keeps its sessions in %s, which does not exist. Name files with \"paths\" or a directory with \"dir\".", dir).
				With("path", dir)
		}
		files, err = env.Finder.ImportFiles(dir)
		return files, []string{dir}, err
	}
	add := func(argument, name string) error {
		found, dir, err := env.importSource(cwd, argument, name)
		files = append(files, found...)
		if dir != "" {
			dirs = append(dirs, dir)
		}
		return err
	}
	for i, name := range a.Paths {
		if err := add(fmt.Sprintf("paths.%d", i), name); err != nil {
			return nil, nil, err
		}
	}
	if a.Dir != "" {
		err = add("dir", a.Dir)
	}
	return files, dirs, err
}

// importSource settles which files one argument names. dir is the directory they are in,
// when that was named. A file that is missing fails by itself, a directory all.
func (env *Env) importSource(cwd, argument, name string) (files []session.ImportFile, dir string, err error) {
	path, err := env.absolute(cwd, env.spelling(cwd, name), argument)
	if err != nil {
		return nil, "", err
	}
	isDir, err := afero.DirExists(env.Fs, path)
	if err == nil && !isDir && (argument != "dir" || env.exists(path)) {
		return []session.ImportFile{{Path: path}}, "", nil
	}
	files, err = env.Finder.ImportFiles(path)
	return files, path, err
}

// importAll imports the files. failed is the last failure of one of them, err why the rest
// was not tried.
func (env *Env) importAll(ctx context.Context, cwd string, im *session.Importer, files []session.ImportFile) (done []ImportedFile, failed, err error) {
	progress := env.UI.Progress(ctx, "Importing sessions")
	done = make([]ImportedFile, 0, len(files))
	made := 0
	defer func() {
		progress.End(importSummary(done))
		if made > 0 {
			env.Sessions.ListChanged(cwd)
		}
	}()
	for i, file := range files {
		if ctx.Err() != nil {
			return done, failed, fault.New(fault.Cancelled, "The import was cancelled; %d sessions had been imported.", made)
		}
		progress.Report(filepath.Base(file.Path), 100*i/len(files))
		one, err := importOne(im, file)
		if err != nil {
			failed = err
		}
		if one.File != "" && one.Status != session.Skipped {
			made++
		}
		done = append(done, one)
	}
	return done, failed, nil
}

func importOne(im *session.Importer, file session.ImportFile) (ImportedFile, error) {
	one := ImportedFile{Path: file.Path}
	if file.LeadsOut {
		one.Status, one.Reason = session.Skipped, "It is a link that leads out of the directory; it was not followed."
		return one, nil
	}
	r, err := im.Import(file.Path)
	if err != nil {
		one.Status, one.Reason = importFailed, err.Error()
		return one, err
	}
	one.Status, one.Session, one.File = r.Status, r.Session, r.Path
	if r.Status == session.Skipped {
		one.Reason = "The folder has it already."
	}
	return one, nil
}

// tellImport tells the person what came of an import that they asked for by its name only.
func (env *Env) tellImport(ctx context.Context, files []ImportedFile, failed error, trial bool) {
	what, level := "Import from agent-base: ", LevelInfo
	if trial {
		what = "An import from agent-base would come to this: "
	}
	text := what + importSummary(files) + "."
	if failed != nil {
		level, text = LevelWarning, text+" "+failed.Error()
	}
	env.UI.Notify(ctx, level, text)
}

// importSummary counts what became of files.
func importSummary(files []ImportedFile) string {
	counts := map[session.ImportStatus]int{}
	for _, f := range files {
		counts[f.Status]++
	}
	var parts []string
	for _, status := range []session.ImportStatus{session.Imported, session.Updated, session.Skipped, importFailed} {
		if n := counts[status]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, status))
		}
	}
	if len(parts) == 0 {
		return "nothing to import"
	}
	return strings.Join(parts, ", ")
}
