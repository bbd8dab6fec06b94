// Package surroundings describes to a model when and where a conversation begins: the date, and the
// branch and changes of the folder's git repository.
//
// The repository may come from anyone, and git obeys its configuration, which can name programs to
// run. So git only runs in the strict sandbox, as a command that may only read, for a short time and
// with little output. Names of branches and files are shown quoted, shortened, and only some of them.
package surroundings
