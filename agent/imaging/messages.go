package imaging

import (
	"crypto/sha256"
	"slices"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// maxRequest is the base64 of all images of a request. Services refuse requests of more than 32 MB.
const maxRequest = 20 << 20

// Fitter fits the images of conversations. It remembers the images that it scaled. It is safe for
// concurrent use; the zero value is ready.
type Fitter struct {
	mu     sync.Mutex
	scaled map[[sha256.Size]byte]provider.Block // guarded by mu
}

// maxScaled bounds the scaled images that are remembered.
const maxScaled = 16

// Messages returns the messages with images that services accept: each as [Fit] returns it, and the
// oldest left out if all together are too many bytes. The messages that come in are not changed.
func (f *Fitter) Messages(messages []provider.Message) []provider.Message {
	out := slices.Clone(messages)
	room := maxRequest
	for i := range slices.Backward(out) {
		cloned := false
		for j, b := range out[i].Content {
			if b.Type != provider.TypeImage {
				continue
			}
			fitted := f.fit(b)
			if room -= len(fitted.Data); room < 0 {
				fitted = omitted("newer images take all the space of a request")
			}
			if fitted.Type == b.Type && fitted.Data == b.Data {
				continue
			}
			if !cloned {
				out[i].Content, cloned = slices.Clone(out[i].Content), true
			}
			out[i].Content[j] = fitted
		}
	}
	return out
}

// Without returns the messages with a note instead of the images up to a time, in milliseconds since
// 1970. found reports whether there are any.
func Without(messages []provider.Message, until int64, reason string) (out []provider.Message, found bool) {
	out = slices.Clone(messages)
	for i := range out {
		if out[i].Timestamp > until || !slices.ContainsFunc(out[i].Content, isImage) {
			continue
		}
		found = true
		out[i].Content = slices.Clone(out[i].Content)
		for j, b := range out[i].Content {
			if isImage(b) {
				out[i].Content[j] = omitted(reason)
			}
		}
	}
	return out, found
}

// Message returns the message with images that services accept, and the length of their base64. If those
// of all messages of a request are not few, see [Few], only [Fitter.Messages] fits them.
func (f *Fitter) Message(m provider.Message) (fitted provider.Message, size int) {
	cloned := false
	for j, b := range m.Content {
		if b.Type != provider.TypeImage {
			continue
		}
		image := f.fit(b)
		size += len(image.Data)
		if image.Type == b.Type && image.Data == b.Data {
			continue
		}
		if !cloned {
			m.Content, cloned = slices.Clone(m.Content), true
		}
		m.Content[j] = image
	}
	return m, size
}

// Few reports whether a request may have images of that much base64, in bytes, without leaving any out.
func Few(size int) bool { return size <= maxRequest }

func isImage(b provider.Block) bool { return b.Type == provider.TypeImage }

func (f *Fitter) fit(b provider.Block) provider.Block {
	if done, err := unscaled(b); err != nil {
		return omitted(err.Error())
	} else if done {
		return b // as most images, which are then not hashed for every request
	}
	key := sha256.Sum256([]byte(b.Data))
	f.mu.Lock()
	known, ok := f.scaled[key]
	f.mu.Unlock()
	if ok {
		return known
	}
	made := Fit(b)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.scaled == nil || len(f.scaled) >= maxScaled {
		f.scaled = map[[sha256.Size]byte]provider.Block{}
	}
	f.scaled[key] = made
	return made
}
