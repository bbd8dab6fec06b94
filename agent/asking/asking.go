// Package asking holds the questions that this program's own agent and the servers that it uses ask the user: forms of
// one or more fields. A form is shown in two ways at the same time: to a client that shows whole forms, and field by
// field as the questions of events, which are the ones that the extensions of engines ask too. The first answer counts.
package asking

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Form is what the user is asked at once.
type Form struct {
	ID      string // of the tool call that asks; may be empty
	From    string // who asks: Model or Server
	Message string // shown with every field
	Fields  []Field
}

// The values of From.
const (
	Model  = "model"
	Server = "server" // a server of the Model Context Protocol, which the message names
)

// Kind is the kind of a field.
type Kind string

// The kinds of fields.
const (
	Choice  Kind = "choice"
	Text    Kind = "text"
	Boolean Kind = "boolean"
	Number  Kind = "number"
	Integer Kind = "integer"
)

// Field is one question.
type Field struct {
	ID          string
	Header      string // a short heading; may be empty
	Title       string // the question
	Kind        Kind   // "" is Choice
	Options     []Option
	Multi       bool   // several options can be chosen
	Other       bool   // the user can write an answer that is none of the options
	Recommended *int   // index of an option
	Optional    bool   // may be left without an answer
	Initial     string // of a text or number
}

// Option is an answer to choose.
type Option struct {
	Label       string
	Description string
	Preview     string
}

// Answers are the answers of the user, one for each field and in their order.
type Answers struct {
	Cancelled bool // the user closed the form, or no client could answer; there are no answers then
	Declined  bool // the user refused to answer; there are no answers then
	List      []Answer
}

// Answer is the answer to a field. It is empty for an optional field that was left out.
type Answer struct {
	ID       string   `json:"id"`
	Selected []string `json:"selected"`         // labels of options; "true" or "false" of a boolean
	Custom   string   `json:"custom,omitempty"` // a text that is none of the options; the value of a text or number
}

// Given reports whether there is an answer.
func (a Answer) Given() bool { return len(a.Selected) > 0 || a.Custom != "" }

// ErrElsewhere is the error of a [Shower] that does not show forms.
var ErrElsewhere = errors.New("asking: the client does not show forms")

// Shower shows a whole form to the user. It removes the form when ctx ends. Its error is ErrElsewhere if the client has
// other means.
type Shower func(ctx context.Context, f Form) (Answers, error)

// The bounds of a form. Models and servers make it.
const (
	maxFields  = 20
	maxOptions = 500
	maxText    = 64 << 10
)

// check fails for a form that cannot be shown. The error is a sentence for its author.
func (f Form) check() error {
	switch {
	case len(f.Fields) == 0:
		return fault.New(fault.InvalidArgument, "There is no question to ask.")
	case len(f.Fields) > maxFields:
		return fault.New(fault.InvalidArgument, "%d questions are too many to ask at once; ask at most %d.", len(f.Fields), maxFields)
	}
	for _, field := range f.Fields {
		if err := field.check(); err != nil {
			return err
		}
	}
	return nil
}

func (f Field) check() error {
	switch {
	case strings.TrimSpace(f.Title) == "":
		return fault.New(fault.InvalidArgument, "The question %q has no text.", f.ID)
	case f.kind() == Choice && len(f.Options) == 0 && !f.Other:
		return fault.New(fault.InvalidArgument, "The question %q has no options.", f.ID)
	case len(f.Options) > maxOptions:
		return fault.New(fault.InvalidArgument, "The question %q has more than %d options.", f.ID, maxOptions)
	}
	for _, o := range f.Options {
		if len(o.Label) > maxText || len(o.Description) > maxText {
			return fault.New(fault.InvalidArgument, "An option of the question %q is longer than %d KB.", f.ID, maxText>>10)
		}
	}
	return nil
}

func (f Field) kind() Kind {
	if f.Kind == "" {
		return Choice
	}
	return f.Kind
}

// Check returns the answer in its usual form, or an error with a sentence for the user if it does not answer the field.
func (f Field) Check(a Answer) (Answer, error) {
	a.ID = f.ID
	if a.Selected == nil {
		a.Selected = []string{}
	}
	if !a.Given() {
		if f.Optional || f.kind() == Choice && f.Multi {
			return a, nil
		}
		return a, f.wrong("The question needs an answer.")
	}
	switch f.kind() {
	case Choice:
		return a, f.checkChoice(a)
	case Boolean:
		if a.Custom != "" || len(a.Selected) != 1 || a.Selected[0] != "true" && a.Selected[0] != "false" {
			return a, f.wrong("The answer must be true or false.")
		}
	case Number, Integer:
		a.Custom = strings.TrimSpace(a.Custom)
		_, err := strconv.ParseFloat(a.Custom, 64)
		if f.Kind == Integer {
			_, err = strconv.ParseInt(a.Custom, 10, 64)
		}
		if err != nil || len(a.Selected) > 0 || strings.ContainsAny(a.Custom, "xXpPnN_") {
			return a, f.wrong("The answer must be %s.", map[Kind]string{Number: "a number", Integer: "a whole number"}[f.Kind])
		}
	default:
		if len(a.Selected) > 0 {
			return a, f.wrong("The answer must be a text.")
		}
	}
	return a, nil
}

func (f Field) checkChoice(a Answer) error {
	for _, label := range a.Selected {
		if !slices.ContainsFunc(f.Options, func(o Option) bool { return o.Label == label }) {
			return f.wrong("%q is none of the options of the question.", label)
		}
	}
	switch {
	case a.Custom != "" && !f.Other:
		return f.wrong("%q is none of the options of the question.", a.Custom)
	case !f.Multi && len(a.Selected) > 1, !f.Multi && len(a.Selected) == 1 && a.Custom != "":
		return f.wrong("The question takes one answer.")
	}
	return nil
}

func (f Field) wrong(format string, args ...any) error {
	return fault.New(fault.InvalidArgument, format, args...).With("field", "value")
}

// checked returns the answers in the order of the fields. Its error reports an answer that does not fit.
func (f Form) checked(got Answers) (Answers, error) {
	if got.Cancelled || got.Declined {
		return Answers{Cancelled: got.Cancelled, Declined: got.Declined}, nil
	}
	var list []Answer
	for _, field := range f.Fields {
		var a Answer
		if i := slices.IndexFunc(got.List, func(a Answer) bool { return a.ID == field.ID }); i >= 0 {
			a = got.List[i]
		}
		a, err := field.Check(a)
		if err != nil {
			return Answers{}, err
		}
		list = append(list, a)
	}
	return Answers{List: list}, nil
}
