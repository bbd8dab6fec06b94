package session

import (
	"encoding/json"
	"maps"
	"math"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
	"github.com/xcsh-ls/xcsh-ls/session/internal/filesums"
	"github.com/xcsh-ls/xcsh-ls/session/internal/indexfile"
)

// indexFacts are the facts of an index file. An extension has the same, of the file as it is later, and
// continues the base whose mark it has.
type indexFacts struct {
	path   string
	mark   uint64 // random, of the base
	base   int    // slots of the base
	slots  int
	starts []pageStart // of the pages of the base
	cells  int         // of the table of ids in the base …
	factor uint64      // … and its multiplier

	stamp  disk.Stamp
	rested bool // the stamp identifies the content
	sums   filesums.Sums
	end    endSum

	lines, values, budget int // see tail and Document.values

	headerRaw []byte
	headerAt  span
	hasSlot   bool
	title     Title
	named     bool
	piName    string
	marks     DialectMarks
	names     []string
	odd       oddNames
	twice     bool
	problems  []Problem
	found     map[ProblemKind]int
	tally     counts
	dialect   Dialect // of what follows
	spine     *spine
	outlined  *outline
}

// endSum has the checksum of the last bytes of a file.
type endSum struct {
	size int
	sum  uint32
}

// endSumOf returns the checksum of the end of a file whose last bytes are given.
func endSumOf(end []byte) endSum {
	end = end[max(0, len(end)-endBytes):]
	return endSum{len(end), indexfile.Checksum(end)}
}

// oddNames are the rare types and roles of an index.
type oddNames struct {
	types map[int32]Type
	roles map[int32]string
}

// encode appends the facts in the order in which decode reads them.
func (f *indexFacts) encode() []byte {
	e := &indexfile.Encoder{}
	e.Text(f.path)
	e.Uint(f.mark)
	e.Int(int64(f.base))
	e.Int(int64(f.slots))
	e.Uint(uint64(len(f.starts)))
	for _, s := range f.starts {
		e.Int(s.off)
		e.Int(int64(s.ord))
	}
	e.Int(int64(f.cells))
	e.Uint(f.factor)
	f.encodeFile(e)
	f.encodeView(e)
	encodeCounts(e, &f.tally)
	e.Int(int64(f.dialect))
	e.Bool(f.spine != nil)
	if f.spine != nil {
		encodeSpine(e, f.spine)
	}
	e.Bool(f.outlined != nil)
	if f.outlined != nil {
		encodeOutline(e, f.outlined)
	}
	return e.Bytes
}

// decodeFacts reads facts. ok is false if they are not exactly one set of facts.
func decodeFacts(b []byte) (f *indexFacts, ok bool) {
	d := &indexfile.Decoder{Rest: b}
	f = &indexFacts{path: d.Text(), mark: d.Uint(), base: int(d.Int()), slots: int(d.Int())}
	for range d.Count() {
		f.starts = append(f.starts, pageStart{d.Int(), int32(d.Int())})
	}
	f.cells, f.factor = int(d.Int()), d.Uint()
	f.decodeFile(d)
	f.decodeView(d)
	f.tally = decodeCounts(d)
	f.dialect = Dialect(d.Int())
	if d.Bool() {
		f.spine = decodeSpine(d)
	}
	if d.Bool() {
		f.outlined = decodeOutline(d)
	}
	return f, !d.Bad && len(d.Rest) == 0 && f.plausible()
}

// plausible reports whether the facts agree with each other.
func (f *indexFacts) plausible() bool {
	inRange := func(list ...int) bool {
		return !slices.ContainsFunc(list, func(i int) bool { return i < 0 || i >= f.slots })
	}
	pages := (f.base + pageLen() - 1) / pageLen()
	ok := f.base > 0 && f.slots >= f.base && f.slots <= math.MaxInt32 && len(f.starts) == pages && f.tally.counted == f.slots &&
		f.cells >= 0 && f.cells&(f.cells-1) == 0 && f.tally.described <= f.slots && f.tally.described >= 0 &&
		f.headerAt.off >= 0 && f.headerAt.off < f.headerAt.end && f.headerAt.end == f.sums.From &&
		f.sums.Valid() && f.sums.Size == f.stamp.Size && f.end.size > 0 && f.end.size <= endBytes && int64(f.end.size) <= f.sums.Size
	from := f.headerAt.end
	for _, s := range f.starts {
		ok = ok && s.off >= from && s.off < f.sums.Size && s.ord >= 0
		from = s.off
	}
	if s := f.spine; s != nil {
		ok = ok && inRange(s.leaf, s.from) && inRange(s.sparse...) &&
			!slices.ContainsFunc(s.marks, func(m mark) bool { return !inRange(m.at) }) && s.first >= -1 && s.first < f.slots
	}
	if o := f.outlined; o != nil {
		ok = ok && inRange(o.leaf) && o.entries == f.slots
	}
	return ok
}

func (f *indexFacts) encodeFile(e *indexfile.Encoder) {
	for _, n := range [...]int64{f.stamp.Size, f.stamp.Mtime, f.stamp.Ctime} {
		e.Int(n)
	}
	e.Uint(f.stamp.Inode)
	e.Bool(f.rested)
	e.Int(f.sums.From)
	e.Int(f.sums.Size)
	e.Uint(uint64(len(f.sums.Chunks)))
	for _, c := range f.sums.Chunks {
		e.Sum(c.Sum)
		e.Sum(c.Sample)
	}
	e.Int(int64(f.end.size))
	e.Sum(f.end.sum)
	for _, n := range [...]int{f.lines, f.values, f.budget} {
		e.Int(int64(n))
	}
}

func (f *indexFacts) decodeFile(d *indexfile.Decoder) {
	f.stamp = disk.Stamp{Size: d.Int(), Mtime: d.Int(), Ctime: d.Int(), Inode: d.Uint()}
	f.rested = d.Bool()
	f.sums.From, f.sums.Size = d.Int(), d.Int()
	for range d.Count() {
		f.sums.Chunks = append(f.sums.Chunks, filesums.Chunk{Sum: d.Sum(), Sample: d.Sum()})
	}
	f.end = endSum{int(d.Int()), d.Sum()}
	f.lines, f.values, f.budget = int(d.Int()), int(d.Int()), int(d.Int())
}

func (f *indexFacts) encodeView(e *indexfile.Encoder) {
	e.Optional(f.headerRaw)
	e.Int(f.headerAt.off)
	e.Int(f.headerAt.end)
	e.Bool(f.hasSlot)
	e.Text(f.title.Text)
	e.Text(f.title.Source)
	e.Bool(f.named)
	e.Text(f.piName)
	e.Bool(f.marks.pi)
	e.Bool(f.marks.omp)
	encodeTexts(e, f.names)
	encodeMap(e, f.odd.types, func(k int32) { e.Int(int64(k)) }, func(v Type) { e.Text(string(v)) })
	encodeMap(e, f.odd.roles, func(k int32) { e.Int(int64(k)) }, e.Text)
	e.Bool(f.twice)
	encodeProblems(e, f.problems)
	encodeMap(e, f.found, func(k ProblemKind) { e.Text(string(k)) }, func(n int) { e.Int(int64(n)) })
}

func (f *indexFacts) decodeView(d *indexfile.Decoder) {
	f.headerRaw = d.Optional()
	f.headerAt = span{d.Int(), d.Int()}
	f.hasSlot = d.Bool()
	f.title = Title{Text: d.Text(), Source: d.Text()}
	f.named, f.piName = d.Bool(), d.Text()
	f.marks = DialectMarks{pi: d.Bool(), omp: d.Bool()}
	f.names = decodeTexts(d)
	f.odd.types = decodeMap(d, func() int32 { return int32(d.Int()) }, func() Type { return Type(d.Text()) })
	f.odd.roles = decodeMap(d, func() int32 { return int32(d.Int()) }, d.Text)
	f.twice = d.Bool()
	f.problems = decodeProblems(d)
	f.found = decodeMap(d, func() ProblemKind { return ProblemKind(d.Text()) }, func() int { return int(d.Int()) })
}

func encodeMap[K comparable, V any](e *indexfile.Encoder, m map[K]V, key func(K), value func(V)) {
	e.Uint(uint64(len(m)))
	for k, v := range m {
		key(k)
		value(v)
	}
}

// decodeMap reads a map. An empty one is nil, as it is before anything is put into it.
func decodeMap[K comparable, V any](d *indexfile.Decoder, key func() K, value func() V) (m map[K]V) {
	for range d.Count() {
		if m == nil {
			m = map[K]V{}
		}
		k := key()
		m[k] = value()
	}
	return m
}

func encodeTexts(e *indexfile.Encoder, list []string) {
	e.Uint(uint64(len(list)))
	for _, s := range list {
		e.Text(s)
	}
}

func decodeTexts(d *indexfile.Decoder) (list []string) {
	for range d.Count() {
		list = append(list, d.Text())
	}
	return list
}

func encodeProblems(e *indexfile.Encoder, list []Problem) {
	e.Uint(uint64(len(list)))
	for _, p := range list {
		e.Text(string(p.Kind))
		e.Int(int64(p.Line))
		e.Text(p.EntryID)
		e.Text(p.Message)
		e.Bool(p.Lost)
	}
}

func decodeProblems(d *indexfile.Decoder) (list []Problem) {
	for range d.Count() {
		list = append(list, Problem{Kind: ProblemKind(d.Text()), Line: int(d.Int()), EntryID: d.Text(), Message: d.Text(), Lost: d.Bool()})
	}
	return list
}

func encodeCounts(e *indexfile.Encoder, c *counts) {
	e.Int(int64(c.counted))
	e.Int(int64(c.described))
	e.Int(int64(c.Entries))
	number := func(n int) { e.Int(int64(n)) }
	encodeMap(e, c.Roles, e.Text, number)
	encodeMap(e, c.Calls, e.Text, number)
	for _, amount := range [...]float64{c.Usage.Input, c.Usage.Output, c.Usage.CacheRead, c.Usage.CacheWrite, c.Usage.TotalTokens, c.Usage.Cost} {
		e.Float(amount)
	}
}

func decodeCounts(d *indexfile.Decoder) (c counts) {
	c.counted, c.described, c.Entries = int(d.Int()), int(d.Int()), int(d.Int())
	number := func() int { return int(d.Int()) }
	c.Roles, c.Calls = decodeMap(d, d.Text, number), decodeMap(d, d.Text, number)
	for _, amount := range [...]*float64{&c.Usage.Input, &c.Usage.Output, &c.Usage.CacheRead, &c.Usage.CacheWrite, &c.Usage.TotalTokens, &c.Usage.Cost} {
		*amount = d.Float()
	}
	return c
}

func encodeSpine(e *indexfile.Encoder, s *spine) {
	e.Int(int64(s.leaf))
	e.Uint(uint64(len(s.sparse)))
	for _, i := range s.sparse {
		e.Int(int64(i))
	}
	e.Uint(uint64(len(s.marks)))
	for _, m := range s.marks {
		e.Int(int64(m.at))
		e.Uint(uint64(typeCodes.code(m.typ)))
	}
	e.Int(int64(s.from))
	encodeMap(e, s.roles, e.Text, func(n int) { e.Int(int64(n)) })
	e.Int(int64(s.first))
}

func decodeSpine(d *indexfile.Decoder) *spine {
	s := &spine{leaf: int(d.Int())}
	for range d.Count() {
		s.sparse = append(s.sparse, int(d.Int()))
	}
	for range d.Count() {
		at, code := int(d.Int()), d.Uint()
		if code >= uint64(len(typeCodes)) {
			d.Bad = true
			break
		}
		s.marks = append(s.marks, mark{at, typeCodes[code]})
	}
	s.from = int(d.Int())
	s.roles = map[string]int{}
	maps.Copy(s.roles, decodeMap(d, d.Text, func() int { return int(d.Int()) }))
	s.first = int(d.Int())
	return s
}

func encodeOutline(e *indexfile.Encoder, o *outline) {
	e.Int(int64(o.leaf))
	e.Int(int64(o.entries))
	e.Int(int64(o.state.MessageCount))
	e.Text(o.state.ThinkingLevel)
	e.Bool(o.state.HasThinkingLevel)
	encodeMap(e, o.state.Models, e.Text, e.Text)
	e.Text(o.state.Mode)
	e.Optional(o.state.ModeData)
	e.Int(o.state.LongBytes)
	e.Text(o.state.LongEntry)
	encodeProblems(e, o.problems)
	e.Bool(o.namesBlobs)
}

func decodeOutline(d *indexfile.Decoder) *outline {
	o := &outline{leaf: int(d.Int()), entries: int(d.Int())}
	o.state = ContextState{MessageCount: int(d.Int()), ThinkingLevel: d.Text(), HasThinkingLevel: d.Bool(), Models: map[string]string{}}
	maps.Copy(o.state.Models, decodeMap(d, d.Text, d.Text))
	o.state.Mode = d.Text()
	o.state.ModeData = json.RawMessage(d.Optional())
	o.state.LongBytes, o.state.LongEntry = d.Int(), d.Text()
	o.problems = decodeProblems(d)
	o.namesBlobs = d.Bool()
	return o
}
