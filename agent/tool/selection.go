package tool

import (
	"regexp"
	"strconv"
	"strings"
)

// lineSelection matches the lines that the programs' models select: "10-50", "L10-L50", "10", "10-" or "10+5".
var lineSelection = regexp.MustCompile(`^[Ll]?(\d{1,9})(?:(-)[Ll]?(\d{0,9})|\+(\d{1,9}))?$`)

// atEnd matches a selection at the end of a path, as oh-my-pi's models write it: "main.go:10-20".
var atEnd = regexp.MustCompile(`^(.+):(raw|[Ll]?\d[-+,Ll\d]*)$`)

// acceptRead understands xcsh's selection of lines.
func acceptRead(args arguments) error {
	args.rename("path", "file_path", "filePath")
	args.drop("timeout")
	sel, ok := args.text("sel")
	if !ok {
		return nil
	}
	offset, limit, err := selectLines(sel)
	if offset > 0 {
		args["offset"] = strconv.AppendInt(nil, int64(offset), 10)
	}
	if limit > 0 {
		args["limit"] = strconv.AppendInt(nil, int64(limit), 10)
	}
	return err
}

// selectLines returns the lines that a selection means. 0 means from the first one, or to the last one.
func selectLines(sel string) (offset, limit int, err error) {
	if sel == "" || sel == "raw" {
		return 0, 0, nil
	}
	m := lineSelection.FindStringSubmatch(sel)
	if m == nil {
		return 0, 0, badArgument("sel", `read cannot select %q; use offset and limit, which count lines.`, sel)
	}
	offset, _ = strconv.Atoi(m[1]) // digits
	switch {
	case m[4] != "":
		limit, _ = strconv.Atoi(m[4])
	case m[3] != "":
		to, _ := strconv.Atoi(m[3])
		if to < offset {
			return 0, 0, badArgument("sel", "read: the selection %q ends before it begins.", sel)
		}
		limit = to - offset + 1
	}
	return offset, limit, nil
}

// selected moves a selection at the end of the path into the other arguments. A file whose name ends like this is read as a
// whole.
func (o Options) selected(env Env, a readArgs) (readArgs, error) {
	m := atEnd.FindStringSubmatch(a.Path)
	if m == nil || a.Offset != 0 || a.Limit != 0 || !o.named(env, a.Path, m[1]) {
		return a, nil
	}
	var err error
	a.Path = m[1]
	a.Offset, a.Limit, err = selectLines(m[2])
	return a, err
}

// named reports whether the file is called short and not whole. The addresses of web pages and of other programs can end
// like a selection.
func (o Options) named(env Env, whole, short string) bool {
	switch Scheme(whole) {
	case "":
	case LocalScheme, ArtifactScheme, "skill", "rule", "agent", "history":
		return !strings.HasSuffix(short, "/") // a port
	default:
		return false
	}
	missing := func(path string) bool {
		_, err := o.Fs.Stat(AbsolutePath(o.Fs, o.Home, env.Cwd, path))
		return err != nil
	}
	return missing(whole) && !missing(short)
}
