package enginetest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

// recorded is a line of a recording.
type recorded struct {
	Dir  string
	Msg  json.RawMessage
	Raw  *string
	Exit *struct{ Code *int }
}

// message is what correlates lines: requests and answers of either protocol.
type message struct {
	ID     json.RawMessage `json:"id"`
	Type   string          `json:"type"`
	Method string          `json:"method"`
	Params *struct {
		SessionID string `json:"sessionId"`
	} `json:"params"`
}

// kind is what a line of the host must share with the recorded one.
func (m message) kind() string {
	switch {
	case m.Method != "":
		return m.Method
	case m.Type != "":
		return m.Type
	default:
		return "answer"
	}
}

// player replays a recording; answers have the ids of the requests of the current host. A recorded line to the program waits for one of the same kind; lines of other kinds
// before it are put back, because hosts differ in their order.
type player struct {
	in      *bufio.Reader
	out     io.Writer
	waiting []message                  // lines of the host that were not recorded yet
	ids     map[string]json.RawMessage // recorded ids of the host's requests, and those of this host
}

// play replays a recording and returns the exit code. Of the faults it knows exit-after:N, which ends it after N lines of
// its own, and half-line:N, which ends it in the middle of that line.
func play(path string, f faults, in io.Reader, out io.Writer) (code int) {
	file, err := os.Open(path)
	if err != nil {
		return failed(err)
	}
	defer file.Close()
	p := &player{in: bufio.NewReader(in), out: out, ids: map[string]json.RawMessage{}}
	from := bufio.NewReader(file)
	sent := 0
	for {
		line, err := from.ReadBytes('\n')
		var r recorded
		if json.Unmarshal(line, &r) == nil {
			switch {
			case r.Exit != nil:
				_, _ = io.Copy(io.Discard, p.in) // the host ends it
				if r.Exit.Code != nil {
					return *r.Exit.Code
				}
				return 0
			case r.Dir == ">":
				if !p.await(r) {
					return 0
				}
			case r.Dir == "<":
				sent++
				if p.send(r, sent, f) {
					return 1
				}
			}
		}
		if err != nil {
			_, _ = io.Copy(io.Discard, p.in) // as above
			return 0
		}
	}
}

// await waits for a line like the recorded one. It reports whether the host still sends.
func (p *player) await(r recorded) bool {
	var want message
	if json.Unmarshal(r.Msg, &want) != nil {
		return true // what was no message is not waited for
	}
	for {
		i := slices.IndexFunc(p.waiting, func(m message) bool { return m.kind() == want.kind() })
		if i >= 0 {
			if isRequest := want.Method != "" || want.Type != "" && want.Type != "extension_ui_response"; isRequest && want.ID != nil && p.waiting[i].ID != nil {
				p.ids[string(want.ID)] = p.waiting[i].ID
			}
			p.waiting = slices.Delete(p.waiting, i, i+1)
			return true
		}
		line, err := p.in.ReadBytes('\n')
		var m message
		if json.Unmarshal(bytes.TrimSpace(line), &m) == nil {
			p.waiting = append(p.waiting, m)
		}
		if err != nil {
			return false
		}
	}
}

// send sends a recorded line, with the id of the host's request if it is an answer. It reports whether a fault ends the player.
func (p *player) send(r recorded, n int, f faults) (ended bool) {
	line := []byte(r.Msg)
	if r.Raw != nil {
		line = []byte(strings.TrimSuffix(*r.Raw, "\n"))
	}
	var m message
	if json.Unmarshal(line, &m) == nil && m.ID != nil && m.Method == "" {
		if id, ok := p.ids[string(m.ID)]; ok {
			line = withID(line, m.ID, id)
		}
	}
	if at, ok := f.has("half-line"); ok && (fault{arg: at}).int() == n {
		_, _ = p.out.Write(line[:len(line)/2])
		return true
	}
	_, _ = p.out.Write(append(bytes.Clone(line), '\n')) // a host that is gone ends the input too
	at, ok := f.has("exit-after")
	return ok && (fault{arg: at}).int() == n
}

// withID replaces the id of an answer, which is the first one in its line.
func withID(line []byte, was, id json.RawMessage) []byte {
	p := regexp.MustCompile(`"id":\s*` + regexp.QuoteMeta(string(was)))
	at := p.FindIndex(line)
	if at == nil {
		return line
	}
	return slices.Concat(line[:at[0]], []byte(`"id":`), id, line[at[1]:])
}
