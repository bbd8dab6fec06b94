// Command corpus generates a session store for benchmarks.
//
//	go run ./bench/corpus -preset S2 -out DIR
//
// DIR becomes a home directory: the sessions are below DIR/.pi/agent/sessions, or below DIR/.omp or DIR/.xcsh
// according to the flavour, and DIR/manifest.json describes their content. The same flags always give the
// same bytes.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/bench/corpus/gen"
)

func main() {
	preset := flag.String("preset", "", "store to generate: "+strings.Join(gen.Names(), ", "))
	out := flag.String("out", "", "output directory")
	seed := flag.Uint64("seed", 1, "seed of the random generator")
	flavour := flag.String("flavour", "", "format of the files: pi, omp or xcsh (default: that of the preset, or else pi)")
	flag.Parse()
	if err := run(*preset, *out, *seed, gen.Flavour(*flavour)); err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(1)
	}
}

func run(preset, out string, seed uint64, flavour gen.Flavour) error {
	p, ok := gen.Presets[preset]
	if !ok || out == "" {
		return fmt.Errorf("-out and -preset are required; presets: %s", strings.Join(gen.Names(), ", "))
	}
	p.Seed = seed
	if flavour != "" {
		p.Flavour = flavour
	}
	m, err := gen.Write(out, p)
	if err != nil {
		return err
	}
	fmt.Printf("%d sessions, %d entries, %d bytes, %d compactions, %d branches, %d labels, %d images, %d torn\n",
		len(m.Sessions), m.Entries, m.Bytes, m.Compactions, m.Branches, m.Labels, m.Images, m.Torn)
	return nil
}
