//go:build !linux && !darwin

package sandbox

// Supported reports that there is no sandbox.
func Supported() Support {
	return Support{Sentence: "No sandbox: sandboxes require Linux or macOS, so every command needs approval."}
}
