package export

import (
	"encoding/json"
	"fmt"
	"iter"
	"math/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// secretLines are lines of very different lengths, some with secrets: more of them than are learned.
func secretLines(r *rand.Rand, secrets int) iter.Seq2[json.RawMessage, error] {
	var lines []string
	for n := range 150 {
		text := strings.Repeat("nothing to hide here ", r.Intn(1000))
		if r.Intn(50) == 0 {
			text = strings.Repeat("x y ", batchSize/3)
		}
		if r.Intn(2) == 0 {
			name := []string{"password", "api_key"}[r.Intn(2)]
			text += fmt.Sprintf(" %s=q7Zp%dLw9Xk2 ", name, r.Intn(secrets))
		}
		lines = append(lines, fmt.Sprintf(`{"id":"%d","text":"%s"}`, n, text))
	}
	shared := []byte(nil) // a line is valid until the next one only
	return func(yield func(json.RawMessage, error) bool) {
		for _, line := range lines {
			shared = append(shared[:0], line...)
			if !yield(shared, nil) {
				return
			}
		}
	}
}

// What several goroutines learn is what one would have learned, line by line.
func TestLearningInPartsIsLearningInOrder(t *testing.T) {
	t.Parallel()
	learn := func(each func(r *Redactor, found func(int))) *learned {
		r := &Redactor{to: &report{}, learned: &learned{secrets: map[string]string{}, entries: map[int]bool{}}}
		each(r, func(n int) { r.learned.entries[n] = true })
		return r.learned
	}
	for seed := range int64(6) {
		lines := secretLines(rand.New(rand.NewSource(seed)), []int{3, 20, 1000}[seed%3])
		want := learn(func(r *Redactor, found func(int)) {
			l, n := learners{of: r, found: found}, 0
			for raw := range lines {
				l.learn(n, raw)
				n++
			}
		})
		got := learn(func(r *Redactor, found func(int)) { r.learnAll(lines, found) })
		require.NotEmpty(t, want.secrets)
		require.Equal(t, want.secrets, got.secrets)
		require.Equal(t, want.entries, got.entries)
	}
}

// A panic while lines are searched reaches the caller, who can recover from it.
func TestAPanicOfALearnerReachesTheCaller(t *testing.T) {
	t.Parallel()
	l := learners{of: &Redactor{}, most: 1}
	b := l.take(0)
	b.ends = []int{5} // more than there is
	l.busy = []*batch{b}
	go b.search()
	require.Panics(t, l.evaluate)
}

// Of a document that cannot be read to its end, everything before is learned.
func TestLearningEndsWithAnError(t *testing.T) {
	t.Parallel()
	r := &Redactor{}
	r.learn(Doc{Entries: func(yield func(json.RawMessage, error) bool) {
		_ = yield(json.RawMessage(`{"text":"password=q7Zp1Lw9Xk2"}`), nil) && yield(nil, fmt.Errorf("unreadable"))
	}})
	require.Len(t, r.learned.secrets, 1)
	require.Equal(t, map[int]bool{0: true}, r.learned.entries)
}
