// Package environ chooses the environment variables that other programs get: those that tools need
// to find their files and to behave, and none that may hold a secret. It is an allow-list, because
// the names of all secrets cannot be listed.
package environ

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// names are passed unchanged. Those with secrets in their values are dropped all the same.
var names = set(
	// Locations and the user's identity.
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "TMPDIR", "TMP", "TEMP", "TZ", "HOSTNAME", "UID",
	"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS", "XDG_STATE_HOME",
	// How output looks.
	"LANG", "LANGUAGE", "TERM", "COLORTERM", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES", "CI",
	"PAGER", "GIT_PAGER", "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS", "DEBIAN_FRONTEND",
	// Compilers and languages.
	"CC", "CXX", "CPP", "AR", "LD", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "MAKEFLAGS", "PKG_CONFIG_PATH", "LIBRARY_PATH", "CPATH",
	"C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SDKROOT", "DEVELOPER_DIR", "MACOSX_DEPLOYMENT_TARGET",
	"CCACHE_DIR", "SCCACHE_DIR", "CMAKE_PREFIX_PATH", "CMAKE_GENERATOR",
	"GOPATH", "GOROOT", "GOBIN", "GOCACHE", "GOMODCACHE", "GOTMPDIR", "GOFLAGS", "GOPROXY", "GOSUMDB", "GOPRIVATE", "GONOPROXY", "GONOSUMDB",
	"GOTOOLCHAIN", "GOWORK", "GO111MODULE", "GOOS", "GOARCH", "GOARM", "GOAMD64", "GODEBUG", "GOEXPERIMENT", "GOMAXPROCS", "GOMEMLIMIT",
	"GOGC", "GOVCS", "GOINSECURE", "CGO_ENABLED", "CGO_CFLAGS", "CGO_LDFLAGS", "GORACE", "GOENV",
	"CARGO_HOME", "CARGO_TARGET_DIR", "CARGO_INCREMENTAL", "CARGO_TERM_COLOR", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "RUSTFLAGS", "RUST_BACKTRACE", "RUST_LOG",
	"NODE_ENV", "NODE_PATH", "NODE_OPTIONS", "NODE_EXTRA_CA_CERTS", "NVM_DIR", "NVM_BIN", "FNM_DIR", "FNM_MULTISHELL_PATH", "VOLTA_HOME", "PNPM_HOME", "BUN_INSTALL",
	"DENO_DIR", "DENO_INSTALL_ROOT", "COREPACK_HOME", "npm_config_cache", "npm_config_prefix", "npm_config_registry", "YARN_CACHE_FOLDER",
	"PYTHONPATH", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHONIOENCODING", "PYTHONUTF8", "VIRTUAL_ENV", "CONDA_PREFIX",
	"CONDA_DEFAULT_ENV", "CONDA_EXE", "PYENV_ROOT", "PIP_CACHE_DIR", "PIP_INDEX_URL", "UV_CACHE_DIR", "UV_PYTHON", "POETRY_HOME", "PIPENV_VENV_IN_PROJECT",
	"JAVA_HOME", "JDK_HOME", "JAVA_TOOL_OPTIONS", "MAVEN_HOME", "M2_HOME", "MAVEN_OPTS", "GRADLE_HOME", "GRADLE_USER_HOME", "GRADLE_OPTS", "ANDROID_HOME",
	"ANDROID_SDK_ROOT", "KOTLIN_HOME", "SBT_OPTS", "DOTNET_ROOT", "DOTNET_CLI_HOME", "DOTNET_CLI_TELEMETRY_OPTOUT", "NUGET_PACKAGES",
	"GEM_HOME", "GEM_PATH", "RBENV_ROOT", "RUBYOPT", "RUBYLIB", "BUNDLE_PATH", "BUNDLE_GEMFILE", "MIX_HOME", "HEX_HOME", "ERL_AFLAGS", "GHCUP_INSTALL_BASE_PREFIX",
	"COMPOSER_HOME", "PERL5LIB", "LUA_PATH", "LUA_CPATH", "R_HOME", "R_LIBS_USER", "JULIA_DEPOT_PATH", "OPAMROOT", "OPAM_SWITCH_PREFIX",
	"ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR", "SDKMAN_DIR", "HOMEBREW_PREFIX", "HOMEBREW_CELLAR", "HOMEBREW_REPOSITORY",
	"NIX_PATH", "NIX_PROFILES", "NIX_SSL_CERT_FILE", "LOCALE_ARCHIVE", "PLAYWRIGHT_BROWSERS_PATH", "CHROME_BIN",
	// How the network is reached.
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO",
	// The author of commits.
	"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "EMAIL",
	// Windows does not work without these.
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "OS", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES",
	"PROGRAMFILES(X86)", "PROGRAMW6432", "COMMONPROGRAMFILES", "ALLUSERSPROFILE", "PUBLIC", "USERPROFILE", "USERNAME", "USERDOMAIN", "HOMEDRIVE", "HOMEPATH",
	"NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "PROCESSOR_IDENTIFIER", "PSMODULEPATH", "COMPUTERNAME", "MSYSTEM",
)

// prefixes are the beginnings of further names.
var prefixes = []string{"LC_"}

// hints are in the names of variables that hold secrets, also of those that a rule would
// otherwise pass by a prefix.
var hints = []string{"SECRET", "TOKEN", "PASSWORD", "PASSWD", "PASSPHRASE", "APIKEY", "API_KEY", "PRIVATE", "CREDENTIAL", "AUTH"}

// Keep returns the variables of env that programs may see, in their order. env has the form of
// os.Environ. extra names variables that the user passes by rule, with any value.
func Keep(env []string, extra ...string) []string {
	var kept []string
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		if slices.Contains(extra, name) || allowed(name) && !holdsSecret(value) {
			kept = append(kept, v)
		}
	}
	return kept
}

func allowed(name string) bool {
	if names[name] || names[strings.ToUpper(name)] { // Windows does not care about case
		return true
	}
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) && !Suspicious(name)
}

// Suspicious reports whether the name is one of a variable that holds a secret.
func Suspicious(name string) bool {
	upper := strings.ToUpper(name)
	return slices.ContainsFunc(hints, func(h string) bool { return strings.Contains(upper, h) })
}

// assignment finds options such as -Dhttps.proxyPassword=x and ?token=x.
var assignment = regexp.MustCompile(`(?i)(secret|token|passw(or)?d|passphrase|api_?key|credential)[\w.-]*=[^=]`)

// account finds a user and a password in front of a host, also without a scheme.
var account = regexp.MustCompile(`(^|[\s,;|/])[^\s/@:]*:[^\s/@]+@[\w.\[-]+`)

// holdsSecret reports whether a value has a password in it: that of a proxy or of a package
// index, also in a list of them.
func holdsSecret(value string) bool {
	if assignment.MatchString(value) || account.MatchString(value) {
		return true
	}
	if !strings.Contains(value, "@") || !strings.Contains(value, "://") {
		return false
	}
	for part := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ',' || r == '|' || r == ' ' || r == ';' }) {
		if u, err := url.Parse(part); err != nil || u.User != nil {
			return true
		}
	}
	return false
}

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}
