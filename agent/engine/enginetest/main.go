package enginetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// The variables that control a double.
const (
	roleName   = "ENGINE_DOUBLE" // "pi", "omp", "xcsh" or "play"
	faultsName = "ENGINE_DOUBLE_FAULTS"
	playName   = "ENGINE_DOUBLE_PLAY" // the path of a recording
	hostName   = "XCSH_LS_HOST"
)

// version is that of the program that is doubled.
const version = "1.5.2"

// Main makes the current process a double and ends it, if its environment says that it is one. Call it first in
// TestMain.
func Main() {
	switch os.Getenv(roleName) {
	case "pi":
		os.Exit(RunPi(os.Args[1:]))
	case "omp", "xcsh":
		os.Exit(runFork(forks[os.Getenv(roleName)], os.Args[1:]))
	case "play":
		os.Exit(play(os.Getenv(playName), parseFaults(os.Getenv(faultsName)), os.Stdin, os.Stdout))
	}
}

// options are the flags of pi.
type options struct {
	version                              bool
	mode, session, sessionID, sessionDir string
	name, model, thinking                string
	resume, unsaved, noExtensions        bool
	approve                              bool // code of the folder may run
	extensions                           []string
}

// parseOptions reads the flags. Unknown ones are ignored, as pi leaves them to extensions.
func parseOptions(args []string) (o options, err error) {
	values := map[string]*string{
		"--mode": &o.mode, "--session": &o.session, "--session-id": &o.sessionID, "--session-dir": &o.sessionDir,
		"--resume": &o.session, "--name": &o.name, "--model": &o.model, "--thinking": &o.thinking,
	}
	switches := map[string]*bool{
		"--version": &o.version, "-v": &o.version, "--continue": &o.resume, "-c": &o.resume,
		"--no-session": &o.unsaved, "--no-extensions": &o.noExtensions, "-ne": &o.noExtensions,
		"--approve": &o.approve,
	}
	for i := 0; i < len(args); i++ {
		next := ""
		if i+1 < len(args) {
			next = args[i+1]
		}
		switch arg := args[i]; {
		case switches[arg] != nil:
			*switches[arg] = true
		case values[arg] != nil:
			*values[arg] = next
			i++
		case arg == "-e" || arg == "--extension":
			o.extensions = append(o.extensions, next)
			i++
		case strings.HasPrefix(arg, "@"):
			return o, fmt.Errorf("Error: @file arguments are not supported in RPC mode") //nolint:staticcheck // pi's words
		}
	}
	return o, nil
}

// RunPi is the double of pi, with the standard input and output of this process. It returns the exit code.
func RunPi(args []string) (code int) { return runFork(nil, args) }

// runFork is RunPi for omp and xcsh; nil is pi itself.
func runFork(fork *forked, args []string) (code int) {
	f := parseFaults(os.Getenv(faultsName))
	for _, name := range []string{roleName, faultsName} {
		_ = os.Unsetenv(name) // a command of the double is none
	}
	o, err := parseOptions(args)
	if err == nil && fork != nil {
		err = checkFlags(args)
	}
	if err != nil {
		return failed(err)
	}
	if fork != nil && fork.drops && o.noExtensions {
		o.extensions = nil
	}
	if o.version {
		_, _ = fmt.Println(versionOf(f))
		return 0
	}
	if o.mode != "rpc" {
		return failed(fmt.Errorf("the double supports only --mode rpc, not %q", o.mode))
	}
	return start(fork, o, f, os.Stdin, os.Stdout)
}

func versionOf(f faults) string {
	if v, ok := f.has("version"); ok {
		return v
	}
	return version
}

func failed(err error) int {
	_, _ = fmt.Fprintln(os.Stderr, err)
	return 1
}

// start runs the double to its end.
func start(fork *forked, o options, f faults, in io.Reader, out io.Writer) (code int) {
	if text, ok := f.has("stderr"); ok {
		_, _ = os.Stderr.WriteString(strings.ReplaceAll(text, `\n`, "\n"))
	}
	if code, ok := f.has("exit"); ok {
		return fault{arg: code}.int()
	}
	if ms, ok := f.has("slow-start"); ok {
		time.Sleep(time.Duration(fault{arg: ms}.int()) * time.Millisecond) // the double is slow
	}
	d := &double{
		kin: fork, options: o, faults: f, out: &lines{to: out}, dialogs: map[string]chan answer{}, eaten: map[string]bool{},
		failures: map[string]int{}, thinking: "medium",
	}
	if err := d.load(); err != nil {
		return failed(err)
	}
	ended := make(chan int, 4)
	d.end = func(code int) {
		select {
		case ended <- code:
		default:
		}
	}
	d.signals(ended)
	if f.is("stop-at-start") {
		stopSelf()
	}
	if fork != nil && !f.is("no-ready") {
		d.out.send(fork.ready)
	}
	d.hello("startup")
	if f.is("dialog-at-start") {
		d.out.send(object("type", "extension_ui_request", "id", newUUID(), "method", "select", "title", "At start?", "options", []string{"yes", "no"}))
		return 0
	}
	if f.is("not-reading") {
		return <-ended
	}
	go func() {
		d.readAll(in)
		if !d.faults.is("ignore-input-end") {
			d.end(0)
		}
	}()
	code = <-ended
	d.stopQuietly()
	return code
}

// signals ends the double as pi ends.
func (d *double) signals(ended chan<- int) {
	// A write after the host has gone fails then, instead of ending the double before it has ended its commands.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	got := make(chan os.Signal, 4)
	if d.faults.is("ignore-term") {
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
		return
	}
	signal.Notify(got, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		s, _ := (<-got).(syscall.Signal)
		ended <- 128 + int(s)
	}()
}

// load loads extensions and the session.
func (d *double) load() error {
	if !d.options.noExtensions && d.faults.is("extension-fails") {
		return fmt.Errorf("Error: Failed to load extension \"/home/user/.pi/agent/extensions/broken.ts\": Unexpected token") //nolint:staticcheck // pi's words
	}
	for _, path := range d.options.extensions {
		if _, err := os.Stat(path); err != nil || d.faults.is("bridge-fails") {
			return fmt.Errorf("Error: Failed to load extension \"%s\": Cannot find module '%s'", path, path) //nolint:staticcheck // pi's words
		}
	}
	if host := os.Getenv(hostName); host != "" && len(d.options.extensions) > 0 && !d.faults.is("no-bridge") {
		if err := json.Unmarshal([]byte(host), &d.host); err != nil {
			return fmt.Errorf("Error: Failed to load extension \"%s\": %w", d.options.extensions[0], err) //nolint:staticcheck // pi's words
		}
	}
	if d.kin != nil && d.host.Mark == "" {
		if err := d.readSettings(); err != nil {
			return err
		}
	}
	_ = os.Unsetenv(hostName) // what the model starts must not know it
	if !d.faults.is("no-login") {
		d.models = []model{{"mock-large", true}, {"mock-plain", false}}
	}
	if err := d.choose(d.options.model, d.options.thinking); err != nil {
		return err
	}
	return d.openFirst()
}

// choose applies the flags of the model.
func (d *double) choose(name, thinking string) error {
	if name != "" {
		i := slices.IndexFunc(d.models, func(m model) bool { return name == m.id || name == provider+"/"+m.id })
		if i < 0 {
			return fmt.Errorf("Error: Model \"%s\" not found. Use --list-models to see available models.", name) //nolint:staticcheck // pi's words
		}
		d.model = i
	}
	if thinking != "" {
		d.thinking = d.level(thinking)
	}
	return nil
}

// openFirst opens the session of the flags.
func (d *double) openFirst() (err error) {
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	o := d.options
	if o.approve && !o.noExtensions {
		if err := loadWorkspace(cwd); err != nil {
			return err
		}
	}
	d.dir = cmp.Or(o.sessionDir, workspaceDir(cwd), defaultDir(cwd))
	switch existing := d.existing(); {
	case o.unsaved:
		d.session = newSession("", "", "", cwd, "")
	case existing != "":
		if d.session, err = openSession(existing); err != nil {
			return err
		}
		d.adopt()
		if d.kin != nil {
			d.forkFile()
		}
		return nil
	default:
		if o.sessionID != "" {
			_, _ = fmt.Fprintf(os.Stderr, "Warning: Session %s not found, creating it\n", o.sessionID)
		}
		d.session = newSession(o.session, d.dir, o.sessionID, cwd, "")
	}
	if o.session != "" {
		d.dir = filepath.Dir(o.session)
	}
	d.session.late = d.kin != nil
	d.begin(d.session)
	if o.name != "" {
		_, err = d.session.append("session_info", "name", o.name)
	}
	return err
}

// existing returns the file of the session that the flags name, "" if there is none.
func (d *double) existing() string {
	if d.options.session != "" {
		if _, err := os.Stat(d.options.session); err == nil {
			return d.options.session
		}
		return ""
	}
	pattern := ""
	switch {
	case d.options.sessionID != "":
		pattern = "*_" + d.options.sessionID + ".jsonl"
	case d.options.resume:
		pattern = "*.jsonl"
	default:
		return ""
	}
	found, _ := filepath.Glob(filepath.Join(d.dir, pattern)) // fails only for a bad pattern
	if len(found) == 0 {
		return ""
	}
	return slices.Max(found)
}

// defaultDir is where pi keeps the sessions of a folder.
func defaultDir(cwd string) string {
	home, _ := os.UserHomeDir() // without one it is the root
	name := strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(strings.TrimPrefix(cwd, "/"))
	return filepath.Join(home, ".pi", "agent", "sessions", "--"+name+"--")
}
