//go:build browser

package export_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session/export"
)

// chromium is a headless browser.
type chromium struct {
	ctx context.Context //nolint:containedctx // chromedp's handle of a browser
}

// tab is one page of the browser.
type tab struct {
	ctx  context.Context //nolint:containedctx // chromedp's handle of a tab
	file string

	mu    sync.Mutex
	noise []string // everything that a harmless page never does
}

// deadline is for a busy machine.
const deadline = 2 * time.Minute

// browserPath returns the path of Debian's Chromium, of which the one without windows needs half as much time.
func browserPath() string {
	if path, err := exec.LookPath("chromium-headless-shell"); err == nil {
		return path
	}
	return "chromium"
}

func startChromium(t *testing.T) *chromium {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(browserPath()),
		chromedp.WindowSize(1300, 1000),
		chromedp.DisableGPU,
		chromedp.NoSandbox, // containers lack what it needs
	)
	// The context of a test ends before its cleanups, which close tabs.
	ctx, stopAllocator := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
	t.Cleanup(stopAllocator)
	ctx, stop := chromedp.NewContext(ctx, chromedp.WithLogf(t.Logf))
	t.Cleanup(stop)
	require.NoError(t, chromedp.Do(ctx), "install Debian's package chromium-headless-shell")
	return &chromium{ctx: ctx}
}

// open shows a page from a file, as a recipient of the file would open it, and waits until it is
// drawn.
func (c *chromium) open(t testing.TB, html, fragment string) *tab {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, os.WriteFile(path, []byte(html), 0o600))
	p := c.visit(t, "file://"+path, fragment)
	p.ready(t)
	return p
}

// visit navigates to a page and does not wait until it is loaded.
func (c *chromium) visit(t testing.TB, address, fragment string) *tab {
	t.Helper()
	p := &tab{file: address}
	ctx, closeTab := chromedp.NewContext(c.ctx, chromedp.WithListener(p.event))
	t.Cleanup(closeTab)
	// The tab lives as long as the context of its first action, which therefore has no deadline.
	require.NoError(t, chromedp.Do(ctx))
	p.ctx = ctx
	_, err := chromedp.Call(ctx, cdppage.Navigate, cdppage.NavigateParams{URL: address + fragment})
	require.NoError(t, err)
	return p
}

func (c *chromium) show(t testing.TB, d export.Doc) *tab {
	t.Helper()
	return c.open(t, page(t, d), "")
}

// event records everything that a harmless page never does: it requests something, opens a dialog, a window or a
// frame, throws, or violates its policy.
func (p *tab) event(event any) {
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; !strings.HasPrefix(u, "data:image/") && strings.Split(u, "#")[0] != p.file {
			p.record("request", u)
		}
	case *cdppage.EventJavascriptDialogOpening:
		p.record("dialog", e.Message)
	case *cdppage.EventWindowOpen:
		p.record("window", e.URL)
	case *cdppage.EventFrameAttached:
		p.record("frame", e.FrameID)
	case *cdppage.EventFrameRequestedNavigation:
		p.record("navigation", e.URL)
	case *runtime.EventExceptionThrown:
		p.record((&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error())
	case *log.EventEntryAdded:
		p.record(e.Entry.Source, e.Entry.Level, e.Entry.Text)
	}
}

func (p *tab) record(parts ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.noise = append(p.noise, fmt.Sprintln(parts...))
}

// quiet fails if the page did anything that a harmless page never does.
func (p *tab) quiet(t testing.TB) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	require.Empty(t, p.noise)
}

// do runs actions on the page.
func (p *tab) do(t testing.TB, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, deadline)
	defer cancel()
	require.NoError(t, chromedp.Do(ctx, actions...))
}

// eval returns the value of a JavaScript expression. It waits for the result of a promise.
func (p *tab) eval(t testing.TB, js string) any {
	t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, deadline)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[any](js, chromedp.EvalAwaitPromise))
	require.NoError(t, err)
	return value
}

// ready waits until the page is drawn.
func (p *tab) ready(t testing.TB) {
	t.Helper()
	drawn := p.eval(t, fmt.Sprintf(poll, deadline.Milliseconds(), `document.documentElement?.dataset.ready`))
	require.Equal(t, true, drawn, "the page is drawn")
}

// until waits for a condition in the page.
func (p *tab) until(t testing.TB, js string) {
	t.Helper()
	if p.eval(t, fmt.Sprintf(poll, 30_000, js)) != true {
		require.Fail(t, "the condition does not hold", "%s; status: %v", js, p.eval(t, `document.getElementById("status")?.textContent`))
	}
}

// poll waits for a condition, for some milliseconds at most. chromedp.Poll needs eval, which the policy of the page forbids.
const poll = `new Promise((done) => {
	const end = Date.now() + %d;
	const check = () => (%s) ? done(true) : Date.now() > end ? done(false) : setTimeout(check, 20);
	check();
})`

// press types one key. chromedp.KeyEvent would send the character in an event of its own, which reaches the page
// even if the page prevents the default of the key.
func (p *tab) press(t testing.TB, key string) {
	t.Helper()
	down := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: key}
	switch key {
	case "Enter":
		down.WindowsVirtualKeyCode = 13
	case "Escape":
	default:
		down.Text = key
	}
	p.do(t, command(input.DispatchKeyEvent, down), command(input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyUp, Key: key}))
}

// command is an action that sends a command and ignores its result.
func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

// picture saves a screenshot of the page if EXPORT_SHOTS names a directory.
func (p *tab) picture(t testing.TB, name string) {
	t.Helper()
	dir := os.Getenv("EXPORT_SHOTS")
	if dir == "" {
		return
	}
	ctx, cancel := context.WithTimeout(p.ctx, deadline)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600))
}
