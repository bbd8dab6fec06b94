package sandbox

import (
	"path/filepath"
	"strings"
)

// Profile is the policy in the language of macOS' sandbox-exec. Later rules win.
func Profile(p Policy) string {
	var b strings.Builder
	rule := func(head string, filters ...string) {
		b.WriteString("(" + head)
		for _, f := range filters {
			b.WriteString("\n  " + f)
		}
		b.WriteString(")\n")
	}
	b.WriteString("(version 1)\n(allow default)\n")
	rule("deny file-write*")
	rule("allow file-write*", append(subpaths(p.roots()), seatbeltDevices...)...)
	if deny := subpaths(p.Deny); len(deny) > 0 {
		rule("deny file-read* file-write*", deny...)
		// Their existence is not secret, and programs look at every part of a path.
		rule("allow file-read-metadata", deny...)
	}
	// Services that start programs, automate others or hold keys.
	rule("deny mach-lookup", seatbeltServices...)
	rule("deny appleevent-send")
	rule("deny lsopen")
	rule("deny job-creation")
	if !p.Network {
		rule("deny network*")
	}
	if !p.UnixSockets {
		rule("deny network-outbound", `(remote unix-socket)`)
	}
	if p.Network && !p.UnixSockets {
		rule("allow network-outbound", `(literal "/private/var/run/mDNSResponder")`) // looks names up
	}
	if p.Level == Strict {
		rule("deny signal")
		rule("allow signal", `(target same-sandbox)`)
	}
	return b.String()
}

// seatbeltDevices are the devices that commands write to.
var seatbeltDevices = []string{
	`(literal "/dev/null")`, `(literal "/dev/zero")`, `(literal "/dev/dtracehelper")`, `(literal "/dev/tty")`, `(regex #"^/dev/fd/")`,
}

var seatbeltServices = []string{
	`(global-name "com.apple.SecurityServer")`, `(global-name "com.apple.securityd.xpc")`, `(global-name "com.apple.coreservices.launchservicesd")`,
	`(global-name "com.apple.pasteboard.1")`, `(global-name "com.apple.tccd")`, `(global-name "com.apple.tccd.system")`,
}

// subpaths are filters for the paths and everything below them. macOS compares paths without
// symbolic links, of which its temporary directories have some.
func subpaths(paths []string) []string {
	var filters []string
	seen := map[string]bool{}
	for _, path := range paths {
		for _, path := range []string{path, resolved(path)} {
			if filepath.IsAbs(path) && !seen[path] {
				seen[path] = true
				filters = append(filters, "(subpath "+quote(path)+")")
			}
		}
	}
	return filters
}

// quote is a text in a profile.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// resolved follows the symbolic links of a path as far as it exists.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(resolved(dir), filepath.Base(path))
	}
	return path
}
