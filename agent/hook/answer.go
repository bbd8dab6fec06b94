package hook

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxAnswer bounds the answer of a hook, in bytes.
const MaxAnswer = 1 << 20

const (
	maxEntries    = 32  // of one answer
	maxCustomType = 100 // characters
	maxNesting    = 64  // values within each other
)

// Entry is an entry that a hook adds to the session. The session gives it its id, its parent and its
// time.
type Entry struct {
	Type       string // Custom or CustomMessage
	CustomType string // identifies the hook's entries

	Data json.RawMessage // Custom: any value, or nil

	Content json.RawMessage // CustomMessage: a string, or a list of texts and images
	Display bool            // CustomMessage: is shown to the user
	Details json.RawMessage // CustomMessage: any value, or nil; no model gets it
}

// The types of entries that hooks may add.
const (
	Custom        = "custom"         // state of the hook, which no model gets
	CustomMessage = "custom_message" // a message for the model
)

// Compaction replaces the summary that a model would write.
type Compaction struct {
	By               string // the hook
	Summary          string
	FirstKeptEntryID string          // "" leaves the choice to the agent
	TokensBefore     *int            // nil leaves the count to the agent
	Details          json.RawMessage // any value, or nil
}

// Answer is the answer of a hook as JSON. Unknown members are ignored, because newer versions may
// have more.
type Answer struct {
	Cancel     bool
	Reason     string
	Entries    []Entry
	Compaction *Compaction
}

// reserved are the beginnings of custom types that this program, or one of the terminal programs, gives
// a meaning of its own. A hook that wrote them could forge a description, a tool call that was
// interrupted, or the end of a session.
var reserved = []string{
	"xcsh-ls", "pi.", "tool_execution_start", "session_exit", "user_todo_edit", "todo_hud_state", "experimental_context_notes",
	"vibe-", "autoresearch-control", "prewalk-plan", "plan-mode-context", "skill-prompt",
}

// errAnswer is the error of an answer that is no object of the documented form.
var errAnswer = errors.New(`did not return {"cancel": true, "reason": "..."}`)

// ParseAnswer reads the answer of a hook to an event. The error continues a sentence that begins with the
// hook's name. If one entry or the compaction is invalid, the rest of the answer is still returned with
// the error: a mistake in an entry must not turn a refusal into consent.
func ParseAnswer(event Name, raw []byte) (Answer, error) {
	var wire struct {
		Cancel     bool              `json:"cancel"`
		Reason     string            `json:"reason"`
		Entries    []json.RawMessage `json:"entries"`
		Compaction json.RawMessage   `json:"compaction"`
	}
	if len(raw) > MaxAnswer {
		return Answer{}, fmt.Errorf("returned more than %d bytes", MaxAnswer)
	}
	if err := json.Unmarshal(raw, &wire); err != nil {
		return Answer{}, errAnswer
	}
	a := Answer{Cancel: wire.Cancel, Reason: wire.Reason}
	if len(wire.Entries) > maxEntries {
		return a, fmt.Errorf("returned %d entries, of which none was added; the limit is %d", len(wire.Entries), maxEntries)
	}
	if err := depth(raw); err != nil {
		return a, err
	}
	var errs []error
	for i, e := range wire.Entries {
		entry, err := parseEntry(e)
		if err != nil {
			a.Entries = nil // all or none: they may belong together
			errs = append(errs, fmt.Errorf("returned an invalid entry, so that none was added: entries[%d]: %w", i, err))
			break
		}
		a.Entries = append(a.Entries, entry)
	}
	if present(wire.Compaction) && event == BeforeCompact {
		c, err := parseCompaction(wire.Compaction)
		if err != nil {
			errs = append(errs, fmt.Errorf("returned an invalid compaction, which was not used: %w", err))
		}
		a.Compaction = c
	}
	return a, errors.Join(errs...)
}

// depth fails for JSON with too many values within each other: a session is read by programs that
// follow them recursively.
func depth(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	for level := 0; ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return errAnswer
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			if level++; level > maxNesting {
				return fmt.Errorf("returned more than %d values within each other", maxNesting)
			}
		case json.Delim('}'), json.Delim(']'):
			level--
		}
	}
}

// strict decodes an object without unknown members.
func strict(raw []byte, to any) error {
	if !utf8.Valid(raw) {
		return errors.New("it is not valid UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

func parseEntry(raw []byte) (Entry, error) {
	var wire struct {
		Type       string          `json:"type"`
		CustomType string          `json:"customType"`
		Data       json.RawMessage `json:"data"`
		Content    json.RawMessage `json:"content"`
		Display    bool            `json:"display"`
		Details    json.RawMessage `json:"details"`
	}
	if err := strict(raw, &wire); err != nil {
		return Entry{}, err
	}
	e := Entry{Type: wire.Type, CustomType: wire.CustomType}
	if err := checkCustomType(e.CustomType); err != nil {
		return Entry{}, err
	}
	switch e.Type {
	case Custom:
		if wire.Content != nil || wire.Display || wire.Details != nil {
			return Entry{}, errors.New("an entry of type custom has only data")
		}
		e.Data = wire.Data
	case CustomMessage:
		if wire.Data != nil {
			return Entry{}, errors.New("an entry of type custom_message has no data; use details")
		}
		if err := checkContent(wire.Content); err != nil {
			return Entry{}, err
		}
		e.Content, e.Display = wire.Content, wire.Display
		if present(wire.Details) {
			e.Details = wire.Details
		}
	default:
		return Entry{}, fmt.Errorf("its type is %q, but hooks can only add custom and custom_message", e.Type)
	}
	return e, nil
}

// checkCustomType fails for a custom type that cannot be shown, or that is not the hook's own.
func checkCustomType(s string) error {
	switch {
	case s == "":
		return errors.New("customType is missing")
	case utf8.RuneCountInString(s) > maxCustomType:
		return fmt.Errorf("customType is longer than %d characters", maxCustomType)
	case strings.ContainsFunc(s, func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }):
		return errors.New("customType has characters that cannot be shown")
	}
	for _, r := range reserved {
		if strings.HasPrefix(strings.ToLower(s), r) {
			return fmt.Errorf("customType %q is reserved for entries of the program itself", s)
		}
	}
	return nil
}

// checkContent fails unless the content is a text, or a list of texts and images.
func checkContent(raw json.RawMessage) error {
	if !present(raw) {
		return errors.New("content is missing")
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if strings.TrimSpace(text) == "" {
			return errors.New("content is empty")
		}
		return nil
	}
	var blocks []json.RawMessage
	if json.Unmarshal(raw, &blocks) != nil {
		return errors.New("content must be a string or a list of texts and images")
	}
	if len(blocks) == 0 {
		return errors.New("content is empty")
	}
	for i, b := range blocks {
		if err := checkBlock(b); err != nil {
			return fmt.Errorf("content[%d]: %w", i, err)
		}
	}
	return nil
}

var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

func checkBlock(raw json.RawMessage) error {
	var b struct {
		Type     string  `json:"type"`
		Text     *string `json:"text"`
		Data     *string `json:"data"`
		MimeType *string `json:"mimeType"`
	}
	if err := strict(raw, &b); err != nil {
		return err
	}
	switch {
	case b.Type == "text" && b.Text != nil && *b.Text != "" && b.Data == nil && b.MimeType == nil:
		return nil
	case b.Type != "image" || b.Text != nil || b.Data == nil || b.MimeType == nil:
		return errors.New(`it must be {"type": "text", "text": "..."} or {"type": "image", "data": "...", "mimeType": "..."}`)
	case !slices.Contains(imageTypes, *b.MimeType):
		return errors.New("its mimeType is not image/png, image/jpeg, image/gif or image/webp")
	}
	if data, err := base64.StdEncoding.Strict().DecodeString(*b.Data); err != nil || len(data) == 0 {
		return errors.New("its data is not base64")
	}
	return nil
}

func parseCompaction(raw []byte) (*Compaction, error) {
	var wire struct {
		Summary          string          `json:"summary"`
		FirstKeptEntryID string          `json:"firstKeptEntryId"`
		TokensBefore     *int            `json:"tokensBefore"`
		Details          json.RawMessage `json:"details"`
	}
	if err := strict(raw, &wire); err != nil {
		return nil, err
	}
	const most = 1 << 53 // what a number of JavaScript can count
	switch {
	case strings.TrimSpace(wire.Summary) == "":
		return nil, errors.New("summary is missing")
	case wire.TokensBefore != nil && (*wire.TokensBefore < 0 || int64(*wire.TokensBefore) > most):
		return nil, errors.New("tokensBefore is not a number of tokens")
	}
	c := &Compaction{Summary: wire.Summary, FirstKeptEntryID: wire.FirstKeptEntryID, TokensBefore: wire.TokensBefore}
	if present(wire.Details) {
		c.Details = wire.Details
	}
	return c, nil
}

// present reports whether a member is there and not null.
func present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }
