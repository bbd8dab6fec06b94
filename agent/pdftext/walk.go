package pdftext

import (
	"math"

	"github.com/ledongthuc/pdf"
)

const (
	// maxForms is how deep forms can be nested in a page.
	maxForms = 5

	// maxPieces is how many pieces of text of a page are read.
	maxPieces = 100_000

	// maxStates is how many graphics states of a page are kept.
	maxStates = 1000
)

// piece is a string on a page.
type piece struct {
	text    string
	x, y    float64 // where it begins
	end     float64 // where it ends on the line
	size    float64 // of its font, as it is shown
	certain bool    // end is known, not estimated
}

// matrix is a transformation: [a b; c d; e f].
type matrix [6]float64

func (m matrix) times(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

func shift(x, y float64) matrix { return matrix{1, 0, 0, 1, x, y} }

// state is the part of a graphics state that matters for text.
type state struct {
	page, line, text     matrix
	font                 *font
	size, spacing, words float64
	leading, scale, rise float64
}

// walker collects the text of a page.
type walker struct {
	pieces []piece
	now    state
	kept   []state
}

func newWalker() *walker {
	id := shift(0, 0)
	return &walker{now: state{page: id, line: id, text: id, scale: 1}}
}

// run executes the operators of a page or a form. It may panic.
func (w *walker) run(content, resources pdf.Value, depth int) {
	fonts := map[string]*font{}
	pdf.Interpret(content, func(stack *pdf.Stack, op string) {
		args := make([]pdf.Value, min(stack.Len(), 6))
		for i := len(args) - 1; i >= 0; i-- {
			args[i] = stack.Pop()
		}
		for stack.Len() > 0 {
			stack.Pop()
		}
		if len(w.pieces) < maxPieces {
			w.graphics(op, args, resources, depth)
			w.position(op, args)
			w.show(op, args, resources, fonts)
		}
	})
}

// number returns an operand, 0 if it is missing.
func number(args []pdf.Value, i int) float64 {
	if i >= len(args) {
		return 0
	}
	return args[i].Float64()
}

func toMatrix(args []pdf.Value) (m matrix) {
	for i := range m {
		m[i] = number(args, i)
	}
	return m
}

func (w *walker) graphics(op string, args []pdf.Value, resources pdf.Value, depth int) {
	switch op {
	case "q":
		if len(w.kept) < maxStates {
			w.kept = append(w.kept, w.now)
		}
	case "Q":
		if n := len(w.kept); n > 0 {
			w.now, w.kept = w.kept[n-1], w.kept[:n-1]
		}
	case "cm":
		w.now.page = toMatrix(args).times(w.now.page)
	case "Do":
		if len(args) == 0 || depth == maxForms {
			return
		}
		form := resources.Key("XObject").Key(args[0].Name())
		if form.Key("Subtype").Name() != "Form" {
			return
		}
		was, kept := w.now, w.kept
		if m := form.Key("Matrix"); m.Len() == len(matrix{}) {
			var values []pdf.Value
			for i := range m.Len() {
				values = append(values, m.Index(i))
			}
			w.now.page = toMatrix(values).times(w.now.page)
		}
		if own := form.Key("Resources"); own.Kind() == pdf.Dict {
			resources = own
		}
		w.kept = nil
		w.run(form, resources, depth+1)
		w.now, w.kept = was, kept
	}
}

func (w *walker) position(op string, args []pdf.Value) {
	s := &w.now
	move := func(x, y float64) {
		s.line = shift(x, y).times(s.line)
		s.text = s.line
	}
	switch op {
	case "BT":
		s.line = shift(0, 0)
		s.text = s.line
	case "Tm":
		s.line = toMatrix(args)
		s.text = s.line
	case "TD":
		s.leading = -number(args, 1)
		move(number(args, 0), number(args, 1))
	case "Td":
		move(number(args, 0), number(args, 1))
	case "T*", "'", `"`:
		move(0, -s.leading)
	case "TL":
		s.leading = number(args, 0)
	case "Tc":
		s.spacing = number(args, 0)
	case "Tw":
		s.words = number(args, 0)
	case "Tz":
		s.scale = number(args, 0) / 100
	case "Ts":
		s.rise = number(args, 0)
	}
}

func (w *walker) show(op string, args []pdf.Value, resources pdf.Value, fonts map[string]*font) {
	if len(args) == 0 {
		return
	}
	last := args[len(args)-1]
	switch op {
	case "Tf":
		name := args[0].Name()
		if fonts[name] == nil {
			fonts[name] = newFont(resources.Key("Font").Key(name))
		}
		w.now.font, w.now.size = fonts[name], number(args, 1)
	case "Tj", "'", `"`:
		w.text(last.RawString())
	case "TJ":
		for i := range last.Len() {
			switch v := last.Index(i); v.Kind() {
			case pdf.String:
				w.text(v.RawString())
			default:
				w.now.text = shift(-v.Float64()/1000*w.now.size*w.now.scale, 0).times(w.now.text)
			}
		}
	}
}

// text shows a string.
func (w *walker) text(raw string) {
	s := &w.now
	if s.font == nil || raw == "" || len(w.pieces) >= maxPieces {
		return
	}
	width, codes, certain := s.font.width(raw)
	advance := (width/1000*s.size + s.spacing*float64(codes)) * s.scale
	at := shift(0, s.rise).times(s.text).times(s.page)
	s.text = shift(advance, 0).times(s.text)
	after := shift(0, s.rise).times(s.text).times(s.page)
	w.pieces = append(w.pieces, piece{
		text: s.font.decode(raw), x: at[4], y: at[5], end: after[4], certain: certain,
		size: math.Max(1, math.Abs(s.size)*math.Hypot(at[2], at[3])),
	})
}
