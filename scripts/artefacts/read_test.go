//go:build artefacts

package artefacts

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"strings"
	"time"
)

// entry is a file in an archive or a package.
type entry struct {
	mode  fs.FileMode // permissions only
	owner string      // user:group, by name; empty in zip files, which have none
	at    time.Time
	size  int64
	sum   string // SHA-256
	text  string // of files that are not programs
	prog  *program
}

// program is what a test wants to know of a program, which is too large to keep.
type program struct {
	os, arch  string
	modules   map[string]string // versions by paths
	static    bool
	versioned bool // contains the version of the release
	local     bool // contains the directory in which it was built
}

// contents are the files of an archive or a package, by their paths.
type contents map[string]entry

// reader reads archives of a release.
type reader struct {
	version, root string
}

func (r reader) file(name string, in io.Reader) (entry, error) {
	data, err := io.ReadAll(in)
	if err != nil {
		return entry{}, err
	}
	sum := sha256.Sum256(data)
	f := entry{size: int64(len(data)), sum: hex.EncodeToString(sum[:])}
	if base := path.Base(name); base != "xcsh-ls" && base != "xcsh-ls.exe" {
		f.text = string(data)
		return f, nil
	}
	info, err := buildinfo.Read(bytes.NewReader(data))
	if err != nil {
		// The completion of bash and the overrides of lintian have the name of the program.
		f.text = string(data)
		return f, nil
	}
	f.prog = &program{
		modules:   map[string]string{},
		versioned: bytes.Contains(data, []byte(r.version)),
		local:     bytes.Contains(data, []byte(r.root)),
	}
	for _, m := range info.Deps {
		f.prog.modules[m.Path] = m.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "GOOS":
			f.prog.os = s.Value
		case "GOARCH":
			f.prog.arch = s.Value
		case "CGO_ENABLED":
			f.prog.static = s.Value == "0"
		}
	}
	return f, nil
}

// read returns the files of an archive or a package, by the ending of its name.
func (r reader) read(name string) (contents, error) {
	switch path.Ext(name) {
	case ".gz":
		in, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer in.Close()
		packed, err := gzip.NewReader(in)
		if err != nil {
			return nil, err
		}
		return r.tar(packed)
	case ".deb":
		return r.piped(exec.Command("dpkg-deb", "--fsys-tarfile", name))
	case ".rpm":
		in, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer in.Close()
		unpack := exec.Command("rpm2archive", "-n", "-")
		unpack.Stdin = in
		return r.piped(unpack)
	case ".zip", ".vsix":
		return r.zip(name)
	}
	return nil, fmt.Errorf("%s: unknown kind of archive", name)
}

func (r reader) piped(unpack *exec.Cmd) (contents, error) {
	unpack.Stderr = os.Stderr
	out, err := unpack.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", unpack, err)
	}
	return r.tar(bytes.NewReader(out))
}

func (r reader) tar(in io.Reader) (contents, error) {
	files := contents{}
	for archive := tar.NewReader(in); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if header.Typeflag == tar.TypeDir {
			continue
		}
		if header.Typeflag != tar.TypeReg {
			return nil, fmt.Errorf("%s is no regular file", header.Name)
		}
		name := strings.TrimPrefix(header.Name, ".")
		f, err := r.file(name, archive)
		if err != nil {
			return nil, err
		}
		f.mode, f.at = header.FileInfo().Mode().Perm(), header.ModTime
		f.owner = owner(header.Uname, header.Uid) + ":" + owner(header.Gname, header.Gid)
		files[name] = f
	}
}

// owner is the name of a user or a group. The changelog of a Debian package has numbers only.
func owner(name string, id int) string {
	if name == "" && id == 0 {
		return "root"
	}
	return name
}

func (r reader) zip(name string) (contents, error) {
	archive, err := zip.OpenReader(name)
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	files := contents{}
	for _, entry := range archive.File {
		in, err := entry.Open()
		if err != nil {
			return nil, err
		}
		f, err := r.file(entry.Name, in)
		if err != nil {
			return nil, errors.Join(err, in.Close())
		}
		if err := in.Close(); err != nil {
			return nil, err
		}
		f.mode, f.at = entry.Mode().Perm(), entry.Modified
		files[entry.Name] = f
	}
	return files, nil
}

// unpacked is the text of a gzip file.
func unpacked(text string) (string, error) {
	in, err := gzip.NewReader(strings.NewReader(text))
	if err != nil {
		return "", err
	}
	out, err := io.ReadAll(in)
	return string(out), err
}
