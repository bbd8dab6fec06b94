//go:build !linux

package tool

// SandboxStatus reports whether commands can be kept from writing where they should not,
// and says it in a sentence for the person.
func SandboxStatus() (available bool, sentence string) {
	return false, "No sandbox: there is one on Linux only, so that commands can write whatever you can write."
}
