package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/change/capture"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/hosting"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// chosen is the engine of a folder. Its program is looked for when it is needed first.
type chosen struct {
	name    string // engine.Own or that of a program
	program engine.Program
	found   bool
	plain   bool // it runs without the extensions of the user
}

// initialEngine is the engine of a folder that has not chosen one.
func (m *Manager) initialEngine() chosen {
	if m.cfg.Programs == nil || m.cfg.InMemory {
		return chosen{name: engine.Own}
	}
	if name := m.cfg.Programs.Default(); name != "" {
		return chosen{name: name}
	}
	return chosen{name: engine.Own}
}

// hosted returns the seat of the program that answers in the live session, nil if our own loop does.
func (s *Session) hosted(ctx context.Context) (*hosting.Seat, error) {
	s.mu.Lock()
	c := s.engine
	s.mu.Unlock()
	if c.name == engine.Own {
		return nil, nil
	}
	if !c.found {
		found, err := s.m.findEngine(ctx, c.name)
		if err != nil {
			return nil, err
		}
		found.plain = c.plain
		c = found
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.engine.name == c.name {
		s.engine = c
	}
	if s.seat == nil || s.seat.Session() != s.log || s.seat.Program().Name != c.name || s.seat.Program().Path != c.program.Path {
		s.seat = s.newSeat(s.log, c)
	}
	return s.seat, nil
}

// findEngine looks for a program.
func (m *Manager) findEngine(ctx context.Context, name string) (chosen, error) {
	if m.cfg.Programs == nil {
		return chosen{}, fault.New(fault.NotFound, "There is no engine %q. Run xcsh.engines to list them.", name).With("field", "engine")
	}
	p, err := m.cfg.Programs.Find(ctx, name, m.folders())
	if err != nil {
		return chosen{}, err
	}
	if !p.Usable() {
		return chosen{}, fault.New(fault.Provider, "%s cannot be used: %s", name, p.Problem).With("class", "engine").With("engine", name)
	}
	return chosen{name: name, program: p, found: true}, nil
}

func (m *Manager) folders() []string {
	if m.cfg.Folders == nil {
		return nil
	}
	return m.cfg.Folders()
}

// newSeat makes the seat of a program in the session that log is.
func (s *Session) newSeat(log *session.Log, c chosen) *hosting.Seat {
	p := c.program
	return hosting.New(hosting.Config{
		Program: p, Plain: c.plain, Session: log, Cwd: s.cwd, Gate: s.gate, Files: s.captured(log), Breaches: &s.breaches,
		Engine:  func() (engine.Engine, error) { return s.m.cfg.Programs.Engine(p) },
		Missing: func() { s.lookAgain(p) },
		Home:    func() (hosting.Home, error) { return s.home(p) },
		Place:   func() engine.Place { return s.place() },
		Emit:    func(e event.Event) { s.emitHosted(log, e) },
		Queued:  func(steering, followUp []string) { s.showQueue(log, steering, followUp) },
		OnDisk:  func() { s.appeared(log) },
		Prompt:  func(entryID string) { s.ledgerOf(log).promptedFirst(entryID) },
		Back:    func() { s.ledgerOf(log).restore() },
		Said:    func(text string) { s.accepted.said(log, text) },
		Left:    s.followEngine,
		Idle:    s.m.cfg.EngineIdle, Now: s.m.now, Log: s.m.log,
	})
}

// emitHosted publishes an event of the program. The program writes a message before its end is reported.
func (s *Session) emitHosted(log *session.Log, e event.Event) {
	if _, ended := e.(event.MessageEnd); ended {
		s.m.wrote(log.Path())
	}
	s.emit(log, e)
}

// place are the conditions in which a program is started.
func (s *Session) place() engine.Place {
	return engine.Place{
		Permit: true, Files: true, MCPServers: s.m.cfg.MCPServers,
		Trusted: s.m.cfg.Trusted != nil && s.m.cfg.Trusted(s.cwd),
	}
}

// serving returns the seat of the live session whose program runs, nil if none does.
func (s *Session) serving() *hosting.Seat {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seat != nil && s.seat.Session() == s.log && s.seat.Alive() {
		return s.seat
	}
	return nil
}

// withEngine calls f with the program that answers in the live session, which is started if necessary. hosted is false if our
// own loop answers; then f is not called.
func (s *Session) withEngine(ctx context.Context, f func(log *session.Log, e engine.Engine) error) (hosted bool, err error) {
	seat, err := s.hosted(ctx)
	if seat == nil || err != nil {
		return err != nil, err
	}
	return true, seat.With(ctx, func(e engine.Engine) error { return f(seat.Session(), e) })
}

// reclaim ends the program of the live session, so that the file is ours to write. The next prompt starts it again. The
// caller has the operations, and no turn is running.
func (s *Session) reclaim(ctx context.Context) error {
	s.mu.Lock()
	seat := s.seat
	s.mu.Unlock()
	if seat == nil {
		return nil
	}
	return seat.Close(ctx)
}

// dismiss ends the program of the session for good.
func (s *Session) dismiss(ctx context.Context) error {
	s.mu.Lock()
	seat := s.seat
	s.seat = nil
	s.mu.Unlock()
	if seat == nil {
		return nil
	}
	return seat.Shut(ctx)
}

// ownFile makes the file of the live session ours to write: a program that has it is ended. It returns a Busy error while
// the program answers. The caller has the operations.
func (s *Session) ownFile(ctx context.Context, what string) error {
	if s.serving() == nil {
		return nil
	}
	if s.isRunning() {
		return errBusy(what)
	}
	return s.reclaim(ctx)
}

// appeared announces the file of a new session.
func (s *Session) appeared(log *session.Log) {
	s.leaveBreadcrumb(log.Path())
	s.m.publish(SessionsChanged{Cwd: s.cwd})
	s.m.watcher.watch(s.cwd)
}

// showQueue publishes the messages that wait in the program.
func (s *Session) showQueue(log *session.Log, steering, followUp []string) {
	s.queue.Show(steering, followUp)
	s.queue.Publish(func(e event.Event) { s.emit(log, e) })
}

// startHosted begins a run of the program, at whose end it calls end. The caller has the operations.
func (s *Session) startHosted(ctx context.Context, log *session.Log, in Input, seat *hosting.Seat, end func()) (*run, error) {
	if !log.Persistent() {
		return nil, fault.New(fault.NotPersistent, "%s cannot answer in a session without a file.", seat.Program().Name)
	}
	if len(in.Images) > 0 && !seat.Status().Can.Images {
		return nil, fault.New(fault.Denied, "%s takes no images.", seat.Program().Name).With("field", "images")
	}
	s.recoverBefore(ctx, log)
	s.tellHunks(log)
	if !s.queue.Start() {
		return nil, errRunning
	}
	s.accept(log, in, in.message(s.m.now().UnixMilli()))
	memory, p := s.historyPrompt(log, in)
	memory.Add(p)
	return s.begin(log, end, func(ctx context.Context, r *run) {
		defer s.accepted.runEnded(log)
		s.hostedTurn(ctx, r, log, in, seat)
	}), nil
}

// hostedTurn is the work of a prompt that a program answers.
func (s *Session) hostedTurn(ctx context.Context, r *run, log *session.Log, in Input, seat *hosting.Seat) {
	s.emit(log, event.AgentStart{})
	l := s.ledgerOf(log)
	l.restore()
	l.turnBegan()
	l.prompted("") // until its entry is known
	looked := l.begin(ctx, capture.Origin{Tool: hostedTool, Folder: s.cwd}, true)
	panicked := s.guard(r, func() { r.out = seat.Run(ctx, in.toEngine()) })
	looked.of(l.origin("", hostedTool))
	looked.end(ctx)
	if !panicked {
		s.queue.Stop() // the program returned the unanswered messages
	}
	s.queue.Publish(func(e event.Event) { s.emit(log, e) })
	end := event.AgentEnd{StopReason: r.out.StopReason, Unanswered: r.unanswered(), Changes: s.turnChanges(l)}
	if r.out.Err != nil {
		end.ErrorMessage = r.out.Err.Error()
	}
	s.emit(log, end)
}

// failedFor bounds the time for which the end of a failed run is waited for.
const failedFor = 10 * time.Second

// awaitFailed waits for the end of a run whose program has failed. The user sees the failure, and can start the program
// again, before the run is recorded.
func (s *Session) awaitFailed() {
	s.mu.Lock()
	r, seat := s.run, s.seat
	s.mu.Unlock()
	if r == nil || seat == nil || seat.Status().State != engine.Failed {
		return
	}
	late := time.NewTimer(failedFor)
	defer late.Stop()
	select {
	case <-r.done:
	case <-late.C:
	}
}

func (in Input) toEngine() engine.Input {
	return engine.Input{Text: in.whole(), Images: slices.Clone(in.Images)}
}

// queueTimeout bounds the answer of a program to a queued message.
const queueTimeout = 15 * time.Second

// enqueueHosted adds a prompt to the current run of a program. It reports false if the run takes none any more.
func (s *Session) enqueueHosted(seat *hosting.Seat, when loop.When, in Input) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), queueTimeout)
	defer cancel()
	if when == loop.Steering && !seat.Status().Can.Steer {
		return false, fault.New(fault.Denied, "%s cannot be steered. Wait, or stop it first.", seat.Program().Name)
	}
	log := s.current()
	accepted := s.accept(log, in, in.message(s.m.now().UnixMilli()))
	err := seat.Queue(ctx, when, in.toEngine())
	if err != nil {
		s.accepted.withdraw(accepted)
	}
	if fault.Is(err, fault.Stale) {
		return false, nil
	}
	if err == nil {
		memory, p := s.historyPrompt(log, in)
		memory.Add(p)
	}
	return err == nil, err
}

// followEngine makes the session live to which the program went by itself.
func (s *Session) followEngine(path string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s.mu.Lock()
	r := s.run
	s.mu.Unlock()
	if r != nil {
		r.wait(ctx)
	}
	if _, err := s.Switch(ctx, path); err != nil {
		s.m.log.Warn("the session of an engine could not be followed", zap.String("path", path), zap.Error(err))
		s.Report(event.Notice{Text: "The engine went to another session, which could not be opened here: " + err.Error()})
	}
}

// hostedModel makes the program ask another model.
func (s *Session) hostedModel(ctx context.Context, ref provider.Ref, role string) (choice Choice, hosted bool, err error) {
	hosted, err = s.withEngine(ctx, func(log *session.Log, e engine.Engine) error {
		if role != "" && role != defaultRole {
			return fault.New(fault.InvalidArgument, "Only the engine %s of this program has model roles.", engine.Own).With("field", "role")
		}
		return s.sharing(ctx, log, func() error {
			c, err := e.SetModel(ctx, ref)
			if err == nil {
				choice = Choice(c)
				s.choseInEngine(c)
				s.emit(log, modelChanged(ref, ""))
			}
			return err
		})
	})
	return choice, hosted, err
}

// hostedThinking makes the program's model think more or less.
func (s *Session) hostedThinking(ctx context.Context, level provider.Level) (choice Choice, hosted bool, err error) {
	hosted, err = s.withEngine(ctx, func(log *session.Log, e engine.Engine) error {
		return s.sharing(ctx, log, func() error {
			c, err := e.SetThinking(ctx, level)
			choice = Choice(c)
			if err == nil {
				s.choseInEngine(c)
			}
			return err
		})
	})
	return choice, hosted, err
}

func (s *Session) choseInEngine(c engine.Choice) {
	if seat := s.serving(); seat != nil {
		seat.Chose(c)
	}
}

// hostedCompact compacts the conversation in the program.
func (s *Session) hostedCompact(ctx context.Context, instructions string) (result Compaction, hosted bool, err error) {
	hosted, err = s.withEngine(ctx, func(log *session.Log, e engine.Engine) error {
		if err := s.CheckIdle("compacting"); err != nil {
			return err
		}
		return s.sharing(ctx, log, func() error {
			s.setCompacting(true)
			defer s.setCompacting(false)
			c, err := e.Compact(ctx, instructions)
			result = Compaction(c)
			return err
		})
	})
	return result, hosted, err
}

// hostedBranch moves the leaf in the program.
func (s *Session) hostedBranch(ctx context.Context, seat *hosting.Seat, entryID string, o BranchOptions) (text string, err error) {
	if entryID == "" || o.Summary != "" {
		return "", fault.New(fault.Denied, "%s can move to an entry only, and writes the summary itself.", seat.Program().Name)
	}
	err = s.idle(ctx, "moving to another branch", func() error {
		return seat.With(ctx, func(e engine.Engine) error {
			if !e.Can().Branch {
				return fault.New(fault.Denied, "%s cannot go back. Fork the session instead.", seat.Program().Name)
			}
			return s.sharing(ctx, seat.Session(), func() error {
				moved, err := e.Move(ctx, entryID, engine.Summary{Write: o.Summarize, Instructions: o.Instructions})
				text = moved.Text
				if err == nil {
					seat.MovedTo(moved.LeafID)
					s.changed(ReasonTree, seat.Session().Path())
				}
				return err
			})
		})
	})
	return text, err
}

// annotate lets the program that has the file of the live session change a title or a label. done is false if the file is ours to write,
// after the program was ended if it cannot do it. The caller has the operations.
func (s *Session) annotate(ctx context.Context, a engine.Annotation, what string) (entryID string, done bool, err error) {
	seat := s.serving()
	if seat == nil {
		return "", false, nil
	}
	if _, native := seat.Program().Native(); !native {
		return "", false, nil
	}
	entryID, err = seat.Annotate(ctx, a)
	if fault.Is(err, fault.Denied) {
		err = s.ownFile(ctx, what)
		return "", err != nil, err
	}
	return entryID, true, err
}

// hostedBash runs a shell command of the user in the program, which records it.
func (s *Session) hostedBash(ctx context.Context, command string, exclude bool) (message json.RawMessage, hosted bool, err error) {
	seat, err := s.hosted(ctx)
	if seat == nil || err != nil {
		return nil, err != nil, err
	}
	if _, native := seat.Program().Native(); !native {
		return nil, false, nil // the file is ours to write
	}
	log := seat.Session()
	end, err := s.m.BeginShared(ctx, log.Path())
	if err != nil {
		return nil, true, err
	}
	defer end()
	l := s.ledgerOf(log)
	looked := l.begin(ctx, capture.Origin{Tool: "bash", Folder: s.cwd}, true)
	defer looked.end(ctx)
	message, err = seat.Bash(ctx, command, exclude, func(output string) { s.emit(log, event.BashUpdate{Text: output}) })
	if fault.Is(err, fault.Denied) { // it has no shell for the user
		err = s.exclusive(ctx, func() error { return s.ownFile(ctx, "running a command") })
		return nil, err != nil, err
	}
	return message, true, err
}

// withChoice adds to the state of a session the facts that only its program knows: a new session has no file, and no entry names the model.
func (s *Session) withChoice(log *session.Log, state *State) {
	if state.Engine.Name == engine.Own {
		return
	}
	if !log.OnDisk() {
		state.File = nil // the program chooses the name
	}
	seat := s.serving()
	if seat == nil || seat.Session() != log {
		return
	}
	choice := seat.Choice()
	if choice.Model.ID != "" {
		state.Model = &choice.Model
	}
	state.ThinkingLevel = cmp.Or(string(choice.Thinking), state.ThinkingLevel)
}

// writes returns in which form the engine keeps sessions of its own, [session.Xcsh] if it keeps none.
func (c chosen) writes() session.Dialect {
	if c.found {
		form, _ := c.program.Native()
		return form
	}
	form, _ := session.ParseDialect(c.name) // only known programs are native
	return form
}

// program returns whose sessions the folder continues.
func (s *Session) program() session.Dialect {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.engine.writes()
}

// lookAgain makes the next prompt look for a program that was not there any more.
func (s *Session) lookAgain(p engine.Program) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.engine.name == p.Name && s.engine.program.Path == p.Path {
		s.engine.found = false
	}
}

// home is where a program keeps the sessions of the folder.
func (s *Session) home(p engine.Program) (hosting.Home, error) {
	dir, err := s.newFilesDir(p)
	return hosting.Home{Dir: dir, Cwd: s.cwd, Same: s.m.cfg.Finder.SameCwd, Exists: func(dir string) bool {
		_, err := s.m.cfg.Finder.Fs.Stat(dir)
		return !errors.Is(err, fs.ErrNotExist)
	}}, err
}

// newFilesDir is where the new session files of a native program are.
func (s *Session) newFilesDir(p engine.Program) (string, error) {
	form, native := p.Native()
	if !native {
		return "", nil
	}
	return s.m.cfg.Finder.DirOf(s.cwd, form)
}
