package acp

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/xcsh-ls/xcsh-ls/agent/convert"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// turn is a running prompt.
type turn struct {
	ctx  context.Context //nolint:containedctx // ends when the client cancels the prompt
	done chan struct{}
}

// prompt answers session/prompt after the turn has ended and all of its updates are queued.
func (s *server) prompt(ctx context.Context, call *call, p promptParams) (any, []any, error) {
	c, err := s.conversation(p.SessionID)
	if err != nil {
		return nil, nil, err
	}
	over, err := c.begin(ctx)
	if err != nil {
		return cancelledOr(ctx, err)
	}
	defer over()
	// Other requests about the session do not wait until the turn ends.
	stop, err := c.run(commands.WithAccepted(ctx, call.leave), call.leave, p.Prompt)
	if err != nil {
		return cancelledOr(ctx, err)
	}
	c.sendName()
	return promptResult{StopReason: stop}, nil, nil
}

// cancelledOr returns the result of a failed prompt. A cancellation is not a failure.
func cancelledOr(ctx context.Context, err error) (any, []any, error) {
	if errors.Is(context.Cause(ctx), errTakenBack) && (fault.Is(err, fault.Cancelled) || errors.Is(err, context.Canceled)) {
		return promptResult{StopReason: stopCancelled}, nil, nil
	}
	return nil, nil, err
}

// begin makes a prompt the current one. It waits for a cancelled prompt to end, and returns a Busy error
// if any other prompt is running.
func (c *conversation) begin(ctx context.Context) (over func(), err error) {
	for {
		c.asking.Lock()
		running := c.turn
		if running == nil {
			mine := &turn{ctx, make(chan struct{})}
			c.turn = mine
			c.asking.Unlock()
			return sync.OnceFunc(func() {
				c.asking.Lock()
				defer c.asking.Unlock()
				c.turn = nil
				close(mine.done)
			}), nil
		}
		c.asking.Unlock()
		if running.ctx.Err() == nil {
			return nil, fault.New(fault.Busy, "The session is already processing a prompt. Cancel it or wait until it ends.")
		}
		select {
		case <-running.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// run runs a prompt and returns why the turn ended. accepted is called once a command runs; the start of
// a turn is reported through ctx.
func (c *conversation) run(ctx context.Context, accepted func(), blocks []contentBlock) (stop string, err error) {
	if command, args, ok := c.slashCommand(blocks); ok {
		accepted()
		text, err := c.runSlash(ctx, command, args)
		c.shown.reply(text)
		return stopEnd, err
	}
	if err := c.ready(ctx); err != nil {
		return "", err
	}
	args, attached, err := c.input(ctx, blocks)
	if err != nil {
		return "", err
	}
	result, err := commands.Call[commands.PromptResult](commands.WithAttached(ctx, attached), c.s.opts.Commands, c.env, "xcsh.prompt", args)
	if refused(err) {
		c.shown.reply(err.Error())
		return stopRefusal, nil
	}
	if fault.Is(err, fault.Limit) {
		c.shown.reply(err.Error())
		c.sendUsage(ctx)
		return stopLimit, nil
	}
	if err == nil {
		c.sendUsage(ctx)
	}
	return stopReason(result.StopReason), err
}

// ready returns an error if a prompt cannot be answered, before anything of it is shown.
func (c *conversation) ready(ctx context.Context) error {
	return c.s.advise(ctx, c.live.Ready(ctx))
}

// refused reports whether err means that the service refused to answer the prompt.
func refused(err error) bool {
	f, ok := errors.AsType[*fault.Error](err)
	return ok && f.Kind == fault.Provider && f.Data["class"] == string(provider.Refused)
}

// stopReason converts the reason for the end of an answer to the protocol's.
func stopReason(reason string) string {
	switch reason {
	case provider.StopLength:
		return stopLength
	case provider.StopAborted:
		return stopCancelled
	}
	return stopEnd
}

// input converts content blocks to a prompt. Texts are joined in order, and the name of a file replaces
// its block. File contents are attached.
func (c *conversation) input(ctx context.Context, blocks []contentBlock) (args commands.PromptArgs, attached string, err error) {
	var files, text strings.Builder
	for i, b := range blocks {
		switch b.Type {
		case "text":
			text.WriteString(b.Text)
		case "image":
			args.Images = append(args.Images, commands.Image{Data: b.Data, MimeType: b.MimeType})
		case "resource_link":
			place := placeOf(b.URI)
			if err := c.attachLinked(ctx, &files, place); err != nil {
				return args, "", err
			}
			text.WriteString(place.name(c.cwd))
		case "resource":
			if err := c.attachEmbedded(ctx, &args, &files, &text, b.Resource); err != nil {
				return args, "", err
			}
		default:
			return args, "", fault.New(fault.InvalidArgument, "Content of type %q is not supported in a prompt.", fault.OneLine(b.Type)).
				With("field", "prompt."+strconv.Itoa(i))
		}
	}
	args.Text, attached = text.String(), files.String()
	if strings.TrimSpace(attached+args.Text) == "" && len(args.Images) == 0 {
		return args, "", fault.New(fault.InvalidArgument, "A prompt requires text or an image.").With("field", "prompt")
	}
	return args, attached, ctx.Err()
}

// attachEmbedded adds the embedded resources of the prompt.
func (c *conversation) attachEmbedded(ctx context.Context, args *commands.PromptArgs, files, text *strings.Builder, r *resource) error {
	if r == nil {
		return fault.New(fault.InvalidArgument, "An embedded resource has no resource.").With("field", "prompt")
	}
	place := placeOf(r.URI)
	switch {
	case r.Text != nil:
		files.WriteString(convert.File(place.path, place.lines(), *r.Text) + "\n\n")
	case strings.HasPrefix(r.MimeType, "image/"):
		args.Images = append(args.Images, commands.Image{Data: r.Blob, MimeType: r.MimeType})
	default:
		content, err := base64.StdEncoding.DecodeString(r.Blob)
		if err != nil {
			return fault.New(fault.InvalidArgument, "The embedded resource %s is not base64.", place.name(c.cwd)).With("field", "prompt")
		}
		if _, err := c.attachPDF(ctx, files, place, content); err != nil {
			return err
		}
	}
	text.WriteString(place.name(c.cwd))
	return nil
}

// attachPDF attaches the text of a PDF file, or the reason why it cannot be read. It reports whether content is one. The error is
// that of ctx.
func (c *conversation) attachPDF(ctx context.Context, files *strings.Builder, p place, content []byte) (isPDF bool, err error) {
	if c.s.opts.Backend.PDF == nil {
		return false, nil
	}
	text, isPDF, err := c.s.opts.Backend.PDF(ctx, c.cwd, p.name(c.cwd), content)
	if ctx.Err() != nil {
		return isPDF, ctx.Err()
	}
	if err != nil {
		text = "[" + err.Error() + "]"
	}
	if isPDF {
		files.WriteString(convert.File(p.path, "", text) + "\n\n")
	}
	return isPDF, nil
}

// maxLinked bounds the size of linked files that are attached to a prompt, in bytes. A model can read
// larger files with its tools.
const maxLinked = 256 << 10

// attachLinked attaches the text of a linked file, as the client has it. If it cannot be attached, the
// prompt has only its name, which is still useful to the model. The error is that of ctx.
func (c *conversation) attachLinked(ctx context.Context, files *strings.Builder, p place) error {
	if !p.local {
		return nil
	}
	file, err := c.env.Workspace.ReadFile(ctx, p.path)
	if err != nil {
		return ctx.Err()
	}
	if isPDF, err := c.attachPDF(ctx, files, p, file.Content); isPDF || err != nil {
		return err
	}
	if !utf8.Valid(file.Content) || bytes.IndexByte(file.Content, 0) >= 0 {
		return nil
	}
	text, attribute := p.cut(string(file.Content))
	if len(text) <= maxLinked {
		files.WriteString(convert.File(p.path, attribute, text) + "\n\n")
	}
	return nil
}

// place is the target of a resource's URI: a file, or lines of it.
type place struct {
	path     string // the URI itself if it is not a file on this machine
	local    bool
	from, to int // lines from 1; 0 for the whole file
}

// lineRange matches the forms in which clients name lines of a file: #L3, #L3-9, #L3:9 or #L3-L9.
var lineRange = regexp.MustCompile(`^L(\d{1,9})(?:[:-]L?(\d{1,9}))?$`)

func placeOf(uri string) place {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || strings.ContainsRune(u.Path, 0) {
		return place{path: uri}
	}
	path := u.Path
	// file:///C:/x names a drive: the slash before it is not part of the path.
	if filepath.Separator == '\\' && len(path) >= 3 && path[0] == '/' && path[2] == ':' {
		path = path[1:]
	}
	p := place{path: filepath.Clean(filepath.FromSlash(path)), local: filepath.IsAbs(filepath.FromSlash(path))}
	if m := lineRange.FindStringSubmatch(u.Fragment); m != nil {
		p.from, _ = strconv.Atoi(m[1])
		if p.to, _ = strconv.Atoi(m[2]); p.to < p.from {
			p.to = p.from
		}
	}
	return p
}

// lines returns the attribute that names the lines.
func (p place) lines() string {
	if p.from == 0 {
		return ""
	}
	return ` lines="` + strconv.Itoa(p.from) + "-" + strconv.Itoa(p.to) + `"`
}

// cut returns the lines of a file and the attribute that names them. If the range is outside the file,
// it returns the whole text.
func (p place) cut(text string) (part, attribute string) {
	lines := strings.SplitAfter(text, "\n")
	if p.from == 0 || p.from > len(lines) {
		return text, ""
	}
	p.to = min(p.to, len(lines))
	return strings.Join(lines[p.from-1:p.to], ""), p.lines()
}

// name returns the place as it appears in a prompt: relative to the folder, and as one word.
func (p place) name(cwd string) string {
	name := p.path
	if p.local && below(cwd, p.path) {
		if rel, err := filepath.Rel(cwd, p.path); err == nil {
			name = rel
		}
	}
	if p.from > 0 {
		name += ":" + strconv.Itoa(p.from)
	}
	return name
}
