package commands

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// A list without a limit may have ten thousand sessions. Encoding them by reflection, on one processor, took as long
// as reading their directory.

// encodedAtOnce is the number of sessions that one processor encodes before it takes the next ones.
const encodedAtOnce = 128

// AppendJSON appends the JSON of the result, which is equivalent to that of encoding/json.
func (r ListResult) AppendJSON(dst []byte) ([]byte, error) {
	problems, err := json.Marshal(r.Problems)
	if err != nil {
		return nil, err
	}
	if dst == nil {
		dst = make([]byte, 0, r.estimate()+len(problems))
	}
	if dst = append(dst, `{"sessions":`...); r.Sessions == nil {
		dst = append(dst, "null"...)
	} else {
		dst = append(appendInfos(append(dst, '['), r.Sessions), ']')
	}
	if r.NextCursor != "" {
		dst = rawjson.AppendQuote(append(dst, `,"nextCursor":`...), r.NextCursor)
	}
	return append(append(append(dst, `,"problems":`...), problems...), '}'), nil
}

// estimate returns about how many bytes the sessions take, rather more than fewer.
func (r ListResult) estimate() int {
	const others = 360 // of a session: keys, numbers and times
	size := len(r.Sessions) * others
	for n := range r.Sessions {
		i := &r.Sessions[n]
		size += len(i.Path) + len(i.ID) + len(i.Slug) + len(i.Cwd) + len(i.Title) + len(i.Name) + len(i.FirstMessage) + len(i.ParentSession)
	}
	return size + size/64 // characters that need an escape
}

// joiner puts parts together in their order, of which each is ready at some time.
type joiner struct {
	mu   sync.Mutex
	turn sync.Cond
	next int
	dst  []byte
}

// add appends part n, once those before it are there.
func (j *joiner) add(n int, part []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.next != n {
		j.turn.Wait()
	}
	if n > 0 {
		j.dst = append(j.dst, ',')
	}
	j.dst = append(j.dst, part...)
	j.next++
	j.turn.Broadcast()
}

// appendInfos appends the JSON of sessions with commas between them. Several processors encode, each into memory of its
// own that it uses again, so that a long answer is in memory once.
func appendInfos(dst []byte, infos []library.Info) []byte {
	j := &joiner{dst: dst}
	j.turn.L = &j.mu
	// It is never cancelled, and hands the numbers out in order, so that the part before is always being made.
	_ = library.InParallel(context.Background(), (len(infos)+encodedAtOnce-1)/encodedAtOnce, func() func(int) {
		var part []byte
		return func(n int) {
			part = part[:0]
			for i := n * encodedAtOnce; i < min(len(infos), (n+1)*encodedAtOnce); i++ {
				if len(part) > 0 {
					part = append(part, ',')
				}
				part = appendInfo(part, &infos[i])
			}
			j.add(n, part)
		}
	})
	return j.dst
}

// appendInfo appends the JSON of a session.
func appendInfo(dst []byte, i *library.Info) []byte {
	m := members{dst}
	m.text(`{"path":`, i.Path)
	m.text(`,"id":`, i.ID)
	m.optional(`,"slug":`, i.Slug)
	m.text(`,"cwd":`, i.Cwd)
	m.optional(`,"title":`, i.Title)
	m.text(`,"name":`, i.Name)
	m.text(`,"firstMessage":`, i.FirstMessage)
	m.number(`,"messageCount":`, int64(i.MessageCount))
	m.text(`,"created":`, i.Created)
	m.text(`,"modified":`, i.Modified)
	m.text(`,"timeAgo":`, i.TimeAgo)
	m.optional(`,"parentSession":`, i.ParentSession)
	m.number(`,"size":`, i.Size)
	m.number(`,"entries":`, int64(i.Entries))
	m.number(`,"branches":`, int64(i.Branches))
	m.number(`,"damagedLines":`, int64(i.DamagedLines))
	m.dst = strconv.AppendBool(append(m.dst, `,"live":`...), i.Live)
	m.optional(`,"lockedBy":`, i.LockedBy)
	m.text(`,"origin":`, i.Origin)
	m.optional(`,"match":`, i.Fits)
	m.snippet(i.Snippet)
	m.optional(`,"entryId":`, i.EntryID)
	m.team(i.Team)
	return append(m.dst, '}')
}

// members are the members of an object so far.
type members struct{ dst []byte }

func (m *members) text(key, value string) { m.dst = rawjson.AppendQuote(append(m.dst, key...), value) }

func (m *members) optional(key, value string) {
	if value != "" {
		m.text(key, value)
	}
}

func (m *members) snippet(s *library.Snippet) {
	if s == nil {
		return
	}
	m.text(`,"snippet":{"text":`, s.Text)
	m.dst = append(m.dst, `,"ranges":[`...)
	for i, r := range s.Ranges {
		if i > 0 {
			m.dst = append(m.dst, ',')
		}
		m.dst = strconv.AppendInt(append(m.dst, '['), int64(r[0]), 10)
		m.dst = append(strconv.AppendInt(append(m.dst, ','), int64(r[1]), 10), ']')
	}
	m.dst = append(m.dst, "]}"...)
}

func (m *members) team(t *library.Team) {
	if t == nil {
		return
	}
	m.text(`,"team":{"sid":`, t.SID)
	m.text(`,"owner":`, t.Owner)
	m.number(`,"variant":`, int64(t.Variant))
	m.text(`,"visible":`, t.Visible)
	m.optional(`,"writer":`, t.Writer)
	m.nonzero(`,"writerLeftMs":`, t.WriterLeftMs)
	m.nonzero(`,"unsent":`, t.Unsent)
	m.nonzero(`,"newer":`, t.Newer)
	m.flag(`,"remote":true`, t.Remote)
	m.flag(`,"deleted":true`, t.Deleted)
	m.dst = append(m.dst, '}')
}

// nonzero is number for a member that is left out if it is zero.
func (m *members) nonzero(key string, n int64) {
	if n != 0 {
		m.number(key, n)
	}
}

func (m *members) flag(member string, set bool) {
	if set {
		m.dst = append(m.dst, member...)
	}
}

func (m *members) number(key string, n int64) {
	m.dst = strconv.AppendInt(append(m.dst, key...), n, 10)
}
