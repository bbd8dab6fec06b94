package session

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
)

// The messages that a conversation returns one at a time are those of the context, with its state and problems.
func TestAConversationIsTheContext(t *testing.T) {
	indexEverything(t)
	cut := 0
	for seed := range uint64(18) {
		m := &lineMaker{r: rand.New(rand.NewPCG(seed, 3)), d: Dialect(seed % 3), twice: seed%5 == 0}
		content := m.head()
		for range 250 {
			content += m.line() + "\n"
		}
		fs, path := afero.NewMemMapFs(), "/s.jsonl"
		require.NoError(t, afero.WriteFile(fs, path, []byte(content), 0o600))
		d, err := load(fs, path, nil)
		require.NoError(t, err)
		for range 20 {
			leaf := atPlace(m.r.IntN(d.Len()))
			ctx, problems, err := BuildContext(d, leaf, nil)
			require.NoError(t, err)
			for range 2 { // read, and remembered
				c, err := d.Conversation(leaf, d.Len(), nil)
				require.NoError(t, err)
				messages := []json.RawMessage{}
				for place, i := range c.Places {
					message, err := c.Message(place)
					require.NoError(t, err)
					if message == nil {
						continue
					}
					require.Equal(t, ctx.EntryIDs[len(messages)], d.tree.id(max(i, 0)))
					messages = append(messages, message)
				}
				require.Equal(t, ctx.Messages, messages, "seed %d", seed)
				require.Equal(t, ctx.State().Models, c.State.Models)
				require.Equal(t, problems, c.Problems)
			}
			if s := d.ompShown.Load(); s != nil {
				cut += len(s.cut)
			}
		}
		require.NoError(t, d.Close())
	}
	require.Positive(t, cut, "calls without a result")
}

// Which messages of one of omp's conversations are shown is found out once: a later page reads its own messages.
func TestAPageOfOmpReadsItsMessages(t *testing.T) {
	small := smallFile
	smallFile = 0
	defer func() { smallFile = small }()
	m := &lineMaker{d: Omp}
	content, parent := m.head(), "null"
	for n := range 2000 {
		content += fmt.Sprintf(`{"type":"message","id":"%08x","parentId":%s,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"hello %0100d","timestamp":1}}`+"\n", n+1, parent, n)
		parent = fmt.Sprintf(`"%08x"`, n+1)
	}
	fs := &readCounter{Fs: afero.NewOsFs(), on: filepath.Join(t.TempDir(), "s.jsonl")}
	require.NoError(t, afero.WriteFile(fs, fs.on, []byte(content), 0o600))
	d, err := NewStore(StoreConfig{Fs: fs, Now: time.Now}).Load(fs.on)
	require.NoError(t, err)
	require.Equal(t, Omp, d.dialect)
	_, err = d.Conversation(AtLast(), d.Len(), nil)
	require.NoError(t, err)
	fs.bytes = 0
	c, err := d.Conversation(AtLast(), d.Len(), nil)
	require.NoError(t, err)
	require.Len(t, c.Places, 2000)
	for place := 1990; place < 2000; place++ {
		_, err := c.Message(place)
		require.NoError(t, err)
	}
	require.NoError(t, d.Close())
	require.Positive(t, fs.bytes)
	require.Less(t, fs.bytes, int64(10*400))
}
