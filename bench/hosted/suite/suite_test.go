package suite

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTextsThatDifferFailARun(t *testing.T) {
	t.Parallel()
	e := Engine{Name: "agent"}
	said := func(text string) turn { return turn{pieces: 1, bytes: len(text), text: sha256.Sum256([]byte(text))} }
	for ours, same := range map[string]bool{"all of it": true, "part of it": false} {
		r := &Runner{Config: Config{Log: t.Logf}}
		r.add(largeAnswer, e, alone, said("all of it"))
		r.add(largeAnswer, e, hosted, said(ours))
		assert.Equal(t, same, r.compare(largeAnswer, e) == nil, ours)
	}
}

func TestOnlyTextIsSeen(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	s, got := &view{}, turn{begun: begun}
	for i, line := range []string{
		`{"type":"agent_start"}`,
		`{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"\"delta\":\"a\" "}}`,
		`{"type":"message_update","assistantMessageEvent":{"type":"thinking_delta","contentIndex":0,"delta":"no"}}`,
		`{"jsonrpc":"2.0","method":"xcsh/event","params":{"event":{"type":"message_update","assistantMessageEvent":{"type":"text_delta","delta":"b"}}}}`,
		`{"type":"message_end","message":"` + strings.Repeat(" ", 2000) + `\"text_delta\""}`,
	} {
		s.see([]byte(line), begun.Add(time.Duration(i)*time.Second))
	}
	require.NoError(t, s.take(&got))
	assert.Equal(t, 2, got.pieces)
	assert.Equal(t, sha256.Sum256([]byte(`"delta":"a" b`)), got.text)
	assert.Equal(t, time.Second, got.first)
	require.Error(t, s.take(&got), "nothing was seen since")
}

func TestGoals(t *testing.T) {
	t.Parallel()
	for later, want := range map[time.Duration]string{4 * time.Millisecond: "+4.0 ms | 1.40x | at most +5 ms | met", 6 * time.Millisecond: "+6.0 ms | 1.60x | at most +5 ms | missed"} {
		r := &Runner{Config: Config{Engines: []Engine{{Name: "agent"}}, Log: t.Logf}}
		for _, busy := range []time.Duration{0, 50 * time.Millisecond, time.Second} { // other work, which both have
			r.add(firstPiece, r.Engines[0], hosted, turn{first: 10*time.Millisecond + busy + later})
			r.add(firstPiece, r.Engines[0], alone, turn{first: 10*time.Millisecond + busy})
		}
		for range 4 { // the machine is idle most of the time
			r.add(firstPiece, r.Engines[0], hosted, turn{first: 10*time.Millisecond + later})
			r.add(firstPiece, r.Engines[0], alone, turn{first: 10 * time.Millisecond})
		}
		var out bytes.Buffer
		r.Markdown(&out)
		assert.Contains(t, out.String(), "prompt to the first piece (7 pairs)")
		assert.Contains(t, out.String(), want)
	}
}
