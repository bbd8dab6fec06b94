package library_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

const l2 = "/root/.cache/xcsh-ls/bench/L2-v1"

func l2Finder(cache string) library.Finder {
	f := library.Finder{Fs: afero.NewOsFs(), Home: "/home/dev", Temp: "/tmp", CacheDir: cache, Now: time.Now}
	f.RealPath = func(p string) (string, error) { return p, nil }
	f.Roots = []library.Root{
		library.OwnRoot(library.AgentPlaces(l2 + "/.xcsh/agent")),
		{Places: library.AgentPlaces(l2 + "/.pi/agent"), Dialect: session.Pi},
		{Places: library.AgentPlaces(l2 + "/.omp/agent"), Dialect: session.Omp},
	}
	return f
}

func BenchmarkZZ(b *testing.B) {
	if _, err := os.Stat(l2); err != nil {
		b.Skip()
	}
	f := l2Finder("/tmp/lists/cache")
	infos, _, err := f.ListAll(b.Context(), library.ListOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.Log(len(infos))
	b.Run("list", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f.ListAll(b.Context(), library.ListOptions{})
		}
	})
	b.Run("newest", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f.ListAll(b.Context(), library.ListOptions{Limit: 50})
		}
	})
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var o bytes.Buffer
			enc := json.NewEncoder(&o)
			enc.SetEscapeHTML(false)
			enc.Encode(infos)
		}
	})
	b.Run("marshal", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			json.Marshal(infos)
		}
	})
}
