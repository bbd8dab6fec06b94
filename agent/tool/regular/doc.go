// Package regular opens regular files and nothing else. A path from a model or a repository can
// lead to a named pipe, a device or a file of the kernel, which block for ever, never end or do
// something when they are read. Open never blocks on one of these, Read stops at a limit while it
// reads, and both check the open file, so that a path that changes meanwhile makes no difference.
//
// On Linux file systems of the kernel (procfs, sysfs, debugfs, ...) are known by their type,
// wherever they are mounted. Elsewhere only the kind of the file counts.
package regular
