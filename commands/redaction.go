package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"
	"go.yaml.in/yaml/v3"

	"github.com/xcsh-ls/xcsh-ls/agent/provider/agentdb"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/catalog"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	exporter "github.com/xcsh-ls/xcsh-ls/session/export"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/session/redact"
)

// Values of the argument doubtful.
const (
	doubtfulAsk     = "ask"
	doubtfulKeep    = "keep"
	doubtfulReplace = "replace"
)

// checkDoubtful returns an error if the argument doubtful is not one of the allowed values.
func checkDoubtful(value string, allowed ...string) error {
	if value == "" || slices.Contains(allowed, value) {
		return nil
	}
	return fault.New(fault.InvalidArgument, "doubtful must be %s, not %q.", strings.Join(allowed, " or "), value).With("field", "doubtful")
}

// redactor returns a redactor that also recognizes the user's own keys.
func (job exportJob) redactor() *exporter.Redactor {
	return &exporter.Redactor{Scanner: redact.NewScanner(job.knownSecrets()...), Doubtful: job.style.doubtful}
}

// knownSecrets returns the keys in the agent directories and in the environment.
func (job exportJob) knownSecrets() []string { return KnownSecrets(job.fs, job.finder) }

// KnownSecrets returns the user's keys in the agent directories of f and in the environment. Files that can't be read have none.
func KnownSecrets(fs afero.Fs, f library.Finder) []string {
	known := redact.KnownOf(os.Environ())
	for _, root := range f.Roots {
		for _, name := range append(catalog.ModelsFiles(), catalog.AuthFile) {
			if content, err := readBounded(fs, filepath.Join(root.AgentDir, name)); err == nil {
				known = append(known, redact.KnownIn(asJSON(content), os.Getenv)...)
			}
		}
		stored := agentdb.Reader{Fs: fs}
		list, _ := stored.Read(context.Background(), agentdb.PathIn(root.AgentDir)) // the keys of one that cannot be read cannot be used either
		for _, c := range list {
			known = append(known, redact.KnownOf([]string{"API_KEY=" + c.Key, "API_KEY=" + c.Access()})...)
		}
	}
	return known
}

// asJSON returns the content of a file with keys, which may be YAML, as JSON.
func asJSON(content []byte) []byte {
	var value any
	if json.Valid(content) || yaml.Unmarshal(content, &value) != nil {
		return content
	}
	if raw, err := json.Marshal(value); err == nil {
		return raw
	}
	return content
}

// readBounded reads a regular file of limited size.
func readBounded(fs afero.Fs, path string) ([]byte, error) {
	const most = 4 << 20
	info, err := fs.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, fault.New(fault.IO, "%s is not a regular file, or is too large.", path).With("path", path)
	}
	return afero.ReadFile(fs, path)
}

// shareReview shows the user text that may be secret before a page leaves the machine. It
// reports whether to replace it.
func (p prompter) shareReview(ctx context.Context, doubts []exporter.Doubt) (replace bool, err error) {
	answer, err := p.question(ctx, reviewText(doubts), "Replace and Share", "Share As Is", "Cancel")
	switch {
	case err != nil:
		return false, err
	case answer == Unasked:
		return false, fault.New(fault.ArgumentNeeded, "%s\n\nNothing was shared. Call xcsh.share with doubtful: \"replace\" or \"keep\".", reviewText(doubts)).
			With("input", InputText).With("field", "doubtful").With("choices", []string{doubtfulReplace, doubtfulKeep}).With("doubtful", doubts)
	case answer == 0:
		return true, nil
	case answer == 1:
		return false, nil
	}
	return false, fault.New(fault.Cancelled, "Share cancelled")
}

// reviewText returns a question that lists doubtful text.
func reviewText(doubts []exporter.Doubt) string {
	const most = 10
	lines := []string{"This session contains text that may be secret:"}
	for i, d := range doubts {
		if i == most {
			lines = append(lines, fmt.Sprintf("and %d more", len(doubts)-most))
			break
		}
		lines = append(lines, DoubtText(d))
	}
	return strings.Join(lines, "\n")
}

// RedactedText returns a sentence about the replaced secrets of each kind, "" if there were none.
func RedactedText(kinds map[string]int) string {
	n := 0
	parts := make([]string, 0, len(kinds))
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		n += kinds[kind]
		parts = append(parts, fmt.Sprintf("%s %d", kind, kinds[kind]))
	}
	switch n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("1 secret was replaced (%s).", strings.Join(parts, ", "))
	default:
		return fmt.Sprintf("%d secrets were replaced (%s).", n, strings.Join(parts, ", "))
	}
}

// DoubtText describes one doubtful passage on one line.
func DoubtText(d exporter.Doubt) string {
	where := strings.Join(d.Where[:min(len(d.Where), 3)], ", ")
	if d.Count > 1 {
		where += fmt.Sprintf("; %d times", d.Count)
	}
	return fmt.Sprintf("%s%s (%s)", d.Before, d.Preview, where)
}
