package share

import (
	"context"
	"net/url"
	"regexp"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// gistHost is the host of the gists that previewPage can show.
const gistHost = "gist.github.com"

const previewPage = "https://gistpreview.github.io/?"

// gist makes a secret gist of a page. It never requests a public one.
func (s Sharer) gist(ctx context.Context, p Page, report func(string)) (Result, error) {
	gh, err := s.LookPath("gh")
	if err != nil {
		return Result{}, fault.New(fault.NotFound,
			"Couldn't share the session: the GitHub CLI (gh) is not on PATH. Install it from https://cli.github.com, or add a share script to %s.", s.AgentDirs[0])
	}
	out, err := s.run(ctx, p.cwd(), gh, "auth", "status")
	if err != nil {
		return Result{}, err
	}
	if out.failed != nil {
		return Result{}, fault.New(fault.Denied, "gh is not logged in to GitHub; run \"gh auth login\" in a terminal and share again.")
	}
	report("Creating gist...")
	out, err = s.run(ctx, p.cwd(), gh, "gist", "create", "--public=false", p.Path)
	switch {
	case err != nil:
		return Result{}, err
	case out.failed != nil:
		return Result{}, fault.New(fault.IO, "gh could not create the gist: %s.", out.why())
	}
	r, ok := gistIn(out.stdout)
	if !ok {
		return Result{}, fault.New(fault.IO, "gh did not report the address of the gist. Look for it on https://%s.", gistHost)
	}
	return r, nil
}

// gistIn finds the address of a gist in the output of gh.
func gistIn(printed string) (Result, bool) {
	for word := range strings.FieldsSeq(printed) {
		if r, ok := gistAt(word); ok {
			return r, true
		}
	}
	return Result{}, false
}

// gistID matches GitHub's ids of gists.
var gistID = regexp.MustCompile(`^[0-9A-Za-z]{1,64}$`)

// gistAt reports whether an address is that of a gist: https, on a host for gists or below
// the path for them that an own installation of GitHub has, the owner's name and an id.
func gistAt(address string) (Result, bool) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return Result{}, false
	}
	path := strings.TrimPrefix(u.Path, "/")
	host := strings.ToLower(u.Host)
	if !strings.HasPrefix(host, "gist.") {
		below, ok := strings.CutPrefix(path, "gist/")
		if !ok || host == "" {
			return Result{}, false
		}
		path = below
	}
	owner, id, ok := strings.Cut(path, "/")
	if !ok {
		id = owner
	}
	if !gistID.MatchString(id) {
		return Result{}, false
	}
	r := Result{Via: Gist, URL: address}
	if host == gistHost {
		r.PreviewURL = previewPage + id
	}
	return r, true
}
