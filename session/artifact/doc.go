// Package artifact creates, lists and reads artifacts: the outputs, such as those of tools, that are
// stored in a directory beside a session file. See [Dir.Create], [Dir.List] and
// [Dir.Read].
package artifact
