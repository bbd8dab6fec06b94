package suite

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Markdown writes the results as tables, and which goals are met.
func (r *Runner) Markdown(w io.Writer) {
	for _, e := range r.Engines {
		if len(r.of(firstPiece, e.Name, hosted)) == 0 {
			continue
		}
		head(w, "With "+e.Name, "What", "with "+e.Name+", through xcsh-ls", e.Name+" alone", "Difference", "Ratio", "Goal", "")
		for _, what := range []string{firstPiece, startOfAgent, oldSession} {
			r.timeRow(w, e.Name, what, "", func(t turn) time.Duration { return t.first })
		}
		r.timeRow(w, e.Name, firstPiece, "prompt to the end of a short answer", func(t turn) time.Duration { return t.wall })
		r.timeRow(w, e.Name, largeAnswer, megabytes(int64(r.Big))+" MB: "+"prompt to the end", func(t turn) time.Duration { return t.wall })
		r.timeRow(w, e.Name, manyPieces, fmt.Sprintf("%d pieces: prompt to the end", r.Pieces), func(t turn) time.Duration { return t.wall })
		r.rateRow(w, e.Name)
		_, _ = fmt.Fprintln(w)
		r.memoryTable(w, e.Name)
	}
}

func head(w io.Writer, title string, cells ...string) {
	_, _ = fmt.Fprintf(w, "### %s\n\n", title)
	row(w, cells...)
	_, _ = fmt.Fprintln(w, strings.Repeat("|---", len(cells))+"|")
}

func row(w io.Writer, cells ...string) { _, _ = fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | ")) }

// mostLater is the goal of the time to the first piece: how much later it comes through the server.
const mostLater = 5 * time.Millisecond

// timeRow compares a time. The difference is the median of those of the pairs, because both programs of a pair ran under the same load.
func (r *Runner) timeRow(w io.Writer, engine, what, name string, of func(turn) time.Duration) {
	ours, theirs := times(r.of(what, engine, hosted), of), times(r.of(what, engine, alone), of)
	n := min(len(ours), len(theirs))
	if n == 0 {
		return
	}
	later := make([]time.Duration, n)
	for i := range n {
		later[i] = ours[i] - theirs[i]
	}
	goal, verdict := "", ""
	if name == "" {
		name = what
		if what == firstPiece {
			goal, verdict = "at most +5 ms", met(median(later) <= mostLater)
		}
	}
	row(w, fmt.Sprintf("%s (%d pairs)", name, n), spread(ours), spread(theirs), fmt.Sprintf("%+.1f ms", float64(median(later))/1e6),
		ratio(median(ours), median(theirs)), goal, verdict)
}

// rateRow shows how many pieces come through in a second.
func (r *Runner) rateRow(w io.Writer, engine string) {
	cells := []string{fmt.Sprintf("%d pieces: pieces per second", r.Pieces)}
	var rates []float64
	for _, p := range []program{hosted, alone} {
		turns := r.of(manyPieces, engine, p)
		if len(turns) == 0 {
			return
		}
		rates = append(rates, float64(r.Pieces)/median(times(turns, wall)).Seconds())
		cells = append(cells, fmt.Sprintf("%.0f", rates[len(rates)-1]))
	}
	row(w, append(cells, "", fmt.Sprintf("%.2fx", rates[0]/rates[1]), "", "")...)
	events := func(p program) string { return fmt.Sprint(r.of(manyPieces, engine, p)[0].pieces) }
	row(w, fmt.Sprintf("%d pieces: events with text that the client gets", r.Pieces), events(hosted), events(alone), "", "", "", "")
}

// mostMemory is the goal of the server's memory with an agent, above that without one.
const mostMemory = 10 << 20

// memoryTable shows the needs of the server itself.
func (r *Runner) memoryTable(w io.Writer, engine string) {
	head(w, "The server's own memory and CPU time with "+engine, "What", "with "+engine, "with its own loop", "before a prompt", "With "+engine+" against its own loop", "Goal", "")
	for _, f := range []struct {
		name, what string
		of         func(turn) int64
		goal       bool
	}{
		{"idle after the first prompt", shortAnswer, func(t turn) int64 { return t.resident }, true},
		{"peak in the first prompt", shortAnswer, func(t turn) int64 { return t.peak }, true},
		{"peak in an answer of " + megabytes(int64(r.Big)) + " MB", largeAnswer, func(t turn) int64 { return t.peak }, true},
		{fmt.Sprintf("peak in an answer in %d pieces", r.Pieces), manyPieces, func(t turn) int64 { return t.peak }, true},
	} {
		cells, sizes := []string{f.name}, []int64{}
		for _, p := range []program{hosted, own, none} {
			all := sizesOf(r.of(f.what, engine, p), f.of)
			if len(all) == 0 || median(all) == 0 {
				cells = append(cells, "")
				continue
			}
			sizes = append(sizes, median(all))
			cells = append(cells, mebibytes(median(all))+" MiB")
		}
		if len(sizes) < 2 { // not measured on this system
			continue
		}
		row(w, append(cells, fmt.Sprintf("%+.1f MiB", float64(sizes[0]-sizes[1])/(1<<20)), "at most +10 MiB", met(sizes[0]-sizes[1] <= mostMemory))...)
	}
	for _, f := range []struct{ name, what string }{
		{"CPU time of a short answer", firstPiece},
		{"CPU time of an answer of " + megabytes(int64(r.Big)) + " MB", largeAnswer},
		{fmt.Sprintf("CPU time of an answer in %d pieces", r.Pieces), manyPieces},
	} {
		cells, spent := []string{f.name}, []time.Duration{}
		for _, p := range []program{hosted, own, none} {
			all := times(r.of(f.what, engine, p), func(t turn) time.Duration { return t.cpu })
			if len(all) == 0 {
				cells = append(cells, "")
				continue
			}
			spent = append(spent, median(all))
			cells = append(cells, ms(median(all)))
		}
		against := ""
		if len(spent) == 2 {
			against = ratio(spent[0], spent[1])
		}
		row(w, append(cells, against, "", "")...)
	}
	_, _ = fmt.Fprintln(w)
}

func wall(t turn) time.Duration { return t.wall }

func met(yes bool) string {
	if yes {
		return "met"
	}
	return "missed"
}

func times(turns []turn, of func(turn) time.Duration) []time.Duration { return figures(turns, of) }

func sizesOf(turns []turn, of func(turn) int64) []int64 { return figures(turns, of) }

func figures[T any](turns []turn, of func(turn) T) (all []T) {
	for _, t := range turns {
		all = append(all, of(t))
	}
	return all
}

// median returns the median; of an even number of values, the upper one of the middle.
func median[T time.Duration | int64](all []T) T { return quantile(all, 0.5) }

func quantile[T time.Duration | int64](all []T, at float64) T {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[int(at*float64(len(sorted)))]
}

// spread returns the median and the range of the values, without a tenth of them if there are many.
func spread(all []time.Duration) string {
	if len(all) < 10 {
		return fmt.Sprintf("%s (%s to %s)", ms(median(all)), ms(slices.Min(all)), ms(slices.Max(all)))
	}
	return fmt.Sprintf("%s (%s to %s)", ms(median(all)), ms(quantile(all, 0.05)), ms(quantile(all, 0.95)))
}

func ms(d time.Duration) string {
	v := float64(d) / float64(time.Millisecond)
	if v >= 100 {
		return fmt.Sprintf("%.0f ms", v)
	}
	return fmt.Sprintf("%.1f ms", v)
}

func ratio(a, b time.Duration) string {
	if b == 0 {
		return ""
	}
	return fmt.Sprintf("%.2fx", float64(a)/float64(b))
}

func megabytes(n int64) string { return fmt.Sprintf("%.3g", float64(n)/1e6) }

func mebibytes(n int64) string { return fmt.Sprintf("%.1f", float64(n)/(1<<20)) }
