//go:build browser

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// The site is searched where it was built: files, without a server and a network. XCSH_PICTURES is a directory for
// pictures of its pages.
func TestBrowserSearchesTheSite(t *testing.T) {
	t.Parallel()
	out := built(t)
	browser := "chromium"
	if path, err := exec.LookPath("chromium-headless-shell"); err == nil {
		browser = path
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(browser), chromedp.WindowSize(1300, 1000), chromedp.DisableGPU, chromedp.NoSandbox)
	ctx, stopAllocator := chromedp.NewExecAllocator(t.Context(), options...)
	defer stopAllocator()
	ctx, stop := chromedp.NewContext(ctx, chromedp.WithLogf(t.Logf))
	defer stop()
	require.NoError(t, chromedp.Do(ctx), "install Debian's package chromium-headless-shell")
	ctx, stop = context.WithTimeout(ctx, 2*time.Minute) // for a busy machine
	defer stop()

	require.NoError(t, chromedp.Do(
		ctx,
		chromedp.Navigate("file://"+filepath.Join(out, "index.html")),
		chromedp.Click(chromedp.CSS("#mdbook-search-toggle")),
		chromedp.SendKeys(chromedp.CSS("#mdbook-searchbar"), "telemetry"),
		chromedp.WaitVisible(chromedp.CSS(`#mdbook-searchresults a[href*="docs/privacy.html"]`)),
	))
	results, err := chromedp.Run(ctx, chromedp.Text(chromedp.CSS("#mdbook-searchresults-header")))
	require.NoError(t, err)
	require.Regexp(t, `^[1-9][0-9]* search results? for 'telemetry'`, results)
	picture(ctx, t, "search")
	require.NoError(t, chromedp.Do(
		ctx,
		chromedp.Click(chromedp.CSS(`#mdbook-searchresults a[href*="docs/privacy.html"]`)),
		chromedp.WaitVisible(chromedp.CSS("main mark")),
	))
	title, err := chromedp.Run(ctx, chromedp.Title())
	require.NoError(t, err)
	require.Equal(t, "Privacy - xcsh-ls", title)
	picture(ctx, t, "found")
}

// picture writes a picture of the page if XCSH_PICTURES is set.
func picture(ctx context.Context, t *testing.T, name string) {
	t.Helper()
	dir := os.Getenv("XCSH_PICTURES")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600))
}
