//go:build !windows

package gitremote

// systemConfig is the file of the system.
const systemConfig = "/etc/gitconfig"
