// Package equal holds the tests that an index file changes no answer: they run every command of the table with and
// without index files, and with damaged ones. They are not in package commands, because they change
// sizes that its tests rely on while they run.
package equal
