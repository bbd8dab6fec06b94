package identity

import (
	"path"
	"strings"
	"unicode/utf8"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/intake"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
	"github.com/xcsh-ls/xcsh-ls/team/gitremote"
)

// The beginnings of keys.
const (
	gitKey  = "git:"
	nameKey = "name:"
)

// Project is the project of a folder.
type Project struct {
	Key string // git:HOST/PATH#FOLDER or name:NAME; "" if the user has to name the project

	// Offer is a name for a project without a key: the one that its repository proposes, or that of the folder. It only counts
	// once the user accepts it.
	Offer string

	Root   string // of the repository, or the folder itself
	Folder string // below Root, with slashes; "" for Root
}

// Options are the settings of a user that determine keys.
type Options struct {
	Hosts []string          // further hosts that ignore case in paths: team.hosts
	Alias map[string]string // from one key to another that means the same project: team.alias
	Names map[string]string // from Root to the name that the user gave
}

// Of returns the project of the folder cwd. An error means that the remote is unknown; the project is then one without
// a key.
func Of(m gitremote.Machine, cwd string, o Options) (Project, error) {
	r, inside, err := gitremote.Find(m, cwd)
	if !inside {
		r = gitremote.Repository{Root: realPath(m, cwd)}
	}
	p := Project{Root: r.Root, Folder: r.Folder}
	if key, ok := RemoteKey(r.Remote, r.Folder, o.Hosts); ok && err == nil {
		p.Key = key
	} else if key, ok := NameKey(o.Names[r.Root]); ok {
		p.Key = key
	} else {
		p.Offer = offered(m.Fs, r.Root)
	}
	if same := o.Alias[p.Key]; p.Key != "" && Valid(same) {
		p.Key = same
	}
	return p, err
}

func realPath(m gitremote.Machine, dir string) string {
	if m.Real != nil {
		if real, err := m.Real(dir); err == nil {
			return real
		}
	}
	return dir
}

// RemoteKey returns the key of a folder below the root of a repository. ok is false if the remote means another place on
// another machine.
func RemoteKey(remote, folder string, hosts []string) (key string, ok bool) {
	name, ok := RemoteName(remote, hosts)
	if !ok || folder == ".." || strings.HasPrefix(folder, "../") || strings.HasPrefix(folder, "/") {
		return "", false
	}
	folder = strings.Trim(path.Clean("/"+folder), "/")
	key = gitKey + name + "#" + encoded(composed(folder, false))
	return key, len(key) <= maxKey
}

// maxKey is the greatest length of a key in bytes. PostgreSQL indexes at most a third of a page.
const maxKey = 2000

// NameKey returns the key of a project with a name that the user typed. ok is false for a text that is no name: one
// that is empty, longer than 100 characters, a path or a key, or has characters that cannot be seen.
func NameKey(name string) (key string, ok bool) {
	const most = 100
	name = strings.Join(strings.Fields(composed(name, false)), " ")
	if name == "" || name == "." || name == ".." || utf8.RuneCountInString(name) > most || !utf8.ValidString(name) {
		return "", false
	}
	if strings.ContainsAny(name, `/\#%:~`) || visible.Line(name) != name {
		return "", false
	}
	return nameKey + name, true
}

// Valid reports whether key has the form of a key.
func Valid(key string) bool {
	if name, ok := strings.CutPrefix(key, nameKey); ok {
		again, ok := NameKey(name)
		return ok && again == key
	}
	rest, ok := strings.CutPrefix(key, gitKey)
	remote, folder, cut := strings.Cut(rest, "#")
	if !ok || !cut {
		return false
	}
	again, ok := RemoteKey("https://"+remote, decoded(folder), nil)
	return ok && again == key
}

// NewName checks a name that the user typed for a project.
func NewName(name string) (key string, err error) {
	key, ok := NameKey(name)
	if !ok {
		return "", fault.New(fault.InvalidArgument, "%q cannot name a project. Use up to 100 characters, without / \\ # %% : and ~.", name).With("field", "name")
	}
	return key, nil
}

// proposal is the file in which a repository may name its project.
const proposal = ".xcsh/team.json"

// offered returns the name that the repository at root proposes, else that of the folder, "" if neither can be one. Nothing else
// in the file counts: it comes with a clone.
func offered(fsys afero.Fs, root string) string {
	const most = 64 << 10
	if f, err := intake.ReadBelow(fsys, root, proposal, most); err == nil && !f.Cut && rawjson.Valid(f.Content) {
		name, _ := rawjson.GetString(f.Content, "project")
		if key, ok := NameKey(name); ok {
			return strings.TrimPrefix(key, nameKey)
		}
	}
	key, _ := NameKey(path.Base(strings.ReplaceAll(root, `\`, "/")))
	return strings.TrimPrefix(key, nameKey)
}
