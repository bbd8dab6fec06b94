package replicate

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/intake"
	"github.com/xcsh-ls/xcsh-ls/team/consent"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

// Plan says what a consent would send, where to and who can read it.
type Plan struct {
	Server   string
	User     string
	TLS      string
	Team     string
	Project  string // its key
	Readers  int
	Sessions int   // existing ones that would be sent
	Bytes    int64 // of these
	Older    int   // existing ones that would stay here
	Redacted map[string]int
	Examples []string // kinds and places of texts that look like secrets, without the texts
	Text     string   // the question for the user
	Token    string   // for Share
}

const (
	mostExamples = 5
	sampleSize   = 16 << 20 // of sessions that would stay here, which show what a redaction does
)

// Plan returns what s would send, and its token. It writes nothing, and sends nothing but the login.
func (r *Replicator) Plan(ctx context.Context, s Sharing) (Plan, error) {
	p, err := r.propose(ctx, s)
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{Project: p.project.Key, Team: p.after.Projects[p.project.Key].Team, Token: p.token(), Redacted: map[string]int{}}
	if s.Scope == ScopeOff {
		plan.Text = p.offText()
		return plan, nil
	}
	plan.Server, plan.User, plan.TLS = server(p.address), p.hello.Display, security(p.address)
	if plan.Readers = p.team.Readers; p.after.Projects[p.project.Key].Visible != consent.Team {
		plan.Readers = 1
	}
	plan.Sessions, plan.Bytes, plan.Older = len(p.sent), total(p.sent), len(p.kept)
	c := &counter{r: r, plan: &plan, most: total(p.sent)}
	if p.after.Projects[p.project.Key].Redact {
		files := p.sent
		if s.Scope == ScopeNew {
			files, c.most = append(slices.Clone(p.sent), p.kept...), c.most+sampleSize
		}
		if err := c.count(ctx, files); err != nil {
			return Plan{}, err
		}
	}
	plan.Text = p.text(plan, c.cut)
	return plan, nil
}

func total(files []file) (n int64) {
	for _, f := range files {
		n += f.size
	}
	return n
}

// counter counts the texts in files that would be replaced.
type counter struct {
	r    *Replicator
	plan *Plan
	most int64 // bytes to read
	cut  bool  // there were more
}

// count reads the files in turn, as far as most allows.
func (c *counter) count(ctx context.Context, files []file) error {
	rules, err := shipping.NewRules(shipping.CurrentRules, c.r.c.Secrets...)
	if err != nil {
		return err
	}
	for _, f := range files {
		if c.most <= 0 {
			c.cut = true
			return nil
		}
		if err := c.countFile(ctx, f, rules); err != nil {
			return err
		}
	}
	return nil
}

func (c *counter) countFile(ctx context.Context, f file, rules shipping.Rules) error {
	opened, err := intake.Open(c.r.c.Fs, f.path)
	if err != nil {
		return fault.New(fault.IO, "Cannot read %s: %w. Make it readable, or leave the older conversations out.", f.path, err).With("path", f.path)
	}
	defer opened.Close()
	body := io.NewSectionReader(opened, f.head, max(0, f.body()))
	line := 1
	for off := int64(0); ; {
		if ctx.Err() != nil {
			return cancelled(ctx)
		}
		if c.most <= 0 {
			c.cut = true
			return nil
		}
		lines, err := shipping.Lines(body, off, 1<<20, nil)
		if fault.Is(err, fault.TooLarge) || lines == nil && err == nil {
			return nil // such a line stays here
		}
		if err != nil {
			return err
		}
		batch := shipping.NewOutgoing(rules).Batch(lines)
		for kind, n := range batch.Replaced {
			c.plan.Redacted[kind] += n
		}
		line = c.examples(f, rules, lines, line, len(batch.Replaced) > 0)
		off += int64(len(lines))
		c.most -= int64(len(lines))
	}
}

// examples adds the places of replaced texts. line is the number of the first line behind the head; it returns that of the next one.
func (c *counter) examples(f file, rules shipping.Rules, lines []byte, line int, any bool) int {
	if !any || len(c.plan.Examples) >= mostExamples {
		return line + strings.Count(string(lines), "\n")
	}
	for text := range strings.Lines(string(lines)) {
		if len(c.plan.Examples) < mostExamples {
			replaced := shipping.NewOutgoing(rules).Batch([]byte(text)).Replaced
			for _, kind := range slices.Sorted(maps.Keys(replaced)) {
				c.plan.Examples = append(c.plan.Examples, fmt.Sprintf("%s in %s, line %d of the conversation", kind, filepath.Base(f.path), line))
			}
		}
		line++
	}
	return line
}

// text returns the question for the user.
func (p *proposal) text(plan Plan, cut bool) string {
	var b strings.Builder
	ask := "Send this project's conversations to the team's store?"
	if p.Scope == ScopeSession {
		ask = "Send this conversation to the team's store?"
	}
	tls := map[string]string{
		"verified": "TLS verified", "socket": "on this machine", "local": "on this machine", "insecure": "the server does not prove who it is",
	}[plan.TLS]
	fmt.Fprintf(&b, "%s\nTo %s as %s (%s). ", ask, plan.Server, fault.OneLine(plan.User), tls)
	if plan.Readers == 1 && p.after.Projects[p.project.Key].Visible != consent.Team {
		b.WriteString("Only you can read them.")
	} else {
		fmt.Fprintf(&b, "%s can read them: %s.", fault.OneLine(plan.Team), counted(plan.Readers, "person", "people"))
	}
	b.WriteString(" Its administrators, too.\n")
	if p.other {
		b.WriteString("This is another store than the one that you agreed to before. Your other projects are not sent to it until you share them again.\n")
	}
	switch p.Scope {
	case ScopeNew:
		fmt.Fprintf(&b, "From now on: new conversations. %s (%s) %s here unless you say so.\n",
			counted(plan.Older, "older one", "older ones"), size(total(p.kept)), map[bool]string{true: "stays", false: "stay"}[plan.Older == 1])
	case ScopeAll:
		fmt.Fprintf(&b, "From now on: new conversations, and %s (%s).\n", counted(plan.Sessions, "older one", "older ones"), size(plan.Bytes))
	case ScopeSession:
		fmt.Fprintf(&b, "This conversation (%s), and its new lines.\n", size(p.single.size))
	}
	b.WriteString("Sent is all that a conversation holds: prompts, answers, what tools read and printed. ")
	b.WriteString(p.redactedText(plan, cut))
	return b.String()
}

// redactedText describes the texts that would be replaced.
func (p *proposal) redactedText(plan Plan, cut bool) string {
	if !p.after.Projects[p.project.Key].Redact {
		return "Secrets in it are sent, too: the redaction of this project is switched off in team.json."
	}
	n := 0
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(plan.Redacted)) {
		n += plan.Redacted[kind]
		kinds = append(kinds, fmt.Sprintf("%d %s", plan.Redacted[kind], kind))
	}
	where := "In what is here now"
	if cut {
		where = "In the newest of what is here now"
	}
	found := ""
	if n > 0 {
		found = " (" + strings.Join(kinds, ", ") + ")"
	}
	return fmt.Sprintf("%s %s like %s would be replaced%s; what does not look like one is sent.",
		where, counted(n, "thing that looks", "things that look"), map[bool]string{true: "a secret", false: "secrets"}[n == 1], found)
}

// offText returns the question for the end of a consent.
func (p *proposal) offText() string {
	if p.Path != "" {
		return "Stop sending this conversation to the team's store?\nWhat was sent stays there until you delete it."
	}
	return "Stop sending this project's conversations to the team's store?\nWhat was sent stays there until you delete it."
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// size returns a number of bytes for users.
func size(n int64) string {
	const kilo, mega = 1000, 1000 * 1000
	if n < mega {
		return fmt.Sprintf("%d kB", (n+kilo-1)/kilo)
	}
	return fmt.Sprintf("%d MB", (n+mega/2)/mega)
}
