package asking

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// maxForms bounds the forms that wait at once. A further one is not shown.
const maxForms = 32

// Desk has the forms of a session that wait for the user. It is safe for concurrent use.
type Desk struct {
	mu   sync.Mutex
	open []*waiting // guarded by mu; oldest first
	last int        // guarded by mu; number of the newest question
}

// Reply is the answer to a question of an event. Which member counts depends on the question's method.
type Reply struct {
	Value     string
	Values    []string
	Confirmed bool
	Cancelled bool
}

// waiting is the field of a form that waits for an answer.
type waiting struct {
	event.Question
	field  Field
	answer chan Answers // of the field alone; holds one
}

// Ask shows a form and waits for the answers. emit publishes the events of its questions; show may be nil. When ctx ends,
// the form is removed and the answer is cancelled.
func (d *Desk) Ask(ctx context.Context, f Form, show Shower, emit func(event.Event)) (Answers, error) {
	if err := f.check(); err != nil {
		return Answers{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	whole := showWhole(ctx, f, show)
	var list []Answer
	for i := range f.Fields {
		w := d.add(f, i)
		if w == nil {
			return Answers{}, fault.New(fault.Limit, "More than %d questions wait for the user. Continue without an answer.", maxForms)
		}
		emit(event.QuestionAsked{Question: w.Question})
		got, complete := d.await(ctx, f, w, whole)
		d.remove(w)
		emit(event.QuestionGone{ID: w.ID})
		if complete || got.Cancelled || got.Declined {
			return got, nil
		}
		list = append(list, got.List...)
	}
	return Answers{List: list}, nil
}

// await waits for the answer to the question w, or to the whole form.
func (d *Desk) await(ctx context.Context, f Form, w *waiting, whole <-chan Answers) (got Answers, complete bool) {
	select {
	case got = <-w.answer:
		return got, false
	case got = <-whole:
		if got, err := f.checked(got); err == nil {
			return got, true
		}
	case <-ctx.Done():
	}
	return Answers{Cancelled: true}, true
}

// showWhole shows a form at once. The channel yields its answers; never, if the client has other means.
func showWhole(ctx context.Context, f Form, show Shower) <-chan Answers {
	if show == nil {
		return nil
	}
	answers := make(chan Answers, 1)
	go func() {
		got, err := show(ctx, f)
		switch {
		case errors.Is(err, ErrElsewhere), err != nil && ctx.Err() != nil:
		case err != nil:
			answers <- Answers{Cancelled: true}
		default:
			answers <- got
		}
	}()
	return answers
}

func (d *Desk) add(f Form, i int) *waiting {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.open) >= maxForms {
		return nil
	}
	d.last++
	w := &waiting{Question: question(f, i), field: f.Fields[i], answer: make(chan Answers, 1)}
	w.ID = "ask" + strconv.Itoa(d.last)
	d.open = append(d.open, w)
	return w
}

func (d *Desk) remove(w *waiting) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open = slices.DeleteFunc(d.open, func(other *waiting) bool { return other == w })
}

// Questions returns the questions that wait for an answer, oldest first.
func (d *Desk) Questions() []event.Question {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]event.Question, len(d.open))
	for i, w := range d.open {
		all[i] = w.Question
	}
	return all
}

// Answer answers a question. known is false if none with this id waits. The error is an InvalidArgument error for an
// answer that does not fit.
func (d *Desk) Answer(id string, r Reply) (known bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.open, func(w *waiting) bool { return w.ID == id })
	if i < 0 {
		return false, nil
	}
	w := d.open[i]
	got := Answers{Cancelled: true}
	if !r.Cancelled {
		one, err := w.field.Check(w.field.answerOf(r))
		if err != nil {
			return true, err
		}
		got = Answers{List: []Answer{one}}
	}
	d.open = slices.Delete(d.open, i, i+1)
	w.answer <- got
	return true, nil
}

// answerOf converts the answer to a question of an event.
func (f Field) answerOf(r Reply) Answer {
	got := Answer{Selected: r.Values}
	switch {
	case f.kind() == Boolean:
		got.Selected = []string{strconv.FormatBool(r.Confirmed)}
	case f.kind() == Choice && slices.ContainsFunc(f.Options, func(o Option) bool { return o.Label == r.Value }):
		if !slices.Contains(got.Selected, r.Value) {
			got.Selected = append(got.Selected, r.Value)
		}
	default:
		got.Custom = r.Value
	}
	return got
}

// question returns the question of a field. Its texts are safe to show, but for the options, because one of them is the
// answer; clients make them visible.
func question(f Form, i int) event.Question {
	field := f.Fields[i]
	q := event.Question{
		Method: "select", From: f.From, Title: visible.Line(short(field.Title)), Message: visible.Text(short(f.Message)),
		Multi: field.Multi, Other: field.Other, Optional: field.Optional, Recommended: field.Recommended,
	}
	if field.Recommended != nil && (*field.Recommended < 0 || *field.Recommended >= len(field.Options)) {
		q.Recommended = nil
	}
	if len(f.Fields) > 1 {
		q.Number, q.Of = i+1, len(f.Fields)
	}
	switch field.kind() {
	case Boolean:
		q.Method = "confirm"
	case Choice:
		q.Options, q.Descriptions = field.shown()
	case Text, Number, Integer:
		q.Method, q.Prefill = "input", visible.Line(short(field.Initial))
	}
	return q
}

// shown returns the options of a question, and their descriptions if there are any.
func (f Field) shown() (options, descriptions []string) {
	described := false
	for _, o := range f.Options {
		options = append(options, o.Label)
		text := o.Description
		if o.Preview != "" {
			text += "\n" + o.Preview
		}
		described = described || text != ""
		descriptions = append(descriptions, visible.Text(short(text)))
	}
	if !described {
		descriptions = nil
	}
	return options, descriptions
}

// short cuts a text that is longer than any question.
func short(s string) string {
	if len(s) <= maxText {
		return s
	}
	return s[:maxText] + "…"
}
