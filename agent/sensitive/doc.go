// Package sensitive knows the files and directories of a machine that hold credentials: keys,
// tokens, browser profiles, keyrings, shell histories. A model is not shown them and commands in
// the sandbox cannot read them.
//
// [Paths] lists them for a policy that works with paths, such as Landlock's. A [Set] decides
// about a single path after its symbolic links are resolved, and recognizes a hard link to a
// listed file under another name. The package reads nothing but directories and file metadata.
//
// The list is not complete and cannot be: a credential in a project's .env file, for example,
// is a file like any other here.
package sensitive
