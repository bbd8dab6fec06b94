package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// sample is the cost of one run: milliseconds, and megabytes of memory.
type sample struct {
	wall, user, sys float64
	op              float64 // inside the process, as it reports itself; 0 if it does not
	memory          float64
}

// once runs a command and returns the end of its output. It keeps little memory, because memory of this
// process counts as memory of the next command; see peakMemory.
func once(ctx context.Context, argv, env []string) (sample, string, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), env...)
	var stdout, stderr lastPart
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	err := cmd.Run()
	s := sample{wall: ms(time.Since(start))}
	if err != nil {
		return s, "", fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, bytes.TrimSpace(stderr))
	}
	s.user, s.sys = ms(cmd.ProcessState.UserTime()), ms(cmd.ProcessState.SystemTime())
	s.memory = float64(peakMemory(cmd.ProcessState)) / 1e6
	return s, string(stdout), nil
}

// lastPart keeps the end of its input.
type lastPart []byte

const maxPart = 64 << 10

func (l *lastPart) Write(b []byte) (int, error) {
	if len(*l)+len(b) > 2*maxPart {
		*l = append((*l)[:0], (*l)[max(0, len(*l)-maxPart):]...)
	}
	*l = append(*l, b[max(0, len(b)-maxPart):]...)
	return len(b), nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// driven is the output of the drivers.
type driven struct {
	Ms     float64
	Answer json.RawMessage
}

// parse reads the output of a driver.
func parse(out string) (d driven, err error) {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	err = json.Unmarshal([]byte(lines[len(lines)-1]), &d)
	return d, err
}

// median returns the median of each figure, independently of the others.
func median(samples []sample) sample {
	return sample{
		wall: middle(samples, func(s sample) float64 { return s.wall }), user: middle(samples, func(s sample) float64 { return s.user }),
		sys: middle(samples, func(s sample) float64 { return s.sys }), op: middle(samples, func(s sample) float64 { return s.op }),
		memory: middle(samples, func(s sample) float64 { return s.memory }),
	}
}

func middle(samples []sample, figure func(sample) float64) float64 {
	var all []float64
	for _, s := range samples {
		all = append(all, figure(s))
	}
	slices.Sort(all)
	if n := len(all); n%2 == 0 {
		return (all[n/2-1] + all[n/2]) / 2
	}
	return all[len(all)/2]
}

func extremes(samples []sample) (low, high float64) {
	byWall := func(a, b sample) int { return cmp.Compare(a.wall, b.wall) }
	return slices.MinFunc(samples, byWall).wall, slices.MaxFunc(samples, byWall).wall
}
