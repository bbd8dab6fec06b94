//go:build browser

package export_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session/export"
)

// chromium is a real browser without a window, driven over a pipe in its own protocol.
type chromium struct {
	to   *os.File
	mu   sync.Mutex
	next int
	wait map[int]chan reply
	tabs map[string]*tab // by session id
}

type reply struct {
	ID        int             `json:"id"`
	SessionID string          `json:"sessionId"`
	Method    string          `json:"method"`
	Params    json.RawMessage `json:"params"`
	Result    json.RawMessage `json:"result"`
	Error     *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// tab is one page of the browser. noise is everything that a harmless page never does: it asks for something, opens a
// dialog, throws, or has something forbidden to it by its policy.
type tab struct {
	*chromium
	session string
	file    string
	noise   []string
}

// deadline is for a busy machine.
const deadline = 2 * time.Minute

func startChromium(t *testing.T) *chromium {
	t.Helper()
	fromUs, toThem, err := os.Pipe()
	require.NoError(t, err)
	fromThem, toUs, err := os.Pipe()
	require.NoError(t, err)
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "chromium", "--headless=new", "--window-size=1300,1000", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--no-first-run", "--disable-extensions", "--disable-background-networking", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir())
	cmd.ExtraFiles = []*os.File{fromUs, toUs}
	require.NoError(t, cmd.Start(), "install Debian's package chromium")
	require.NoError(t, fromUs.Close())
	require.NoError(t, toUs.Close())
	c := &chromium{to: toThem, wait: map[int]chan reply{}, tabs: map[string]*tab{}}
	done := make(chan struct{})
	go c.listen(fromThem, done)
	t.Cleanup(func() {
		_ = toThem.Close() // the browser ends with its pipe
		<-done
		_ = cmd.Wait()
	})
	return c
}

func (c *chromium) listen(from *os.File, done chan struct{}) {
	defer close(done)
	in := bufio.NewReaderSize(from, 1<<20)
	for {
		b, err := in.ReadBytes(0)
		if err != nil {
			return
		}
		var r reply
		if json.Unmarshal(b[:len(b)-1], &r) != nil {
			continue
		}
		c.mu.Lock()
		if r.Method == "" {
			c.wait[r.ID] <- r
			delete(c.wait, r.ID)
		} else if tab := c.tabs[r.SessionID]; tab != nil {
			tab.event(r)
		}
		c.mu.Unlock()
	}
}

// event notes what a harmless page never does.
func (p *tab) event(r reply) {
	var e struct {
		Request struct{ URL string }
		Message string
		Entry   struct{ Source, Level, Text string }
		Details struct {
			Text      string
			Exception struct{ Description string }
		} `json:"exceptionDetails"`
	}
	_ = json.Unmarshal(r.Params, &e)
	switch r.Method {
	case "Network.requestWillBeSent":
		if u := e.Request.URL; !strings.HasPrefix(u, "data:image/") && strings.Split(u, "#")[0] != p.file {
			p.noise = append(p.noise, "request "+u)
		}
	case "Page.javascriptDialogOpening":
		p.noise = append(p.noise, "dialog "+e.Message)
	case "Page.windowOpen", "Page.frameAttached", "Page.frameRequestedNavigation":
		p.noise = append(p.noise, r.Method)
	case "Runtime.exceptionThrown":
		p.noise = append(p.noise, "exception "+e.Details.Text+" "+e.Details.Exception.Description)
	case "Log.entryAdded":
		p.noise = append(p.noise, e.Entry.Source+" "+e.Entry.Level+" "+e.Entry.Text)
	}
}

func (c *chromium) call(t testing.TB, session, method string, params any) json.RawMessage {
	t.Helper()
	c.mu.Lock()
	c.next++
	id, answer := c.next, make(chan reply, 1)
	c.wait[id] = answer
	c.mu.Unlock()
	m := map[string]any{"id": id, "method": method, "params": params}
	if session != "" {
		m["sessionId"] = session
	}
	b, err := json.Marshal(m)
	require.NoError(t, err)
	_, err = c.to.Write(append(b, 0))
	require.NoError(t, err)
	select {
	case r := <-answer:
		require.Nil(t, r.Error, "%s: %v", method, r.Error)
		return r.Result
	case <-time.After(deadline):
		require.Fail(t, "the browser does not answer", method)
		return nil
	}
}

// open shows a page from a file, as a person who was sent one does, and waits until it is drawn.
func (c *chromium) open(t testing.TB, page, fragment string) *tab {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, os.WriteFile(path, []byte(page), 0o600))
	p := c.visit(t, "file://"+path, fragment)
	p.ready(t)
	return p
}

// visit goes to a page and does not wait for it.
func (c *chromium) visit(t testing.TB, address, fragment string) *tab {
	t.Helper()
	var target struct{ TargetID, SessionID string }
	require.NoError(t, json.Unmarshal(c.call(t, "", "Target.createTarget", map[string]any{"url": "about:blank"}), &target))
	require.NoError(t, json.Unmarshal(c.call(t, "", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}), &target))
	p := &tab{chromium: c, session: target.SessionID, file: address}
	c.mu.Lock()
	c.tabs[p.session] = p
	c.mu.Unlock()
	t.Cleanup(func() { c.call(t, "", "Target.closeTarget", map[string]any{"targetId": target.TargetID}) })
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		p.do(t, domain+".enable", nil)
	}
	p.do(t, "Page.navigate", map[string]any{"url": p.file + fragment})
	return p
}

// ready waits until the page is drawn.
func (p *tab) ready(t testing.TB) {
	t.Helper()
	p.eval(t, `new Promise((done) => {
		const look = () => document.documentElement?.dataset.ready ? done(true) : setTimeout(look, 20);
		look();
	})`)
}

func (p *tab) do(t testing.TB, method string, params any) json.RawMessage {
	t.Helper()
	if params == nil {
		params = map[string]any{}
	}
	return p.call(t, p.session, method, params)
}

// eval returns the value of a JavaScript expression, waited for when it is a promise.
func (p *tab) eval(t testing.TB, js string) any {
	t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails *struct{ Exception struct{ Description string } }
	}
	b := p.do(t, "Runtime.evaluate", map[string]any{"expression": js, "returnByValue": true, "awaitPromise": true})
	require.NoError(t, json.Unmarshal(b, &r))
	require.Nil(t, r.ExceptionDetails, "%v", r.ExceptionDetails)
	return r.Result.Value
}

// until waits for a condition in the page.
func (p *tab) until(t testing.TB, js string) {
	t.Helper()
	ok := p.eval(t, fmt.Sprintf(`new Promise((done) => {
		const end = Date.now() + 30000;
		const look = () => (%s) ? done(true) : Date.now() > end ? done(false) : setTimeout(look, 20);
		look();
	})`, js))
	require.Equal(t, true, ok, "%s; the page says: %v", js, p.eval(t, `document.getElementById("status").textContent`))
}

// press types one key.
func (p *tab) press(t testing.TB, key string) {
	t.Helper()
	down := map[string]any{"type": "keyDown", "key": key}
	if len(key) == 1 {
		down["text"] = key
	} else if key == "Enter" {
		down["windowsVirtualKeyCode"] = 13
	}
	p.do(t, "Input.dispatchKeyEvent", down)
	p.do(t, "Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key})
}

// quiet fails when the page did what a harmless page never does.
func (p *tab) quiet(t testing.TB) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	require.Empty(t, p.noise)
}

// picture keeps what the page looks like for people, where EXPORT_SHOTS names a directory.
func (p *tab) picture(t testing.TB, name string) {
	t.Helper()
	dir := os.Getenv("EXPORT_SHOTS")
	if dir == "" {
		return
	}
	var shot struct{ Data string }
	require.NoError(t, json.Unmarshal(p.do(t, "Page.captureScreenshot", map[string]any{"format": "png"}), &shot))
	b, err := base64.StdEncoding.DecodeString(shot.Data)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, name+".png"), b, 0o600))
}

func (c *chromium) show(t testing.TB, d export.Doc) *tab {
	t.Helper()
	return c.open(t, page(t, d), "")
}
