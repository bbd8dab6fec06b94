package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
)

// caches returns the directories in which build tools keep downloads and compiled files. Later
// builds run these files, so they are as trusted as the builds themselves.
func (b *Box) caches() []string {
	var dirs []string
	add := func(base string, names ...string) {
		if !filepath.IsAbs(base) {
			return
		}
		for _, name := range names {
			dirs = append(dirs, filepath.Join(base, filepath.FromSlash(name)))
		}
	}
	for _, name := range cacheVariables {
		add(b.Getenv(name), "")
	}
	add(b.Getenv("GOPATH"), "pkg")
	if b.OS == "linux" {
		add("/dev/shm", "")
	}
	if b.Home != "" {
		add(b.Home, homeCaches...)
		add(b.in("CARGO_HOME", ".cargo"), "registry", "git", ".package-cache", ".global-cache")
		add(b.in("GRADLE_USER_HOME", ".gradle"), "caches", "daemon", "native", "wrapper/dists", "workers", ".tmp")
		add(b.cacheDir(), cacheNames...)
	}
	return dirs
}

// in returns the directory that a variable names, else one in the home directory.
func (b *Box) in(variable, name string) string {
	return b.or(variable, filepath.Join(b.Home, filepath.FromSlash(name)))
}

func (b *Box) or(variable, dir string) string {
	if named := b.Getenv(variable); filepath.IsAbs(named) {
		return named
	}
	return dir
}

// cacheDir is the user's directory for caches.
func (b *Box) cacheDir() string {
	if b.OS == "darwin" {
		return filepath.Join(b.Home, "Library", "Caches")
	}
	return b.in("XDG_CACHE_HOME", ".cache")
}

// makeCaches makes the caches of installed tools that do not exist yet: in the sandbox the tools
// cannot, and the first build of a new user would fail.
func (b *Box) makeCaches() {
	if b.Home == "" {
		return
	}
	for program, caches := range map[string][]string{
		"go":    {b.or("GOCACHE", filepath.Join(b.cacheDir(), "go-build")), filepath.Join(b.in("GOPATH", "go"), "pkg")},
		"npm":   {filepath.Join(b.in("npm_config_cache", ".npm"), "_cacache"), filepath.Join(b.in("npm_config_cache", ".npm"), "_logs")},
		"cargo": {filepath.Join(b.in("CARGO_HOME", ".cargo"), "registry"), filepath.Join(b.in("CARGO_HOME", ".cargo"), "git")},
	} {
		if _, err := exec.LookPath(program); err != nil {
			continue
		}
		for _, dir := range caches {
			_ = os.MkdirAll(dir, 0o700) // the tool reports the problem
		}
	}
}

// cacheVariables name caches that the user has moved.
var cacheVariables = []string{
	"GOCACHE", "GOMODCACHE", "GOTMPDIR", "CARGO_TARGET_DIR", "CCACHE_DIR", "SCCACHE_DIR", "PIP_CACHE_DIR", "UV_CACHE_DIR", "DENO_DIR", "npm_config_cache",
	"YARN_CACHE_FOLDER", "NUGET_PACKAGES",
}

// homeCaches are relative to the home directory. Directories with programs that users or their
// editors start outside of a build are left out, such as ~/.deno/bin and ~/.npm/_npx.
var homeCaches = []string{
	"go/pkg", ".npm/_cacache", ".npm/_logs", ".npm/_update-notifier-last-checked", ".m2/repository", ".ivy2/cache", ".sbt/boot", ".nuget/packages",
	".local/share/NuGet", ".local/share/pnpm/store", "Library/pnpm/store", ".bun/install/cache", ".hex/packages", ".hex/cache.ets", ".stack/pantry", ".stack/snapshots",
	".cabal/packages", ".pub-cache/hosted", ".pub-cache/git", ".pub-cache/_temp", ".konan", ".ccache",
}

// cacheNames are relative to the directory for caches. pre-commit (hooks of git), node (Corepack),
// bazelisk and helm/plugins are left out for the same reason.
var cacheNames = []string{
	"go-build", "gopls", "golangci-lint", "goimports", "staticcheck", "gomod", "pip", "uv", "pypoetry", "poetry", "yarn", "Yarn", "pnpm",
	"node-gyp", "typescript", "turbo", "vite", "esbuild", "deno", "bun", "electron", "Cypress", "puppeteer", "ms-playwright", "ccache", "sccache",
	"Mozilla.sccache", "bazel", "zig", "zls", "coursier", "JNA", "composer", "mypy", "ruff", "black", "pytest", "huggingface/hub", "helm/repository", "dart",
}
