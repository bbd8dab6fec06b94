package sandbox

import "os"

// Supported looks for sandbox-exec, which is part of macOS.
func Supported() Support {
	if info, err := os.Stat("/usr/bin/sandbox-exec"); err != nil || !info.Mode().IsRegular() {
		return Support{Sentence: "No sandbox: /usr/bin/sandbox-exec is missing, so every command needs approval."}
	}
	return Support{OK: true, Sentence: "Commands run in a sandbox (Seatbelt)."}
}
